/**
 * An active announcement carries the number of its activation, so that a player has news exactly while one carries a higher number than
 * they have seen. Those that are active already get the present number. A server of the version before goes on without it.
 */
import { type Kysely, sql } from 'kysely'

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table announcements add column news bigint not null default 0`.execute(db)
  await sql`update status_epoch set epoch = greatest(epoch, 1) where exists (select from announcements where status)`.execute(db)
  await sql`update announcements set news = (select epoch from status_epoch) where status`.execute(db)
}
