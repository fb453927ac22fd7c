/**
 * The console as a few maps, written without the server's code: what each call must answer and leave behind. An act asks for something
 * that is there when it is asked; what the model says to it can be worked out later, so that two simultaneous acts fit either order.
 */
import type fc from 'fast-check'
import { admitsBot } from '@arcade/contract/call'
import type { TaskCollection, TaskType } from '@arcade/contract/tasks/fields'
import type { TrashKind } from '@arcade/contract/trash/fields'
import type { PlayersSort } from '@arcade/contract/players/fields'
import type { contract } from '@arcade/contract/contract'
import type { ErrorCode } from '@arcade/contract/errors'
import { routes } from './requests.ts'

type Contract = typeof contract
/** `users.remove`, say. */
export type CallName = { [Group in keyof Contract]: `${Group}.${keyof Contract[Group] & string}` }[keyof Contract]

export interface Task {
  id: string
  collection: TaskCollection
  type: TaskType
  title: string
  link: string | null
  reward: number
  priority: number
  version: number
}

export interface Announcement {
  id: string
  title: string
  description: string | null
  image: string | null
  status: boolean
  /** The number of its last activation; 0 if there was none. */
  news: number
  version: number
}

export interface Person {
  id: string
  fname: string
  email: string
  userType: 'admin' | 'user'
  version: number
  password: string
}

/** A saved view of a list. */
export interface View {
  id: string
  list: string
  name: string
  address: string
  owner: string | null
  privateTo: string | null
  version: number
}

/** A deleted record with what comes back with it. The console gives it its id when it is deleted. */
export interface Trashed {
  id: string | undefined
  actId: string | undefined
  kind: TrashKind
  recordId: string
  record: Task | Announcement | Person
  /** Of a person: private views, shared ones that they owned, and what they saw first of a list. */
  views: View[]
  defaults: [list: string, view: string][]
}

/** A priority or status that an act has changed, which can be undone. */
export interface Deed {
  actId: string | undefined
  kind: TrashKind
  id: string
  before: number | boolean
  /** The one that the act has left. */
  version: number
}

/** Somebody at a browser, signed in as a person or not, or the bot. */
export interface Caller {
  name: string
  personId: string | undefined
  isBot: boolean
}

/** The row beside which a page begins. Cursors are opaque, so which text stands for which row is known from answers. */
export interface KnownCursor {
  text: string
  sort: PlayersSort
  reversed: boolean
  userId: number
}

export interface Model {
  callers: Caller[]
  people: Map<string, Person>
  tasks: Map<string, Task>
  announcements: Map<string, Announcement>
  /** Titles of all items that ever were, by kind and id. */
  history: Map<string, string>
  /** The last password link of each person who was made one. */
  links: Map<string, { token: string; isUsed: boolean }>
  views: Map<string, View>
  /** The view that a person sees first of a list, by both. */
  defaultViews: Map<string, string>
  /** By kind and id of the record, the last deleted last. */
  trash: Map<string, Trashed>
  /** By kind and id of the record, and the version that it got. */
  deeds: Map<string, Deed>
  /** Keys of uploads that no announcement names yet. */
  files: string[]
  /** Cursors of the players' list, which never changes. */
  cursors: KnownCursor[]
  /** The number that each activation raises (design §7, News). */
  epoch: number
  /** The number of entries in the audit trail, those of downloads left out. */
  audited: number
}

export type Body = Record<string, unknown>

export type Outcome =
  | { refusal: ErrorCode }
  | {
      /** What the answer must hold, headers of downloads included. */
      answer?: Body
      /** What is so afterwards; the answer tells ids and keys. */
      change?: (answer: Body) => void
      /** What it may be refused with instead if what is in its way came at the same time. */
      orRefusal?: ErrorCode
    }

/** An act of a caller who looked at the model before. */
export interface Asked {
  input: Body
  /** What a model says to it, which need not be the one that the caller looked at. */
  serve: (model: Model, caller: Caller) => Outcome
}

/** Makes an act of a caller out of what is there. */
export type Look = (model: Model, caller: Caller) => Asked

export interface Command {
  /** Not yet about anything that is there: the same act can be part of many stories. */
  acts: fc.Arbitrary<Look>
}

/** @param toInput what the caller sends @param serve what a console does with it, where the caller may make the call */
export function command<Params, Input extends object>(
  params: fc.Arbitrary<Params>,
  toInput: (model: Model, params: Params, caller: Caller) => Input,
  serve: (model: Model, input: Input, caller: Caller) => Outcome,
): Command {
  const acts = params.map((given) => (model: Model, asking: Caller) => {
    const input = toInput(model, given, asking)
    return { input: input as Body, serve: (present: Model, caller: Caller) => serve(present, input, caller) }
  })
  return { acts }
}

/** §6: whom the contract's access keeps out. */
export function refusalOf(name: CallName, { people }: Model, { personId, isBot }: Caller): ErrorCode | undefined {
  const { access } = routes.find((route) => route.name === name)!.meta
  if (access.includes('guest')) return undefined
  if (isBot) return admitsBot(access, 'play') ? undefined : 'FORBIDDEN'
  const person = personId === undefined ? undefined : people.get(personId)
  if (!person) return 'SIGNED_OUT'
  return person.userType === 'admin' || access.includes('user') ? undefined : 'FORBIDDEN'
}

const NONE = { id: 'none' }

/** The n-th of them as they were made; now and then, and where there is none, something that is not there. */
export function nth<T extends { id: string }>(items: ReadonlyMap<string, T>, n: number): T | { id: string } {
  return [...items.values()][n % (items.size + 1)] ?? NONE
}

export function several<T extends { id: string }>(items: ReadonlyMap<string, T>, numbers: readonly number[]): string[] {
  return [...new Set(numbers.map((n) => nth(items, n).id))]
}

/** Which version a caller says to have seen. */
export type SeenVersion = 'present' | 'old' | 'none'

export function versionOf(item: { id: string; version?: number }, seen: SeenVersion): { version?: number } {
  if (seen === 'none' || item.version === undefined) return {}
  return { version: seen === 'present' ? item.version : Math.max(1, item.version - 1) }
}

export function isStale(item: { version: number }, { version }: { version?: number }): boolean {
  return version !== undefined && version !== item.version
}

/** How an act on many is run: `expected` is what the caller was shown. */
export interface Run {
  dryRun: boolean
  expected?: number
}

/** What acting on many answers and does: nothing if it is a dry run, or if the number of rows is another one than expected. */
export function bulkOutcome(
  model: Model,
  { dryRun, expected }: Run,
  { affected, refused = 0, change }: { affected: number; refused?: number; change: () => void },
): Outcome {
  if (!dryRun && expected !== undefined && expected !== affected) return { refusal: 'STALE' }
  const act = (): void => {
    if (dryRun || affected === 0) return
    change()
    model.audited += 1
  }
  return { answer: { affected, refused }, change: act }
}

export function kindOf({ collection }: { collection: TaskCollection }): TrashKind {
  return collection === 'social' ? 'socialTask' : 'dailyTask'
}

/** @param record what it was; whoever calls this takes it out of its own map */
export function moveToTrash(
  { trash }: Model,
  kind: TrashKind,
  record: Trashed['record'],
  views: View[] = [],
  defaults: Trashed['defaults'] = [],
): void {
  const ids = { id: undefined, actId: undefined, recordId: record.id }
  trash.set(`${kind} ${record.id}`, { ...ids, kind, record, views, defaults })
}

/** @param after the record with its new version @param before the value that undoing brings back */
export function noteDeed(
  { deeds }: Model,
  kind: TrashKind,
  { id, version }: { id: string; version: number },
  before: number | boolean,
): void {
  deeds.set(`${kind} ${id} ${version}`, { actId: undefined, kind, id, before, version })
}

/** Ends a person's sessions everywhere. */
export function signOutEverywhere({ callers }: Model, personId: string): void {
  for (const caller of callers) if (caller.personId === personId) caller.personId = undefined
}
