/** The model's commands for the calls of social and daily tasks (§2, §5, §7). */
import fc from 'fast-check'
import type { TaskCollection } from '@arcade/contract/tasks/fields'
import {
  bulkOutcome,
  command,
  isStale,
  kindOf,
  type Model,
  moveToTrash,
  noteUndoableChange,
  nth,
  type Run,
  type SeenVersion,
  several,
  type Task,
  versionOf,
} from './model.ts'

export const pick = fc.nat(5)
export const picks = fc.array(pick, { minLength: 1, maxLength: 3 })
export const seen: fc.Arbitrary<SeenVersion> = fc.constantFrom('present', 'present', 'present', 'old', 'none')
export const title = fc.constantFrom('Follow us', 'Join', 'Daily gift', 'Ünï 名前')
/** How a bulk act is run. `offBy` is the difference between the caller's expected number of rows and the true one. */
export const run = { dryRun: fc.boolean(), offBy: fc.constantFrom(undefined, undefined, 0, 0, 1, -1) }

export function runOf({ dryRun, offBy }: { dryRun: boolean; offBy: number | undefined }, affected: number): Run {
  return { dryRun, ...(offBy !== undefined && { expected: Math.max(0, affected + offBy) }) }
}

type Content = Pick<Task, 'type' | 'title' | 'priority' | 'reward'> & { link: string }
type Target = { ids: string[] } | { filter: { type: Task['type'] } }

export function taskCommands(collection: TaskCollection) {
  const types = collection === 'social' ? (['twitter', 'email', 'moreLink'] as const) : (['telegram', 'moreLink'] as const)
  const priority = fc.integer({ min: 1, max: 6 }).map((n) => n / 10) // tenths: a double holds only 0.5 of them exactly
  const content = {
    type: fc.constantFrom<Task['type']>(...types),
    title,
    priority,
    reward: fc.nat(9),
    link: fc.constantFrom('', 'https://t.me/x'),
  }
  const target = fc.oneof({ weight: 3, arbitrary: picks }, fc.record({ type: fc.constantFrom(...types) }))
  const wireTarget = (model: Model, chosen: number[] | { type: Task['type'] }): Target =>
    Array.isArray(chosen) ? { ids: several(tasksOf(model), chosen) } : { filter: chosen }

  return {
    list: command(
      fc.constantFrom(undefined, ...types),
      (_model, type) => ({ ...(type !== undefined && { type }) }),
      (model, { type }: { type?: Task['type'] }) => {
        const shown = [...tasksOf(model).values()].filter((task) => type === undefined || task.type === type)
        return { answer: { tasks: shown.toSorted((a, b) => a.priority - b.priority).map(onTheWire), total: shown.length } }
      },
    ),

    get: command(
      pick,
      (model, n) => ({ id: nth(tasksOf(model), n).id }),
      (model, { id }) => {
        const task = tasksOf(model).get(id)
        return task ? { answer: onTheWire(task) } : { refusal: 'NO_SUCH_TASK' }
      },
    ),

    create: command(
      fc.record(content),
      (_model, input) => input,
      (model, input) => {
        if (isTaken(model, input.priority)) return { refusal: 'PRIORITY_TAKEN' }
        return {
          change({ id }) {
            record(model, { id: id as string, collection, version: 1, ...contentOf(input) })
            model.audited += 1
          },
        }
      },
    ),

    update: command(
      fc.record({ pick, seen, ...content }),
      (model, { pick: n, seen: version, ...input }) => {
        const task = nth(tasksOf(model), n)
        return { id: task.id, ...input, ...versionOf(task, version) }
      },
      (model, input) => {
        const task = tasksOf(model).get(input.id)
        if (!task) return { refusal: 'NO_SUCH_TASK' }
        if (isStale(task, input)) return { refusal: 'STALE' }
        if (isTaken(model, input.priority, [task.id])) return { refusal: 'PRIORITY_TAKEN' }
        return {
          change() {
            record(model, { ...task, ...contentOf(input), version: task.version + 1 })
            model.audited += 1
          },
        }
      },
    ),

    remove: command(
      pick,
      (model, n) => ({ id: nth(tasksOf(model), n).id }),
      (model, { id }) => {
        const task = tasksOf(model).get(id)
        if (!task) return { refusal: 'NO_SUCH_TASK' }
        return {
          change() {
            remove(model, task)
            model.audited += 1
          },
        }
      },
    ),

    removeMany: command(
      fc.record({ target, ...run }),
      (model, { target: chosen, ...how }) => {
        const wire = wireTarget(model, chosen)
        return { target: wire, ...runOf(how, targeted(model, wire).length) }
      },
      (model, input) => {
        const tasks = targeted(model, input.target)
        const change = (): void => {
          for (const task of tasks) remove(model, task)
        }
        return bulkOutcome(model, input, { affected: tasks.length, change })
      },
    ),

    prioritise: command(
      // Sums of these as doubles are mostly inexact.
      fc.record({ target, first: fc.constantFrom(0.1, 0.2, 0.4), step: fc.constantFrom(0.1, 0.2), ...run }),
      (model, { target: chosen, first, step, ...how }) => {
        const wire = wireTarget(model, chosen)
        return { target: wire, first, step, ...runOf(how, targeted(model, wire).length) }
      },
      (model, input) => {
        const tasks = targeted(model, input.target).toSorted((a, b) => a.priority - b.priority)
        // In tenths, because 0.1 + 0.2 is not 0.3.
        const numberOf = (index: number): number => (Math.round(input.first * 10) + Math.round(input.step * 10) * index) / 10
        const numbered = tasks.map((task, index) => ({ ...task, priority: numberOf(index) }))
        const ids = tasks.map(({ id }) => id)
        if (numbered.some((task) => isTaken(model, task.priority, ids))) return { refusal: 'PRIORITY_TAKEN' }
        const moved = numbered.filter((task, index) => task.priority !== tasks[index]!.priority)
        const change = (): void => {
          for (const task of moved) setPriority(model, task.id, task.priority)
          if (moved.length === 0) model.audited -= 1 // takes back the count of `bulkOutcome`: nothing changed
        }
        return bulkOutcome(model, input, { affected: tasks.length, change })
      },
    ),

    reorder: command(
      fc.record({ tasks: fc.array(pick, { minLength: 2, maxLength: 4 }), isOld: fc.constantFrom(false, false, false, true) }),
      (model, { tasks: numbers, isOld }) => {
        const chosen = numbers.map((n) => nth(tasksOf(model), n))
        const tasks = chosen.map((task) => ({ id: task.id, priority: 'priority' in task && !isOld ? task.priority : 7 }))
        return { tasks }
      },
      (model, { tasks: wanted }) => {
        if (new Set(wanted.map(({ id }) => id)).size < wanted.length) return { refusal: 'INVALID_INPUT' }
        const tasks = wanted.flatMap(({ id, priority: known }) => {
          const task = tasksOf(model).get(id)
          return task?.priority === known ? task : []
        })
        if (tasks.length < wanted.length) return { refusal: 'STALE' }
        const priorities = tasks.map((task) => task.priority).toSorted((a, b) => a - b)
        return {
          change() {
            const moved = tasks.flatMap((task, index) => {
              const dealt = priorities[index]!
              return task.priority === dealt ? [] : { id: task.id, priority: dealt }
            })
            for (const { id, priority: dealt } of moved) setPriority(model, id, dealt)
            if (moved.length > 0) model.audited += 1
          },
        }
      },
    ),
  }

  function tasksOf({ tasks }: Model): Map<string, Task> {
    return new Map([...tasks].filter(([, task]) => task.collection === collection))
  }

  function targeted(model: Model, wire: Target): Task[] {
    const all = [...tasksOf(model).values()]
    return all.filter(({ id, type }) => ('ids' in wire ? wire.ids.includes(id) : type === wire.filter.type))
  }

  function isTaken(model: Model, wanted: number, except: string[] = []): boolean {
    return isPriorityTaken(model, { collection, priority: wanted }, except)
  }

  function remove(model: Model, task: Task): void {
    model.tasks.delete(task.id)
    moveToTrash(model, kindOf(task), task)
  }
}

export function isPriorityTaken(
  { tasks }: Model,
  { collection, priority }: Pick<Task, 'collection' | 'priority'>,
  except: string[] = [],
): boolean {
  return [...tasks.values()].some(
    (task) => task.collection === collection && task.priority === priority && !except.includes(task.id),
  )
}

export function record(model: Model, task: Task): void {
  model.tasks.set(task.id, task)
  model.history.set(`${task.collection} ${task.id}`, task.title)
}

/** Changes only the priority, which can be undone. */
export function setPriority(model: Model, id: string, priority: number): void {
  const before = model.tasks.get(id)!
  const after = { ...before, priority, version: before.version + 1 }
  record(model, after)
  noteUndoableChange(model, kindOf(after), after, before.priority)
}

/** The stored content: an empty link is stored as null, and tasks of type `email` have no link (§5). */
function contentOf({ type, title: text, priority, reward, link }: Content) {
  return { type, title: text, priority, reward, link: link === '' || type === 'email' ? null : link }
}

function onTheWire({ collection: _collection, ...task }: Task) {
  return { ...task, numberOfParticipants: 0 }
}
