/**
 * A player's rank by balance (design §8): 1 is the highest; of equal balances the lower id comes first, as in the list of
 * players. It is exact among the first RANKS_MAX. Beyond them nobody counts so many rows for a request: it is told from how many
 * have more by the histogram that counters keep, as of some seconds ago, and from the balance's place in its bucket.
 */
import { type Kysely, sql } from 'kysely'
import { IS_BLOCKED } from './blocks.ts'
import { type BalanceBucket, balanceBucketSql, balanceNamesFrom, balancesIn } from '#src/counters/counter-keys.ts'
import type { Tables } from '#src/db/tables.ts'

const RANKS_MAX = 10_000
/** With so many in higher buckets a player is not among the first, even if some of them have lost much in the last seconds. */
const SURELY_BEYOND = 2 * RANKS_MAX

export interface Rank {
  rank: number
  isExact: boolean
  /** It stands in the same row (ADR 22). */
  isBlocked: boolean
}

/** @returns null for who is no player */
export async function rankOf(db: Kysely<Tables>, userId: number): Promise<Rank | null> {
  const { rows } = await sql<{ balance: string; bucket: BalanceBucket; isBlocked: boolean }>`
    select balance::text as balance, ${sql.raw<string>(balanceBucketSql('balance'))} as bucket, ${sql.raw(IS_BLOCKED)} as "isBlocked"
      from balances where user_id = ${userId}`.execute(db)
  const [own] = rows
  if (!own) return null
  const { isBlocked } = own
  const { higher, alike } = await readHistogram(db, own.bucket)
  if (higher < SURELY_BEYOND) {
    const ahead = await countAhead(db, userId, own.balance)
    if (ahead < RANKS_MAX) return { rank: ahead + 1, isExact: true, isBlocked }
  }
  const ahead = higher + Math.floor(alike * shareAhead(Number(own.balance), own.bucket))
  return { rank: Math.max(RANKS_MAX, ahead) + 1, isExact: false, isBlocked }
}

/** How many are in higher buckets, and in this one. */
async function readHistogram(db: Kysely<Tables>, bucket: BalanceBucket): Promise<{ higher: number; alike: number }> {
  const [own, end] = balanceNamesFrom(bucket)
  const { rows } = await sql<{ higher: number; alike: number }>`
    select coalesce(sum(value) filter (where name <> ${own}), 0) as higher, coalesce(sum(value) filter (where name = ${own}), 0) as alike
      from counters where name >= ${own} and name < ${end}`.execute(db)
  return rows[0]!
}

async function countAhead(db: Kysely<Tables>, userId: number, balance: string): Promise<number> {
  const { rows } = await sql<{ ahead: number }>`
    select count(*) as ahead from (select user_id from balances
      where balance >= ${balance}::numeric and (balance > ${balance}::numeric or user_id < ${userId})
      order by balance desc, user_id limit ${RANKS_MAX}) as ahead`.execute(db)
  return rows[0]!.ahead
}

/** The part of a bucket that is ahead of a balance, as if its whole balances were all as frequent. */
function shareAhead(balance: number, bucket: BalanceBucket): number {
  const range = balancesIn(bucket)
  return range ? Math.max(0, range.low + range.width - 1 - balance) / range.width : 0
}
