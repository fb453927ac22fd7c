/**
 * Blocked players (ADR 22). The block is stored in the row of the balance. A claim or an entry locks that row, so it always sees
 * the block.
 */
import { sql, type Transaction } from 'kysely'
import { type BalanceBucket, balanceBucketSql } from '#src/counters/counter-keys.ts'
import { addDelta, addToCounters, type Deltas } from '#src/counters/counters.ts'
import { databaseNow } from '#src/db/moments.ts'
import type { Tables } from '#src/db/tables.ts'
import { updateInListOrder } from '#src/db/transaction-locks.ts'

export interface BlockChange {
  userId: number
  /** The expected reason of the current block, null for none. A player with another reason by then is not changed. */
  before: string | null
  /** The id of the user who is expected to have blocked the player, null for none. A block by another user is not changed. */
  beforeBy: string | null
  after: string | null
}

/** SQL conditions on a row of `balances`: the player is blocked, or is not. */
export const IS_BLOCKED = 'blocked_at is not null'
export const IS_OPEN = 'blocked_at is null'

/**
 * Blocks and unblocks players, which takes them out of the histogram of balances or puts them back.
 * @param by the id of the user who blocks or unblocks
 * @returns the ids of the changed players
 */
export async function changeBlocks(
  tx: Transaction<Tables>,
  changes: readonly BlockChange[],
  by: string | null,
): Promise<Set<number>> {
  if (changes.length === 0) return new Set()
  const now = await databaseNow(tx)
  await updateInListOrder(tx)
  const { rows } = await sql<{ id: number; bucket: BalanceBucket }>`
    with wanted as materialized (
      select * from unnest(${changes.map(({ userId }) => userId)}::bigint[], ${changes.map(({ before }) => before)}::text[],
                           ${changes.map(({ beforeBy }) => beforeBy)}::text[], ${changes.map(({ after }) => after)}::text[]) as named (id, before, before_by, after)
       order by id)
    update balances set block_reason = wanted.after, blocked_by = case when wanted.after is not null then ${by}::text end,
           blocked_at = case when wanted.after is not null then ${now}::timestamptz end
      from wanted where balances.user_id = wanted.id and block_reason is not distinct from wanted.before
       and blocked_by is not distinct from wanted.before_by
    returning balances.user_id as id, ${sql.raw<string>(balanceBucketSql('balances.balance'))} as bucket`.execute(tx)
  const bucketOf = new Map(rows.map(({ id, bucket }) => [id, bucket]))
  const deltas: Deltas = new Map()
  for (const { userId, before, after } of changes) {
    const bucket = bucketOf.get(userId)
    if (bucket !== undefined) addDelta(deltas, { of: 'balances', bucket }, Number(after === null) - Number(before === null))
  }
  await addToCounters(tx, deltas)
  return new Set(bucketOf.keys())
}
