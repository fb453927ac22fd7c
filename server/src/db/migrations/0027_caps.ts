/**
 * What each capped cause paid a player on one day, in the row of the balance. A server of the previous version keeps working without it.
 */
import { type Kysely, sql } from 'kysely'

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table balances add column given jsonb`.execute(db)
}
