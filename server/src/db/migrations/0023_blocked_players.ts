/**
 * Whether a player is blocked, by whom (an id of users) and why, in the row of the balance that the block protects. A server of the
 * previous version keeps working without it.
 */
import { type Kysely, sql } from 'kysely'

export const isResumable = true

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table balances add column if not exists blocked_at timestamptz, add column if not exists blocked_by text,
    add column if not exists block_reason text`.execute(db)
  await sql`create index concurrently if not exists balances_blocked on balances (user_id) where blocked_at is not null`.execute(
    db,
  )
}
