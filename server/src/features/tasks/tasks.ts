/** Social and daily tasks (§2, §3, §5, §7): add, edit, delete, and the documents of their history. */
import { randomUUID } from 'node:crypto'
import { sql, type Transaction } from 'kysely'
import type { contract } from '@arcade/contract/contract'
import { MAX_NUMBER } from '@arcade/contract/entity'
import { errorCatalogue } from '@arcade/contract/errors'
import { hasLink, type Task, type TaskCollection } from '@arcade/contract/tasks/fields'
import { MAX_TASK_TITLE_LENGTH, type TaskInput, taskInputFor } from '@arcade/contract/tasks/calls'
import { actOf, audit, changesBetween } from '#src/audit/audit.ts'
import { checkedInput, earlierVersion } from '#src/audit/versions.ts'
import { createOnce } from '#src/identity/idempotency.ts'
import { type CallContext, Failure, type Handlers } from '#src/calls.ts'
import type { Database } from '#src/db/database.ts'
import { transactionOrDryRun } from '#src/db/dry-run.ts'
import { selectedFields, storedFields, taskEntity } from '#src/db/entities.ts'
import { changedAvailability } from '#src/items/availability.ts'
import { titleOfCopy } from '#src/items/copies.ts'
import { writeHistoryItems } from '#src/items/history-items.ts'
import type { Tables } from '#src/db/tables.ts'
import { lockPriorities } from '#src/items/priorities.ts'
import { numberedPages } from '#src/lists/numbered-pages.ts'
import type { Trash } from '#src/audit/trash.ts'
import { removeTasks, tasksBulk } from './tasks-bulk.ts'
import { servedTasks, taskDerived, taskRecord } from './tasks-list.ts'

/** The columns of a task's own row, without derived fields. */
const stored = storedFields(taskEntity)

/** The calls of one collection. A taken priority violates `tasks_priority_key`. */
export function tasksHandlers(
  { database, trash }: { database: Database; trash: Trash },
  collection: TaskCollection,
): Handlers<typeof contract.socialTasks> {
  const { db } = database
  const readPage = numberedPages(database, servedTasks[collection])

  return {
    async list(query, context) {
      const { rows: tasks, ...page } = await readPage(query, context)
      const message = page.total === 0 ? { message: errorCatalogue.NO_TASKS_FOUND.message } : {}
      return { tasks, ...message, ...page }
    },

    async get({ id }) {
      const task = await db
        .selectFrom('tasks')
        .select(selectedFields(taskEntity, taskDerived))
        .where('collection', '=', collection)
        .where('id', '=', id)
        .executeTakeFirst()
      if (!task) throw new Failure('NO_SUCH_TASK')
      return task
    },

    async create(input, context) {
      const create = async (tx: Transaction<Tables>) => {
        const id = randomUUID()
        const availability = await changedAvailability(tx, { item: { kind: collection, id }, before: null, input })
        const task = await tx
          .insertInto('tasks')
          .values({ collection, id, ...toColumns(input), ...availability })
          .returning(stored)
          .executeTakeFirstOrThrow()
        await recordCreated(tx, task, context)
        return { success: true, id } as const
      }
      return createOnce(database, context, { create })
    },

    async update({ id, version, ...input }, context) {
      await database.transaction(async (tx) => {
        await save(tx, { before: await lockTask(tx, id, version), input, context })
      })
      return { success: true }
    },

    restoreVersion: ({ id, seq, version, dryRun }, context) =>
      transactionOrDryRun(database, dryRun, async (tx) => {
        const before = await lockTask(tx, id, version)
        const present = { record: taskRecord(collection, before), fields: before, version: before.version }
        const earlier = await earlierVersion(tx, present, seq)
        const input = checkedInput(taskInputFor(collection), toInput(earlier))
        const isSame = Object.keys(changesBetween(before, earlier)).length === 0
        const after = isSame ? before : await save(tx, { before, input, context, restoredFrom: seq })
        return { success: true, changes: JSON.stringify(changesBetween(before, after)), missing: [] }
      }),

    async remove({ id }, context) {
      await database.transaction(async (tx) => {
        const removed = await removeTasks(tx, context, {
          trash,
          collection,
          where: sql`collection = ${collection} and id = ${id}`,
        })
        if (removed.length === 0) throw new Failure('NO_SUCH_TASK')
      })
      return { success: true }
    },

    ...tasksBulk({ database, trash }, collection),

    duplicate({ id: original }, context) {
      const create = async (tx: Transaction<Tables>) => {
        await lockPriorities(tx, collection)
        const id = randomUUID()
        const task = await insertCopy(tx, { collection, original, id })
        if (!task) throw new Failure('NO_SUCH_TASK')
        await recordCreated(tx, task, context, { duplicateOf: original })
        return { success: true, id } as const
      }
      return createOnce(database, context, { create })
    },
  }

  /** Adds a new task to History and writes the audit entry of its creation. */
  async function recordCreated(
    tx: Transaction<Tables>,
    task: StoredTask,
    context: CallContext,
    detail: { duplicateOf?: string } = {},
  ): Promise<void> {
    await writeHistoryItems(tx, collection, { changed: [task.id] })
    await audit(tx, actOf(context), 'task.create', {
      record: taskRecord(collection, task),
      changes: changesBetween(null, task),
      detail: { version: 1, ...detail },
    })
  }

  async function lockTask(tx: Transaction<Tables>, id: string, version: number | undefined): Promise<StoredTask> {
    await lockPriorities(tx, collection)
    const task = await tx
      .selectFrom('tasks')
      .select(stored)
      .where('collection', '=', collection)
      .where('id', '=', id)
      .forUpdate()
      .executeTakeFirst()
    if (!task) throw new Failure('NO_SUCH_TASK')
    if (version !== undefined && task.version !== version) throw new Failure('STALE')
    return task
  }

  async function save(tx: Transaction<Tables>, { before, input, context, restoredFrom }: Saving): Promise<StoredTask> {
    const how = restoredFrom === undefined ? 'saved' : 'restored'
    const availability = await changedAvailability(tx, { item: { kind: collection, id: before.id }, before, input, how })
    const after = await tx
      .updateTable('tasks')
      .set({ ...toColumns(input), ...availability, version: sql`version + 1` })
      .where('collection', '=', collection)
      .where('id', '=', before.id)
      .returning(stored)
      .executeTakeFirstOrThrow()
    await writeHistoryItems(tx, collection, { changed: [before.id] })
    await audit(tx, actOf(context), 'task.update', {
      record: taskRecord(collection, after),
      changes: changesBetween(before, after),
      detail: { version: after.version, restoredFrom },
    })
    return after
  }
}

const NO_PRIORITY_LEFT = 'No priority is left for a copy: the last task has the largest. Give it another first.'

/**
 * Inserts a paused copy of a task without dates, after all others. The transaction holds the lock of priorities.
 * @throws Failure PRIORITY_TAKEN if the largest possible priority is taken
 */
async function insertCopy(
  tx: Transaction<Tables>,
  { collection, original, id }: { collection: TaskCollection; original: string; id: string },
): Promise<StoredTask | undefined> {
  const last = sql`select max(priority) from tasks where collection = ${collection}`
  const source = await tx
    .selectFrom('tasks')
    .select(['title', sql<boolean>`(${last}) >= ${MAX_NUMBER}::numeric`.as('isFull')])
    .where('collection', '=', collection)
    .where('id', '=', original)
    .executeTakeFirst()
  if (!source) return undefined
  if (source.isFull) throw new Failure('PRIORITY_TAKEN', { message: NO_PRIORITY_LEFT })
  const { rows } = await sql<StoredTask>`
    insert into tasks (collection, id, image, priority, title, link, reward, verified_by_bot, max_participants, daily_budget, segment_id, paused)
    select collection, ${id}, image, floor((${last})) + 1, ${titleOfCopy(source.title, MAX_TASK_TITLE_LENGTH)}, link, reward, verified_by_bot,
           max_participants, daily_budget, segment_id, true
      from tasks where collection = ${collection} and id = ${original} returning ${sql.join(stored)}`.execute(tx)
  return rows[0]
}

type StoredTask = Omit<Task, 'numberOfParticipants' | 'state'>

interface Saving {
  before: StoredTask
  input: TaskInput
  context: CallContext
  /** The number (`seq`) of the audit entry whose version is restored. */
  restoredFrom?: number
}

/** Returns the input that the form would send for a task. */
function toInput({ id: _id, createdAt: _createdAt, version: _version, type, link, ...others }: StoredTask) {
  return { ...others, type: type as TaskInput['type'], link: link ?? '' }
}

/** Maps the form to columns (§3, §5): the type is stored as `image`. An empty link, or a link that the type does not use, becomes null. */
function toColumns({ type, priority, title, link, reward, verifiedByBot, paused }: TaskInput) {
  const usedLink = link && hasLink(type) ? link : null
  const columns = { image: type, priority, title, link: usedLink, reward, verified_by_bot: verifiedByBot }
  return paused === undefined ? columns : { ...columns, paused }
}
