/** A sweep marks the file that it removes, so that it holds no lock while it waits for the store. */
import { type Kysely, sql } from 'kysely'

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table file_removals add column is_removing boolean not null default false`.execute(db)
}
