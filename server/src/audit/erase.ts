/** Erases a person from the audit trail: the acts and the proof of the chain stay; the person's names and data go. */
import { sql, type Transaction } from 'kysely'
import type { RecordKind } from '@arcade/contract/audit/fields'
import type { Tables } from '#src/db/tables.ts'
import { type Act, audit } from './audit.ts'

/** The kinds of records that describe people. */
export type PersonKind = Extract<RecordKind, 'user' | 'player'>

/**
 * Erases a person's data from entries, both as their actor and as their record, and returns the number of entries. Commitments stay.
 * @param anonymousId the id that the entries name instead, so that a person's entries can still be told to belong together
 */
export async function erasePerson(
  tx: Transaction<Tables>,
  act: Act,
  { kind, id, anonymousId }: { kind: PersonKind; id: string; anonymousId: string },
): Promise<number> {
  let entries = 0
  for (const table of ['audit_open', 'audit_entries']) {
    const asActor = await sql`
      update ${sql.table(table)} set actor_salt = null, actor_id = ${anonymousId}, actor_name = null, address = null, origin = null, device = null
       where actor_kind = ${kind} and actor_id = ${id} and actor_salt is not null`.execute(tx)
    const asRecord = await sql`
      update ${sql.table(table)} set record_salt = null, record_id = ${anonymousId}, record_name = null, changes = null, detail = null
       where record_kind = ${kind} and record_id = ${id} and record_salt is not null`.execute(tx)
    entries += Number(asActor.numAffectedRows) + Number(asRecord.numAffectedRows)
  }
  await audit(tx, act, 'audit.erase', { record: { kind, id: anonymousId }, detail: { entries } })
  return entries
}

/** Erases a person's row from entries about a selection of rows, such as an export that names the rows it contains. */
export async function eraseMentions(
  tx: Transaction<Tables>,
  act: Act,
  { list, id }: { list: string; id: string },
): Promise<void> {
  let entries = 0
  for (const table of ['audit_open', 'audit_entries']) {
    const { numAffectedRows } = await sql`
      update ${sql.table(table)} set record_salt = null, record_name = null, changes = null, detail = null
       where action = 'export' and record_kind = 'list' and record_id = ${list} and record_salt is not null and detail::jsonb -> 'ids' ? ${id}`.execute(
      tx,
    )
    entries += Number(numAffectedRows)
  }
  if (entries > 0) await audit(tx, act, 'audit.erase', { record: { kind: 'list', id: list }, detail: { entries } })
}
