/**
 * The balance in the answer to an idempotency key, if the answer has no ledger entry. A server of the previous version keeps working
 * without it.
 */
import { type Kysely, sql } from 'kysely'

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table player_keys add column balance numeric`.execute(db)
}
