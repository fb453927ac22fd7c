/** The model's commands for the calls of saved views (design §7). */
import fc from 'fast-check'
import { compareAToZ } from '#test/a-to-z.ts'
import { type Body, type Caller, command, isStale, type Model, nth, versionOf, type View } from './model.ts'
import { pick, seen } from './model-tasks.ts'

const content = {
  name: fc.constantFrom('Rich', 'RICH', 'Whales'),
  isShared: fc.boolean(),
  address: fc.constantFrom('', 'q=moon&rows=normal'),
}
const list = fc.constantFrom('users', 'telegramUsers')

export const viewCommands = {
  list: command(
    fc.constant({}),
    () => ({}),
    (model, _input, caller) => ({ answer: { views: visibleTo(model, caller).map((view) => onTheWire(model, view, caller)) } }),
  ),

  create: command(
    fc.record({ list, ...content }),
    (_model, input) => input,
    (model, input, { personId = '' }) => {
      const view = { ...input, owner: personId, privateTo: input.isShared ? null : personId, version: 1 }
      if (isTaken(model, { ...view, id: '' })) return { refusal: 'VIEW_NAME_TAKEN' }
      return {
        change({ id }) {
          model.views.set(id as string, { ...view, id: id as string })
          model.audited += 1
        },
      }
    },
  ),

  update: command(
    fc.record({ pick, seen, hasAddress: fc.boolean(), ...content }),
    (model, { pick: n, seen: version, hasAddress, address, ...input }) => {
      const view = nth(model.views, n)
      return { id: view.id, ...input, ...(hasAddress && { address }), ...versionOf(view, version) }
    },
    (model, input, caller) => {
      const view = visible(model, input.id, caller)
      if (!view) return { refusal: 'NO_SUCH_VIEW' }
      if (isStale(view, input)) return { refusal: 'STALE' }
      const owner = view.owner ?? (input.isShared ? null : caller.personId!)
      const changed = {
        ...view,
        name: input.name,
        address: input.address ?? view.address,
        owner,
        privateTo: input.isShared ? null : owner,
        version: view.version + 1,
      }
      if (isTaken(model, changed)) return { refusal: 'VIEW_NAME_TAKEN' }
      return {
        change() {
          model.views.set(view.id, changed)
          model.audited += 1
        },
      }
    },
  ),

  remove: command(
    pick,
    (model, n) => ({ id: nth(model.views, n).id }),
    (model, { id }, caller) => {
      if (!visible(model, id, caller)) return { refusal: 'NO_SUCH_VIEW' }
      return {
        change() {
          removeView(model, id)
          model.audited += 1
        },
      }
    },
  ),

  setDefault: command(
    fc.record({ pick, list, isNone: fc.boolean() }),
    (model, { pick: n, list: of, isNone }) => ({ list: of, id: isNone ? null : nth(model.views, n).id }),
    (model, { list: of, id }, caller) => {
      const key = `${caller.personId} ${of}`
      if (id === null) return { change: () => void model.defaultViews.delete(key) }
      if (visible(model, id, caller)?.list !== of) return { refusal: 'NO_SUCH_VIEW' }
      return { change: () => void model.defaultViews.set(key, id) }
    },
  ),
}

/** Removes an account's private views. Its shared views stay without an owner. */
export function forgetOwner(model: Model, personId: string): void {
  for (const view of model.views.values()) {
    if (view.privateTo === personId) removeView(model, view.id)
    else if (view.owner === personId) model.views.set(view.id, { ...view, owner: null })
  }
  for (const key of model.defaultViews.keys()) if (key.startsWith(`${personId} `)) model.defaultViews.delete(key)
}

function removeView(model: Model, id: string): void {
  model.views.delete(id)
  for (const [key, view] of model.defaultViews) if (view === id) model.defaultViews.delete(key)
}

function visible(model: Model, id: string, caller: Caller): View | undefined {
  return visibleTo(model, caller).find((view) => view.id === id)
}

/** Lists the views that a caller may see: first the caller's own, then by name. */
function visibleTo({ views }: Model, { personId }: Caller): View[] {
  const isForeign = (view: View) => Number(view.owner !== personId)
  return [...views.values()]
    .filter(({ privateTo }) => privateTo === null || privateTo === personId)
    .toSorted((a, b) => isForeign(a) - isForeign(b) || compareAToZ(a.name, b.name) || (a.id < b.id ? -1 : 1))
}

function isTaken({ views }: Model, { id, owner, list: of, name }: View): boolean {
  const isSame = (other: View) => other.owner === owner && other.list === of && other.name.toLowerCase() === name.toLowerCase()
  return owner !== null && [...views.values()].some((other) => other.id !== id && isSame(other))
}

function onTheWire(model: Model, { id, list: of, name, address, owner, privateTo, version }: View, { personId }: Caller): Body {
  const isDefault = model.defaultViews.get(`${personId} ${of}`) === id
  return { id, list: of, name, address, isShared: privateTo === null, isOwn: owner === personId, isDefault, version }
}
