/** Tasks as a list (§2, §7): by priority unless sorted otherwise, searched and filtered, 50 a page, and as a spreadsheet. */
import { type Kysely, type RawBuilder, sql } from 'kysely'
import type { contract } from '@arcade/contract/contract'
import { errorCatalogue } from '@arcade/contract/errors'
import {
  type Task,
  type TaskCollection,
  taskCollections,
  taskLists,
  type TasksFilter,
  type TasksSort,
} from '@arcade/contract/entities/task'
import { type Target, targetCondition } from '#src/lists/bulk.ts'
import type { CallContext, Handlers } from '#src/calls.ts'
import { counterSql, readCounters } from '#src/db/counters.ts'
import type { Database } from '#src/db/database.ts'
import type { Tables } from '#src/db/tables.ts'
import type { DownloadAnswer, Downloads } from '#src/sheets/download.ts'
import type { Column } from '#src/sheets/spreadsheet.ts'

const [PAGE_SIZE] = taskLists.social.pageSizes
const PARTICIPANTS = counterSql({ of: 'participants', kind: 'tasks.collection', itemId: 'tasks.id' })

const keys: Record<TasksSort, string> = {
  priority: 'priority',
  title: 'lower(title)',
  reward: 'reward',
  participants: PARTICIPANTS,
}

/** The tasks of a collection that a filter matches. There are thousands at most, so no index helps. */
export function tasksCondition(collection: TaskCollection, { search = '', type }: TasksFilter): RawBuilder<boolean> {
  const parts = [sql`collection = ${collection}`]
  if (type !== undefined) parts.push(sql`image = ${type}`)
  if (search !== '') parts.push(sql`strpos(lower(title || ' ' || coalesce(link, '')), lower(${search}::text)) > 0`)
  return sql<boolean>`${sql.join(parts, sql` and `)}`
}

export function tasksList({ db }: Database, collection: TaskCollection): Handlers<typeof contract.socialTasks>['list'] {
  return async ({ page, sort, reversed, ...filter }) => {
    const isMatch = tasksCondition(collection, filter)
    const direction = reversed ? 'desc' : 'asc'
    const [rows, { total }] = await Promise.all([
      db
        .selectFrom('tasks')
        .select(shown)
        .where(isMatch)
        .orderBy(sql.raw(keys[sort]), direction)
        .orderBy('id', direction)
        .limit(PAGE_SIZE)
        .offset((page - 1) * PAGE_SIZE)
        .execute(),
      db
        .selectFrom('tasks')
        .select(sql<number>`count(*)`.as('total'))
        .where(isMatch)
        .executeTakeFirstOrThrow(),
    ])
    const tasks = await withParticipants(db, collection, rows)
    const pageCount = Math.max(1, Math.ceil(total / PAGE_SIZE))
    const message = total === 0 ? { message: errorCatalogue.NO_TASKS_FOUND.message } : {}
    return { tasks, ...message, page, pageSize: PAGE_SIZE, pageCount, total }
  }
}

export const shown = ['id', 'priority', 'image as type', 'title', 'link', 'reward', 'created_at', 'version'] as const

type ShownRow = Omit<Task, 'createdAt' | 'numberOfParticipants'> & { created_at: Date }

export async function withParticipants(db: Kysely<Tables>, collection: TaskCollection, rows: ShownRow[]): Promise<Task[]> {
  const participants = await readCounters(
    db,
    rows.map(({ id }) => ({ of: 'participants', kind: collection, itemId: id })),
  )
  return rows.map(({ created_at: createdAt, ...row }, index) => ({
    ...row,
    createdAt: createdAt.toISOString(),
    numberOfParticipants: participants[index] ?? 0,
  }))
}

interface SheetRow {
  priority: number
  type: string
  title: string
  link: string | null
  reward: number
  participants: number
  created_at: Date
}

const columns: Column<SheetRow>[] = [
  { header: 'Priority', width: 12, kind: 'number', value: (task) => task.priority },
  { header: 'Type', width: 16, kind: 'text', value: (task) => task.type },
  { header: 'Title', width: 40, kind: 'text', value: (task) => task.title },
  { header: 'Link', width: 48, kind: 'text', value: (task) => task.link },
  { header: 'Reward', width: 12, kind: 'number', value: (task) => task.reward },
  { header: 'Participants', width: 14, kind: 'number', value: (task) => task.participants },
  { header: 'Created At', width: 20, kind: 'date', value: (task) => task.created_at },
]

/** POST /api/exports: picked tasks, or those of a filter. */
export function tasksSelection(
  { database, downloads }: { database: Database; downloads: Downloads },
  collection: TaskCollection,
) {
  const { title, path } = taskCollections[collection]
  return (
    { target, exportId }: { target: Target<TasksFilter>; exportId?: string | undefined },
    context: CallContext,
  ): Promise<DownloadAnswer> => {
    const isSelected = targetCondition(target, (filter) => tasksCondition(collection, filter))
    return downloads.selection<SheetRow>({
      context,
      exportId,
      target: `${collection}Tasks`,
      selection: target,
      fileName: `${path.slice(1)}.xlsx`,
      sheetName: title,
      columns,
      from: sql`tasks where collection = ${collection} and ${isSelected}`.compile(database.db),
      fields: `priority, image as type, title, link, reward, ${PARTICIPANTS} as participants, created_at`,
      orderBy: 'priority, id',
    })
  }
}
