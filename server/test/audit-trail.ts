/** Reads the audit trail for tests: all entries, sealed or not, in the order in which they were written. */
import { type Kysely, sql } from 'kysely'
import type { AuditChanges } from '@arcade/contract/audit/fields'
import type { Tables } from '#src/db/tables.ts'

export interface TrailEntry {
  actId: string
  action: string
  actorKind: string
  actorId: string | null
  actorName: string | null
  address: string | null
  origin: string | null
  recordKind: string | null
  recordId: string | null
  recordName: string | null
  changes: AuditChanges | null
  detail: Record<string, unknown> | null
}

/** @param action only entries of this action */
export async function auditTrail(db: Kysely<Tables>, action?: string): Promise<TrailEntry[]> {
  const { rows } = await sql<TrailEntry>`
    select act_id as "actId", action, actor_kind as "actorKind", actor_id as "actorId", actor_name as "actorName", address, origin,
           record_kind as "recordKind", record_id as "recordId", record_name as "recordName", changes, detail
      from audit_trail where ${action ?? null}::text is null or action = ${action ?? null} order by at, id`.execute(db)
  return rows
}
