/**
 * Restores records from the trash: the row as it was, one version later, with everything that belonged to it. Knows what each kind of
 * record needs for that, and what can conflict: another record may have its priority or e-mail by now.
 */
import { type RawBuilder, sql, type Transaction } from 'kysely'
import type { RowOf, StoredName } from '@arcade/contract/entity'
import type { TrashKind } from '@arcade/contract/trash/fields'
import { collectionOf, taskCollections } from '@arcade/contract/tasks/fields'
import { errorCatalogue } from '@arcade/contract/errors'
import { type Act, audit, changesBetween } from '#src/audit/audit.ts'
import { addToCounter } from '#src/counters/counters.ts'
import {
  announcementEntity,
  columnName,
  type Entity,
  storedFields,
  storedNames,
  taskEntity,
  userEntity,
} from '#src/db/entities.ts'
import { aToZSql, lower, lowerSql } from '#src/db/collations.ts'
import { IS_SEGMENT } from '#src/items/availability.ts'
import { writeHistoryItems } from '#src/items/history-items.ts'
import { lockPriorities } from '#src/items/priorities.ts'
import { notifySchedule } from '#src/items/schedule-notice.ts'
import type { Tables } from '#src/db/tables.ts'
import type { Files } from '#src/files/files.ts'
import { auditedUser, userRecord } from '#src/identity/accounts.ts'
import { restoreKeptRows } from '#src/identity/kept-with-person.ts'

/** A record in the trash that the transaction has locked. */
export interface Trashed {
  id: string
  kind: TrashKind
  recordId: string
  name: string
}

/** Values that a restored record gets instead of those it had. */
export interface Replacements {
  priority?: number | undefined
  email?: string | undefined
}

/** STALE means that an import has added a record with the same id. */
export type ConflictCode = 'PRIORITY_TAKEN' | 'EMAIL_TAKEN' | 'STALE'

export const conflictTexts: Record<ConflictCode, string> = {
  PRIORITY_TAKEN: errorCatalogue.PRIORITY_TAKEN.message,
  EMAIL_TAKEN: errorCatalogue.EMAIL_TAKEN.message,
  STALE: 'It exists again: an import brought it back.',
}

interface Services {
  files: Files
  act: Act
}

/** SQL for each kind: whether a row with the id of `r` exists already, and which unique value another record may have. */
const tables: Record<
  TrashKind,
  { entity: Entity; isThere: string; unique?: { value: string; isTaken: string; code: ConflictCode } }
> = {
  socialTask: taskTable('social'),
  dailyTask: taskTable('daily'),
  announcement: { entity: announcementEntity, isThere: 'exists (select from announcements where id = r.id)' },
  user: {
    entity: userEntity,
    isThere: 'exists (select from users where id = r.id) or exists (select from accounts where id = r.id)',
    unique: {
      value: lowerSql('wanted.email'),
      isTaken: ['users', 'accounts']
        .map((table) => `exists (select from ${table} where ${lowerSql('email')} = ${lowerSql('wanted.email')})`)
        .join(' or '),
      code: 'EMAIL_TAKEN',
    },
  },
}

function taskTable(collection: 'social' | 'daily') {
  const present = `select from tasks where collection = '${collection}'`
  return {
    entity: taskEntity,
    isThere: `exists (${present} and id = r.id)`,
    unique: {
      value: 'wanted.priority',
      isTaken: `exists (${present} and priority = wanted.priority)`,
      code: 'PRIORITY_TAKEN',
    },
  } as const
}

const kinds = Object.keys(tables) as TrashKind[]

/** Returns SQL that reads the records' rows as `r`, their accounts as `a`, and the unique values that they are to have as `wanted`. */
function trashSourceSql(
  records: Trashed[],
  { entity }: { entity: Entity },
  { priority, email }: Replacements = {},
): RawBuilder<unknown> {
  const table = sql.table(entity.table)
  const replacements = JSON.stringify({ priority, email })
  return sql`trash, jsonb_populate_record(null::${table}, content -> 'row') as r, jsonb_populate_record(null::accounts, content -> 'account') as a,
    lateral (select (coalesce(${replacements}::jsonb ->> 'priority', content #>> '{row,priority}'))::numeric as priority,
                    coalesce(${replacements}::jsonb ->> 'email', content #>> '{row,email}') as email) as wanted
    where trash.id = any(${records.map(({ id }) => id)})`
}

/**
 * Returns what prevents restoring the records, as far as can be seen. Of several records that need the same value, the one deleted last
 * gets it. Locks the priorities of tasks. A record that is added meanwhile violates a constraint instead.
 */
export async function findConflicts(
  tx: Transaction<Tables>,
  records: Trashed[],
  replacements: Replacements = {},
): Promise<{ id: string; code: ConflictCode }[]> {
  const found: { id: string; code: ConflictCode }[] = []
  for (const kind of kinds) {
    const ofKind = records.filter((record) => record.kind === kind)
    if (ofKind.length === 0) continue
    if (kind === 'socialTask' || kind === 'dailyTask') await lockPriorities(tx, collectionOf[kind])
    const { isThere, unique } = tables[kind]
    const isAgain = (value: string): string => `row_number() over (partition by ${value} order by deleted_at desc, trash.id) > 1`
    const isTaken = unique ? `when ${unique.isTaken} or ${isAgain(unique.value)} then '${unique.code}'` : ''
    const { rows } = await sql<{ id: string; code: ConflictCode }>`
      select id, code from (
        select trash.id, case when ${sql.raw(isThere)} or ${sql.raw(isAgain('r.id'))} then 'STALE' ${sql.raw(isTaken)} end as code
          from ${trashSourceSql(ofKind, tables[kind], replacements)}) as looked_at
       where code is not null`.execute(tx)
    found.push(...rows)
  }
  return found
}

/**
 * Restores locked records that have no conflicts, and writes their audit entries.
 * @returns how many tasks are paused, because their segment is gone
 */
export async function restoreRecords(
  tx: Transaction<Tables>,
  services: Services,
  records: Trashed[],
  replacements: Replacements = {},
): Promise<number> {
  for (const kind of kinds) {
    const ofKind = records.filter((record) => record.kind === kind)
    if (ofKind.length > 0) await restorers[kind](tx, { ...services, records: ofKind, replacements })
  }
  const { rows } = await sql<{ isTaskWithoutSegment: boolean }>`
    delete from trash where id = any(${records.map(({ id }) => id)})
    returning content #>> '{row,segment_id}' is not null and exists (
      select from tasks where kind = collection || 'Task' and tasks.id = record_id and segment_id is null) as "isTaskWithoutSegment"`.execute(
    tx,
  )
  return rows.filter(({ isTaskWithoutSegment }) => isTaskWithoutSegment).length
}

interface Restoration extends Services {
  records: Trashed[]
  replacements: Replacements
}

const restorers: Record<TrashKind, (tx: Transaction<Tables>, restoration: Restoration) => Promise<void>> = {
  socialTask: (tx, restoration) => restoreTasks(tx, restoration, 'social'),
  dailyTask: (tx, restoration) => restoreTasks(tx, restoration, 'daily'),

  /** Restores announcements as inactive. Players get news when somebody activates them again. */
  async announcement(tx, { files, act, ...restoration }) {
    const rows = await insertRows(tx, announcementEntity, restoration, { ...itemValues, status: 'false' }, itemColumns)
    await notifySchedule(tx)
    await files.restore(
      tx,
      rows.flatMap(({ image, icon }) => [image, icon].filter((key) => key !== null)),
    )
    await writeHistoryItems(tx, 'announcement', { changed: rows.map(({ id }) => id) })
    await auditRestored(tx, act, 'announcement.restore', {
      rows,
      recordOf: (row) => ({ kind: 'announcement', id: row.id, name: row.title }),
    })
  },

  async user(tx, { act, ...restoration }) {
    const ids = restoration.records.map(({ id }) => id)
    await sql`
      insert into accounts (id, email, password_hash, created_at)
      select a.id, wanted.email, a.password_hash, a.created_at
        from ${trashSourceSql(restoration.records, tables.user, restoration.replacements)} and a.id is not null
       order by ${sql.raw(aToZSql('wanted.email'))}`.execute(tx)
    const rows = await insertRows(tx, userEntity, restoration, { email: 'wanted.email' })
    await restoreKeptRows(tx, ids)
    await restoreViews(tx, ids)
    for (const [userType, some] of Map.groupBy(rows, (row) => row.userType))
      await addToCounter(tx, { counter: { of: 'users', userType }, delta: some.length })
    await audit(
      tx,
      act,
      'user.restore',
      rows.map((user) => ({
        record: userRecord(user),
        changes: changesBetween(null, auditedUser(user)),
        detail: { version: user.version },
      })),
    )
  },
}

/** SQL for the restored item's segment, unless it is gone. */
const SEGMENT = `(select id from saved_views where id = r.segment_id and ${IS_SEGMENT})`

/** Columns of items that are not fields. */
const itemColumns = ['start_pending', 'end_pending', 'full_at', 'budget_spent_on']

/** SQL for columns of items. A date that has come while the item was in the trash takes no effect. */
const itemValues = {
  start_pending: 'coalesce(r.start_pending and r.starts_at > now(), false)',
  end_pending: 'coalesce(r.end_pending and r.ends_at > now(), false)',
  segment_id: SEGMENT,
}

async function restoreTasks(
  tx: Transaction<Tables>,
  { act, ...restoration }: Restoration,
  collection: 'social' | 'daily',
): Promise<void> {
  // A task whose segment is gone would be for everyone, so it is paused.
  const paused = `coalesce(r.paused, false) or (r.segment_id is not null and ${SEGMENT} is null)`
  const values = { ...itemValues, paused, priority: 'wanted.priority' }
  const rows = await insertRows(tx, taskEntity, restoration, values, ['collection', ...itemColumns])
  await notifySchedule(tx)
  await writeHistoryItems(tx, collection, { changed: rows.map(({ id }) => id) })
  const { recordKind: kind } = taskCollections[collection]
  await auditRestored(tx, act, 'task.restore', { rows, recordOf: (row) => ({ kind, id: row.id, name: row.title }) })
}

type StoredRow<E extends Entity> = Pick<RowOf<E['fields']>, StoredName<E['fields']>>

/** Inserts the records' rows. @param values SQL for columns that get another value @param extraColumns columns that are not fields */
async function insertRows<E extends Entity>(
  tx: Transaction<Tables>,
  entity: E,
  { records, replacements }: Pick<Restoration, 'records' | 'replacements'>,
  values: Readonly<Record<string, string>>,
  extraColumns: string[] = [],
): Promise<StoredRow<E>[]> {
  const columns = [...extraColumns, 'from_before', ...storedNames(entity.fields).map((name) => columnName(entity, name))]
  const expressions: Readonly<Record<string, string>> = { version: 'r.version + 1', ...values }
  const { rows } = await sql`
    insert into ${sql.table(entity.table)} (${sql.raw(columns.join(', '))})
    select ${sql.raw(columns.map((column) => expressions[column] ?? `r.${column}`).join(', '))}
      from ${trashSourceSql(records, { entity }, replacements)} order by r.id returning ${sql.join(storedFields(entity))}`.execute(
    tx,
  )
  return rows as StoredRow<E>[]
}

async function auditRestored<Row extends { id: string; version: number }>(
  tx: Transaction<Tables>,
  act: Act,
  action: 'task.restore' | 'announcement.restore',
  { rows, recordOf }: { rows: Row[]; recordOf: (row: Row) => { kind: TrashKind; id: string; name: string } },
): Promise<void> {
  const entries = rows.map((row) => ({
    record: recordOf(row),
    changes: changesBetween(null, row),
    detail: { version: row.version },
  }))
  await audit(tx, act, action, entries)
}

/**
 * Restores private views and default views. Shared views get their owner back, unless they have been renamed or have another owner.
 */
async function restoreViews(tx: Transaction<Tables>, ids: string[]): Promise<void> {
  await sql`
    insert into saved_views (id, list, name, address, owner_id, private_to, created_at, version)
    select v.id, v.list, v.name, v.address, v.owner_id, v.private_to, v.created_at, v.version
      from trash, jsonb_populate_recordset(null::saved_views, content -> 'views') as v where trash.id = any(${ids})`.execute(tx)
  await sql`
    update saved_views set owner_id = trash.record_id
      from trash, jsonb_to_recordset(content -> 'sharedViews') as v (id text, name text)
     where trash.id = any(${ids}) and saved_views.id = v.id and owner_id is null and ${lower(sql.ref('saved_views.name'))} = ${lower(sql.ref('v.name'))}`.execute(
    tx,
  )
  await sql`
    insert into default_views (user_id, list, view_id)
    select d.user_id, d.list, d.view_id
      from trash, jsonb_populate_recordset(null::default_views, content -> 'defaultViews') as d
      join saved_views on saved_views.id = d.view_id and coalesce(private_to, d.user_id) = d.user_id
     where trash.id = any(${ids})`.execute(tx)
}
