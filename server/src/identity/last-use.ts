/** Stores when and from where sessions were last used, and when their users were last seen. */
import { type Kysely, sql } from 'kysely'
import type { Tables } from '#src/db/tables.ts'

/** Interval at which the last use of a session, and of its user, is stored while the address stays the same. */
export const TOUCH_EVERY_SECONDS = 10 * 60

/** Stores time and address of a session's last use. A failure, such as a full disk, must not fail the request. */
export async function touch(
  db: Kysely<Tables>,
  hash: Buffer,
  { userId, address }: { userId: string; address: string | undefined },
): Promise<void> {
  const lastUse = { last_seen_at: sql<Date>`now()`, ...(address !== undefined && { last_address: address }) }
  // Two statements, so that none waits for a row while it holds the lock of another.
  const written = db.updateTable('sessions').set(lastUse).where('token_hash', '=', hash).execute()
  await written.then(() => writeLastSeen(db, userId)).catch(() => {})
}

/** Stores when a user was last seen, once for several simultaneous uses. Overwrites a future time, stored before the clock was set back. */
export async function writeLastSeen(db: Kysely<Tables>, userId: string): Promise<void> {
  await sql`update users set last_seen_at = now()
    where id = ${userId} and (last_seen_at between now() - make_interval(secs => ${TOUCH_EVERY_SECONDS}) and now()) is not true`.execute(
    db,
  )
}
