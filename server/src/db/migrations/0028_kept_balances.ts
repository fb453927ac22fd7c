/** The balance that was told with a key for which there is no entry. A server of the version before goes on without it. */
import { type Kysely, sql } from 'kysely'

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table player_keys add column balance numeric`.execute(db)
}
