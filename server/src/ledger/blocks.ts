/**
 * Who is blocked (ADR 22): the reason stands in the row of the balance, which whoever moves it holds, so a block that is there when a claim
 * or an entry gets the row refuses it.
 */
import { sql, type Transaction } from 'kysely'
import { databaseNow } from '#src/db/moments.ts'
import type { Tables } from '#src/db/tables.ts'
import { changeAsNamed } from '#src/db/turns.ts'

export interface BlockChange {
  userId: number
  /** Why the player is blocked now; null if he is not. One who is so for another reason by then is left alone. */
  before: string | null
  /** Who has blocked the player; null if nobody has. A block of somebody else is left alone, too. */
  beforeBy: string | null
  after: string | null
}

/** SQL that holds for the balance of a player who can be given nothing, and of one who can. */
export const IS_BLOCKED = 'blocked_at is not null'
export const IS_OPEN = 'blocked_at is null'

/** @param by the id of the person who says so; the name is looked up by it @returns the players that were changed */
export async function changeBlocks(
  tx: Transaction<Tables>,
  changes: readonly BlockChange[],
  by: string | null,
): Promise<Set<number>> {
  if (changes.length === 0) return new Set()
  const now = await databaseNow(tx)
  await changeAsNamed(tx)
  const { rows } = await sql<{ id: number }>`
    with wanted as materialized (
      select * from unnest(${changes.map(({ userId }) => userId)}::bigint[], ${changes.map(({ before }) => before)}::text[],
                           ${changes.map(({ beforeBy }) => beforeBy)}::text[], ${changes.map(({ after }) => after)}::text[]) as named (id, before, before_by, after)
       order by id)
    update balances set block_reason = wanted.after, blocked_by = case when wanted.after is not null then ${by}::text end,
           blocked_at = case when wanted.after is not null then ${now}::timestamptz end
      from wanted where balances.user_id = wanted.id and block_reason is not distinct from wanted.before
       and blocked_by is not distinct from wanted.before_by
    returning balances.user_id as id`.execute(tx)
  return new Set(rows.map(({ id }) => id))
}
