/** Keeps transactions from deadlocking: they take transaction locks, or change rows in a fixed order. */
import { type Kysely, type RawBuilder, sql, type Transaction } from 'kysely'
import { LOCKS, LOCK_SPACE, RIGHTS_SPACE } from '#src/postgres/lock-holder.ts'
import type { Tables } from './tables.ts'

/** Takes a lock exclusively until the transaction ends, and waits for it. */
export async function takeLock(
  tx: Transaction<Tables>,
  lock: 'socialPriorities' | 'dailyPriorities' | 'admins' | 'erasures' | 'fold' | 'broadcasts',
): Promise<void> {
  await sql`select pg_advisory_xact_lock(${LOCK_SPACE}::int, ${LOCKS[lock]}::int)`.execute(tx)
}

/** Makes erasures of players wait until the transaction ends, so that it writes nothing about a player who is being erased. */
export async function delayErasures(tx: Transaction<Tables>): Promise<void> {
  await sql`select pg_advisory_xact_lock_shared(${LOCK_SPACE}::int, ${LOCKS.erasures}::int)`.execute(tx)
}

/** SQL that takes the lock `changes` in shared mode until the transaction ends. A transaction that wants it exclusively waits for all of these. */
export const LOCK_CHANGES_SHARED = `select pg_advisory_xact_lock_shared(${LOCK_SPACE}, ${LOCKS.changes})`

/** Takes the lock `changes` in shared mode. */
export async function lockChangesShared(tx: Kysely<Tables>): Promise<void> {
  await sql.raw(LOCK_CHANGES_SHARED).execute(tx)
}

/** SQL that takes the lock of the rights of the person `id` exclusively until the transaction ends: `lockRightsShared` then waits, and sees what it changed. */
export function lockRightsSql(id: RawBuilder<unknown>): RawBuilder<unknown> {
  return sql`pg_advisory_xact_lock(${RIGHTS_SPACE}::int, hashtext(${id}))`
}

/**
 * Keeps the rights of a person until the transaction ends. Take it right before the commit. A transaction that takes rights away waits for this
 * lock. A row lock does not suffice: PostgreSQL grants further shared row locks while an exclusive one waits.
 */
export async function lockRightsShared(tx: Kysely<Tables>, userId: string): Promise<void> {
  await sql`select pg_advisory_xact_lock_shared(${RIGHTS_SPACE}::int, hashtext(${userId}))`.execute(tx)
}

/** Takes a lock until the transaction ends, unless another transaction has it. Returns whether it did. */
export async function tryTakeLock(
  tx: Transaction<Tables>,
  lock: 'backup' | 'backupSchedule' | 'fold' | 'schedule',
): Promise<boolean> {
  const { rows } = await sql<{ taken: boolean }>`
    select pg_try_advisory_xact_lock(${LOCK_SPACE}::int, ${LOCKS[lock]}::int) as taken`.execute(tx)
  return rows[0]?.taken ?? false
}

/**
 * Makes each later `update … from` a list in the transaction change rows in the order of the list, not in the order of the table. If every
 * transaction lists rows in the order of their keys, two of them wait for each other instead of deadlocking.
 */
export async function updateInListOrder(tx: Transaction<Tables>): Promise<void> {
  await sql`select set_config('enable_hashjoin', 'off', true), set_config('enable_seqscan', 'off', true)`.execute(tx)
}
