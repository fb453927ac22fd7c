/** The model's commands for the calls of users, the dashboard, history and downloads (§2, §3, §6, §7). */
import fc from 'fast-check'
import { historyKinds } from '@arcade/contract/history/fields'
import { PASSWORD } from '#test/test-app.ts'
import {
  bulkOutcome,
  type Caller,
  command,
  endLinks,
  isStale,
  type Model,
  moveToTrash,
  nth,
  type Person,
  several,
  signOutEverywhere,
  type Trashed,
  versionOf,
} from './model.ts'
import { storedPlayers } from './model-players.ts'
import { pick, picks, run, runOf, seen } from './model-tasks.ts'
import { forgetOwner } from './model-views.ts'

const fname = fc.constantFrom('Ann', 'Bob', 'Chloé')
const email = fc.constantFrom('ann@gmail.com', 'bob@gmail.com', 'BOB@gmail.com', 'eve@gmail.com')
const userType = fc.constantFrom<Person['userType']>('admin', 'user')
export const registration = fc
  .record({ fname, email })
  .map((content) => ({ ...content, lname: 'Doe', password: PASSWORD, confirmPassword: PASSWORD }))

export const userCommands = {
  list: command(
    fc.constantFrom(undefined, 'admin', 'user'),
    (_model, type) => ({ ...(type !== undefined && { userType: type }) }),
    (model, input: { userType?: Person['userType'] }, caller) => {
      const others = [...model.people.values()].filter(({ id }) => id !== caller.personId) // §6
      const shown = others.filter((person) => input.userType === undefined || person.userType === input.userType)
      return { answer: { users: shown.map(onTheWire), total: shown.length } }
    },
  ),

  get: command(
    pick,
    (model, n) => ({ id: nth(model.people, n).id }),
    (model, { id }) => {
      const person = model.people.get(id)
      return person ? { answer: onTheWire(person) } : { refusal: 'NO_SUCH_USER' }
    },
  ),

  create: command(
    registration,
    (_model, input) => input,
    (model, input) => {
      if (hasEmail(model, input.email)) return { refusal: 'CREATE_USER_FAILED' }
      return {
        change({ id }) {
          add(model, id as string, input)
          model.audited += 1
        },
      }
    },
  ),

  update: command(
    fc.record({ pick, seen, fname }),
    (model, { pick: n, seen: version, ...content }) => {
      const person = nth(model.people, n)
      return { id: person.id, lname: 'Doe', ...content, ...versionOf(person, version) }
    },
    (model, input) => {
      const person = model.people.get(input.id)
      if (!person) return { refusal: 'NO_SUCH_USER' }
      if (isStale(person, input)) return { refusal: 'STALE' }
      return {
        change() {
          model.people.set(person.id, { ...person, fname: input.fname, version: person.version + 1 })
          model.audited += 1
        },
      }
    },
  ),

  setUserType: command(
    fc.record({ pick, userType }),
    (model, { pick: n, ...content }) => ({ id: nth(model.people, n).id, ...content }),
    (model, input, caller) => {
      if (input.id === caller.personId) return { refusal: 'NOT_YOURSELF' }
      const person = model.people.get(input.id)
      if (!person) return { refusal: 'NO_SUCH_USER' }
      if (input.userType === 'user' && isLastAdmin(model, person)) return { refusal: 'LAST_ADMIN' }
      return {
        change() {
          if (person.userType === input.userType) return
          model.people.set(person.id, { ...person, userType: input.userType, version: person.version + 1 })
          signOutEverywhere(model, person.id)
          model.audited += 1
        },
      }
    },
  ),

  remove: command(
    pick,
    (model, n) => ({ id: nth(model.people, n).id }),
    (model, { id }, caller) => {
      if (id === caller.personId) return { refusal: 'NOT_YOURSELF' }
      const person = model.people.get(id)
      if (!person) return { refusal: 'NO_SUCH_USER' }
      if (isLastAdmin(model, person)) return { refusal: 'LAST_ADMIN' }
      return {
        change() {
          remove(model, [id])
          model.audited += 1
        },
      }
    },
  ),

  removeMany: command(
    fc.record({ target: fc.oneof(picks, userType), ...run }),
    (model, { target, ...how }) => {
      const wire = Array.isArray(target) ? { ids: several(model.people, target) } : { filter: { userType: target } }
      return { target: wire, ...runOf(how, targeted(model, wire).length) }
    },
    (model, input, caller) => {
      const people = targeted(model, input.target).filter(({ id }) => 'ids' in input.target || id !== caller.personId)
      const refused = people.filter(({ id }) => id === caller.personId || id === keptAdmin(model, caller))
      const removed = people.filter((person) => !refused.includes(person)).map(({ id }) => id)
      const change = (): void => remove(model, removed)
      return bulkOutcome(model, input, { affected: removed.length, refused: refused.length, change })
    },
  ),
}

export const dashboardCommands = {
  get: command(
    fc.constant({}),
    () => ({}),
    (model) => {
      const people = [...model.people.values()]
      const admin = people.filter((person) => person.userType === 'admin').length
      const types = Map.groupBy(model.tasks.values(), ({ type }) => type)
      return {
        answer: {
          totalUsers: people.length,
          totalTelegramUsers: storedPlayers.length,
          userTypes: { admin, user: people.length - admin },
          activeAnnouncements: [...model.announcements.values()].filter(({ status }) => status).length,
          totalTasks: model.tasks.size,
          tasksByType: Object.fromEntries([...types].map(([type, tasks]) => [type, tasks.length])),
        },
      }
    },
  ),
}

const kind = fc.constantFrom(...historyKinds)

export const historyCommands = {
  titles: command(
    kind,
    (_model, wanted) => ({ kind: wanted }),
    (model, input) => ({ answer: { items: itemsOf(model, input.kind) } }),
  ),

  get: command(
    fc.record({ kind, pick }),
    (model, { kind: wanted, pick: n }) => {
      const items = itemsOf(model, wanted)
      return { kind: wanted, id: items[n % (items.length + 1)]?.id ?? 'none' }
    },
    (model, { kind: wanted, id }) => {
      const item = itemsOf(model, wanted).find((one) => one.id === id)
      return item ? { answer: { ...item, participants: 0 } } : { refusal: 'NO_SUCH_HISTORY' }
    },
  ),
}

/** Of an export the model checks only the header with its number of rows. */
export const downloadCommands = {
  users: command(
    fc.constant({}),
    () => ({}),
    (model) => ({ answer: { 'x-row-count': String(model.people.size) } }),
  ),

  players: command(
    fc.constant({}),
    () => ({}),
    () => ({ answer: { 'x-row-count': String(storedPlayers.length) } }),
  ),

  selection: command(
    fc.oneof(fc.record({ picks }), fc.record({ userType })),
    (model, chosen) => ({
      list: 'users',
      target: 'picks' in chosen ? { ids: several(model.people, chosen.picks) } : { filter: chosen },
    }),
    (model, { target }, caller) => {
      const people = targeted(model, target).filter(({ id }) => 'ids' in target || id !== caller.personId)
      return { answer: { 'x-row-count': String(people.length) } }
    },
  ),
}

type Target = { ids: string[] } | { filter: { userType: Person['userType'] } }

function onTheWire({ password: _password, ...person }: Person) {
  return person
}

function targeted(model: Model, target: Target): Person[] {
  const all = [...model.people.values()]
  return all.filter((person) => ('ids' in target ? target.ids.includes(person.id) : person.userType === target.filter.userType))
}

function itemsOf({ history }: Model, wanted: string): { id: string; title: string }[] {
  return [...history].flatMap(([key, title]) => {
    const [of, id = ''] = key.split(' ')
    return of === wanted ? { id, title } : []
  })
}

export function hasEmail(model: Model, wanted: string): boolean {
  return [...model.people.values()].some((person) => person.email.toLowerCase() === wanted.toLowerCase())
}

export function add(model: Model, id: string, content: { fname: string; email: string }): void {
  model.people.set(id, { id, fname: content.fname, email: content.email, userType: 'user', version: 1, password: PASSWORD })
}

function remove(model: Model, ids: string[]): void {
  for (const id of ids) {
    const views = [...model.views.values()].filter(({ owner }) => owner === id)
    const defaults = [...model.defaultViews].flatMap(([key, view]): Trashed['defaults'] => {
      const [personId, list = ''] = key.split(' ')
      return personId === id ? [[list, view]] : []
    })
    moveToTrash(model, 'user', model.people.get(id)!, views, defaults)
    model.people.delete(id)
    endLinks(model, ({ madeBy }, owner) => [madeBy, owner].includes(id))
    forgetOwner(model, id)
    signOutEverywhere(model, id)
  }
}

function adminsOf({ people }: Model): string[] {
  return [...people.values()].filter((person) => person.userType === 'admin').map(({ id }) => id)
}

function isLastAdmin(model: Model, { id }: Person): boolean {
  const admins = adminsOf(model)
  return admins.length === 1 && admins[0] === id
}

/** Returns the admin who may not be removed if the caller was an admin at the time of the request but no longer is: one must remain. */
function keptAdmin(model: Model, { personId }: Caller): string | undefined {
  const admins = adminsOf(model).toSorted()
  return admins.includes(personId ?? '') ? undefined : admins[0]
}
