/**
 * Changing the priorities of tasks (§5: unique within a collection). PostgreSQL checks the unique constraint row by row, so tasks that
 * swap priorities leave their old ones first. Two transactions that each claim several priorities could wait for each other for ever,
 * so they take turns by an advisory lock. Adding a task needs no turn: it claims one priority and holds no other meanwhile.
 */
import { sql, type Transaction } from 'kysely'
import type { TaskCollection } from '@arcade/contract/tasks/fields'
import type { Tables } from '#src/db/tables.ts'
import { takeLock } from '#src/db/transaction-locks.ts'

/** No task may have a priority this high, so adding it makes a priority that is free. Below it lie all numbers up to 2^53. */
const PARKING = '100000000000000000'

/** Waits for this transaction's turn to change priorities of the collection. Call it before any task is locked or changed. */
export function lockPriorities(tx: Transaction<Tables>, collection: TaskCollection): Promise<void> {
  return takeLock(tx, `${collection}Priorities`)
}

/** A task and the priority it is to have, as text so that no digit is lost. */
export interface AssignedPriority {
  id: string
  priority: string
}

/** Gives tasks new priorities, which may be present ones of each other. The transaction must have its turn (`lockPriorities`). */
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

/** Frees the priorities of those tasks that are to have another one. The same transaction must then store the new ones. */
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
