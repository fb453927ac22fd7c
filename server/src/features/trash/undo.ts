/** Undoing an act that changed priorities or statuses, or blocked players, by what the audit trail says of it, unless its records have changed since. */
import { sql, type Transaction } from 'kysely'
import type { contract } from '@arcade/contract/contract'
import { BULK_SHOWN_REFUSALS } from '@arcade/contract/bulk'
import { type AuditAction, type AuditChanges } from '@arcade/contract/audit/fields'
import { collectionOf, type TaskRecordKind } from '@arcade/contract/tasks/fields'
import { actOf, audit } from '#src/audit/audit.ts'
import { Failure, type Handlers } from '#src/calls.ts'
import { changeBlocks } from '#src/ledger/blocks.ts'
import type { Database } from '#src/db/database.ts'
import { raiseNews } from '#src/items/news.ts'
import { assignPriorities, lockPriorities } from '#src/items/priorities.ts'
import type { Tables } from '#src/db/tables.ts'
import { actOnMany, type Refusal } from '#src/lists/bulk.ts'

const itemKinds = ['socialTask', 'dailyTask', 'announcement'] as const
type ItemKind = (typeof itemKinds)[number]

/** What an act did to a record. */
interface Deed {
  kind: ItemKind | 'player'
  id: string
  name: string
  changes: AuditChanges
  /** Who did it. */
  actorId: string | null
  /** The one that the act has left; players have none. */
  version: number
}

export function undoHandlers({ database }: { database: Database }): Handlers<typeof contract.acts> {
  return {
    undo: ({ actId, isPartial }, context) =>
      actOnMany(database, { dryRun: false, expected: undefined }, async (tx) => {
        const deeds = await readDeeds(tx, actId)
        if (deeds.length === 0) throw new Failure('NOTHING_TO_UNDO')
        const present = await lockVersions(tx, deeds)
        const undone = { act: actOf(context), undoes: actId }
        const asBefore = await undoBlocks(
          tx,
          deeds.filter(({ kind }) => kind === 'player'),
          undone,
        )
        const left = deeds.filter(({ kind, id, version }) =>
          kind === 'player' ? asBefore.has(Number(id)) : present.get(`${kind} ${id}`) === version,
        )
        const refusals = await explainChanges(
          tx,
          deeds.filter((deed) => !left.includes(deed)),
        )
        if (refusals.length > 0 && !isPartial) throw changedSince(refusals)
        for (const kind of itemKinds) {
          const own = left.filter((deed) => deed.kind === kind)
          if (own.length > 0)
            await (kind === 'announcement' ? undoStatuses(tx, own, undone) : undoPriorities(tx, kind, own, undone))
        }
        return { rows: left.map(({ id, name }) => ({ id, title: name })), refusals }
      }),
  }
}

const undoable: readonly AuditAction[] = [
  ...(['task.priority', 'announcement.activate', 'announcement.deactivate', 'player.block', 'player.unblock'] as const),
]

async function readDeeds(tx: Transaction<Tables>, actId: string): Promise<Deed[]> {
  const { rows } = await sql<Deed>`
    select record_kind as kind, record_id as id, record_name as name, changes, actor_id as "actorId", (detail ->> 'version')::integer as version
      from audit_trail where act_id = ${actId}::uuid and action = any(${undoable}) and changes is not null order by record_id`.execute(
    tx,
  )
  return rows
}

/** The present version of each record, by kind and id; none of one that is gone. They stay so until the transaction ends. */
async function lockVersions(tx: Transaction<Tables>, deeds: Deed[]): Promise<Map<string, number>> {
  const versions = new Map<string, number>()
  for (const kind of itemKinds) {
    const ids = deeds.filter((deed) => deed.kind === kind).map(({ id }) => id)
    if (ids.length === 0) continue
    if (kind !== 'announcement') await lockPriorities(tx, collectionOf[kind])
    const rows = kind === 'announcement' ? sql`announcements where true` : sql`tasks where collection = ${collectionOf[kind]}`
    const locked = await sql<{ id: string; version: number }>`
      select id, version from ${rows} and id = any(${ids}) order by id for update`.execute(tx)
    for (const { id, version } of locked.rows) versions.set(`${kind} ${id}`, version)
  }
  return versions
}

/** Who has changed or deleted each record last. */
async function explainChanges(tx: Transaction<Tables>, changed: Deed[]): Promise<Refusal[]> {
  if (changed.length === 0) return []
  const ids = changed.slice(0, BULK_SHOWN_REFUSALS).map(({ id }) => id)
  const { rows } = await sql<{ key: string; who: string | null; isGone: boolean }>`
    select distinct on (key) record_kind || ' ' || record_id as key, actor_name as who, action like '%.remove' as "isGone"
      from audit_trail where record_id = any(${ids}) order by key, at desc`.execute(tx)
  const last = new Map(rows.map(({ key, who, isGone }) => [key, `${isGone ? 'deleted' : 'changed'} by ${who ?? 'somebody'}`]))
  return changed.map(({ kind, id, name }) => ({ id, title: name, reason: last.get(`${kind} ${id}`) ?? 'changed' }))
}

const NAMED_MAX = 3

function changedSince(refusals: Refusal[]): Failure {
  const named = refusals.slice(0, NAMED_MAX).map(({ title, reason }) => `${title} (${reason})`)
  const more = refusals.length > NAMED_MAX ? ` and ${refusals.length - NAMED_MAX} more` : ''
  const fields = refusals.slice(0, BULK_SHOWN_REFUSALS).map(({ id, title, reason }) => [id, `${title}: ${reason}`])
  return new Failure('CHANGED_SINCE', {
    message: `Nothing was undone, because this has changed since: ${named.join(', ')}${more}.`,
    fields: Object.fromEntries(fields) as Record<string, string>,
  })
}

interface Undone {
  act: ReturnType<typeof actOf>
  /** The act that is undone. */
  undoes: string
}

async function undoPriorities(
  tx: Transaction<Tables>,
  kind: TaskRecordKind,
  deeds: Deed[],
  { act, undoes }: Undone,
): Promise<void> {
  const assigned = deeds.map(({ id, changes }) => ({ id, priority: String(changes['priority']?.[0]) }))
  await assignPriorities(tx, collectionOf[kind], assigned)
  await audit(
    tx,
    act,
    'task.priority',
    deeds.map((deed) => backEntry(deed, undoes)),
  )
}

/** What becomes active again is news (design §7); what becomes inactive again is none any more. */
async function undoStatuses(tx: Transaction<Tables>, deeds: Deed[], { act, undoes }: Undone): Promise<void> {
  for (const status of [true, false]) {
    const own = deeds.filter(({ changes }) => changes['status']?.[0] === status)
    if (own.length === 0) continue
    await tx
      .updateTable('announcements')
      .set({ status, version: sql`version + 1` })
      .where(sql<boolean>`id = any(${own.map(({ id }) => id)})`)
      .execute()
    if (status)
      await raiseNews(
        tx,
        own.map(({ id }) => id),
      )
    const action = status ? 'announcement.activate' : 'announcement.deactivate'
    await audit(
      tx,
      act,
      action,
      own.map((deed) => backEntry(deed, undoes)),
    )
  }
}

/** Gives the players whose blocks were as the act had left them. */
async function undoBlocks(tx: Transaction<Tables>, deeds: Deed[], { act, undoes }: Undone): Promise<Set<number>> {
  const blocks = deeds.map(({ id, actorId, changes: { blocked } }) => {
    const [before, after] = blocked as [string | null, string | null]
    return { userId: Number(id), before: after, beforeBy: after === null ? null : actorId, after: before }
  })
  const changed = await changeBlocks(tx, blocks, act.actorId)
  for (const isBlocked of [true, false]) {
    const own = deeds.filter(({ id, changes }) => changed.has(Number(id)) && (changes['blocked']?.[0] !== null) === isBlocked)
    await audit(
      tx,
      act,
      isBlocked ? 'player.block' : 'player.unblock',
      own.map((deed) => backEntry(deed, undoes)),
    )
  }
  return changed
}

function backEntry({ kind, id, name, changes, version }: Deed, undoes: string) {
  const back = Object.entries(changes).map(([field, [before, after]]) => [field, [after, before]] as const)
  return {
    record: { kind, id, name },
    changes: Object.fromEntries(back),
    detail: { ...(kind !== 'player' && { version: version + 1 }), undoes },
  }
}
