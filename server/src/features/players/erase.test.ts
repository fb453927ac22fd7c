/** Erasing a player (ADR 22): nothing identifies the person any more, what the player did is unchanged, and imports do not undo it. */
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { verifyAudit } from '#src/audit/verify.ts'
import { foldCounters } from '#src/counters/counters.ts'
import { expectReconciled } from '#test/ledger.ts'
import { createMembership } from '#src/players/segments.ts'
import { recount } from '#src/counters/recount.ts'
import { rowsOfTables } from '#test/console-rows.ts'
import { type Client, testApp, type TestApp } from '#test/test-app.ts'

const ID = 7_345_678_901
const PATH = `/api/telegram-users/${ID}`
/** Everything that identifies the player. No other text in the console contains any of these. */
const personal = [
  'Adelheid',
  'Zyxwvut',
  'adelheid_z',
  'adelheid@example.org',
  '4915112345',
  'EQwallet',
  'my own words',
  'Farmgirl',
]

async function game(): Promise<{ app: TestApp; admin: Client; bot: Client }> {
  const app = await testApp()
  const [admin, bot] = [await app.signUp('admin'), await app.bot()]
  const { db } = app.database
  await sql`insert into announcements (id, type, title, subtitle, link, link_type, input_text, reward, status)
    values ('a', 'link', 'A', '', 'https://x.com', 'input', 'Your name', 10, true)`.execute(db)
  await sql`insert into history_items (kind, item_id, title, type, reward) values ('announcement', 'a', 'A', 'link', 10)`.execute(
    db,
  )
  const player = { userId: ID, firstName: 'Adelheid', lastName: 'Zyxwvut', username: 'adelheid_z', email: 'adelheid@example.org' }
  const batch = {
    players: [
      { ...player, phoneNumber: '4915112345', tonWalletAddress: 'EQwallet' },
      { userId: 8, firstName: 'Bob' },
    ],
  }
  await bot.call('POST', '/bot/v1/players', batch, { 'idempotency-key': 'batch' })
  const claim = { kind: 'announcement', id: 'a', userInput: 'my own words' }
  await bot.call('POST', `/bot/v1/players/${ID}/claims`, claim, { 'idempotency-key': 'claim' })
  await bot.call('POST', `/bot/v1/players/${ID}/entries`, { amount: 5, cause: 'round', reference: `${ID}/adelheid_z` })
  await app.player(ID).call('POST', '/bot/v1/players/me/announcements/seen', { upTo: 0 }, { 'idempotency-key': 'seen' })
  await sql`insert into webhooks (id, url, events, secret) values ('w', 'https://bot.example/', '{player.adjusted}', '\\x06')`.execute(
    db,
  )
  await admin.call('POST', `${PATH}/adjustments`, { amount: 4, reason: 'Farmgirl asked for it' })
  await admin.call('POST', `${PATH}/reversals`, { entryId: `${ID}-3`, reason: 'Farmgirl lied' })
  await admin.call('POST', '/api/telegram-users/block', { target: { ids: [String(ID)] }, reason: 'Farmgirl' })
  await admin.call('POST', `/api/notes/player/${ID}`, { text: 'Farmgirl called again' }, { 'idempotency-key': 'note' })
  await admin.call('POST', '/api/exports', {
    list: 'telegramUsers',
    target: { ids: [String(ID)] },
    exportId: crypto.randomUUID(),
  })
  await foldCounters(app.database)
  return { app, admin, bot }
}

const erase = (client: Client, confirmation: number = ID) => client.call('POST', `${PATH}/erase`, { confirmation })

async function everything({ database }: TestApp): Promise<string> {
  return JSON.stringify(await rowsOfTables(database.db))
}

async function expectWhole({ database }: TestApp): Promise<void> {
  await expectReconciled(database)
  const miscounts: unknown[] = []
  await recount(database, { onMiscount: (miscount) => miscounts.push(miscount) })
  expect([...miscounts, ...(await verifyAudit(database)).findings]).toEqual([])
}

test('ADR 22 nothing in the database names an erased player; sums, counts and the ledger are unchanged', async () => {
  const { app, admin, bot } = await game()
  const before = await everything(app)
  for (const text of [...personal, String(ID)]) expect(before, text).toContain(text)
  const answer = await erase(admin)
  expect(answer).toMatchObject({ status: 200, body: { success: true } })
  const { userId } = answer.body
  expect(userId).toBeLessThan(0)

  const after = await everything(app)
  for (const text of [...personal, String(ID)]) expect(after, text).not.toContain(text)
  await expectWhole(app)
  const { rows: entries } = await sql`
    select user_id, seq, amount, cause, reference, reason, item_id, balance from ledger_entries order by seq`.execute(
    app.database.db,
  )
  const entry = { user_id: userId, reference: null, reason: null, item_id: null }
  expect(entries).toEqual([
    { ...entry, seq: 1, amount: 10, cause: 'claim', item_id: 'a', balance: 10 },
    { ...entry, seq: 2, amount: 5, cause: 'round', balance: 15 },
    { ...entry, seq: 3, amount: 4, cause: 'adjustment', balance: 19 },
    { ...entry, seq: 4, amount: -4, cause: 'reversal', reference: `${userId}-3`, balance: 15 },
  ])
  const { body: shown } = await admin.call('GET', `/api/telegram-users/${userId}`)
  expect(shown).toMatchObject({
    userId,
    balance: 15,
    firstName: null,
    email: null,
    block: null,
    participations: { total: 1, reward: 10 },
  })
  expect((await admin.call('GET', '/api/telegram-users?status=erased')).body.users).toMatchObject([{ userId }])
  expect((await admin.call('GET', '/api/telegram-users?sort=user-id')).body).toMatchObject({
    users: [{ userId }, { userId: 8 }],
    total: 2,
  })
  expect((await admin.call('GET', PATH)).body).toMatchObject({ code: 'NO_SUCH_PLAYER' })
  expect((await bot.call('GET', `/bot/v1/players/${userId}`)).body).toMatchObject({ code: 'INVALID_INPUT' })
})

test('ADR 22 the leaderboard leaves out an erased player; spreadsheets have the new number and nothing personal', async () => {
  const { app, admin, bot } = await game()
  const leaders = async () => (await bot.call('GET', '/bot/v1/leaderboard')).body.players
  await admin.call('POST', '/api/telegram-users/unblock', { target: { ids: [String(ID)] } })
  expect(await leaders()).toMatchObject([
    { rank: 1, userId: ID },
    { rank: 2, userId: 8 },
  ])
  const { userId } = (await erase(admin)).body
  expect(await leaders()).toMatchObject([{ rank: 2, userId: 8 }])
  await sql`insert into telegram_users (user_id) select 1000 + n from generate_series(1, 150) n`.execute(app.database.db)
  await sql`insert into balances (user_id, balance) select 1000 + n, 0 from generate_series(1, 150) n`.execute(app.database.db)
  const { body } = await bot.call('GET', '/bot/v1/leaderboard?limit=100')
  expect(body.players).toHaveLength(100)
  expect(body.players.at(-1)).toMatchObject({ rank: 101 })

  const headers = { ...admin.headers, 'content-type': 'application/json' }
  const download = { method: 'POST', headers, body: JSON.stringify({ data: { kind: 'announcement', id: 'a' }, format: 'csv' }) }
  for (const answer of [
    await app.fetch('/downloadTelegramUsersData?format=csv', { headers: admin.headers }),
    await app.fetch('/download-history', download),
  ]) {
    expect(answer.status).toBe(200)
    const sheet = await answer.text()
    expect(sheet).toContain(String(userId))
    for (const text of [...personal, String(ID)]) expect(sheet, text).not.toContain(text)
  }
})

test('ADR 22 an erasure needs the id typed again and can be done only once', async () => {
  const { app, admin } = await game()
  expect(await erase(admin, 8)).toMatchObject({
    status: 400,
    body: { code: 'INVALID_INPUT', fields: { confirmation: expect.any(String) } },
  })
  expect(await everything(app)).toContain('Adelheid')
  const { body } = await erase(admin)
  expect(await erase(admin)).toMatchObject({ status: 404, body: { code: 'NO_SUCH_PLAYER' } })
  expect(await admin.call('POST', `/api/telegram-users/${body.userId}/erase`, { confirmation: body.userId })).toMatchObject({
    status: 409,
    body: { code: 'PLAYER_ERASED' },
  })
  expect(
    (await admin.call('POST', '/api/telegram-users/block', { target: { filter: {} }, reason: 'x', dryRun: true })).body,
  ).toMatchObject({ affected: 1 })
})

test('ADR 22 the kept entries can be read under the new number, but changes are refused with a message', async () => {
  const { admin } = await game()
  const { userId } = (await erase(admin)).body
  const path = `/api/telegram-users/${userId}`
  const { status, body } = await admin.call('GET', `${path}/entries`)
  expect(status).toBe(200)
  expect(body.entries.map(({ seq, amount }: { seq: number; amount: number }) => [seq, amount])).toEqual([
    [4, -4],
    [3, 4],
    [2, 5],
    [1, 10],
  ])
  expect((await admin.call('GET', `${path}/participations`)).body.participations).toHaveLength(1)
  const erased = { status: 409, body: { code: 'PLAYER_ERASED' } }
  expect(await admin.call('POST', `${path}/adjustments`, { amount: 1, reason: 'x' })).toMatchObject(erased)
  expect(await admin.call('POST', `${path}/reversals`, { entryId: `${userId}-2`, reason: 'x' })).toMatchObject(erased)
  const block = (ids: string[]) => admin.call('POST', '/api/telegram-users/block', { target: { ids }, reason: 'x' })
  expect(await block([String(userId)])).toMatchObject(erased)
  expect((await block([String(userId), '8'])).body).toMatchObject({ affected: 1, refusals: [{ id: String(userId) }] })
  for (const id of ['nobody', '0', '1e3', '-'])
    for (const call of ['', '/entries', '/participations'])
      expect((await admin.call('GET', `/api/telegram-users/${id}${call}`)).body.message, id).toMatch(/^There is no such player: /)
})

test('ADR 22 a claim that waits for the erasure finds no player and leaves nothing behind', async () => {
  const { app, admin, bot } = await game()
  await sql`insert into tasks (collection, id, image, priority, title, reward) values ('social', 's', 'twitter', 1, 'S', 2)`.execute(
    app.database.db,
  )
  await admin.call('POST', '/api/telegram-users/unblock', { target: { ids: [String(ID)] } })
  const claims = Array.from({ length: 20 }, () => bot.call('POST', `/bot/v1/players/${ID}/claims`, { kind: 'social', id: 's' }))
  const [erased, ...answers] = await Promise.all([erase(admin), ...claims])
  expect(erased.status).toBe(200)
  for (const { status } of answers) expect([200, 404]).toContain(status)
  expect(await everything(app)).not.toContain('Adelheid')
  await expectWhole(app)
})

test('ADR 22 a view with a piece of the player’s handle, wallet or mail in its name keeps it; one named after the player does not', async () => {
  const { admin } = await game()
  const names = ['Wallet owners', 'Example of reach', 'Delhi', 'Zyx', 'Friends of Zyxwvut', 'Of @adelheid_z', 'Adelheid']
  for (const name of names) {
    const view = { list: 'telegramUsers', name, address: 'balanceMin=1', isShared: true }
    expect((await admin.call('POST', '/api/views', view)).status).toBe(200)
  }
  expect((await erase(admin)).status).toBe(200)
  const { views } = (await admin.call('GET', '/api/views')).body as { views: { name: string }[] }
  const kept = views.map(({ name }) => name).filter((name) => !name.startsWith('Erased name '))
  expect(kept.toSorted()).toEqual(names.slice(0, 4).toSorted())
  expect(views).toHaveLength(names.length)
})

test('ADR 22 a segment that looks for an erased player stays, so that its item is not for everyone, and nobody belongs to it', async () => {
  const { app, admin } = await game()
  const save = async (name: string) => {
    const view = { list: 'telegramUsers', name, address: 'q=adelheid%40example.org', isShared: true }
    return (await admin.call('POST', '/api/views', view)).body.id as string
  }
  const [segment, other] = [await save('adelheid_z'), await save('Another')]
  await sql`update announcements set segment_id = ${segment}`.execute(app.database.db)
  const isMember = createMembership(app.database)
  expect(await isMember(ID, [segment, other])).toEqual(new Set([segment, other]))
  const { userId } = (await erase(admin)).body
  const { views } = (await admin.call('GET', '/api/views')).body
  expect(views).toMatchObject([
    { id: segment, name: `Erased name ${segment.slice(0, 8)}`, address: 'erased=true', isShared: true },
  ])
  expect(await isMember(userId, [segment])).toEqual(new Set())
  expect(await isMember(8, [segment])).toEqual(new Set())
  expect(await everything(app)).not.toContain('adelheid')
})
