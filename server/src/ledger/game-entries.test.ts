/** Entries of the game (design §7, §8): once for each player, cause and reference, for ever, and never below 0. */
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { expectWhole, raceForBalance } from '#test/ledger.ts'
import { addPlayers } from '#test/players.ts'
import { type Client, testApp, type TestApp } from '#test/test-app.ts'
import { sweepPlayerKeys } from './entry-once.ts'

const PATH = '/bot/v1/players/7/entries'
const round = { amount: 2.5, cause: 'round', reference: 'r-1' }

/** Returns an app with player 7, whose balance is 1. */
async function gameApp(): Promise<{ app: TestApp; bot: Client }> {
  const app = await testApp()
  await addPlayers(app.database.db, [{ user_id: 7, first_name: 'Ada', balance: 1 }, { user_id: 8 }])
  return { app, bot: await app.bot() }
}

const keyed = (key: string) => ({ 'idempotency-key': key })

test('design §8 an entry changes the balance; a repeat of its reference gets the same entry with isFirst false', async () => {
  const { app, bot } = await gameApp()
  const first = await bot.call('POST', PATH, round)
  expect(first).toMatchObject({ status: 200 })
  expect(first.body).toEqual({
    success: true,
    isFirst: true,
    balance: 3.5,
    entry: { id: '7-2', amount: 2.5, cause: 'round', at: expect.stringMatching(/^2.*Z$/) },
  })
  expect((await bot.call('POST', PATH, { amount: -3.5, cause: 'hat', reference: 'r-1' })).body).toMatchObject({
    isFirst: true,
    balance: 0,
    entry: { id: '7-3', amount: -3.5 },
  })
  expect((await bot.call('POST', PATH, round)).body).toEqual({ ...first.body, isFirst: false })
  const { body } = await bot.call('GET', PATH)
  expect(body.entries.map(({ id, cause, reference }: Record<string, unknown>) => [id, cause, reference])).toEqual([
    ['7-3', 'hat', 'r-1'],
    ['7-2', 'round', 'r-1'],
    ['7-1', 'opening', undefined],
  ])
  const { rows } = await sql`select by_kind, by_name from ledger_entries where seq > 1`.execute(app.database.db)
  expect(rows).toEqual(Array.from({ length: 2 }, () => ({ by_kind: 'bot', by_name: bot.id })))
  expect((await bot.call('POST', '/bot/v1/players/8/entries', round)).body).toMatchObject({ isFirst: true, balance: 2.5 })
  await expectWhole(app, 0, 3)
})

test('a reference with a composed letter is the same as the one with a combining character', async () => {
  const { bot } = await gameApp()
  expect((await bot.call('POST', PATH, { ...round, reference: 'caf\u00e9' })).body).toMatchObject({ isFirst: true })
  expect((await bot.call('POST', PATH, { ...round, reference: 'cafe\u0301' })).body).toMatchObject({
    isFirst: false,
    balance: 3.5,
  })
})

test('design §7 amounts are added exactly as decimals', async () => {
  const { app, bot } = await gameApp()
  for (const [n, amount] of [0.1, 0.2, -1e-7, 123_456.789].entries())
    expect((await bot.call('POST', PATH, { ...round, amount, reference: `${n}` })).body.entry.amount).toBe(amount)
  expect((await bot.call('POST', PATH, { ...round, amount: -123_458.0889999, reference: 'all' })).body.balance).toBe(0)
  await expectWhole(app, 0, 6)
})

test.each([
  ['different keys', (n: number) => `key-${n}`],
  ['no key', () => undefined],
])(
  'design §8 one of 20 simultaneous entries on two servers with %s is written, and all get the same entry',
  async (_what, key) => {
    const game = await gameApp()
    const answers = await raceForBalance(game.app, game.bot, PATH, (n) => ({ body: round, key: key(n) }))
    expect(new Set(answers.map(({ status }) => status)), answers[0]!.text).toEqual(new Set([200]))
    expect(new Set(answers.map(({ body }) => body.entry?.id))).toEqual(new Set(['7-2']))
    expect(answers.filter(({ body }) => body.isFirst)).toHaveLength(1)
    await expectWhole(game.app, 3.5, 2)
  },
)

test('design §8 one of 20 simultaneous entries on two servers with one key is written, and all get its answer byte for byte', async () => {
  const game = await gameApp()
  const answers = await raceForBalance(game.app, game.bot, PATH, () => ({ body: round, key: 'k' }))
  expect(answers[0]).toMatchObject({ status: 200, body: { isFirst: true, entry: { id: '7-2' } } })
  expect(new Set(answers.map(({ text }) => text)).size).toBe(1)
  await expectWhole(game.app, 3.5, 2)
})

test('design §8 of 20 simultaneous debits only those that the balance covers are written, and it never falls below 0', async () => {
  const game = await gameApp()
  await game.bot.call('POST', PATH, { ...round, amount: 6.5 })
  const answers = await raceForBalance(game.app, game.bot, PATH, (n) => ({
    body: { amount: -1, cause: 'round', reference: `debit-${n}` },
    key: `key-${n}`,
  }))
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(7)
  expect(new Set(answers.flatMap(({ body }) => body.code ?? []))).toEqual(new Set(['BALANCE_TOO_LOW']))
  await expectWhole(game.app, 0.5, 9)
})

test('design §8 one of 20 equal simultaneous debits of the whole balance is written, and all get the same entry', async () => {
  const game = await gameApp()
  const answers = await raceForBalance(game.app, game.bot, PATH, () => ({
    body: { amount: -1, cause: 'round', reference: 'all' },
  }))
  expect(answers.map(({ status, body }) => [status, body.entry?.id])).toEqual(Array.from({ length: 20 }, () => [200, '7-2']))
  await expectWhole(game.app, 0, 2)
})

test('design §8 a reference is never entered again: not with another amount, another key or after its key has expired', async () => {
  const { app, bot } = await gameApp()
  const first = await bot.call('POST', PATH, round, keyed('k'))
  const again = { ...first.body, isFirst: false }
  expect((await bot.call('POST', PATH, round, keyed('k'))).body).toEqual(first.body)
  expect((await bot.call('POST', PATH, round, keyed('other'))).body).toEqual(again)
  expect((await bot.call('POST', PATH, round, keyed('other'))).body).toEqual(again)
  for (const headers of [{}, keyed('third')])
    expect(await bot.call('POST', PATH, { ...round, amount: -100 }, headers)).toMatchObject({
      status: 409,
      body: { code: 'REFERENCE_REUSED' },
    })
  expect(await bot.call('POST', PATH, { ...round, reference: 'r-2' }, keyed('k'))).toMatchObject({
    status: 422,
    body: { code: 'IDEMPOTENCY_KEY_REUSED' },
  })
  await sql`update player_keys set created_at = now() - interval '24 hours'`.execute(app.database.db)
  expect((await bot.call('POST', PATH, round, keyed('k'))).body).toEqual(again)
  await sql`update player_keys set created_at = now() - interval '24 hours'`.execute(app.database.db)
  await sweepPlayerKeys(app.database)
  expect((await bot.call('POST', PATH, round, keyed('k'))).body).toEqual(again)
  await expectWhole(app, 3.5, 2)
})

test('design §8 a refused debit leaves its key and reference free', async () => {
  const { app, bot } = await gameApp()
  const debit = { amount: -3, cause: 'hat', reference: 'h' }
  expect(await bot.call('POST', PATH, debit, keyed('k'))).toMatchObject({ status: 409, body: { code: 'BALANCE_TOO_LOW' } })
  await bot.call('POST', PATH, round)
  expect((await bot.call('POST', PATH, debit, keyed('k'))).body).toMatchObject({ isFirst: true, balance: 0.5 })
  await expectWhole(app, 0.5, 3)
})

test('design §8 a balance that an import set below 0 can rise, but not fall', async () => {
  const { app, bot } = await gameApp()
  await addPlayers(app.database.db, [{ user_id: 9, balance: -5 }])
  const path = '/bot/v1/players/9/entries'
  expect((await bot.call('POST', path, round)).body).toMatchObject({ isFirst: true, balance: -2.5 })
  expect((await bot.call('POST', path, { ...round, amount: -1, reference: 'r-2' })).body.code).toBe('BALANCE_TOO_LOW')
})

type Refused = [what: string, path: string, change: Record<string, unknown>, status: number, code: string]
const refused: Refused[] = [
  ['an unknown player', '/bot/v1/players/9/entries', {}, 404, 'NO_SUCH_PLAYER'],
  ['a balance below 0', PATH, { amount: -1.5 }, 409, 'BALANCE_TOO_LOW'],
  ['a balance too large for a double', PATH, { amount: 2 ** 53 }, 409, 'BALANCE_TOO_HIGH'],
  ['an amount of 0', PATH, { amount: 0 }, 400, 'INVALID_INPUT'],
  ['an amount beyond the limits', PATH, { amount: -(2 ** 53) - 2 }, 400, 'INVALID_INPUT'],
  ['an amount as a text', PATH, { amount: '2' }, 400, 'INVALID_INPUT'],
  ['no amount', PATH, { amount: null }, 400, 'INVALID_INPUT'],
  ...['opening', 'import', 'claim', 'adjustment', 'reversal'].map((cause): Refused => [
    `the reserved cause ${cause}`,
    PATH,
    { cause },
    400,
    'INVALID_INPUT',
  ]),
  ...['', 'Round', '1st', 'a b', 'round\n', 'a'.repeat(41)].map((cause): Refused => [
    `the cause ${JSON.stringify(cause)}`,
    PATH,
    { cause },
    400,
    'INVALID_INPUT',
  ]),
  ['no reference', PATH, { reference: '' }, 400, 'INVALID_INPUT'],
  ['a long reference', PATH, { reference: 'r'.repeat(201) }, 400, 'INVALID_INPUT'],
  ['an unknown field', PATH, { reason: 'x' }, 400, 'INVALID_INPUT'],
]

test.each(refused)('design §8 %s is refused, and nothing is written', async (_what, path, change, status, code) => {
  const { app, bot } = await gameApp()
  expect(await bot.call('POST', path, { ...round, ...change }, keyed('k'))).toMatchObject({ status, body: { code } })
  expect((await sql`select user_id from player_keys`.execute(app.database.db)).rows).toEqual([])
  await expectWhole(app, 1, 1)
})

test('design §5 an amount that a double cannot represent exactly is refused', async () => {
  const { app, bot } = await gameApp()
  for (const amount of ['9007199254740993', '0.10000000000000000001', '1e400']) {
    const response = await app.fetch(PATH, {
      method: 'POST',
      headers: { ...bot.headers, 'content-type': 'application/json' },
      body: `{"amount":${amount},"cause":"round","reference":"r-1"}`,
    })
    expect(response.status, amount).toBe(400)
  }
  await expectWhole(app, 1, 1)
})

test('design §8 the longest cause and reference are stored', async () => {
  const { app, bot } = await gameApp()
  const body = { amount: 1, cause: `a${'.'.repeat(39)}`, reference: '名'.repeat(200) }
  expect((await bot.call('POST', PATH, body)).body.isFirst).toBe(true)
  expect((await bot.call('POST', PATH, body)).body.isFirst).toBe(false)
  expect((await bot.call('GET', PATH)).body.entries[0]).toMatchObject({ cause: body.cause, reference: body.reference })
  await expectWhole(app, 2, 2)
})

test('design §8 only the game’s bot can make entries, not a player’s client or a token with the scope read', async () => {
  const { app, bot } = await gameApp()
  const reader = await app.bot('reader', 'read')
  for (const path of [PATH, '/bot/v1/players/me/entries'])
    for (const client of [app.player(7), reader]) expect((await client.call('POST', path, round)).status, path).toBe(403)
  expect((await bot.call('POST', '/bot/v1/players/me/entries', round)).status).toBe(400)
  expect((await (await app.bot('admin', 'admin')).call('POST', PATH, round)).body).toMatchObject({ isFirst: true })
  await expectWhole(app, 3.5, 2)
})

test('design §8 an entry or adjustment has at most 8 decimals', async () => {
  const app = await testApp()
  const bot = await app.bot('admin', 'admin')
  await bot.call('PUT', '/bot/v1/players/7', {})
  const adjust = (amount: number) => bot.call('POST', '/bot/v1/players/7/adjustments', { amount, reason: 'x' })
  const enter = (amount: number) => bot.call('POST', PATH, { amount, cause: 'round', reference: `r${amount}` })
  for (const amount of [1e-9, 0.1 + 0.2, 0.123456789, -1e-300])
    for (const { status, body } of [await adjust(amount), await enter(amount)])
      expect([status, body.message], String(amount)).toEqual([400, 'Amount must have at most 8 decimals'])
  for (const amount of [1e-8, 12_345_678.90123456, 3]) {
    expect((await adjust(amount)).status).toBe(200)
    expect((await enter(amount)).status).toBe(200)
  }
})
