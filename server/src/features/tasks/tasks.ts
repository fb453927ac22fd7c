/** Social and daily tasks (§2, §3, §5, §7): add, edit, delete, and the documents of their history. */
import { randomUUID } from 'node:crypto'
import { sql, type Transaction } from 'kysely'
import type { contract } from '@arcade/contract/contract'
import { errorCatalogue } from '@arcade/contract/errors'
import { hasLink, type TaskCollection } from '@arcade/contract/entities/task'
import type { TaskInput } from '@arcade/contract/tasks'
import { audit } from '#src/identity/audit.ts'
import { createOnce } from '#src/identity/idempotency.ts'
import { Failure, type Handlers } from '#src/calls.ts'
import type { Database } from '#src/db/database.ts'
import { selectedFields, taskEntity } from '#src/db/entities.ts'
import { writeHistoryItems } from '#src/db/history-items.ts'
import type { Tables } from '#src/db/tables.ts'
import { lockPriorities } from '#src/db/priorities.ts'
import { numberedPages } from '#src/lists/numbered-pages.ts'
import { tasksBulk } from './tasks-bulk.ts'
import { servedTasks, taskDerived } from './tasks-list.ts'

/** The calls of one collection. A taken priority violates `tasks_priority_key`. */
export function tasksHandlers(
  { database }: { database: Database },
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
        await tx
          .insertInto('tasks')
          .values({ collection, id, ...toColumns(input) })
          .execute()
        await writeHistoryItems(tx, collection, { changed: [id] })
        await audit(tx, context, { action: 'task.create', target: id, detail: { collection, title: input.title } })
        return { success: true, id } as const
      }
      return createOnce(database, context, { create })
    },

    async update({ id, version, ...input }, context) {
      await database.transaction(async (tx) => {
        await lockPriorities(tx, collection)
        const before = await tx
          .selectFrom('tasks')
          .select(['version', 'image as type', 'priority', 'title', 'link', 'reward'])
          .where('collection', '=', collection)
          .where('id', '=', id)
          .forUpdate()
          .executeTakeFirst()
        if (!before) throw new Failure('NO_SUCH_TASK')
        if (version !== undefined && before.version !== version) throw new Failure('STALE')
        await tx
          .updateTable('tasks')
          .set({ ...toColumns(input), version: sql`version + 1` })
          .where('collection', '=', collection)
          .where('id', '=', id)
          .execute()
        await writeHistoryItems(tx, collection, { changed: [id] })
        await audit(tx, context, { action: 'task.update', target: id, detail: { collection, from: before } })
      })
      return { success: true }
    },

    async remove({ id }, context) {
      await database.transaction(async (tx) => {
        const removed = await tx
          .deleteFrom('tasks')
          .where('collection', '=', collection)
          .where('id', '=', id)
          .returning('title')
          .executeTakeFirst()
        if (!removed) throw new Failure('NO_SUCH_TASK')
        await audit(tx, context, { action: 'task.remove', target: id, detail: { collection, title: removed.title } })
      })
      return { success: true }
    },

    ...tasksBulk(database, collection),
  }
}

/** §3, §5: the type is stored as `image`; an empty link, or one that the type has no use for, as no link. */
function toColumns({ type, priority, title, link, reward }: TaskInput) {
  return { image: type, priority, title, link: link && hasLink(type) ? link : null, reward }
}
