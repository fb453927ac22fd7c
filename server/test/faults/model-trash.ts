/** The model's commands for the calls of the trash and of undoing. */
import fc from 'fast-check'
import type { ErrorCode } from '@arcade/contract/errors'
import { trashKindLabels, type TrashKind } from '@arcade/contract/trash/fields'
import { setStatus } from './model-announcements.ts'
import {
  type Announcement,
  bulkOutcome,
  command,
  type Model,
  type Outcome,
  type Person,
  type Task,
  type Trashed,
} from './model.ts'
import { hasEmail } from './model-people.ts'
import { isPriorityTaken, pick, picks, record, run, runOf, setPriority } from './model-tasks.ts'

const kind = fc.constantFrom(...(Object.keys(trashKindLabels) as TrashKind[]))
const target = fc.oneof(picks, kind)
type Target = { ids: string[] } | { filter: { kind: TrashKind } }

const NO_ACT = '00000000-0000-4000-8000-000000000000'

export const trashCommands = {
  list: command(
    fc.oneof(fc.constant(undefined), kind),
    (_model, wanted) => ({ ...(wanted !== undefined && { kind: wanted }) }),
    (model, { kind: wanted }: { kind?: TrashKind }) => {
      const shown = [...model.trash.values()].filter((one) => wanted === undefined || one.kind === wanted)
      const records = shown.map(({ id, actId, kind: of, recordId }) => ({ id, actId, kind: of, recordId }))
      return { answer: { records, total: shown.length } }
    },
  ),

  restore: command(
    fc.record({
      pick,
      priority: fc.constantFrom(undefined, undefined, 0.3, 0.7),
      email: fc.constantFrom(undefined, undefined, 'eve@gmail.com', 'new@gmail.com'),
    }),
    (model, { pick: n, priority, email }) => ({
      id: trashed(model, n)?.id ?? 'none',
      ...(priority !== undefined && { priority }),
      ...(email !== undefined && { email }),
    }),
    (model, { id, ...instead }): Outcome => {
      const found = [...model.trash.values()].find((one) => one.id === id)
      if (!found) return { refusal: 'NOT_IN_TRASH' }
      const [conflict] = conflicts(model, [found], instead)
      if (conflict) return { refusal: conflict.code }
      return {
        answer: { kind: found.kind, recordId: found.recordId },
        change() {
          restore(model, found, instead)
          model.audited += 1
        },
      }
    },
  ),

  restoreMany: command(
    fc.record({ target, ...run }),
    (model, { target: chosen, ...how }) => {
      const wire = wireTarget(model, chosen)
      const records = targeted(model, wire)
      return { target: wire, ...runOf(how, records.length - conflicts(model, records).length) }
    },
    (model, input) => restoreSome(model, input, targeted(model, input.target)),
  ),

  restoreAct: command(
    pick,
    (model, n) => ({ actId: trashed(model, n)?.actId ?? NO_ACT }),
    (model, { actId }) => {
      const records = [...model.trash.values()].filter((one) => one.actId === actId)
      return records.length === 0 ? { refusal: 'NOT_IN_TRASH' } : restoreSome(model, { dryRun: false }, records)
    },
  ),

  purge: command(
    fc.record({ target, ...run }),
    (model, { target: chosen, ...how }) => {
      const wire = wireTarget(model, chosen)
      return { target: wire, ...runOf(how, targeted(model, wire).length) }
    },
    (model, input) => {
      const records = targeted(model, input.target)
      const change = (): void => {
        for (const one of records) model.trash.delete(keyOf(one))
      }
      return bulkOutcome(model, input, { affected: records.length, change })
    },
  ),
}

export const actCommands = {
  undo: command(
    // Takes one of the newest changes: older ones can mostly not be undone any more.
    fc.record({ pick, isPartial: fc.boolean() }),
    (model, { pick: n, isPartial }) => ({ actId: [...model.undoableChanges.values()].at(-1 - n)?.actId ?? NO_ACT, isPartial }),
    (model, { actId, isPartial }): Outcome => {
      const undoableChanges = [...model.undoableChanges.values()].filter((change) => change.actId === actId)
      if (undoableChanges.length === 0) return { refusal: 'NOTHING_TO_UNDO' }
      const left = undoableChanges.filter(({ kind: of, id, version }) => present(model, of, id)?.version === version)
      if (left.length < undoableChanges.length && !isPartial) return { refusal: 'CHANGED_SINCE' }
      const ids = left.map(({ id }) => id)
      const isTaken = left.some(({ kind: of, id, before }) => {
        if (of === 'announcement') return false
        return isPriorityTaken(model, { ...model.tasks.get(id)!, priority: before as number }, ids)
      })
      if (isTaken) return { refusal: 'PRIORITY_TAKEN' }
      return {
        answer: { affected: left.length, refused: undoableChanges.length - left.length },
        change() {
          const [statuses, priorities] = [true, false].map((isStatus) =>
            left.filter(({ kind: of }) => (of === 'announcement') === isStatus),
          )
          for (const status of [true, false]) {
            const back = statuses!.filter(({ before }) => before === status)
            setStatus(
              model,
              back.map(({ id }) => model.announcements.get(id)!),
              status,
            )
          }
          for (const { id, before } of priorities!) setPriority(model, id, before as number)
          if (left.length > 0) model.audited += 1
        },
      }
    },
  ),
}

function present(model: Model, of: TrashKind, id: string): { version: number } | undefined {
  return of === 'announcement' ? model.announcements.get(id) : model.tasks.get(id)
}

function keyOf({ kind: of, recordId }: Trashed): string {
  return `${of} ${recordId}`
}

function trashed({ trash }: Model, n: number): Trashed | undefined {
  return [...trash.values()][n % (trash.size + 1)]
}

function wireTarget(model: Model, chosen: number[] | TrashKind): Target {
  if (!Array.isArray(chosen)) return { filter: { kind: chosen } }
  return { ids: [...new Set(chosen.map((n) => trashed(model, n)?.id ?? 'none'))] }
}

function targeted({ trash }: Model, wire: Target): Trashed[] {
  return [...trash.values()].filter((one) => ('ids' in wire ? wire.ids.includes(one.id!) : one.kind === wire.filter.kind))
}

interface Instead {
  priority?: number
  email?: string
}

/** Lists the records whose priority or e-mail is taken by now. If several want the same one, the last deleted gets it. */
function conflicts(model: Model, records: Trashed[], instead: Instead = {}): { record: Trashed; code: ErrorCode }[] {
  const wanted = new Set<string>()
  return records.toReversed().flatMap((one): { record: Trashed; code: ErrorCode }[] => {
    if (one.kind === 'announcement') return []
    const isUser = one.kind === 'user'
    const task = one.record as Task
    const priority = instead.priority ?? task.priority
    const email = (instead.email ?? (one.record as Person).email ?? '').toLowerCase()
    const value = isUser ? email : `${task.collection} ${priority}`
    const isTaken = isUser ? hasEmail(model, email) : isPriorityTaken(model, { ...task, priority })
    const isAgain = wanted.has(value)
    wanted.add(value)
    return isTaken || isAgain ? [{ record: one, code: isUser ? 'EMAIL_TAKEN' : 'PRIORITY_TAKEN' }] : []
  })
}

function restoreSome(model: Model, how: { dryRun: boolean; expected?: number }, records: Trashed[]): Outcome {
  const inTheWay = conflicts(model, records)
  const free = records.filter((one) => !inTheWay.some(({ record: other }) => other === one))
  const change = (): void => {
    for (const one of free) restore(model, one)
  }
  const outcome = bulkOutcome(model, how, { affected: free.length, refused: inTheWay.length, change })
  return 'refusal' in outcome || !inTheWay[0] ? outcome : { ...outcome, orRefusal: inTheWay[0].code }
}

/** Restores a record, with the next version. An announcement is inactive afterwards, a person signed out. */
function restore(model: Model, one: Trashed, instead: Instead = {}): void {
  const version = one.record.version + 1
  model.trash.delete(keyOf(one))
  if (one.kind === 'announcement') {
    const announcement = { ...(one.record as Announcement), status: false, news: 0, version }
    model.announcements.set(announcement.id, announcement)
    model.history.set(`announcement ${announcement.id}`, announcement.title)
  } else if (one.kind === 'user') {
    const person = one.record as Person
    model.people.set(person.id, { ...person, email: instead.email ?? person.email, version })
    restoreViews(model, one)
  } else {
    const task = one.record as Task
    record(model, { ...task, priority: instead.priority ?? task.priority, version })
  }
}

/** Restores a person's private views. A shared view is theirs again unless it has another owner or name by now. */
function restoreViews({ views, defaultViews }: Model, { recordId, views: theirs, defaults }: Trashed): void {
  for (const view of theirs) {
    const shared = views.get(view.id)
    if (view.privateTo !== null) views.set(view.id, view)
    else if (shared?.owner === null && shared.name.toLowerCase() === view.name.toLowerCase())
      views.set(view.id, { ...shared, owner: recordId })
  }
  for (const [list, id] of defaults) {
    const view = views.get(id)
    if (view && (view.privateTo ?? recordId) === recordId) defaultViews.set(`${recordId} ${list}`, id)
  }
}
