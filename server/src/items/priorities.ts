/**
 * Changes priorities of tasks (§5: unique within a collection). PostgreSQL checks the unique constraint row by row, so tasks that swap
 * priorities first give up their old ones. Two transactions that each take several priorities could deadlock, so they take a transaction
 * lock. Adding a task needs no lock, because it takes only one priority.
 */
import { sql, type Transaction } from 'kysely'
import type { TaskCollection } from '@arcade/contract/tasks/fields'
import type { Tables } from '#src/db/tables.ts'
import { takeLock } from '#src/db/transaction-locks.ts'

/** Added to a priority, gives one that is free, because no task may have a priority this high: it is above 2^53. */
const PARKING = '100000000000000000'

/** Takes the lock to change priorities of the collection. Call it before any task is locked or changed. */
export function lockPriorities(tx: Transaction<Tables>, collection: TaskCollection): Promise<void> {
  return takeLock(tx, `${collection}Priorities`)
}

/** A task and its new priority, as text so that no digit is lost. */
export interface AssignedPriority {
  id: string
  priority: string
}

/** Gives tasks new priorities, which they may swap. The transaction must hold the lock (`lockPriorities`). */
export async function assignPriorities(
  tx: Transaction<Tables>,
  collection: TaskCollection,
  assigned: AssignedPriority[],
): Promise<void> {
  await parkPriorities(tx, collection, assigned)
  await sql`
    update tasks set priority = assigned.priority, version = version + 1 from ${unnested(assigned)}
     where collection = ${collection} and tasks.id = assigned.id`.execute(tx)
}

/** Frees the priorities of the tasks that get another one. The same transaction must then store the new ones. */
export async function parkPriorities(
  tx: Transaction<Tables>,
  collection: TaskCollection,
  assigned: AssignedPriority[],
): Promise<void> {
  await sql`
    update tasks set priority = tasks.priority + ${PARKING}::numeric from ${unnested(assigned)}
     where collection = ${collection} and tasks.id = assigned.id and tasks.priority <> assigned.priority`.execute(tx)
}

function unnested(assigned: AssignedPriority[]) {
  const ids = assigned.map(({ id }) => id)
  const priorities = assigned.map(({ priority }) => priority)
  return sql`unnest(${ids}::text[], ${priorities}::numeric[]) as assigned (id, priority)`
}
