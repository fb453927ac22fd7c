/**
 * Searching the audit for reasons: an index of the beginnings of the reasons that people gave for an adjustment, a reversal or a block. It is
 * built while other servers write. A server of the previous version keeps working.
 */
import { type Kysely, sql } from 'kysely'
import { auditReasonSql } from '#src/db/audit-reasons.ts'
import { lowerSql } from '#src/db/collations.ts'

export const isResumable = true

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql
    .raw(
      `create index concurrently if not exists audit_entries_reason_start on audit_entries (${lowerSql(auditReasonSql)} text_pattern_ops)`,
    )
    .execute(db)
}
