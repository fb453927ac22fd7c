import { sql } from 'kysely'
import { expect, test } from 'vitest'
import type { StoredName } from '@arcade/contract/entity'
import type { playerFields } from '@arcade/contract/players/fields'
import type { CountedItem } from '#src/counters/counter-keys.ts'
import { readCounters } from '#src/counters/counters.ts'
import { activityCounters, countedActivity } from '#test/activity.ts'
import { openAgain, testDatabase } from '#test/test-database.ts'
import { addPlayers } from '#test/players.ts'
import { SEED_BASE, seed, shares } from './seed.ts'

async function digest(
  table: 'telegram_users' | 'balances' | 'ledger_entries' | 'participations',
  order: string,
): Promise<unknown> {
  const { db } = await testDatabase()
  const { rows } =
    await sql`select count(*) as count, md5(string_agg(t::text, '|' order by ${sql.raw(order)})) as digest from ${sql.table(table)} t`.execute(
      db,
    )
  return rows[0]
}

test('design §8 seeded players look realistic, and all are counted', async () => {
  const database = await testDatabase()
  const report = await seed({ database, telegramUsers: 4_000, participations: 0 })
  expect(report).toMatchObject({ telegramUsers: 4_000, participations: 0 })
  const { rows } = await sql<Record<string, number>>`
    select count(*) as total, min(user_id) as first, max(user_id) as last, count(username) as usernames, count(distinct username) as unique_usernames,
      count(ton_wallet_address) as wallets, count(*) filter (where balance = 0) as zeros, count(distinct balance) as balances,
      max(balance) as richest, min(balance) as poorest, count(distinct first_name) as first_names,
      count(*) filter (where created_at > now() or created_at < now() - interval '13 months') as outside from telegram_users join balances using (user_id)`.execute(
    database.db,
  )
  const facts = rows[0]!
  expect(facts).toMatchObject({ total: 4_000, first: SEED_BASE + 1, last: SEED_BASE + 4_000, poorest: 0, outside: 0 })
  expect(facts['unique_usernames']).toBe(facts['usernames'])
  expect(facts['usernames']! / 4_000).toBeCloseTo(0.85, 1)
  expect(facts['wallets']! / 4_000).toBeCloseTo(0.45, 1)
  expect(facts['zeros']).toBeGreaterThan(300)
  expect(facts['balances']).toBeLessThan(3_000)
  expect(facts['richest']).toBeGreaterThan(100_000)
  expect(facts['first_names']).toBeGreaterThan(20)
  expect(await readCounters(database.db, [{ of: 'players' }])).toEqual([4_000])
})

test('design §8 seeding again adds only what is missing', async () => {
  const database = await testDatabase()
  await seed({ database, telegramUsers: 500, participations: 900 })
  const all = async () => [
    await digest('telegram_users', 'user_id'),
    await digest('balances', 'user_id'),
    await digest('ledger_entries', 'user_id, seq'),
    await digest('participations', 'user_id, kind, item_id'),
  ]
  const before = await all()
  expect(await seed({ database, telegramUsers: 500, participations: 900 })).toMatchObject({ telegramUsers: 0, participations: 0 })
  expect(await all()).toEqual(before)
  expect(await seed({ database, telegramUsers: 800, participations: 0 })).toMatchObject({ telegramUsers: 300 })
  expect(await readCounters(database.db, [{ of: 'players' }])).toEqual([800])
})

test('design §8 participations are spread over tasks and announcements, which are made if there are none', async () => {
  const database = await testDatabase()
  await seed({ database, telegramUsers: 0, participations: 5_000 })
  const { rows: kinds } = await sql`select kind, count(*) as items from history_items group by kind order by kind`.execute(
    database.db,
  )
  expect(kinds).toEqual([
    { kind: 'announcement', items: 9 },
    { kind: 'daily', items: 7 },
    { kind: 'social', items: 12 },
  ])
  const { rows } = await sql<CountedItem & { value: number }>`
    select kind, item_id as "itemId", count(*) as value from participations group by kind, item_id order by value desc`.execute(
    database.db,
  )
  expect(rows).toHaveLength(28)
  expect(rows.reduce((sum, { value }) => sum + value, 0)).toBe(5_000)
  expect(rows[0]!.value).toBeGreaterThan(1_000)
  const counters = await readCounters(
    database.db,
    rows.map(({ kind, itemId }) => ({ of: 'participants', kind, itemId })),
  )
  expect(counters).toEqual(rows.map(({ value }) => value))
})

test('design §8 existing history is used, and real players are not changed', async () => {
  const database = await testDatabase()
  await database.db
    .insertInto('history_items')
    .values({ kind: 'social', item_id: 'mine', title: 'Mine', type: 'twitter', reward: 1 })
    .execute()
  await addPlayers(database.db, [{ user_id: 7, first_name: 'Real', balance: 1 }])
  await seed({ database, telegramUsers: 10, participations: 20 })
  expect(await readCounters(database.db, [{ of: 'participants', kind: 'social', itemId: 'mine' }])).toEqual([20])
  const { rows } = await sql`
    select t.first_name = p.first_name and t.username is not distinct from p.username as same, count(*) as count
    from participations p join telegram_users t using (user_id) group by 1`.execute(database.db)
  expect(rows).toEqual([{ same: true, count: 10 }])
  expect(await database.db.selectFrom('telegram_users').select('first_name').where('user_id', '=', 7).execute()).toEqual([
    { first_name: 'Real' },
  ])
})

test('design §8 two simultaneous seeds count every row once', async () => {
  const database = await testDatabase()
  const both = await Promise.all([1, 2].map(() => seed({ database, telegramUsers: 2_000, participations: 2_000 })))
  expect(both.reduce((sum, { telegramUsers }) => sum + telegramUsers, 0)).toBe(2_000)
  expect(both.reduce((sum, { participations }) => sum + participations, 0)).toBe(2_000)
  expect(await readCounters(database.db, [{ of: 'players' }])).toEqual([2_000])
  expect(await activityCounters(database.db)).toEqual(await countedActivity(database.db))
})

test('design §8 the shares are skewed and add up', () => {
  for (const total of [0, 1, 27, 1_000_000]) expect(shares(28, total).reduce((sum, part) => sum + part, 0)).toBe(total)
  expect(shares(28, 1_000_000)[0]).toBeGreaterThan(200_000)
})

test('a field without an expression in the seed does not compile', () => {
  const values = { userId: '$3::bigint + i' }
  // @ts-expect-error every stored field of a player needs an expression
  expect(values satisfies Record<StoredName<typeof playerFields>, string>).toBe(values)
})

test('security: full disk: a seed stops before the disk is full, and continues when it is run again', async () => {
  // A command waits for locks without a limit: on a cluster two statements that add to one table run one after the other.
  const database = await openAgain({ use: 'command' })
  const rooms = [Infinity, Infinity, 0]
  const small = { ...database, writableBytes: async () => rooms.shift() ?? 0 }
  const stopping = seed({ database: small, telegramUsers: 120_000, participations: 0 })
  await expect(stopping).rejects.toThrow(/The disk is nearly full, so this stopped after (50000|100000) players,/)
  expect((await seed({ database, telegramUsers: 120_000, participations: 0 })).telegramUsers).toBe(20_000)
})
