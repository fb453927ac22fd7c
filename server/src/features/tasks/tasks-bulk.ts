/** Bulk calls for tasks: delete, renumber, reorder, move their dates, end, pause. Either all of the tasks change or none. */
import { sql, type Transaction } from 'kysely'
import type { contract } from '@arcade/contract/contract'
import { MAX_NUMBER } from '@arcade/contract/entity'
import { type TaskCollection, taskCollections } from '@arcade/contract/tasks/fields'
import { isExactNumber } from '@arcade/contract/numbers'
import { isolated } from '@arcade/contract/text'
import { actOf, audit, type AuditEntryInput, changesBetween } from '#src/audit/audit.ts'
import { actOnMany } from '#src/lists/bulk.ts'
import type { Condition } from '#src/lists/list.ts'
import { whereTarget } from '#src/lists/where.ts'
import { type CallContext, Failure, type Handlers } from '#src/calls.ts'
import type { Database } from '#src/db/database.ts'
import { taskEntity } from '#src/db/entities.ts'
import { endNow, type Redated, shiftDates } from '#src/items/dates.ts'
import { type AssignedPriority, assignPriorities, lockPriorities } from '#src/items/priorities.ts'
import type { Tables } from '#src/db/tables.ts'
import { refuseBeyondBulk } from '#src/identity/role-limits.ts'
import type { Trash } from '#src/audit/trash.ts'
import { servedTasks, taskRecord } from './tasks-list.ts'

type Bulk = Pick<Handlers<typeof contract.socialTasks>, 'removeMany' | 'prioritise' | 'reorder' | 'shift' | 'end' | 'pause'>

interface Services {
  database: Database
  trash: Trash
}

/** Moves tasks of the collection to the trash, and writes audit entries. Returns the removed rows. */
export async function removeTasks(
  tx: Transaction<Tables>,
  context: CallContext,
  { trash, collection, where }: { trash: Trash; collection: TaskCollection; where: Condition },
) {
  const act = actOf(context)
  const kind = taskCollections[collection].recordKind
  const removed = await trash.remove(tx, act, { entity: taskEntity, kind, nameColumn: 'title', where })
  const entries = removed.map((task) => ({ record: taskRecord(collection, task), changes: changesBetween(task, null) }))
  await audit(tx, act, 'task.remove', entries)
  return removed
}

export function tasksBulk({ database, trash }: Services, collection: TaskCollection): Bulk {
  const served = servedTasks[collection]

  return {
    removeMany({ target, dryRun, expected }, context) {
      return actOnMany(database, context, { dryRun, expected }, async (tx) => {
        await lockPriorities(tx, collection)
        return { rows: await removeTasks(tx, context, { trash, collection, where: whereTarget(served, target, context) }) }
      })
    },

    prioritise({ target, first, step, dryRun, expected }, context) {
      return actOnMany(database, context, { dryRun, expected }, async (tx) => {
        await lockPriorities(tx, collection)
        const tasks = await lockTasks(tx, collection, whereTarget(served, target, context))
        if (Math.abs(first + step * Math.max(0, tasks.length - 1)) > MAX_NUMBER) {
          const message = `Priority must be between ${-MAX_NUMBER} and ${MAX_NUMBER}`
          throw new Failure('INVALID_INPUT', { message, fields: { step: message } })
        }
        const { rows: numbered } = await sql<AssignedPriority>`
          select id, (${first}::numeric + (ord - 1) * ${step}::numeric)::text as priority
            from unnest(${tasks.map(({ id }) => id)}::text[]) with ordinality as target (id, ord)`.execute(tx)
        if (!numbered.every(({ priority }) => isExactNumber(priority))) {
          const message = 'Between numbers this large a step this small cannot be kept exactly.'
          throw new Failure('INVALID_INPUT', { message, fields: { step: message } })
        }
        await refuseTaken(tx, collection, numbered)
        const present = new Map(tasks.map(({ id, priority }) => [id, priority]))
        const moved = numbered.filter(({ id, priority }) => present.get(id) !== Number(priority))
        await assignPriorities(tx, collection, moved)
        await auditPriorities(tx, context, { tasks, moved })
        return { rows: tasks }
      })
    },

    async reorder({ tasks }, context) {
      const ids = tasks.map(({ id }) => id)
      if (new Set(ids).size < ids.length) throw new Failure('INVALID_INPUT', { message: 'Name each task once.' })
      await database.transaction(async (tx) => {
        await lockPriorities(tx, collection)
        const found = await lockTasks(tx, collection, sql<boolean>`collection = ${collection} and id = any(${ids})`)
        const priorities = new Map(found.map(({ id, priority }) => [id, priority]))
        if (tasks.some(({ id, priority }) => priorities.get(id) !== priority)) {
          throw new Failure('STALE', {
            message: 'These tasks have changed meanwhile. Please look at the list again.',
          })
        }
        const { rows: moved } = await sql<AssignedPriority>`
          with wanted as (select id, ord from unnest(${ids}::text[]) with ordinality as wanted (id, ord)),
          present as (
            select id, priority, row_number() over (order by priority) as ord from tasks
             where collection = ${collection} and id = any(${ids}))
          select wanted.id, present.priority::text as priority from wanted join present using (ord) where wanted.id <> present.id`.execute(
          tx,
        )
        await refuseBeyondBulk(tx, context, moved.length)
        await assignPriorities(tx, collection, moved)
        await auditPriorities(tx, context, { tasks: found, moved })
      })
      return { success: true }
    },

    shift({ target, days, minutes, zone, dryRun, expected }, context) {
      return actOnMany(database, context, { dryRun, expected }, async (tx) => {
        const where = whereTarget(served, target, context)
        const { changed, refused } = await shiftDates(tx, collection, { where, days, minutes, zone })
        await audit(tx, actOf(context), 'task.schedule', changed.map(datesEntry))
        return { rows: changed, refusals: refused }
      })
    },

    end({ target, dryRun, expected }, context) {
      return actOnMany(database, context, { dryRun, expected }, async (tx) => {
        const changed = await endNow(tx, collection, whereTarget(served, target, context))
        await audit(tx, actOf(context), 'task.end', changed.map(datesEntry))
        return { rows: changed }
      })
    },

    /** Skips tasks that are paused already, or that go on already. */
    pause({ target, paused, dryRun, expected }, context) {
      return actOnMany(database, context, { dryRun, expected }, async (tx) => {
        const tasks = await lockTasks(
          tx,
          collection,
          sql<boolean>`${whereTarget(served, target, context)} and paused <> ${paused}`,
        )
        await tx
          .updateTable('tasks')
          .set({ paused, version: sql`version + 1` })
          .where('collection', '=', collection)
          .where(sql<boolean>`id = any(${tasks.map(({ id }) => id)})`)
          .execute()
        const entries = tasks.map((task) => ({
          record: taskRecord(collection, task),
          changes: { paused: [!paused, paused] } as const,
          detail: { version: task.version + 1 },
        }))
        await audit(tx, actOf(context), paused ? 'task.pause' : 'task.resume', entries)
        return { rows: tasks }
      })
    },
  }

  /** Returns the audit entry for a task whose dates an act has changed. */
  function datesEntry({ before, after, version, ...record }: Redated): AuditEntryInput {
    return { record: taskRecord(collection, record), changes: changesBetween({ ...before }, { ...after }), detail: { version } }
  }

  async function auditPriorities(
    tx: Transaction<Tables>,
    context: CallContext,
    { tasks, moved }: { tasks: LockedTask[]; moved: AssignedPriority[] },
  ): Promise<void> {
    const byId = new Map(tasks.map((task) => [task.id, task]))
    const entries = moved.map(({ id, priority }) => {
      const task = byId.get(id)!
      const changes = { priority: [task.priority, Number(priority)] } as const
      return { record: taskRecord(collection, task), changes, detail: { version: task.version + 1 } }
    })
    await audit(tx, actOf(context), 'task.priority', entries)
  }
}

interface LockedTask {
  id: string
  title: string
  priority: number
  version: number
}

/** Most tasks that the error PRIORITY_TAKEN names. */
const NAMED_TASKS = 3

/**
 * Checks that no other task has one of these priorities. A task that is added meanwhile violates the constraint instead.
 * @throws Failure PRIORITY_TAKEN, which names the tasks that have them
 */
async function refuseTaken(tx: Transaction<Tables>, collection: TaskCollection, assigned: AssignedPriority[]): Promise<void> {
  const inTheWay = await tx
    .selectFrom('tasks')
    .select(['title', 'priority'])
    .where('collection', '=', collection)
    .where(sql<boolean>`priority = any(${assigned.map(({ priority }) => priority)}::numeric[])`)
    .where(sql<boolean>`not id = any(${assigned.map(({ id }) => id)}::text[])`)
    .orderBy('priority')
    .execute()
  if (inTheWay.length === 0) return
  const named = inTheWay.slice(0, NAMED_TASKS).map(({ title, priority }) => `${priority} by ${isolated(title)}`)
  const more = inTheWay.length > NAMED_TASKS ? ` and ${inTheWay.length - NAMED_TASKS} more` : ''
  throw new Failure('PRIORITY_TAKEN', { fields: { first: `Already taken: ${named.join(', ')}${more}` } })
}

/** Locks the rows in the order of ids, so that two transactions wait for each other instead of deadlocking. Returns them by priority. */
async function lockTasks(
  tx: Transaction<Tables>,
  collection: TaskCollection,
  targeted: ReturnType<typeof sql<boolean>>,
): Promise<LockedTask[]> {
  const locked = await tx.selectFrom('tasks').select('id').where(targeted).orderBy('id').forUpdate().execute()
  return tx
    .selectFrom('tasks')
    .select(['id', 'title', 'priority', 'version'])
    .where('collection', '=', collection)
    .where(sql<boolean>`id = any(${locked.map(({ id }) => id)})`)
    .orderBy('priority')
    .orderBy('id')
    .execute()
}
