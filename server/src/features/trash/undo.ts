/** Undoes an act on priorities, dates, statuses or blocks by its audit entries. Records that have changed since are refused. */
import { sql, type Transaction } from 'kysely'
import type { contract } from '@arcade/contract/contract'
import { BULK_SHOWN_REFUSALS } from '@arcade/contract/bulk'
import { type AuditAction, type AuditChanges } from '@arcade/contract/audit/fields'
import { isolated } from '@arcade/contract/text'
import { collectionOf, type TaskRecordKind } from '@arcade/contract/tasks/fields'
import { recordPermissions } from '@arcade/contract/team/records'
import { actOf, audit } from '#src/audit/audit.ts'
import { Failure, type Handlers, refuseWithoutPermission, signedIn } from '#src/calls.ts'
import { changeBlocks } from '#src/ledger/blocks.ts'
import type { Database } from '#src/db/database.ts'
import { putBack, type PutBack } from '#src/items/dates.ts'
import { raiseNews } from '#src/items/news.ts'
import { assignPriorities, lockPriorities } from '#src/items/priorities.ts'
import type { Tables } from '#src/db/tables.ts'
import { actOnMany, type Refusal } from '#src/lists/bulk.ts'

const itemKinds = ['socialTask', 'dailyTask', 'announcement'] as const
type ItemKind = (typeof itemKinds)[number]

/** An audit entry of the act: what it did to one record. */
interface UndoableEntry {
  action: AuditAction
  kind: ItemKind | 'player'
  id: string
  name: string
  changes: AuditChanges
  /** Who did the act. */
  actorId: string | null
  /** The record's version after the act. Players have no version. */
  version: number
}

export function undoHandlers({ database }: { database: Database }): Handlers<typeof contract.acts> {
  return {
    undo: ({ actId, isPartial }, context) =>
      actOnMany(database, context, { dryRun: false, expected: undefined }, async (tx) => {
        const entries = await readEntries(tx, actId)
        if (entries.length === 0) throw new Failure('NOTHING_TO_UNDO')
        for (const { kind } of entries) refuseWithoutPermission(recordPermissions[kind].write, signedIn(context))
        const present = await lockVersions(tx, entries)
        const undone = { act: actOf(context), undoes: actId }
        const undonePlayers = await undoBlocks(
          tx,
          entries.filter(({ kind }) => kind === 'player'),
          undone,
        )
        const unchanged = entries.filter(({ kind, id, version }) =>
          kind === 'player' ? undonePlayers.has(Number(id)) : present.get(`${kind} ${id}`) === version,
        )
        const changed = entries.filter((entry) => !unchanged.includes(entry))
        const over = await findOver(tx, unchanged)
        const left = unchanged.filter(({ id }) => !over.has(id))
        const refusals = [
          ...(await explainChanges(tx, changed)),
          ...unchanged.flatMap(({ id, name }) => (over.has(id) ? { id, title: name, reason: 'its end has come' } : [])),
        ]
        if (refusals.length > 0 && !isPartial) throw changedSince(refusals)
        for (const kind of itemKinds) {
          const ofKind = left.filter((entry) => entry.kind === kind)
          if (ofKind.length === 0) continue
          if (kind === 'announcement') await undoStatuses(tx, ofKind, undone)
          else if (ofKind[0]!.action === 'task.priority') await undoPriorities(tx, kind, ofKind, undone)
          else await undoTaskDates(tx, kind, ofKind, undone)
        }
        return { rows: left.map(({ id, name }) => ({ id, title: name })), refusals }
      }),
  }
}

const undoable: readonly AuditAction[] = [
  ...(['task.priority', 'task.schedule', 'task.end', 'task.pause', 'task.resume'] as const),
  ...(['announcement.activate', 'announcement.deactivate', 'announcement.schedule', 'announcement.end'] as const),
  ...(['player.block', 'player.unblock'] as const),
]

/** The action that records the undoing; for other actions it is the same one. */
const opposites: Partial<Record<AuditAction, AuditAction>> = {
  'task.end': 'task.schedule',
  'task.pause': 'task.resume',
  'task.resume': 'task.pause',
}

async function readEntries(tx: Transaction<Tables>, actId: string): Promise<UndoableEntry[]> {
  const { rows } = await sql<UndoableEntry>`
    select action, record_kind as kind, record_id as id, record_name as name, changes, actor_id as "actorId", (detail ->> 'version')::integer as version
      from audit_trail where act_id = ${actId}::uuid and action = any(${undoable}) and changes is not null order by record_id`.execute(
    tx,
  )
  return rows
}

/** Returns the present version of each record that still exists, by kind and id. The rows are locked until the transaction ends. */
async function lockVersions(tx: Transaction<Tables>, entries: UndoableEntry[]): Promise<Map<string, number>> {
  const versions = new Map<string, number>()
  for (const kind of itemKinds) {
    const ids = entries.filter((entry) => entry.kind === kind).map(({ id }) => id)
    if (ids.length === 0) continue
    if (kind !== 'announcement') await lockPriorities(tx, collectionOf[kind])
    const rows = kind === 'announcement' ? sql`announcements where true` : sql`tasks where collection = ${collectionOf[kind]}`
    const locked = await sql<{ id: string; version: number }>`
      select id, version from ${rows} and id = any(${ids}) order by id for update`.execute(tx)
    for (const { id, version } of locked.rows) versions.set(`${kind} ${id}`, version)
  }
  return versions
}

/** Returns the ids of the announcements that would be active again although their end has come meanwhile. */
async function findOver(tx: Transaction<Tables>, entries: UndoableEntry[]): Promise<Set<string>> {
  const activated = entries.flatMap(({ kind, id, changes: { status, endsAt } }) =>
    kind === 'announcement' && status?.[0] === true ? { id, hasEnd: endsAt !== undefined, endsAt: endsAt?.[0] } : [],
  )
  if (activated.length === 0) return new Set()
  const { rows } = await sql<{ id: string }>`
    select id from announcements join json_to_recordset(${JSON.stringify(activated)}::json) as b (id text, "hasEnd" boolean, "endsAt" timestamptz)
     using (id) where case when "hasEnd" then b."endsAt" else ends_at end <= now()`.execute(tx)
  return new Set(rows.map(({ id }) => id))
}

/** Returns refusals that say who has changed or deleted each record last. */
async function explainChanges(tx: Transaction<Tables>, changed: UndoableEntry[]): Promise<Refusal[]> {
  if (changed.length === 0) return []
  const ids = changed.slice(0, BULK_SHOWN_REFUSALS).map(({ id }) => id)
  const { rows } = await sql<{ key: string; who: string | null; isGone: boolean }>`
    select distinct on (key) record_kind || ' ' || record_id as key, actor_name as who, action like '%.remove' as "isGone"
      from audit_trail where record_id = any(${ids}) and action not like 'note.%' order by key, at desc`.execute(tx)
  const last = new Map(
    rows.map(({ key, who, isGone }) => [key, `${isGone ? 'deleted' : 'changed'} by ${isolated(who ?? 'somebody')}`]),
  )
  return changed.map(({ kind, id, name }) => ({ id, title: name, reason: last.get(`${kind} ${id}`) ?? 'changed' }))
}

/** Most records that the message of the error names. */
const MAX_NAMED = 3

function changedSince(refusals: Refusal[]): Failure {
  const named = refusals.slice(0, MAX_NAMED).map(({ title, reason }) => `${isolated(title)} (${reason})`)
  const more = refusals.length > MAX_NAMED ? ` and ${refusals.length - MAX_NAMED} more` : ''
  const fields = refusals.slice(0, BULK_SHOWN_REFUSALS).map(({ id, title, reason }) => [id, `${isolated(title)}: ${reason}`])
  return new Failure('CHANGED_SINCE', {
    message: `Nothing was undone, because this has changed since: ${named.join(', ')}${more}.`,
    fields: Object.fromEntries(fields) as Record<string, string>,
  })
}

interface Undone {
  act: ReturnType<typeof actOf>
  /** The id of the act that is undone. */
  undoes: string
}

async function undoPriorities(
  tx: Transaction<Tables>,
  kind: TaskRecordKind,
  entries: UndoableEntry[],
  { act, undoes }: Undone,
): Promise<void> {
  const assigned = entries.map(({ id, changes }) => ({ id, priority: String(changes['priority']?.[0]) }))
  await assignPriorities(tx, collectionOf[kind], assigned)
  await audit(
    tx,
    act,
    'task.priority',
    entries.map((entry) => undoingEntry(entry, undoes)),
  )
}

async function undoTaskDates(
  tx: Transaction<Tables>,
  kind: TaskRecordKind,
  entries: UndoableEntry[],
  { act, undoes }: Undone,
): Promise<void> {
  const [{ action }] = entries as [UndoableEntry]
  await putBack(tx, collectionOf[kind], entries.map(toPutBack))
  await audit(
    tx,
    act,
    opposites[action] ?? action,
    entries.map((entry) => undoingEntry(entry, undoes)),
  )
}

/** Returns the values before the act. */
function toPutBack({ id, changes }: UndoableEntry): PutBack {
  return { id, ...Object.fromEntries(Object.entries(changes).map(([field, [before]]) => [field, before])) }
}

/** An announcement that becomes active again is news (design §7); one that becomes inactive again no longer is. */
async function undoStatuses(tx: Transaction<Tables>, entries: UndoableEntry[], { act, undoes }: Undone): Promise<void> {
  await putBack(tx, 'announcement', entries.map(toPutBack))
  for (const status of [true, false, undefined]) {
    const ofStatus = entries.filter(({ changes }) => changes['status']?.[0] === status)
    if (ofStatus.length === 0) continue
    if (status)
      await raiseNews(
        tx,
        ofStatus.map(({ id }) => id),
      )
    const action = status === undefined ? 'announcement.schedule' : status ? 'announcement.activate' : 'announcement.deactivate'
    await audit(
      tx,
      act,
      action,
      ofStatus.map((entry) => undoingEntry(entry, undoes)),
    )
  }
}

/** Undoes blocks. Returns the ids of the players whose blocks had not changed since the act. */
async function undoBlocks(tx: Transaction<Tables>, entries: UndoableEntry[], { act, undoes }: Undone): Promise<Set<number>> {
  const blocks = entries.map(({ id, actorId, changes: { blocked } }) => {
    const [before, after] = blocked as [string | null, string | null]
    return { userId: Number(id), before: after, beforeBy: after === null ? null : actorId, after: before }
  })
  const changed = await changeBlocks(tx, blocks, act.actorId)
  for (const isBlocked of [true, false]) {
    const ofState = entries.filter(
      ({ id, changes }) => changed.has(Number(id)) && (changes['blocked']?.[0] !== null) === isBlocked,
    )
    await audit(
      tx,
      act,
      isBlocked ? 'player.block' : 'player.unblock',
      ofState.map((entry) => undoingEntry(entry, undoes)),
    )
  }
  return changed
}

function undoingEntry({ kind, id, name, changes, version }: UndoableEntry, undoes: string) {
  const back = Object.entries(changes).map(([field, [before, after]]) => [field, [after, before]] as const)
  return {
    record: { kind, id, name },
    changes: Object.fromEntries(back),
    detail: { ...(kind !== 'player' && { version: version + 1 }), undoes },
  }
}
