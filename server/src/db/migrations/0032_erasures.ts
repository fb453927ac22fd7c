/**
 * What erasing a person needs: an index of the ledger entries that users wrote, which are few, and no rows in the log that the audit has
 * replaced and copied (migration 0011), because they name people, too.
 */
import { type Kysely, sql } from 'kysely'

export const isResumable = true

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`create index concurrently if not exists ledger_entries_by_user on ledger_entries (by_id) where by_kind = 'user'`.execute(
    db,
  )
  await sql`delete from audit_log`.execute(db)
}
