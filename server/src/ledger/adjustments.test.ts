/** Adjustments and reversals: entries with a reason, written once, by admins and bots, audited and sent to webhooks. */
import { sql } from 'kysely'
import { describe, expect, test } from 'vitest'
import { expectWhole, raceForBalance } from '#test/ledger.ts'
import { addPlayers } from '#test/players.ts'
import { type Client, testApp, type TestApp } from '#test/test-app.ts'

const players = { console: '/api/telegram-users/7', bot: '/bot/v1/players/7' }
const gift = { amount: 2.5, reason: 'Lost a round to the outage' }

/** Returns an app with player 7, whose balance is 10: 4 from an import, 6 from a round, which is entry 7-2. */
async function consoleApp(): Promise<{ app: TestApp; admin: Client; bot: Client }> {
  const app = await testApp()
  await addPlayers(app.database.db, [{ user_id: 7, first_name: 'Ada', balance: 4 }, { user_id: 8 }])
  const bot = await app.bot('game', 'admin')
  const round = { amount: 6, cause: 'round', reference: 'r-1' }
  expect((await bot.call('POST', '/bot/v1/players/7/entries', round)).body.entry.id).toBe('7-2')
  return { app, admin: await app.signUp('admin'), bot }
}

async function acts({ database }: TestApp): Promise<unknown[]> {
  const { rows } = await sql`select action, actor_kind, record_kind, record_id, record_name, changes, detail from audit_open
    where action like 'player.%' order by at, id`.execute(database.db)
  return rows
}

const keyed = (key: string) => ({ 'idempotency-key': key })

describe.each(['console', 'bot'] as const)('design §7 by the %s', (by) => {
  const path = players[by]

  test('an adjustment changes the balance by an entry with a reason, which is audited and sent to webhooks', async () => {
    const { app, ...callers } = await consoleApp()
    const caller = by === 'console' ? callers.admin : callers.bot
    await callers.admin.call('POST', '/api/webhooks', { url: 'https://bot.example/hook', events: ['player.adjusted'] })
    const { status, body } = await caller.call('POST', `${path}/adjustments`, gift)
    expect([status, body]).toEqual([
      200,
      {
        success: true,
        isFirst: true,
        balance: 12.5,
        entry: { id: '7-3', amount: 2.5, cause: 'adjustment', at: expect.stringMatching(/^2.*Z$/) },
      },
    ])
    expect((await caller.call('POST', `${path}/adjustments`, { amount: -12.5, reason: 'Cheated' })).body).toMatchObject({
      balance: 0,
      entry: { id: '7-4' },
    })
    const { rows } =
      await sql`select seq, reason, by_kind, by_id, by_name from ledger_entries where seq > 2 order by seq`.execute(
        app.database.db,
      )
    const writer =
      by === 'console' ? { by_kind: 'user', by_id: callers.admin.id, by_name: null } : { by_kind: 'bot', by_name: 'game' }
    expect(rows).toMatchObject([
      { seq: 3, reason: gift.reason, ...writer },
      { seq: 4, reason: 'Cheated', ...writer },
    ])
    expect(await acts(app)).toEqual([
      {
        action: 'player.adjust',
        actor_kind: by === 'console' ? 'user' : 'bot',
        record_kind: 'player',
        record_id: '7',
        record_name: null,
        changes: { balance: [10, 12.5] },
        detail: { entry: '7-3', ...gift },
      },
      expect.objectContaining({ changes: { balance: [12.5, 0] }, detail: { entry: '7-4', amount: -12.5, reason: 'Cheated' } }),
    ])
    const deliveries = await sql<{ payload: string }>`select payload from webhook_deliveries order by created_at`.execute(
      app.database.db,
    )
    expect(deliveries.rows.map(({ payload }) => JSON.parse(payload))).toMatchObject(
      [1, 2].map(() => ({
        type: 'player.adjusted',
        data: { change: 'adjusted', items: [{ kind: 'player', id: '7', title: '' }] },
      })),
    )
    await expectWhole(app, 0, 4)
  })

  test('an entry is reversed once; a repeat gets the same entry with isFirst false', async () => {
    const { app, ...callers } = await consoleApp()
    const caller = by === 'console' ? callers.admin : callers.bot
    const reversal = { entryId: '7-2', reason: 'Paid twice' }
    const first = await caller.call('POST', `${path}/reversals`, reversal, keyed('k'))
    expect(first.body).toMatchObject({ isFirst: true, balance: 4, entry: { id: '7-3', amount: -6, cause: 'reversal' } })
    expect((await caller.call('POST', `${path}/reversals`, reversal, keyed('k'))).body).toEqual(first.body)
    for (const [body, key] of [
      [reversal, keyed('l')],
      [{ ...reversal, reason: 'Again' }, {}],
    ] as const)
      expect((await caller.call('POST', `${path}/reversals`, body, key)).body).toEqual({ ...first.body, isFirst: false })
    expect(await acts(app)).toMatchObject([
      {
        action: 'player.reverse',
        changes: { balance: [10, 4] },
        detail: { entry: '7-3', amount: -6, reverses: '7-2', reason: 'Paid twice' },
      },
    ])
    const { body } = await callers.bot.call('GET', '/bot/v1/players/7/entries')
    expect(body.entries[0]).toEqual({
      id: '7-3',
      seq: 3,
      amount: -6,
      cause: 'reversal',
      reference: '7-2',
      balance: 4,
      at: expect.stringMatching(/^2.*Z$/),
    })
    await expectWhole(app, 4, 3)
  })

  test.each([
    ['an unknown player', '9/adjustments', gift, 404, 'NO_SUCH_PLAYER'],
    ['more than the balance', '7/adjustments', { ...gift, amount: -10.5 }, 409, 'BALANCE_TOO_LOW'],
    ['a balance too large for a double', '7/adjustments', { ...gift, amount: 2 ** 53 }, 409, 'BALANCE_TOO_HIGH'],
    ['an amount of 0', '7/adjustments', { ...gift, amount: 0 }, 400, 'INVALID_INPUT'],
    ['no amount', '7/adjustments', { reason: 'x' }, 400, 'INVALID_INPUT'],
    ['no reason', '7/adjustments', { amount: 1, reason: '  ' }, 400, 'INVALID_INPUT'],
    ['a long reason', '7/adjustments', { amount: 1, reason: 'x'.repeat(501) }, 400, 'INVALID_INPUT'],
    ['an unknown field', '7/adjustments', { ...gift, cause: 'x' }, 400, 'INVALID_INPUT'],
    ['an unknown player’s entry', '9/reversals', { entryId: '9-1', reason: 'x' }, 404, 'NO_SUCH_PLAYER'],
    ['an unknown entry', '7/reversals', { entryId: '7-3', reason: 'x' }, 404, 'NO_SUCH_ENTRY'],
    ['another player’s entry', '8/reversals', { entryId: '7-2', reason: 'x' }, 404, 'NO_SUCH_ENTRY'],
    ['an imported entry', '7/reversals', { entryId: '7-1', reason: 'x' }, 409, 'NOT_REVERSIBLE'],
    ['no reason', '7/reversals', { entryId: '7-2', reason: '' }, 400, 'INVALID_INPUT'],
    ['an id with a leading zero', '7/reversals', { entryId: '7-02', reason: 'x' }, 400, 'INVALID_INPUT'],
  ])('%s is refused, and nothing is written', async (_what, to, body, status, code) => {
    const { app, ...callers } = await consoleApp()
    const caller = by === 'console' ? callers.admin : callers.bot
    const address = `${path.slice(0, -1)}${to}`
    expect(await caller.call('POST', address, body, keyed('k'))).toMatchObject({ status, body: { code } })
    expect((await sql`select user_id from player_keys`.execute(app.database.db)).rows).toEqual([])
    expect(await acts(app)).toEqual([])
    await expectWhole(app, 10, 2)
  })
})

test('design §7 a claim and an adjustment can be reversed, a reversal cannot, and none takes the balance below 0', async () => {
  const { app, admin, bot } = await consoleApp()
  await sql`insert into tasks (collection, id, image, priority, title, reward) values ('social', 't', 'bsc', 1, 'T', 5)`.execute(
    app.database.db,
  )
  const claim = { kind: 'social', id: 't' }
  expect((await bot.call('POST', '/bot/v1/players/7/claims', claim)).body.entry.id).toBe('7-3')
  expect((await admin.call('POST', `${players.console}/adjustments`, { amount: -3, reason: 'x' })).body.entry.id).toBe('7-4')
  const reverse = async (entryId: string) =>
    (await admin.call('POST', `${players.console}/reversals`, { entryId, reason: 'x' })).body
  expect(await reverse('7-3')).toMatchObject({ isFirst: true, balance: 7, entry: { id: '7-5', amount: -5 } })
  expect((await reverse('7-5')).code).toBe('NOT_REVERSIBLE')
  expect((await bot.call('POST', '/bot/v1/players/7/claims', claim)).body, 'a reversed claim stays done').toMatchObject({
    isFirst: false,
    entry: { id: '7-3' },
  })
  expect((await admin.call('POST', `${players.console}/adjustments`, { amount: -2, reason: 'x' })).body.balance).toBe(5)
  expect((await reverse('7-2')).code).toBe('BALANCE_TOO_LOW')
  expect(await reverse('7-4')).toMatchObject({ isFirst: true, balance: 8, entry: { amount: 3 } })
  expect((await reverse('7-2')).balance).toBe(2)
  await expectWhole(app, 2, 8)
})

test('design §7 one of 20 simultaneous reversals of an entry on two servers is written, and all get the same entry', async () => {
  const { app, admin } = await consoleApp()
  const answers = await raceForBalance(app, admin, `${players.console}/reversals`, (n) => ({
    body: { entryId: '7-2', reason: `Reason ${n}` },
    key: `k-${n}`,
  }))
  expect(new Set(answers.map(({ status }) => status)), answers[0]!.text).toEqual(new Set([200]))
  expect(new Set(answers.map(({ body }) => JSON.stringify(body.entry))).size).toBe(1)
  expect(answers.filter(({ body }) => body.isFirst)).toHaveLength(1)
  expect(await acts(app)).toHaveLength(1)
  await expectWhole(app, 4, 3)
})

test('design §7 one of 20 simultaneous adjustments with one key is written, and all get its answer byte for byte', async () => {
  const { app, admin } = await consoleApp()
  const answers = await raceForBalance(app, admin, `${players.console}/adjustments`, () => ({
    body: { ...gift, amount: -10 },
    key: 'k',
  }))
  expect(answers[0]).toMatchObject({ status: 200, body: { isFirst: true } })
  expect(new Set(answers.map(({ text }) => text)).size).toBe(1)
  expect(await acts(app)).toHaveLength(1)
  await expectWhole(app, 0, 3)
})

test('design §7 without a key each adjustment counts, and of 20 debits at once only those that the balance covers', async () => {
  const { app, admin } = await consoleApp()
  const answers = await raceForBalance(app, admin, `${players.console}/adjustments`, () => ({
    body: { amount: -1, reason: 'x' },
  }))
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(10)
  expect(new Set(answers.flatMap(({ body }) => body.code ?? []))).toEqual(new Set(['BALANCE_TOO_LOW']))
  expect(await acts(app)).toHaveLength(10)
  await expectWhole(app, 0, 12)
})

test('design §7 the console’s ledger shows what each entry was, who wrote it and why, newest first', async () => {
  const { app, admin, bot } = await consoleApp()
  const { db } = app.database
  await sql`insert into history_items (kind, item_id, title, type, reward, created_at) values ('social', 't', 'Follow us', 'bsc', 5, now())`.execute(
    db,
  )
  await sql`insert into tasks (collection, id, image, priority, title, reward) values ('social', 't', 'bsc', 1, 'Follow us', 5)`.execute(
    db,
  )
  await app.player(7).call('POST', '/bot/v1/players/me/claims', { kind: 'social', id: 't' })
  await admin.call('POST', `${players.console}/adjustments`, gift)
  await bot.call('POST', `${players.bot}/reversals`, { entryId: '7-4', reason: 'A mistake' })
  const ledger = async () => (await admin.call('GET', `${players.console}/entries`)).body
  const at = expect.stringMatching(/^2.*Z$/)
  const { rows } = await sql<{ name: string }>`select fname || ' ' || lname as name from users where id = ${admin.id}`.execute(db)
  expect(await ledger()).toEqual({
    entries: [
      {
        id: '7-5',
        seq: 5,
        amount: -2.5,
        cause: 'reversal',
        reference: '7-4',
        reason: 'A mistake',
        balance: 15,
        at,
        by: { kind: 'bot', name: 'game' },
      },
      {
        id: '7-4',
        seq: 4,
        amount: 2.5,
        cause: 'adjustment',
        reason: gift.reason,
        balance: 17.5,
        at,
        by: { kind: 'user', name: rows[0]!.name },
      },
      {
        id: '7-3',
        seq: 3,
        amount: 5,
        cause: 'claim',
        item: { kind: 'social', id: 't', period: '', title: 'Follow us' },
        balance: 15,
        at,
        by: { kind: 'player', name: null },
      },
      { id: '7-2', seq: 2, amount: 6, cause: 'round', reference: 'r-1', balance: 10, at, by: { kind: 'bot', name: 'game' } },
      { id: '7-1', seq: 1, amount: 4, cause: 'opening', balance: 4, at },
    ],
    after: null,
  })
  await app.signUp('admin').then((other) => other.call('DELETE', `/removeUser/${admin.id}`))
  const other = await app.signUp('admin')
  expect((await other.call('GET', `${players.console}/entries`)).body.entries[1].by).toEqual({ kind: 'user', name: null })
  expect((await other.call('GET', '/api/telegram-users/9/entries')).body.code).toBe('NO_SUCH_PLAYER')
})

test('design §8 the game’s bot needs the scope admin to adjust and reverse, and a player never can', async () => {
  const { app } = await consoleApp()
  for (const client of [
    await app.bot('player', 'play'),
    await app.bot('reader', 'read'),
    app.player(7),
    await app.signUp('user'),
  ])
    for (const [path, body] of [
      ['adjustments', gift],
      ['reversals', { entryId: '7-2', reason: 'x' }],
    ] as const)
      for (const player of Object.values(players)) expect((await client.call('POST', `${player}/${path}`, body)).status).toBe(403)
  await expectWhole(app, 10, 2)
})
