/** Social and daily tasks as lists (§2, §7): by priority unless sorted otherwise, searched and filtered, 50 a page. */
import { sql } from 'kysely'
import { type TaskCollection, taskCollections, taskLists } from '@arcade/contract/tasks/fields'
import type { AuditRecord } from '#src/audit/audit.ts'
import { counterOfRowSql } from '#src/counters/counters.ts'
import { type DerivedSql, taskEntity } from '#src/db/entities.ts'
import { taskStateSql } from '#src/items/state.ts'
import { type ServedList, serveList } from '#src/lists/list.ts'
import { searchWithoutIndex } from '#src/lists/search.ts'

/** A task as the audit trail names it. */
export function taskRecord(collection: TaskCollection, { id, title }: { id: string; title: string }): AuditRecord {
  return { kind: taskCollections[collection].recordKind, id, name: title }
}

type TaskList = (typeof taskLists)[TaskCollection]

export const taskDerived: DerivedSql<typeof taskEntity> = {
  numberOfParticipants: counterOfRowSql({ of: 'participants', kind: 'tasks.collection', itemId: 'tasks.id' }),
  state: taskStateSql(),
}

function serveTasks(collection: TaskCollection): ServedList<TaskList> {
  const { title } = taskCollections[collection]
  return serveList<TaskList>({
    list: taskLists[collection],
    entity: taskEntity,
    derived: taskDerived,
    conditions: { state: (state) => sql`${sql.raw(taskStateSql())} = ${state}` },
    sheet: { sheetName: title, flags: { paused: ['Yes', 'No'] }, inWords: { state: true } },
    search: (text) => searchWithoutIndex(`title || ' ' || coalesce(link, '')`, text),
    baseCondition: `collection = '${collection}'`,
  })
}

export const servedTasks: Record<TaskCollection, ServedList<TaskList>> = {
  social: serveTasks('social'),
  daily: serveTasks('daily'),
}
