/** Claims (design §7, §8): paid once however often they are repeated, with everything that belongs to them, or refused with a code. */
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { readCounters } from '#src/counters/counters.ts'
import { expectReconciled } from '#test/ledger.ts'
import { activityCounters, countedActivity } from '#test/activity.ts'
import { addPlayers } from '#test/players.ts'
import { type Client, testApp, type TestApp } from '#test/test-app.ts'
import { openAgain } from '#test/test-database.ts'
import { sweepPlayerKeys } from './entry-once.ts'

const PATH = '/bot/v1/players/7/claims'

/** Returns an app with player 7, a social and a daily task that pay 2.5, and an announcement that needs an input and pays 10. */
async function gameApp(): Promise<{ app: TestApp; bot: Client }> {
  const app = await testApp()
  const { db } = app.database
  await addPlayers(db, [{ user_id: 7, first_name: 'Ada', username: 'ada', balance: 1 }])
  await sql`insert into tasks (collection, id, image, priority, title, reward)
    values ('social', 's', 'twitter', 1, 'S', 2.5), ('daily', 'd', 'telegram', 1, 'D', 2.5)`.execute(db)
  await sql`insert into announcements (id, type, title, subtitle, link, link_type, input_text, reward, status)
    values ('a', 'link', 'A', '', 'https://x.com', 'input', 'Your name', 10, true), ('off', 'desc', 'O', '', null, null, null, 1, false)`.execute(
    db,
  )
  return { app, bot: await app.bot() }
}

async function expectWhole({ database }: TestApp, balance: number): Promise<void> {
  await expectReconciled(database)
  expect(await activityCounters(database.db)).toEqual(await countedActivity(database.db))
  const { rows } = await sql`select balance from balances where user_id = 7`.execute(database.db)
  expect(rows).toEqual([{ balance }])
}

const keyed = (key: string) => ({ 'idempotency-key': key })

test('design §8 a claim writes a participation, an entry, the balance and counters; a repeat gets isFirst false', async () => {
  const { app, bot } = await gameApp()
  const { db } = app.database
  const first = await bot.call('POST', PATH, { kind: 'social', id: 's' })
  expect(first).toMatchObject({
    status: 200,
    body: { success: true, isFirst: true, reward: 2.5, balance: 3.5, entry: { id: '7-2', amount: 2.5, cause: 'claim' } },
  })
  expect(Date.now() - Date.parse(first.body.entry.at)).toBeLessThan(60_000)
  const again = await bot.call('POST', PATH, { kind: 'social', id: 's' })
  expect(again.body).toEqual({ ...first.body, isFirst: false })
  const { rows } = await sql`select kind, item_id, period, username, first_name, user_input from participations`.execute(db)
  expect(rows).toEqual([{ kind: 'social', item_id: 's', period: '', username: 'ada', first_name: 'Ada', user_input: null }])
  const { rows: entries } = await sql`
    select seq, cause, kind, item_id, period, by_kind, by_id, by_name, balance from ledger_entries order by seq`.execute(db)
  const nobody = { kind: null, item_id: null, period: null, by_kind: null, by_id: null, by_name: null }
  expect(entries).toEqual([
    { seq: 1, cause: 'opening', ...nobody, balance: 1 },
    {
      seq: 2,
      cause: 'claim',
      kind: 'social',
      item_id: 's',
      period: '',
      by_kind: 'bot',
      by_id: expect.any(String),
      by_name: bot.id,
      balance: 3.5,
    },
  ])
  expect(await readCounters(db, [{ of: 'participants', kind: 'social', itemId: 's' }])).toEqual([1])
  await expectWhole(app, 3.5)
})

test('design §7 a daily task can be claimed once a day in UTC', async () => {
  const { app, bot } = await gameApp()
  const claim = () => bot.call('POST', PATH, { kind: 'daily', id: 'd' })
  expect((await claim()).body).toMatchObject({ isFirst: true, balance: 3.5 })
  expect((await claim()).body).toMatchObject({ isFirst: false, balance: 3.5 })
  const { rows } = await sql`select period = to_char(at at time zone 'UTC', 'YYYY-MM-DD') as "isDay" from participations`.execute(
    app.database.db,
  )
  expect(rows).toEqual([{ isDay: true }])
  for (const table of ['participations', 'ledger_entries'])
    await sql`update ${sql.table(table)} set period = '2026-01-31' where period <> ''`.execute(app.database.db)
  expect((await claim()).body).toMatchObject({ isFirst: true, balance: 6 })
  await expectWhole(app, 6)
})

test('design §8 an announcement needs its input, which is stored', async () => {
  const { app, bot } = await gameApp()
  for (const body of [{}, { userInput: '' }, { userInput: '  ' }])
    expect(await bot.call('POST', PATH, { kind: 'announcement', id: 'a', ...body })).toMatchObject({
      status: 400,
      body: { code: 'INPUT_MISSING' },
    })
  const claim = (userInput: string) => bot.call('POST', PATH, { kind: 'announcement', id: 'a', userInput })
  expect((await claim(' Zoë ')).body).toMatchObject({ isFirst: true, reward: 10, balance: 11 })
  expect((await claim('other')).body).toMatchObject({ isFirst: false, balance: 11 })
  await bot.call('POST', PATH, { kind: 'social', id: 's', userInput: 'nobody asked' })
  const { rows } = await sql`select kind, user_input from participations order by kind`.execute(app.database.db)
  expect(rows).toEqual([
    { kind: 'announcement', user_input: 'Zoë' },
    { kind: 'social', user_input: null },
  ])
})

test.each([
  ['an unknown player', '/bot/v1/players/8/claims', { kind: 'social', id: 's' }, 404, 'NO_SUCH_PLAYER'],
  ['an unknown task', PATH, { kind: 'social', id: 'x' }, 404, 'NO_SUCH_TASK'],
  ['a task of the other collection', PATH, { kind: 'daily', id: 's' }, 404, 'NO_SUCH_TASK'],
  ['an unknown announcement', PATH, { kind: 'announcement', id: 's' }, 404, 'ANNOUNCEMENT_NOT_FOUND'],
  ['an inactive announcement', PATH, { kind: 'announcement', id: 'off' }, 409, 'ANNOUNCEMENT_INACTIVE'],
  ['an unknown kind', PATH, { kind: 'weekly', id: 's' }, 400, 'INVALID_INPUT'],
  ['a reward set by the caller', PATH, { kind: 'social', id: 's', reward: 9 }, 400, 'INVALID_INPUT'],
])('design §8 %s is refused, and nothing is written', async (_what, path, body, status, code) => {
  const { app, bot } = await gameApp()
  expect(await bot.call('POST', path, body, keyed('k'))).toMatchObject({ status, body: { code } })
  const { rows } =
    await sql`select (select count(*) from participations) as taken, (select count(*) from player_keys) as keys`.execute(
      app.database.db,
    )
  expect(rows).toEqual([{ taken: 0, keys: 0 }])
  await expectWhole(app, 1)
})

test('design §8 a claim that would raise the balance above the largest exact number is refused', async () => {
  const { app, bot } = await gameApp()
  await addPlayers(app.database.db, [{ user_id: 9, balance: Number.MAX_SAFE_INTEGER - 1 }])
  const path = '/bot/v1/players/9/claims'
  expect(await bot.call('POST', path, { kind: 'social', id: 's' })).toMatchObject({
    status: 409,
    body: { code: 'BALANCE_TOO_HIGH' },
  })
  await expectWhole(app, 1)
})

test('design §8 one of 20 simultaneous claims on two servers is paid, and all get the same entry', async () => {
  const { app, bot } = await gameApp()
  const other = await testApp({ database: await openAgain({ limits: { size: 16 } }) })
  const send = async (n: number) => {
    const response = await (n % 2 === 0 ? app : other).fetch(PATH, {
      method: 'POST',
      headers: { ...bot.headers, 'content-type': 'application/json', ...(n < 10 && keyed(`key-${n}`)) },
      body: JSON.stringify({ kind: 'social', id: 's' }),
    })
    return (await response.json()) as { isFirst: boolean; entry: { id: string } }
  }
  const answers = await Promise.all(Array.from({ length: 20 }, (_, n) => send(n)))
  expect(answers.filter(({ isFirst }) => isFirst)).toHaveLength(1)
  expect(new Set(answers.map(({ entry }) => entry.id))).toEqual(new Set(['7-2']))
  await expectWhole(app, 3.5)
})

test('design §8 different simultaneous claims of one player are all paid, and numbered without gaps', async () => {
  const { app, bot } = await gameApp()
  await sql`insert into tasks (collection, id, image, priority, title, reward)
    select 'social', 'many-' || n, 'twitter', 1 + n, 'M', 1 from generate_series(1, 20) n`.execute(app.database.db)
  const claims = Array.from({ length: 20 }, (_, n) => bot.call('POST', PATH, { kind: 'social', id: `many-${n + 1}` }))
  const answers = await Promise.all(claims)
  expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 20 }, () => 200))
  await expectWhole(app, 21)
})

test('design §7 one key gets the first answer byte for byte, even if the item has changed; another claim with it gets 422', async () => {
  const { app, bot } = await gameApp()
  const body = { kind: 'announcement', id: 'a', userInput: 'x' }
  const first = await bot.call('POST', PATH, body, keyed('k'))
  expect(first.body).toMatchObject({ isFirst: true, balance: 11 })
  await bot.call('POST', PATH, { kind: 'social', id: 's' })
  await sql`update announcements set status = false`.execute(app.database.db)
  expect((await bot.call('POST', PATH, body, keyed('k'))).body).toEqual(first.body)
  expect((await bot.call('POST', PATH, body, keyed('other'))).body).toEqual({ ...first.body, isFirst: false })
  expect((await bot.call('POST', PATH, body, keyed('other'))).body).toEqual({ ...first.body, isFirst: false })
  await sql`delete from announcements`.execute(app.database.db)
  expect((await bot.call('POST', PATH, body, keyed('"k"'))).body).toEqual(first.body)
  for (const reused of [
    { ...body, userInput: 'y' },
    { kind: 'daily', id: 'd' },
    { kind: 'social', id: 's' },
  ])
    expect(await bot.call('POST', PATH, reused, keyed('k'))).toMatchObject({
      status: 422,
      body: { code: 'IDEMPOTENCY_KEY_REUSED' },
    })
  await expectWhole(app, 13.5)
})

test('design §7 a key is valid for 24 hours; afterwards it is a new request, which is paid if the claim is new', async () => {
  const { app, bot } = await gameApp()
  const first = await bot.call('POST', PATH, { kind: 'social', id: 's' }, keyed('k'))
  const age = (time: string) => sql`update player_keys set created_at = now() - ${time}::interval`.execute(app.database.db)
  await age('23 hours 59 minutes')
  await sweepPlayerKeys(app.database)
  expect((await bot.call('POST', PATH, { kind: 'social', id: 's' }, keyed('k'))).body).toEqual(first.body)
  await age('24 hours')
  expect((await bot.call('POST', PATH, { kind: 'social', id: 's' }, keyed('k'))).body).toEqual({ ...first.body, isFirst: false })
  await age('24 hours')
  expect((await bot.call('POST', PATH, { kind: 'daily', id: 'd' }, keyed('k'))).body).toMatchObject({ isFirst: true, balance: 6 })
  await age('24 hours')
  await sweepPlayerKeys(app.database)
  expect((await sql`select seq from player_keys`.execute(app.database.db)).rows).toEqual([])
  await expectWhole(app, 6)
})

test('design §8 a player’s client claims only for that player, with its own keys', async () => {
  const { app, bot } = await gameApp()
  const player = app.player(7)
  const claimed = await player.call('POST', '/bot/v1/players/me/claims', { kind: 'social', id: 's' }, keyed('k'))
  expect(claimed.body).toMatchObject({ isFirst: true, balance: 3.5 })
  expect((await bot.call('POST', PATH, { kind: 'daily', id: 'd' }, keyed('k'))).body).toMatchObject({ isFirst: true, balance: 6 })
  expect((await app.player(8).call('POST', PATH, { kind: 'social', id: 's' })).body.code).toBe('FORBIDDEN')
  expect((await app.player(8).call('POST', '/bot/v1/players/me/claims', { kind: 'social', id: 's' })).body.code).toBe(
    'NO_SUCH_PLAYER',
  )
  expect((await (await app.bot('reader', 'read')).call('POST', PATH, { kind: 'social', id: 's' })).status).toBe(403)
  const { rows } = await sql`select by_kind, by_name from ledger_entries where cause = 'claim' order by seq`.execute(
    app.database.db,
  )
  expect(rows).toEqual([
    { by_kind: 'player', by_name: null },
    { by_kind: 'bot', by_name: bot.id },
  ])
  await expectWhole(app, 6)
})

test('design §7 an imported participation is not paid again', async () => {
  const { app, bot } = await gameApp()
  await sql`insert into participations (user_id, kind, item_id, at) values (7, 'social', 's', '2026-01-01')`.execute(
    app.database.db,
  )
  const claim = (key: string) => bot.call('POST', PATH, { kind: 'social', id: 's' }, keyed(key))
  const { body } = await claim('k')
  expect(body).toEqual({ success: true, isFirst: false, reward: 0, balance: 1, entry: null })
  const round = { amount: 2, cause: 'round', reference: 'r' }
  expect((await bot.call('POST', '/bot/v1/players/7/entries', round)).status).toBe(200)
  expect((await claim('k')).body, 'the answer kept for the key').toEqual(body)
  expect((await claim('other')).body).toEqual({ ...body, balance: 3 })
})

test.each([
  ['social', 's', 'tasks'],
  ['daily', 'd', 'tasks'],
  ['announcement', 'plain', 'announcements'],
])('design §7 a %s item that the bot verifies is claimed by the bot, not by the player’s client', async (kind, id, table) => {
  const { app, bot } = await gameApp()
  await sql`insert into announcements (id, type, title, subtitle, reward, status) values ('plain', 'desc', 'P', '', 1, true)`.execute(
    app.database.db,
  )
  await sql`update ${sql.table(table)} set verified_by_bot = true where id = ${id}`.execute(app.database.db)
  const own = () => app.player(7).call('POST', '/bot/v1/players/me/claims', { kind, id })
  expect(await own()).toMatchObject({ status: 403, body: { code: 'BOT_VERIFIES' } })
  expect((await sql`select user_id from participations`.execute(app.database.db)).rows).toEqual([])
  const paid = await bot.call('POST', PATH, { kind, id })
  expect(paid).toMatchObject({ status: 200, body: { isFirst: true } })
  // Once it is paid, the player's client gets the answer too.
  expect(await own()).toMatchObject({ status: 200, body: { ...paid.body, isFirst: false } })
})
