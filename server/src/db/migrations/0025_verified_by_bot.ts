/**
 * Marks tasks and announcements that only the bot may claim for a player, also those in the trash. A server of the previous version keeps
 * working without it.
 */
import { type Kysely, sql } from 'kysely'

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const table of ['tasks', 'announcements'])
    await sql`alter table ${sql.table(table)} add column verified_by_bot boolean not null default false`.execute(db)
  await sql`update trash set content = jsonb_set(content, '{row,verified_by_bot}', 'false')
    where kind in ('socialTask', 'dailyTask', 'announcement')`.execute(db)
}
