/** What the address of a list of tasks holds. */
import type { TasksSort } from '@arcade/contract/entities/task'
import { defined, type ListSearch, listSearch, textOf } from '#src/ui/list-search.ts'

export interface TasksSearch extends ListSearch<TasksSort> {
  /** A task type; an imported task may have any. */
  type?: string | undefined
}

export function tasksSearch(given: Record<string, unknown>): TasksSearch {
  return {
    ...listSearch<TasksSort>(given, ['priority', 'title', 'reward', 'participants']),
    ...defined({ type: textOf(given['type']) }),
  }
}
