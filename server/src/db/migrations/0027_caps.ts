/** What each cause with a cap has given a player on one day stands beside the balance. A server of the version before goes on without it. */
import { type Kysely, sql } from 'kysely'

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table balances add column given jsonb`.execute(db)
}
