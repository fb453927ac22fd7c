/** Erases personal data from the audit trail: the acts and the proof of the chain stay; names, ids and texts go. */
import { type RawBuilder, sql, type Transaction } from 'kysely'
import type { AuditAction, AuditChanges, RecordKind } from '@arcade/contract/audit/fields'
import type { Tables } from '#src/db/tables.ts'
import { type Act, audit } from './audit.ts'

/** The kinds of records that describe people. */
export type PersonKind = Extract<RecordKind, 'user' | 'player'>

/** The tables of entries, with their keys. Open entries come first, because sealing moves entries to the second table. */
const entryTables = { audit_open: { key: 'id', type: 'uuid' }, audit_entries: { key: 'seq', type: 'bigint' } } as const

/**
 * Erases a person's data from entries, both as their actor and as their record, and returns the number of entries. Commitments stay.
 * @param anonymousId the id that the entries name instead, so that a person's entries can still be seen to belong together
 */
export async function erasePerson(
  tx: Transaction<Tables>,
  act: Act,
  { kind, id, anonymousId }: { kind: PersonKind; id: string; anonymousId: string },
): Promise<number> {
  let entries = 0
  for (const table of Object.keys(entryTables)) {
    // A guest who tried to sign in as the person was most likely the person, at this address.
    const asActor = await sql`
      update ${sql.table(table)} set actor_salt = null, actor_id = ${anonymousId}, actor_name = null, address = null, origin = null, device = null
       where (actor_kind = ${kind} and actor_id = ${id}) or (actor_kind = 'guest' and record_kind = ${kind} and record_id = ${id})`.execute(
      tx,
    )
    // The erasure of another person may have removed the text of an entry, which then still has the id.
    const asRecord = await sql`
      update ${sql.table(table)} set record_salt = null, record_id = ${anonymousId}, record_name = null, changes = null, detail = null
       where record_kind = ${kind} and record_id = ${id}`.execute(tx)
    entries += Number(asActor.numAffectedRows) + Number(asRecord.numAffectedRows)
  }
  await audit(tx, act, 'audit.erase', { record: { kind, id: anonymousId }, detail: { entries } })
  return entries
}

/** An entry whose record can be erased. */
export interface ErasableEntry {
  table: keyof typeof entryTables
  /** Its key in that table. */
  key: string
  actId: string
  action: AuditAction
  recordKind: RecordKind
  recordId: string
  recordName: string | null
  changes: AuditChanges | null
  detail: Record<string, unknown> | null
}

/** Returns the entries that a condition holds for and whose record is not erased yet. They are not sealed until the transaction ends. */
export async function lockErasable(tx: Transaction<Tables>, where: RawBuilder<boolean>): Promise<ErasableEntry[]> {
  await sql`select from audit_head for update`.execute(tx)
  const found: ErasableEntry[] = []
  for (const [table, { key }] of Object.entries(entryTables)) {
    const { rows } = await sql<ErasableEntry>`
      select ${table}::text as "table", ${sql.ref(key)}::text as key, act_id as "actId", action, record_kind as "recordKind", record_id as "recordId",
             record_name as "recordName", changes, detail
        from ${sql.table(table)} where record_salt is not null and record_id is not null and ${where}`.execute(tx)
    found.push(...rows)
  }
  return found
}

/** Erases what these entries say about their records. The kinds and ids of the records stay. */
export async function eraseEntries(tx: Transaction<Tables>, act: Act, entries: readonly ErasableEntry[]): Promise<void> {
  for (const [table, { key, type }] of Object.entries(entryTables)) {
    const keys = entries.filter((entry) => entry.table === table).map((entry) => entry.key)
    if (keys.length === 0) continue
    await sql`
      update ${sql.table(table)} set record_salt = null, record_name = null, changes = null, detail = null
       where ${sql.ref(key)} = any(${keys}::${sql.raw(type)}[])`.execute(tx)
  }
  const ofRecords = Map.groupBy(entries, ({ recordKind, recordId }) => `${recordKind} ${recordId}`)
  const erased = Array.from(ofRecords.values(), (some) => ({
    record: { kind: some[0]!.recordKind, id: some[0]!.recordId },
    detail: { entries: some.length },
  }))
  await audit(tx, act, 'audit.erase', erased)
}

/** Returns the texts that a field had before and after an act. */
export function textsOf(changes: AuditChanges | null, field: string): string[] {
  const pair: readonly unknown[] = changes?.[field] ?? []
  return pair.filter((value): value is string => typeof value === 'string')
}
