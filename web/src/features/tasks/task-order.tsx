/** Reorders a page of tasks by hand (§2: sorted by priority). A move shows at once, is saved as one change and can be undone. */
import type { Task, TaskCollection, taskLists } from '@arcade/contract/tasks/fields'
import { isolated } from '@arcade/contract/text'
import { type QueryKey } from '@tanstack/react-query'
import { type ReactNode, useRef } from 'react'
import { asCallError } from '#src/client/call-error.ts'
import { client, queryClient } from '#src/client/client.ts'
import { refreshAfterActOn } from '#src/lists/changes.ts'
import { pauseListReloads } from '#src/lists/live.ts'
import { withdrawOlderUndos } from '#src/lists/undo.ts'
import { focusHandle, Reorder } from './reorder.tsx'
import { toast } from '#src/ui/toast.tsx'
import { keepFocusInRows } from '#src/ui/table-rows.ts'

interface TaskOrderProps {
  list: (typeof taskLists)[TaskCollection]
  /** All tasks of the current page, in ascending order of priority. */
  tasks: readonly Task[]
  /** The query key of that page. */
  queryKey: QueryKey
  /** The table, with a `MoveHandle` in each row (see reorder.tsx). */
  children: ReactNode
}

export function TaskOrder({ list, tasks, queryKey, children }: TaskOrderProps) {
  /** Saves run one after the other, because each sends the priorities that the previous save produced. */
  const saving = useRef(Promise.resolve())

  const putInCache = (moved: readonly Task[]) => {
    const byId = new Map(moved.map((task) => [task.id, task]))
    queryClient.setQueryData<{ tasks: Task[] }>(queryKey, (page) => {
      if (!page) return page
      const merged = page.tasks.map((task) => byId.get(task.id) ?? task)
      return { ...page, tasks: merged.toSorted((one, other) => one.priority - other.priority) }
    })
  }

  /** Saves a new order. `after` has the tasks of `before` in their new order; they get the same priorities, in ascending order. */
  const save = (before: readonly Task[], after: readonly Task[], onSaved: (reordered: Task[]) => void) => {
    const priorities = before.map(({ priority }) => priority).toSorted((one, other) => one - other)
    const reordered = after.map((task, index) => ({ ...task, priority: priorities[index] ?? task.priority }))
    void queryClient.cancelQueries({ queryKey }) // an answer from before the move would overwrite the new order
    putInCache(reordered)
    const saveOrder = async () => {
      const keepFocus = keepFocusInRows(document.activeElement)
      try {
        await client[list.name].reorder({ tasks: after.map(({ id, priority }) => ({ id, priority })) })
        onSaved(reordered)
      } catch (cause) {
        putInCache(before)
        const { code, message } = asCallError(cause)
        toast.failure(code === 'STALE' ? `${message} The order is as it was.` : message)
      }
      await refreshAfterActOn(list.name)
      keepFocus() // the moved task may have been deleted meanwhile
    }
    saving.current = saving.current.then(() => pauseListReloads(saveOrder))
  }

  const handleMove = (from: number, to: number) => {
    const task = tasks[from]
    if (!task) return
    const first = Math.min(from, to)
    const before = tasks.slice(first, Math.max(from, to) + 1)
    const others = before.filter(({ id }) => id !== task.id)
    const after = from < to ? [...others, task] : [task, ...others]
    const withdrawn = withdrawOlderUndos(list.name, new Set(before.map(({ id }) => id)))
    save(before, after, (reordered) => {
      const originalOrder = before.flatMap(({ id }) => reordered.filter((one) => one.id === id))
      const handleUndo = () => {
        focusHandle(task.id)
        save(reordered, originalOrder, () => toast.success(`${isolated(task.title)} is back.`))
      }
      toast.success(`${isolated(task.title)} moved.`, { action: { label: 'Undo', onClick: handleUndo, withdrawn } })
    })
  }

  return (
    <Reorder rows={tasks} idOf={({ id }) => id} titleOf={({ title }) => isolated(title)} onMove={handleMove}>
      {children}
    </Reorder>
  )
}
