/** Social and daily tasks (§2, §3, §5, §7): lists by priority, add, edit, delete, and the documents of their history. */
import { randomUUID } from 'node:crypto'
import { type Kysely, sql } from 'kysely'
import type { contract } from '@arcade/contract/contract'
import { errorCatalogue } from '@arcade/contract/errors'
import { hasLink, type Task, type TaskCollection, type TaskInput, TASKS_PAGE_SIZE } from '@arcade/contract/tasks'
import { audit } from '#src/audit.ts'
import { Failure, type Handlers } from '#src/calls.ts'
import { readCounters } from '#src/db/counters.ts'
import type { Database } from '#src/db/database.ts'
import type { Tables } from '#src/db/tables.ts'

/** The calls of one collection. A taken priority violates `tasks_priority_key`. */
export function tasksHandlers(
  { database }: { database: Database },
  collection: TaskCollection,
): Handlers<typeof contract.socialTasks> {
  const { db } = database

  return {
    async list({ page }) {
      const [rows, { total }] = await Promise.all([
        db
          .selectFrom('tasks')
          .select(shown)
          .where('collection', '=', collection)
          .orderBy('priority')
          .orderBy('id')
          .limit(TASKS_PAGE_SIZE)
          .offset((page - 1) * TASKS_PAGE_SIZE)
          .execute(),
        db
          .selectFrom('tasks')
          .select(sql<number>`count(*)`.as('total'))
          .where('collection', '=', collection)
          .executeTakeFirstOrThrow(),
      ])
      const tasks = await withParticipants(db, collection, rows)
      const pageCount = Math.max(1, Math.ceil(total / TASKS_PAGE_SIZE))
      const message = total === 0 ? { message: errorCatalogue.NO_TASKS_FOUND.message } : {}
      return { tasks, ...message, page, pageSize: TASKS_PAGE_SIZE, pageCount, total }
    },

    async get({ id }) {
      const row = await db
        .selectFrom('tasks')
        .select(shown)
        .where('collection', '=', collection)
        .where('id', '=', id)
        .executeTakeFirst()
      const [task] = await withParticipants(db, collection, row ? [row] : [])
      if (!task) throw new Failure('NO_SUCH_TASK')
      return task
    },

    async create(input, context) {
      const id = randomUUID()
      await database.transaction(async (tx) => {
        await tx
          .insertInto('tasks')
          .values({ collection, id, ...columnsOf(input) })
          .execute()
        await writeHistory(tx, collection, id)
        await audit(tx, context, { action: 'task.create', target: id, detail: { collection, title: input.title } })
      })
      return { success: true, id }
    },

    async update({ id, version, ...input }, context) {
      await database.transaction(async (tx) => {
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
          .set({ ...columnsOf(input), version: sql`version + 1` })
          .where('collection', '=', collection)
          .where('id', '=', id)
          .execute()
        await writeHistory(tx, collection, id)
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
  }
}

const shown = ['id', 'priority', 'image as type', 'title', 'link', 'reward', 'created_at', 'version'] as const

type ShownRow = Omit<Task, 'createdAt' | 'numberOfParticipants'> & { created_at: Date }

async function withParticipants(db: Kysely<Tables>, collection: TaskCollection, rows: ShownRow[]): Promise<Task[]> {
  const participants = await readCounters(
    db,
    rows.map(({ id }) => `participants:${collection}:${id}`),
  )
  return rows.map(({ created_at: createdAt, ...row }) => ({
    ...row,
    createdAt: createdAt.toISOString(),
    numberOfParticipants: participants[`participants:${collection}:${row.id}`] ?? 0,
  }))
}

/** §3, §5: the type is stored as `image`; an empty link, or one that the type has no use for, as no link. */
function columnsOf({ type, priority, title, link, reward }: TaskInput) {
  return { image: type, priority, title, link: link && hasLink(type) ? link : null, reward }
}

/** The item's document of socialTasksHistory or dailyTasksHistory (§3): as the task is now, and there to stay when it is deleted. */
async function writeHistory(tx: Kysely<Tables>, collection: TaskCollection, id: string): Promise<void> {
  await sql`
    insert into history_items (kind, item_id, title, type, link, reward, created_at)
    select collection, id, title, image, link, reward, created_at from tasks where collection = ${collection} and id = ${id}
    on conflict (kind, item_id) do update
      set title = excluded.title, type = excluded.type, link = excluded.link, reward = excluded.reward`.execute(tx)
}
