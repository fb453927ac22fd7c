/** Transactions that do not get stuck on each other (design §4): they take turns, or change rows in one order. */
import { type Kysely, sql, type Transaction } from 'kysely'
import { LOCKS, LOCK_SPACE } from '#src/postgres/lock-holder.ts'
import type { Tables } from './tables.ts'

/** Waits for this transaction's turn, which lasts until it ends. */
export async function takeTurn(tx: Transaction<Tables>, turn: 'socialPriorities' | 'dailyPriorities' | 'admins'): Promise<void> {
  await sql`select pg_advisory_xact_lock(${LOCK_SPACE}::int, ${LOCKS[turn]}::int)`.execute(tx)
}

/** SQL that takes part in the turn of changes until the transaction ends, with others who share it; whoever wants it alone waits for all of them. */
export const SHARE_CHANGES = `select pg_advisory_xact_lock_shared(${LOCK_SPACE}, ${LOCKS.changes})`

/** The same as a statement of its own. */
export async function shareChanges(tx: Kysely<Tables>): Promise<void> {
  await sql.raw(SHARE_CHANGES).execute(tx)
}

/** Takes this turn until the transaction ends, unless somebody else has it. */
export async function tryTurn(tx: Transaction<Tables>, turn: 'backupSchedule' | 'fold'): Promise<boolean> {
  const { rows } = await sql<{ taken: boolean }>`
    select pg_try_advisory_xact_lock(${LOCK_SPACE}::int, ${LOCKS[turn]}::int) as taken`.execute(tx)
  return rows[0]?.taken ?? false
}

/**
 * From here on, an `update … from` a list changes rows one after the other as the list names them, and not as they lie in the table. Whoever
 * changes many rows names them in the order of their keys: then two wait for each other, and never each for a row that the other holds.
 */
export async function changeAsNamed(tx: Transaction<Tables>): Promise<void> {
  await sql`select set_config('enable_hashjoin', 'off', true), set_config('enable_seqscan', 'off', true)`.execute(tx)
}
