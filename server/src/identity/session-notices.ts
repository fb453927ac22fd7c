/** Tells all processes that sessions or rights have changed, and waits for acts that are being committed. */
import { type Kysely, sql } from 'kysely'
import type { Tables } from '#src/db/tables.ts'
import { lockRightsSql } from '#src/db/transaction-locks.ts'

export const SESSIONS_CHANNEL = 'sessions'

/** Makes the caches of all processes forget a user, or EVERYBODY, when the transaction commits. */
export async function notifyOf(tx: Kysely<Tables>, userId: string): Promise<void> {
  await sql`select pg_notify(${SESSIONS_CHANNEL}, ${userId})`.execute(tx)
}

/**
 * Like `notifyOf`, for a user whose sessions have ended. It also waits for acts of the user that are just being committed; any later one is refused
 * (still-signed-in.ts). Run it when the transaction has all other locks: those acts may wait for it.
 */
export async function notifyAndWaitForActs(tx: Kysely<Tables>, userId: string): Promise<void> {
  await sql`select pg_notify(${SESSIONS_CHANNEL}, ${userId}), ${lockRightsSql(sql`${userId}`)}`.execute(tx)
}
