/**
 * An active announcement has the number of its activation. A player has news if an active announcement has a higher number than the player
 * has seen. Announcements that are already active get the current number. A server of the previous version keeps working without it.
 */
import { type Kysely, sql } from 'kysely'

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table announcements add column news bigint not null default 0`.execute(db)
  await sql`update status_epoch set epoch = greatest(epoch, 1) where exists (select from announcements where status)`.execute(db)
  await sql`update announcements set news = (select epoch from status_epoch) where status`.execute(db)
}
