/**
 * A player's rank by balance. Rank 1 is the highest balance; of equal balances the lower id comes first, as in the list of
 * players. Blocked players have no rank, and those behind them move up. The rank is exact among the first MAX_RANKS. Beyond that it is
 * estimated from the histogram of balances in the counters, which is some seconds old, and from the balance's
 * position in its bucket, because counting the rows would take too long.
 */
import { type Kysely, sql } from 'kysely'
import { IS_BLOCKED, IS_OPEN } from './blocks.ts'
import { type BalanceBucket, balanceBucketSql, balanceNamesFrom, balancesIn } from '#src/counters/counter-keys.ts'
import type { Tables } from '#src/db/tables.ts'

const MAX_RANKS = 10_000
/** With this many players in higher buckets, a player is surely not among the first, even if some of them have just lost points. */
const SURELY_BEYOND = 2 * MAX_RANKS

export interface Rank {
  /** Null for a blocked player. */
  rank: number | null
  isExact: boolean
  /** Whether the player is blocked, which is stored in the same row (ADR 22). */
  isBlocked: boolean
}

/** @returns null if there is no such player */
export async function rankOf(db: Kysely<Tables>, userId: number): Promise<Rank | null> {
  const { rows } = await sql<{ balance: string; bucket: BalanceBucket; isBlocked: boolean }>`
    select balance::text as balance, ${sql.raw<string>(balanceBucketSql('balance'))} as bucket, ${sql.raw(IS_BLOCKED)} as "isBlocked"
      from balances where user_id = ${userId}`.execute(db)
  const [own] = rows
  if (!own) return null
  if (own.isBlocked) return { rank: null, isExact: false, isBlocked: true }
  const { higher, alike } = await readHistogram(db, own.bucket)
  if (higher < SURELY_BEYOND) {
    const ahead = await countAhead(db, userId, own.balance)
    if (ahead < MAX_RANKS) return { rank: ahead + 1, isExact: true, isBlocked: false }
  }
  const ahead = higher + Math.floor(alike * shareAhead(Number(own.balance), own.bucket))
  return { rank: Math.max(MAX_RANKS, ahead) + 1, isExact: false, isBlocked: false }
}

/** Returns the numbers of players in higher buckets and in this one. */
async function readHistogram(db: Kysely<Tables>, bucket: BalanceBucket): Promise<{ higher: number; alike: number }> {
  const [own, end] = balanceNamesFrom(bucket)
  const { rows } = await sql<{ higher: number; alike: number }>`
    select coalesce(sum(value) filter (where name <> ${own}), 0) as higher, coalesce(sum(value) filter (where name = ${own}), 0) as alike
      from counters where name >= ${own} and name < ${end}`.execute(db)
  return rows[0]!
}

/** Counts players with a higher rank up to MAX_RANKS, by the index `balances_open_by_balance`. */
async function countAhead(db: Kysely<Tables>, userId: number, balance: string): Promise<number> {
  const { rows } = await sql<{ ahead: number }>`
    select count(*) as ahead from (select user_id from balances where ${sql.raw(IS_OPEN)}
        and balance >= ${balance}::numeric and (balance > ${balance}::numeric or user_id < ${userId})
      order by balance desc, user_id limit ${MAX_RANKS}) as ahead`.execute(db)
  return rows[0]!.ahead
}

/** Returns the share of a bucket that is above a balance, assuming that all integers in it are equally frequent. */
function shareAhead(balance: number, bucket: BalanceBucket): number {
  const range = balancesIn(bucket)
  return range ? Math.max(0, range.low + range.width - 1 - balance) / range.width : 0
}
