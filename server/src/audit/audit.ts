/**
 * The audit trail: who did what to which record, when, from where, and what changed. An act writes its entries in its own transaction, so
 * no act lacks an entry and no entry lacks its act (security.md, Operations). chain.ts seals the entries.
 */
import { randomUUID } from 'node:crypto'
import { CompiledQuery, type Kysely, type RawBuilder, sql } from 'kysely'
import type { ActorKind, AuditAction, AuditChanges, RecordKind } from '@arcade/contract/audit/fields'
import type { SessionUser } from '@arcade/contract/auth/calls'
import type { CallContext } from '#src/calls.ts'
import { actorCommitmentSql, recordCommitmentSql } from '#src/db/audit-hashes.ts'
import { eventOf, queueEvent, queueSql } from './outbox.ts'
import type { Tables } from '#src/db/tables.ts'
import { LOCK_CHANGES_SHARED } from '#src/db/transaction-locks.ts'
import { planOnce } from '#src/postgres/connections.ts'

/** The actor, where the call came from, and the id that all entries of one request or command share. */
export interface Act {
  id: string
  kind: ActorKind
  actorId: string | null
  actorName: string | null
  address: string | null
  origin: string | null
  device: string | null
}

export interface AuditRecord {
  kind: RecordKind
  id: string
  /** The name that operators see, such as a title or an e-mail address. */
  name?: string | undefined
}

/** What an act did to one record. Neither `changes` nor `detail` may contain a secret. */
export interface AuditEntryInput {
  record?: AuditRecord
  changes?: AuditChanges | undefined
  /** Further facts about the act, such as the filter of an export. */
  detail?: Record<string, unknown>
}

/**
 * Returns the act of a request.
 * @param user the person who signs in or registers with this request, whose caller is still a guest
 */
export function actOf({ caller, requestId, address, origin, device }: CallContext, user?: SessionUser): Act {
  const from = { id: requestId, address, origin: origin ?? null, device: device === '' ? null : device }
  const person = user ?? (caller.kind === 'user' ? caller.user : undefined)
  if (person) return { ...from, kind: 'user', actorId: person.id, actorName: `${person.fname} ${person.lname}` }
  if (caller.kind === 'bot') return { ...from, kind: 'bot', actorId: caller.id, actorName: caller.name }
  return { ...from, kind: 'guest', actorId: null, actorName: null }
}

/** Returns the act of a command that runs on the machine, or of the server itself. */
export function actOfProcess(kind: 'command' | 'system', actorName: string): Act {
  return { id: randomUUID(), kind, actorId: null, actorName, address: null, origin: null, device: null }
}

/** Writes one audit entry for each record that an act changed, and queues the events that webhooks get. */
export async function audit(
  tx: Kysely<Tables>,
  act: Act,
  action: AuditAction,
  entries: AuditEntryInput | readonly AuditEntryInput[],
): Promise<void> {
  const all = [entries].flat() as readonly AuditEntryInput[]
  if (all.length === 1) return auditOne(tx, act, action, all[0]!)
  const records = all.flatMap(({ record }) => record ?? [])
  await queueEvent(tx, action, records)
  for (let at = 0; at < all.length; at += ENTRIES_AT_ONCE) {
    const rows = all.slice(at, at + ENTRIES_AT_ONCE).map(({ record, changes, detail }) => {
      const { kind = null, id = null, name = null } = record ?? {}
      return sql`(${kind}::text, ${id}::text, ${name}::text, ${json(changes)}::json, ${json(detail)}::json)`
    })
    await auditRowsSql(act, action, sql`(values ${sql.join(rows)})`).execute(tx)
  }
}

/** Entries that one INSERT writes: PostgreSQL allows a statement 65,535 parameters. */
const ENTRIES_AT_ONCE = 5000

function json(value: unknown): string | null {
  return value === undefined ? null : JSON.stringify(value)
}

/** The columns of an entry and their types, without its time and its commitments. */
const columnTypes = {
  id: 'uuid',
  act_id: 'uuid',
  action: 'text',
  actor_kind: 'text',
  actor_id: 'text',
  actor_name: 'text',
  address: 'text',
  origin: 'text',
  device: 'text',
  actor_salt: 'uuid',
  record_kind: 'text',
  record_id: 'text',
  record_name: 'text',
  changes: 'json',
  detail: 'json',
  record_salt: 'uuid',
}
type Column = keyof typeof columnTypes
const columns = Object.keys(columnTypes) as Column[]

/**
 * The head of an INSERT of rows named `entry`. On a Citus cluster an entry often lies on another server than the record it describes. The
 * act therefore takes the shared lock of changes, so that a snapshot of all servers contains both or neither.
 */
const insertInto = `
  insert into audit_open (${columns.join(', ')}, actor_commitment, record_commitment)
  select ${columns.join(', ')}, ${actorCommitmentSql('entry')}, ${recordCommitmentSql('entry')}
    from (${LOCK_CHANGES_SHARED}) as shared_lock,`

const parameters = columns.map((column, index) => `$${index + 1}::${columnTypes[column]}`)
const insertOne = `${insertInto} (values (${parameters.join(', ')})) as entry (${columns.join(', ')})`
const insertOneAndQueue = `with queued as (${queueSql(`$${columns.length + 1}`, `$${columns.length + 2}`)}) ${insertOne}`
planOnce(insertOne)
planOnce(insertOneAndQueue)

/**
 * Writes a single entry, and queues its event, by one prepared statement: most acts have one entry, and planning its INSERT takes longer
 * than running it.
 */
async function auditOne(tx: Kysely<Tables>, act: Act, action: AuditAction, entry: AuditEntryInput): Promise<void> {
  const values: Record<Column, string | null> = {
    id: randomUUID(),
    act_id: act.id,
    action,
    actor_kind: act.kind,
    actor_id: act.actorId,
    actor_name: act.actorName,
    address: act.address,
    origin: act.origin,
    device: act.device,
    actor_salt: randomUUID(),
    record_kind: entry.record?.kind ?? null,
    record_id: entry.record?.id ?? null,
    record_name: entry.record?.name ?? null,
    changes: json(entry.changes),
    detail: json(entry.detail),
    record_salt: randomUUID(),
  }
  const given = columns.map((column) => values[column])
  const queued = eventOf(action, entry.record ? [entry.record] : [])
  const query = queued
    ? CompiledQuery.raw(insertOneAndQueue, [...given, queued.event, queued.payloads])
    : CompiledQuery.raw(insertOne, given)
  await tx.executeQuery(query)
}

/**
 * Returns an INSERT of one entry for each row of `source`. It may be a part of the statement that changes these rows.
 * @param source a SELECT of the record's kind, id and name, the changes and the detail, in this order
 */
export function auditRowsSql(act: Act, action: AuditAction, source: RawBuilder<unknown>): RawBuilder<unknown> {
  const { id, kind, actorId, actorName, address, origin, device } = act
  return sql`
    ${sql.raw(insertInto)}
         (select gen_random_uuid() as id, ${id}::uuid as act_id, ${action}::text as action, ${kind}::text as actor_kind,
                   ${actorId}::text as actor_id, ${actorName}::text as actor_name, ${address}::text as address, ${origin}::text as origin,
                   ${device}::text as device, gen_random_uuid() as actor_salt, gen_random_uuid() as record_salt, source.*
              from (${source}) as source (record_kind, record_id, record_name, changes, detail)) as entry`
}

/** A row's fields by name; null for a record before its creation or after its removal. */
type Fields = Readonly<Record<string, unknown>> | null

/** Returns the fields that differ. The version and derived fields do not count as changes. */
export function changesBetween(before: Fields, after: Fields): AuditChanges {
  const names = new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})])
  const changed = [...names].flatMap((name) => {
    if (NO_CHANGES.has(name)) return []
    const pair = [before?.[name] ?? null, after?.[name] ?? null] as const
    return pair[0] === pair[1] ? [] : [[name, pair] as const]
  })
  return Object.fromEntries(changed)
}

const NO_CHANGES = new Set(['id', 'version', 'createdAt'])
