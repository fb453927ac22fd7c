/** The model's commands for the calls of announcements and their files (§2, §3, §5, §7). */
import fc from 'fast-check'
import {
  type Announcement,
  bulkOutcome,
  command,
  isStale,
  type Model,
  moveToTrash,
  noteUndoableChange,
  nth,
  type Outcome,
  several,
  versionOf,
} from './model.ts'
import { pick, picks, run, runOf, seen, title } from './model-tasks.ts'

interface Content {
  type: 'desc'
  title: string
  subtitle: string
  description: string
  reward: number
  image: string | null
}
type Target = { ids: string[] } | { filter: { status: 'active' | 'inactive' } }

const NO_FILE = 'announcements/0000000000000_none.png'
const fields = { title, text: fc.constantFrom('', 'Read this'), hasImage: fc.boolean() }
const target = fc.oneof(picks, fc.constantFrom('active', 'inactive'))

export const announcementCommands = {
  list: command(
    fc.constantFrom(undefined, 'active', 'inactive'),
    (_model, status) => ({ ...(status !== undefined && { status }) }),
    (model, { status }: { status?: 'active' | 'inactive' }) => {
      const shown = [...model.announcements.values()].filter(
        (one) => status === undefined || one.status === (status === 'active'),
      )
      return { answer: { announcements: shown.map(onWire), total: shown.length } }
    },
  ),

  get: command(
    pick,
    (model, n) => ({ id: nth(model.announcements, n).id }),
    (model, { id }) => {
      const one = model.announcements.get(id)
      return one ? { answer: onWire(one) } : { refusal: 'ANNOUNCEMENT_NOT_FOUND' }
    },
  ),

  create: command(
    fc.record(fields),
    (model, content) => contentOf(model, content, null),
    (model, input) => {
      if (!isThere(model, input.image)) return { refusal: 'INVALID_INPUT' }
      return {
        change: ({ id }) => store(model, { id: id as string, version: 1, status: false, news: 0, ...storedContent(input) }),
      }
    },
  ),

  update: command(
    fc.record({ pick, seen, staysActive: fc.boolean(), ...fields }),
    (model, { pick: n, seen: version, staysActive, ...content }) => {
      const before = nth(model.announcements, n)
      const input = contentOf(model, content, 'image' in before ? before.image : null)
      return { id: before.id, ...input, ...versionOf(before, version), ...(staysActive && { staysActive }) }
    },
    (model, input) => {
      const before = model.announcements.get(input.id)
      if (!before) return { refusal: 'ANNOUNCEMENT_NOT_FOUND' }
      if (isStale(before, input)) return { refusal: 'STALE' }
      if (input.image !== before.image && !isThere(model, input.image)) return { refusal: 'INVALID_INPUT' }
      if (input.staysActive && !before.status) return { refusal: 'STALE' }
      const status = input.staysActive ?? false // §4
      return { change: () => store(model, { ...before, ...storedContent(input), status, version: before.version + 1 }) }
    },
  ),

  remove: command(
    pick,
    (model, n) => ({ id: nth(model.announcements, n).id }),
    (model, { id }) => {
      const one = model.announcements.get(id)
      if (!one) return { refusal: 'ANNOUNCEMENT_NOT_FOUND' }
      return {
        change() {
          remove(model, one)
          model.audited += 1
        },
      }
    },
  ),

  toggleStatus: command(
    fc.record({ pick, isSeen: fc.constantFrom(true, true, false) }),
    (model, { pick: n, isSeen }) => {
      const one = nth(model.announcements, n)
      return { id: one.id, status: 'status' in one ? one.status === isSeen : isSeen }
    },
    (model, { id, status }) => {
      const before = model.announcements.get(id)
      if (!before) return { refusal: 'ANNOUNCEMENT_NOT_FOUND' }
      if (before.status !== status) return { refusal: 'STALE' }
      return {
        answer: { status: !status },
        change() {
          setStatus(model, [before], !status)
          model.audited += 1
        },
      }
    },
  ),

  setStatus: command(
    fc.record({ target, status: fc.boolean(), ...run }),
    (model, { target: chosen, status, ...how }) => {
      const wire = wireTarget(model, chosen)
      return { target: wire, status, ...runOf(how, targeted(model, wire).filter((one) => one.status !== status).length) }
    },
    (model, input) => {
      const changed = targeted(model, input.target).filter((one) => one.status !== input.status)
      return bulkOutcome(model, input, { affected: changed.length, change: () => setStatus(model, changed, input.status) })
    },
  ),

  removeMany: command(
    fc.record({ target, ...run }),
    (model, { target: chosen, ...how }) => {
      const wire = wireTarget(model, chosen)
      return { target: wire, ...runOf(how, targeted(model, wire).length) }
    },
    (model, input) => {
      const removed = targeted(model, input.target)
      const change = (): void => {
        for (const one of removed) remove(model, one)
      }
      return bulkOutcome(model, input, { affected: removed.length, change })
    },
  ),

  updateUsersStatus: command(
    fc.constant({}),
    () => ({}),
    (model) => ({
      answer: { success: 'success' },
      change() {
        const pending = [...model.announcements.values()].filter(({ status, news }) => status && news === 0)
        if (pending.length === 0) return
        model.audited += 1
        for (const one of byId(pending)) model.announcements.set(one.id, { ...one, news: (model.epoch += 1) })
      },
    }),
  ),

  upload: command(
    fc.constant({}),
    () => ({ name: 'a.png' }),
    (model) => ({
      change({ key }) {
        if (key !== undefined) model.files.push(key as string)
      },
    }),
  ),

  file: command(
    fc.record({ pick, isThumb: fc.boolean() }),
    (model, { pick: n, isThumb }) => {
      const keys = keysOf(model)
      const key = keys[n % (keys.length + 1)] ?? NO_FILE
      return { name: key.replace('announcements/', ''), ...(isThumb && { size: 'thumb' }) }
    },
    (model, { name, size }): Outcome => {
      if (!keysOf(model).includes(`announcements/${name}`)) return { refusal: 'NOT_FOUND' }
      return { answer: { 'content-type': size === 'thumb' ? 'image/webp' : 'image/png' } }
    },
  ),
}

function byId(some: Announcement[]): Announcement[] {
  return some.toSorted((one, other) => (one.id < other.id ? -1 : 1))
}

function onWire({ news: _news, ...shown }: Announcement): Record<string, unknown> {
  return shown
}

/** Keys of files that the server must serve. A removed file may be served for some time. */
export function keysOf({ files, announcements }: Model): string[] {
  return [...files, ...[...announcements.values()].flatMap(({ image }) => image ?? [])]
}

/** Builds the content. If `hasImage`, it names an unused upload if there is one, else the announcement's present image. */
function contentOf(
  model: Model,
  { title: text, text: description, hasImage }: { title: string; text: string; hasImage: boolean },
  present: string | null,
): Content {
  const image = hasImage ? (model.files[0] ?? present) : null
  return { type: 'desc', title: text, subtitle: 'Today', description, reward: 1, image }
}

function storedContent({ title: text, description, image }: Content) {
  return { title: text, description: description || null, image }
}

function isThere({ files }: Model, image: string | null): boolean {
  return image === null || files.includes(image)
}

function store(model: Model, one: Announcement): void {
  model.announcements.set(one.id, one)
  model.history.set(`announcement ${one.id}`, one.title)
  model.files = model.files.filter((key) => key !== one.image)
  model.audited += 1
}

function remove(model: Model, one: Announcement): void {
  model.announcements.delete(one.id)
  moveToTrash(model, 'announcement', one)
}

export function setStatus(model: Model, changed: Announcement[], status: boolean): void {
  for (const one of byId(changed)) {
    const after = { ...one, status, version: one.version + 1, news: status ? (model.epoch += 1) : one.news }
    model.announcements.set(one.id, after)
    noteUndoableChange(model, 'announcement', after, one.status)
  }
}

function wireTarget(model: Model, chosen: number[] | 'active' | 'inactive'): Target {
  return Array.isArray(chosen) ? { ids: several(model.announcements, chosen) } : { filter: { status: chosen } }
}

function targeted(model: Model, wire: Target): Announcement[] {
  const all = [...model.announcements.values()]
  return all.filter(({ id, status }) => ('ids' in wire ? wire.ids.includes(id) : status === (wire.filter.status === 'active')))
}
