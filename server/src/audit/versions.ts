/** Computes earlier versions of a record: today's fields, with every later change of the audit trail undone, field by field. */
import { type Kysely, sql } from 'kysely'
import type { z } from 'zod'
import type { AuditChanges } from '@arcade/contract/audit/fields'
import { Failure } from '#src/calls.ts'
import type { Tables } from '#src/db/tables.ts'
import type { AuditRecord } from './audit.ts'

/** The parts of an audit entry that versions need. */
export interface VersionEntry {
  seq: number
  changes: AuditChanges | null
  /** The version that the act made; undefined for an act that does not record one. */
  version: number | undefined
  /** Whether a person was erased from the entry, and with them its changes. */
  isErased: boolean
}

interface Present<Row> {
  record: Pick<AuditRecord, 'kind' | 'id'>
  /** The fields that have versions; other fields are left out. */
  fields: Row
  version: number
}

/**
 * Returns the fields as they were after the entry `seq`, or before the oldest entry if `seq` is 0. The caller has locked the record's row,
 * so no entry is added during the call.
 * @throws Failure NO_SUCH_VERSION, VERSION_GAP
 */
export async function earlierVersion<Row extends object>(tx: Kysely<Tables>, present: Present<Row>, seq: number): Promise<Row> {
  const { kind, id } = present.record
  const { rows } = await sql<Omit<VersionEntry, 'version'> & { version: number | null }>`
    select seq, changes, (detail->>'version')::int as version, record_salt is null as "isErased"
      from audit_trail where record_kind = ${kind} and record_id = ${id} and seq >= ${seq}
     order by seq desc`.execute(tx)
  const entries = rows.map(({ version, ...entry }) => ({ ...entry, version: version ?? undefined }))
  return undone(present, entries, seq)
}

/** @param entries from the newest one back to the one numbered `seq`, or to the oldest one */
export function undone<Row extends object>(
  { fields, version }: Pick<Present<Row>, 'fields' | 'version'>,
  entries: readonly VersionEntry[],
  seq: number,
): Row {
  const wanted = seq === 0 ? undefined : entries.at(-1)
  if (seq !== 0 && (wanted?.seq !== seq || wanted.isErased)) throw new Failure('NO_SUCH_VERSION')
  const earlier = Object.fromEntries<unknown>(Object.entries(fields))
  let expected = version
  for (const entry of entries) {
    const changes = Object.entries(entry.changes ?? {})
    // A restore from the trash makes a version; moving a record there does not.
    const isCounted = entry.version !== undefined || changes.some(([, [, after]]) => after !== null)
    if (entry.isErased || (entry.version ?? expected) !== expected) throw new Failure('VERSION_GAP')
    if (entry === wanted) break
    if (isCounted) expected -= 1
    for (const [name, [before, after]] of changes) {
      if (!(name in earlier)) continue
      if (!isSame(earlier[name], after)) throw new Failure('VERSION_GAP')
      earlier[name] = before
    }
  }
  if (expected < 1) throw new Failure('NO_SUCH_VERSION') // the oldest entry tells how it was made
  return earlier as Row
}

/**
 * Returns the input that the record's form would send for an earlier version, checked by the form's rules.
 * @throws Failure INVALID_INPUT if today's rules refuse it
 */
export function checkedInput<Schema extends z.ZodType>(schema: Schema, values: z.input<Schema>): z.output<Schema> {
  const { success, data, error } = schema.safeParse(values)
  if (success) return data
  throw new Failure('INVALID_INPUT', { message: `This version cannot be restored: ${error.issues[0]?.message}` })
}

/** Whether a value of a row equals a value of an entry, which was stored as JSON. */
function isSame(value: unknown, written: unknown): boolean {
  return JSON.stringify(value ?? null) === JSON.stringify(written ?? null)
}
