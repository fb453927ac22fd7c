/** Ranks: exact among the first 10,000, and estimated from the histogram of balances beyond. */
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { giveBalances } from '#test/players.ts'
import { testDatabase } from '#test/test-database.ts'
import { foldCounters } from '#src/counters/counters.ts'
import { changeBlocks } from './blocks.ts'
import { rankOf } from './ranks.ts'

const database = await testDatabase()
const { db } = database
const PLAYERS = 30_000
/** Every other player has a balance of 0. */
const BALANCE = 'case when telegram_users.user_id % 2 = 0 then 0 else 1000000 - telegram_users.user_id * 33.25 end'

/** Returns the ranks counted row by row. */
async function ranksCounted(): Promise<Map<number, number>> {
  const { rows } = await sql<{ id: number; rank: number }>`
    select user_id as id, row_number() over (order by balance desc, user_id) as rank from balances`.execute(db)
  return new Map(rows.map(({ id, rank }) => [id, rank]))
}

test('design §8 a rank is exact among the first 10,000 and nearly right beyond; players with 0 rank behind all others', async () => {
  await sql`insert into telegram_users (user_id) select n from generate_series(1, ${PLAYERS}::int) n`.execute(db)
  await giveBalances(db, BALANCE)
  await foldCounters(database)
  const ranks = await ranksCounted()
  for (const userId of [1, 9_999, 19_997, 19_999])
    expect(await rankOf(db, userId)).toEqual({ rank: ranks.get(userId), isExact: true, isBlocked: false })
  for (const userId of [20_001, 24_001, 29_999]) {
    const estimate = await rankOf(db, userId)
    const counted = ranks.get(userId)!
    expect(estimate).toMatchObject({ isExact: false, isBlocked: false })
    expect(Math.abs(estimate!.rank! - counted) / counted).toBeLessThan(0.02)
  }
  for (const userId of [2, PLAYERS])
    expect(await rankOf(db, userId)).toEqual({ rank: PLAYERS / 2 + 1, isExact: false, isBlocked: false })

  // Even if the histogram is empty.
  await sql`delete from counters`.execute(db)
  expect(await rankOf(db, 19_999)).toEqual({ rank: 10_000, isExact: true, isBlocked: false })
  expect(await rankOf(db, 24_001)).toEqual({ rank: 10_001, isExact: false, isBlocked: false })
  expect(await rankOf(db, 0)).toBeNull()
})

test('design §8 blocked players have no rank, and all others move up, also where ranks are estimated', async () => {
  await sql`insert into telegram_users (user_id) select n from generate_series(1, ${PLAYERS}::int) n`.execute(db)
  await giveBalances(db, '1000000 - telegram_users.user_id * 33.25')
  await foldCounters(database)
  // Half of the first 24,000, which are more than the number of players from which ranks are estimated.
  const blocked = Array.from({ length: 12_000 }, (_, n) => 2 * n + 1)
  const change = (before: string | null, after: string | null) =>
    db.transaction().execute((tx) =>
      changeBlocks(
        tx,
        blocked.map((userId) => ({ userId, before, beforeBy: null, after })),
        null,
      ),
    )
  expect((await change(null, 'x')).size).toBe(blocked.length)
  await foldCounters(database)
  const { rows } = await sql<{ id: number; rank: number }>`
    select user_id as id, row_number() over (order by balance desc, user_id) as rank
      from balances where blocked_at is null`.execute(db)
  const ranks = new Map(rows.map(({ id, rank }) => [id, rank]))
  for (const userId of [1, 23_999]) expect(await rankOf(db, userId)).toEqual({ rank: null, isExact: false, isBlocked: true })
  expect(await rankOf(db, 2)).toEqual({ rank: 1, isExact: true, isBlocked: false })
  for (const userId of [10_002, 19_998, 20_000])
    expect(await rankOf(db, userId)).toEqual({ rank: ranks.get(userId), isExact: true, isBlocked: false })
  for (const userId of [20_002, 24_001, 29_999]) {
    const estimate = await rankOf(db, userId)
    const counted = ranks.get(userId)!
    expect(estimate).toMatchObject({ isExact: false, isBlocked: false })
    expect(Math.abs(estimate!.rank! - counted) / counted).toBeLessThan(0.02)
  }

  // Unblocked, they have their ranks again.
  await change('x', null)
  await foldCounters(database)
  expect(await rankOf(db, 1)).toEqual({ rank: 1, isExact: true, isBlocked: false })
  expect(await rankOf(db, 2)).toEqual({ rank: 2, isExact: true, isBlocked: false })
})
