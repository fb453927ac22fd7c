/**
 * Writes batches of imported rows to the tables (design §5), each in the caller's transaction together with its counters, so the counters
 * stay exact while others write. Rows that already have the imported values are not touched.
 */
import { sql, type Transaction } from 'kysely'
import { errorCatalogue } from '@arcade/contract/errors'
import type { TaskCollection } from '@arcade/contract/tasks/fields'
import {
  beginActivity,
  addParticipationCount,
  addPlayerCount,
  changeParticipationTime,
  changeJoinTime,
} from '#src/counters/activity.ts'
import { addToCounters } from '#src/counters/counters.ts'
import {
  announcementEntity,
  historyItemEntity,
  isJoinedField,
  participantEntity,
  playerEntity,
  taskEntity,
} from '#src/db/entities.ts'
import { findErased } from '#src/ledger/erased-players.ts'
import { recountLimits } from '#src/items/availability.ts'
import { writeHistoryItems } from '#src/items/history-items.ts'
import { importBalances, openBalances } from '#src/ledger/imported-balances.ts'
import { keepVisits, type KnownVisit } from '#src/players/visits.ts'
import { raiseNews } from '#src/items/news.ts'
import { lockPriorities, parkPriorities } from '#src/items/priorities.ts'
import { notifySchedule } from '#src/items/schedule-notice.ts'
import type { HistoryKind } from '@arcade/contract/history/fields'
import type { Tables } from '#src/db/tables.ts'
import { delayErasures } from '#src/db/transaction-locks.ts'
import { queueEvent } from '#src/audit/outbox.ts'
import { announcementRecord } from '#src/features/announcements/announcements-list.ts'
import { taskRecord } from '#src/features/tasks/tasks-list.ts'
import {
  type Columns,
  importedAnnouncements,
  importedColumns,
  importedHistoryItems,
  importedParticipants,
  importedPlayers,
  importedTasks,
} from './import-rows.ts'
import { withoutUnknownSegments } from './import-segments.ts'
import { settleUnique } from './import-unique.ts'
import { type Key, recordset, type Table, upsert } from './upsert.ts'

/** Writes a batch, in which no two rows have the same key. It may run again from the start after a serialization failure or deadlock. */
export type Writer = (tx: Transaction<Tables>, rows: Columns[]) => Promise<Written>

export interface Written {
  /** The number of rows added or changed. */
  loaded: number
  /** How many of these were added. */
  added: number
  rejected: Map<Columns, string>
  /** The ids of rows that stay as they are, because they were changed here. */
  kept?: string[]
  /** The ids of the history documents that were written, also of those written along with their items. */
  histories?: string[]
}

/** The default creation time: that of the import. */
export const createdNow = { created_at: 'now()' }
/** Old exports do not contain these settings, and an import keeps what an operator has set. */
const settings = {
  verified_by_bot: 'false',
  starts_at: 'null',
  ends_at: 'null',
  max_participants: 'null',
  daily_budget: 'null',
  segment_id: 'null',
}
/** An imported date that has passed takes no effect. */
const marks = { start_pending: 'starts_at', end_pending: 'ends_at' }

const telegramUsers: Table = {
  name: playerEntity.table,
  key: ['user_id'],
  columns: importedColumns(importedPlayers.filter(({ name }) => !isJoinedField(playerEntity, name))),
  moment: 'created_at',
}

/** What a move-in writes of players: once the game sets a player's details here, it knows them better than an export. */
const movedPlayers: Table = {
  ...telegramUsers,
  onlyWhileNull: Object.fromEntries(Object.keys(telegramUsers.columns).map((column) => [column, 'details_set_at'])),
}

const tasks: Table = {
  name: taskEntity.table,
  key: ['collection', 'id'],
  columns: { collection: 'text', ...importedColumns(importedTasks) },
  defaults: { ...createdNow, ...settings, paused: 'false' },
  hasVersion: true,
  marks,
}

const announcements: Table = {
  name: announcementEntity.table,
  key: ['id'],
  columns: importedColumns(importedAnnouncements),
  defaults: { ...createdNow, ...settings },
  marks,
  // An uploaded file keeps its name.
  onlyWhileNull: { image_name: 'image_key', icon_name: 'icon_key' },
  hasVersion: true,
}

const historyItems: Table = {
  name: historyItemEntity.table,
  key: ['kind', 'item_id'],
  columns: { kind: 'text', ...importedColumns(importedHistoryItems), created_at: 'timestamptz' },
  defaults: createdNow,
}

const participations: Table = {
  name: participantEntity.table,
  key: ['user_id', 'kind', 'item_id', 'period'],
  columns: { ...importedColumns(importedParticipants), kind: 'text', item_id: 'text', period: 'text' },
  moment: 'at',
  // A participation that was claimed and paid in this console stays, whatever the old game says about it.
  settled: `exists (select 1 from ledger_entries as paid where paid.user_id = t.user_id and paid.cause = 'claim'
    and paid.kind = t.kind and paid.item_id = t.item_id and paid.period = t.period)`,
}

const ERASED = 'This player was erased and does not come back by an import'

/** Returns the rows without those of erased players. */
async function withoutErased(
  tx: Transaction<Tables>,
  rows: Columns[],
): Promise<{ rows: Columns[]; rejected: Map<Columns, string> }> {
  await delayErasures(tx)
  const erased = await findErased(tx, new Set(rows.map((row) => Number(row['user_id']))))
  const isErased = (row: Columns): boolean => erased.has(Number(row['user_id']))
  return {
    rows: erased.size === 0 ? rows : rows.filter((row) => !isErased(row)),
    rejected: new Map(erased.size === 0 ? [] : rows.filter(isErased).map((row) => [row, ERASED])),
  }
}

/** @param keepsDetails whether details stay that the game has set here */
export function telegramUsersWriter(keepsDetails: boolean): Writer {
  return (tx, rows) => writeTelegramUsers(tx, rows, keepsDetails)
}

async function writeTelegramUsers(tx: Transaction<Tables>, given: Columns[], keepsDetails: boolean): Promise<Written> {
  const { rows, rejected } = await withoutErased(tx, given)
  const { added, changed } = await upsert(tx, keepsDetails ? movedPlayers : telegramUsers, rows)
  const kept = keepsDetails && added.length < rows.length ? await findKeptDetails(tx, rows) : []
  const activity = await beginActivity(tx)
  for (const { moment } of added) addPlayerCount(activity, moment, 1)
  for (const { before, moment } of changed) changeJoinTime(activity, before, moment)

  const isNew = new Set(added.map((row) => row['user_id']))
  const imported = rows.map((row) => ({ userId: Number(row['user_id']), balance: row['balance'] }))
  await openBalances(
    tx,
    imported.flatMap(({ userId, balance }) => (isNew.has(userId) ? { userId, balance: Number(balance ?? 0) } : [])),
    activity.deltas,
  )
  // A row without a balance changes neither today's balance nor the one of the last import.
  const changedBalances = await importBalances(
    tx,
    imported.flatMap(({ userId, balance }) =>
      isNew.has(userId) || balance === null ? [] : { userId, balance: Number(balance) },
    ),
    activity.deltas,
  )
  await addToCounters(tx, activity.deltas)
  await keepVisits(tx, [...added, ...changed].map(toVisit))
  const isChanged = new Set([...changed.map((row) => row['user_id']), ...changedBalances])
  return { loaded: added.length + isChanged.size, added: added.length, rejected, kept }
}

/** Returns the ids of players whose details differ from those of their rows, because the game has set them here. */
async function findKeptDetails(tx: Transaction<Tables>, rows: Columns[]): Promise<string[]> {
  const { rows: set } = await sql<{ id: number }>`
    select user_id as id from telegram_users
     where user_id = any(${rows.map((row) => Number(row['user_id']))}::bigint[]) and details_set_at is not null`.execute(tx)
  if (set.length === 0) return []
  const isSet = new Set(set.map(({ id }) => id))
  const details = Object.keys(movedPlayers.columns).filter((column) => column !== 'from_before')
  const listed = (alias: string): string => details.map((column) => `${alias}.${column}`).join(', ')
  const { rows: differing } = await sql<{ id: string }>`
    select t.user_id::text as id from telegram_users as t
      join ${recordset(
        movedPlayers,
        rows.filter((row) => isSet.has(Number(row['user_id']))),
      )} using (user_id)
     where (${sql.raw(listed('t'))}) is distinct from (${sql.raw(listed('r'))}) order by t.user_id`.execute(tx)
  return differing.map(({ id }) => id)
}

/** Writes tasks. Rows of one batch may swap their priorities; a row whose priority is taken keeps the one it had. */
export function tasksWriter(collection: TaskCollection): Writer {
  return async (tx, given) => {
    await lockPriorities(tx, collection)
    const { rows, rejected } = await withoutUnknownSegments(tx, given)
    // The lock keeps others from adding a task between reading the stored priorities and writing the new ones.
    await sql`lock table tasks in share row exclusive mode`.execute(tx)
    const candidates = rows.map((row) => ({ id: String(row['id']), key: Number(row['priority']), row }))
    const { rows: existing } = await sql<{ id: string; key: number }>`
      select id, priority as key from tasks where collection = ${collection}
      and (id = any(${candidates.map(({ id }) => id)}) or priority = any(${candidates.map(({ key }) => key)}::numeric[]))`.execute(
      tx,
    )
    const refused = settleUnique(candidates, existing)
    const accepted = candidates.filter((candidate) => !refused.has(candidate))
    await parkPriorities(
      tx,
      collection,
      accepted.map(({ id, key }) => ({ id, priority: String(key) })),
    )
    const { added, changed } = await upsert(
      tx,
      tasks,
      accepted.map(({ row }) => ({ ...row, collection })),
    )
    const histories = await writeHistoryItems(tx, collection, {
      changed: [...added, ...changed].map(({ id }) => String(id)),
      unchanged: accepted.map(({ id }) => id),
    })
    const records = (keys: Key[]) => recordsOfKeys(rows, keys).map((task) => taskRecord(collection, task))
    await queueEvent(tx, 'task.create', records(added))
    await queueEvent(tx, 'task.update', records(changed))
    await recountLimits(tx, collection, idsOf(changed))
    await notifySchedule(tx)
    for (const { row } of refused) rejected.set(row, errorCatalogue.PRIORITY_TAKEN.message)
    return { loaded: added.length + changed.length, added: added.length, rejected, histories }
  }
}

export const writeAnnouncements: Writer = async (tx, given) => {
  const { rows, rejected } = await withoutUnknownSegments(tx, given)
  const ids = rows.map(({ id }) => String(id))
  const active = rows.filter(({ status }) => status === true)
  const { rows: inactive } = await sql<{ id: string }>`
    select id from announcements where not status and id = any(${active.map(({ id }) => String(id))}) order by id for update`.execute(
    tx,
  )
  const { added, changed } = await upsert(tx, announcements, rows)
  const begun = recordsOfKeys(active, [...inactive, ...added])
  await raiseNews(
    tx,
    begun.map(({ id }) => id),
  )
  await queueEvent(tx, 'announcement.activate', begun.map(announcementRecord))
  const histories = await writeHistoryItems(tx, 'announcement', {
    changed: [...added, ...changed].map(({ id }) => String(id)),
    unchanged: ids,
  })
  await recountLimits(tx, 'announcement', idsOf(changed))
  await notifySchedule(tx)
  return { loaded: added.length + changed.length, added: added.length, rejected, histories }
}

function idsOf(keys: readonly Key[]): string[] {
  return keys.map(({ id }) => String(id))
}

/** Returns the ids and titles, for webhooks, of the rows that these keys name. */
function recordsOfKeys(rows: readonly Columns[], keys: readonly Record<string, unknown>[]): { id: string; title: string }[] {
  const ids = new Set(keys.map((key) => String(key['id'])))
  return rows.map(({ id, title }) => ({ id: String(id), title: String(title) })).filter(({ id }) => ids.has(id))
}

/** Writes history documents. @param derived ids of documents that this import wrote along with their items: they count as added */
export function historyItemsWriter(derived: ReadonlySet<string>): Writer {
  return async (tx, rows) => {
    const { added, changed } = await upsert(tx, historyItems, rows)
    const documents = (keys: Key[]) => new Set(keys.map((key) => String(key['item_id'])))
    const [isAdded, isChanged] = [documents(added), documents(changed)]
    const ids = rows.map(({ item_id: id }) => String(id))
    const newIds = ids.filter((id) => isAdded.has(id) || derived.has(id))
    const loaded = ids.filter((id) => isChanged.has(id) || isAdded.has(id) || derived.has(id)).length
    return { loaded, added: newIds.length, rejected: new Map(), histories: [...isAdded, ...isChanged] }
  }
}

/** Writes participations. @param promised ids of documents that count as existing, because a dry run would have written them */
export function participationsWriter(kind: HistoryKind, promised: ReadonlySet<string>): Writer {
  return async (tx, given) => {
    const { rows, rejected } = await withoutErased(tx, given)
    const parents = [...new Set(rows.map((row) => row['item_id']))]
    const { rows: found } = await sql<{ id: string }>`
      select item_id as id from history_items where kind = ${kind} and item_id = any(${parents})`.execute(tx)
    const known = new Set(found.map(({ id }) => id))
    for (const row of rows) {
      const parent = String(row['item_id'])
      if (!known.has(parent) && !promised.has(parent))
        rejected.set(row, `There is no history document with the id ${parent} (parent)`)
    }
    const accepted = rows.filter((row) => !rejected.has(row))
    const { added, changed } = await upsert(tx, participations, accepted)
    const activity = await beginActivity(tx)
    const toItem = (row: Key) => ({ kind, itemId: String(row['item_id']) })
    for (const row of added) addParticipationCount(activity, toItem(row), row.moment!, 1)
    for (const row of changed) changeParticipationTime(activity, toItem(row), row.before!, row.moment!)
    await addToCounters(tx, activity.deltas)
    await keepVisits(tx, [...added, ...changed].map(toVisit))
    return { loaded: added.length + changed.length, added: added.length, rejected }
  }
}

/** A player was seen when joining and when taking part. */
function toVisit({ user_id: userId, moment: at }: Key): KnownVisit {
  return { userId: Number(userId), at }
}
