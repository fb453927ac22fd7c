/** `arcade reconcile`: reports every way in which a balance and its entries can differ, and nothing else. */
import { sql } from 'kysely'
import { beforeEach, expect, onTestFinished, test } from 'vitest'
import type { Database } from '#src/db/database.ts'
import { reconcile } from '#src/ledger/reconcile.ts'
import { sentStatements, type SentStatement } from '#src/postgres/connections.ts'
import { addPlayers } from '#test/players.ts'
import { arcade } from '#test/run-arcade.ts'
import { testDatabase } from '#test/test-database.ts'

let database: Database

beforeEach(async () => {
  database = await testDatabase()
  await addPlayers(
    database.db,
    Array.from({ length: 50 }, (_, n) => ({ user_id: n + 1, balance: [0, 5, 0.25, -3][n % 4]! })),
  )
  for (const amount of [7, 0.1, -7.1])
    for (const statement of [
      `update balances set balance = balance + ${amount}, entries = entries + 1 where user_id < 30`,
      `insert into ledger_entries (user_id, seq, amount, cause, balance) select user_id, entries, ${amount}, 'import', balance from balances where user_id < 30`,
    ])
      await sql.raw(statement).execute(database.db)
})

async function faults(): Promise<string[]> {
  const found: string[] = []
  await reconcile(database, ({ userId, text }) => found.push(`${userId}: ${text}`))
  return found
}

test('design §7 a correct ledger has no differences, and the command exits with 0', async () => {
  expect(await faults()).toEqual([])
  expect(await arcade('reconcile')).toEqual({
    code: 0,
    output: 'Every balance is the sum of its entries: 50 players, 124 entries.\n',
  })
})

test('design §7 a correct ledger is proved by one statement, without checking players one by one', async () => {
  const sent: string[] = []
  const listen = (statement: unknown): void => void sent.push((statement as SentStatement).text)
  sentStatements.subscribe(listen)
  onTestFinished(() => {
    sentStatements.unsubscribe(listen)
  })
  await faults()
  expect(sent.filter((text) => text.includes('ledger_entries'))).toHaveLength(1)
})

const broken: [what: string, statement: string, faults: string[]][] = [
  ['a balance', 'update balances set balance = 6 where user_id = 2', ['2: the balance is 6, the entries add up to 5.0']],
  [
    'a balance beyond what a double holds',
    'update balances set balance = balance + 0.00000000000000001 where user_id = 34',
    ['34: the balance is 5.00000000000000001, the entries add up to 5'],
  ],
  ['a number of entries', 'update balances set entries = 9 where user_id = 34', ['34: there should be 9 entries, there are 1']],
  [
    'an entry in the middle',
    'delete from ledger_entries where user_id = 2 and seq = 2',
    [
      '2: the balance is 5.0, the entries add up to -2.0',
      '2: there should be 4 entries, there are 3',
      '2: the last entry has the number 4, there are 3',
      '2: the balance after entry 3 is not the balance before it plus its amount',
    ],
  ],
  [
    'the number of an entry after which nothing is left',
    'update ledger_entries set seq = 4 where user_id = 1 and seq = 3',
    ['1: the last entry has the number 4, there are 3'],
  ],
  [
    'an amount',
    'update ledger_entries set amount = 8 where user_id = 3 and seq = 2',
    [
      '3: the balance is 0.25, the entries add up to 1.25',
      '3: the balance after entry 2 is not the balance before it plus its amount',
    ],
  ],
  [
    'the balance after an entry',
    'update ledger_entries set balance = 99 where user_id = 4 and seq = 2',
    ['4: the balance after entry 2 is not the balance before it plus its amount'],
  ],
  [
    'an entry of nobody',
    `insert into ledger_entries (user_id, seq, amount, cause, balance) values (51, 1, 5, 'import', 5)`,
    ['51: there is no such player', '51: there is no balance'],
  ],
  ['a balance that is gone', 'delete from balances where user_id = 33', ['33: there is no balance']],
  ['a player who is gone', 'delete from telegram_users where user_id = 33', ['33: there is no such player']],
]

test.each(broken)('design §7 a difference is reported: %s', async (_what, statement, expected) => {
  await sql.raw(statement).execute(database.db)
  expect(await faults()).toEqual(expected)
})

test('design §7 differences beyond one batch are all reported, and the command exits with 3', async () => {
  await addPlayers(
    database.db,
    Array.from({ length: 1_200 }, (_, n) => ({ user_id: n + 1_000 })),
  )
  await sql`update balances set balance = 1 where user_id >= 1000`.execute(database.db)
  const { code, output } = await arcade('reconcile')
  expect(code).toBe(3)
  const lines = output.trimEnd().split('\n')
  expect(lines).toHaveLength(1_201)
  expect(lines.at(-1)).toBe('1200 differences were found: 1250 players, 124 entries.')
})
