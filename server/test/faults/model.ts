/**
 * A plain model of the console in a few maps, without the server's code: what each call must answer and change. A request is built from
 * the model's state before it is sent; its outcome is computed later, so that two simultaneous requests can be tried in either order.
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
/** Such as `users.remove`. */
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
  /** The news number of its last activation; 0 if there was none. */
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

/** A deleted record with everything that restoring brings back. The console gives it an id when it is deleted. */
export interface Trashed {
  id: string | undefined
  actId: string | undefined
  kind: TrashKind
  recordId: string
  record: Task | Announcement | Person
  /** Of a person: the private and shared views that they owned, and their default view of each list. */
  views: View[]
  defaults: [list: string, view: string][]
}

/** A changed priority or status, which can be undone. */
export interface UndoableChange {
  actId: string | undefined
  kind: TrashKind
  id: string
  before: number | boolean
  /** The record's version after the change. */
  version: number
}

/** A client: a browser, which may be signed in as a person, or the bot. */
export interface Caller {
  name: string
  personId: string | undefined
  isBot: boolean
}

/** A cursor and the player that it marks. Cursors are opaque, so the model learns them from answers. */
export interface KnownCursor {
  text: string
  sort: PlayersSort
  reversed: boolean
  userId: number
}

export interface PasswordLink {
  token: string
  isUsed: boolean
  /** The id of the admin who made it. */
  madeBy: string
}

export interface Model {
  callers: Caller[]
  people: Map<string, Person>
  tasks: Map<string, Task>
  announcements: Map<string, Announcement>
  /** Titles of all items, also removed ones, by kind and id. */
  history: Map<string, string>
  /** The newest password link by person, unless it was ended. */
  links: Map<string, PasswordLink>
  views: Map<string, View>
  /** The default view by person and list. */
  defaultViews: Map<string, string>
  /** By kind and id of the record, in the order of deletion. */
  trash: Map<string, Trashed>
  /** By kind, id and new version of the record. */
  undoableChanges: Map<string, UndoableChange>
  /** Keys of uploaded files that no announcement uses yet. */
  files: string[]
  /** Cursors of the list of players, which no story changes. */
  cursors: KnownCursor[]
  /** The news number: each activation of an announcement raises it (design §7, News). */
  epoch: number
  /** The number of acts in the audit trail, without those that model-console.ts does not count. */
  audited: number
}

export type Body = Record<string, unknown>

/** How the console must react to a request. */
export type Outcome =
  | { refusal: ErrorCode }
  | {
      /** What the answer must contain; for downloads, its headers. */
      answer?: Body
      /** Applies the change to the model. The answer has the new ids and keys. */
      change?: (answer: Body) => void
      /** The code of a refusal that is also allowed if a conflicting request came at the same time. */
      orRefusal?: ErrorCode
    }

/** A request that was built from one state of the model. */
export interface ModelRequest {
  input: Body
  /** Returns the outcome by a model, which may be in another state by then. */
  serve: (model: Model, caller: Caller) => Outcome
}

/** Builds a caller's request from the model's present state. */
export type RequestBuilder = (model: Model, caller: Caller) => ModelRequest

export interface Command {
  /** Generates builders rather than requests, since a story's ids are known only when it runs. */
  acts: fc.Arbitrary<RequestBuilder>
}

/**
 * Defines the command of one call.
 * @param toInput builds the input that the caller sends
 * @param serve returns the outcome for a caller who may make the call
 */
export function command<Params, Input extends object>(
  params: fc.Arbitrary<Params>,
  toInput: (model: Model, params: Params, caller: Caller) => Input,
  serve: (model: Model, input: Input, caller: Caller) => Outcome,
): Command {
  const acts = params.map((values) => (model: Model, sender: Caller) => {
    const input = toInput(model, values, sender)
    return { input: input as Body, serve: (present: Model, caller: Caller) => serve(present, input, caller) }
  })
  return { acts }
}

/** Returns the code with which the contract's access refuses a caller (§6); undefined if the caller may make the call. */
export function refusalOf(name: CallName, { people }: Model, { personId, isBot }: Caller): ErrorCode | undefined {
  const { access } = routes.find((route) => route.name === name)!.meta
  if (access.includes('guest')) return undefined
  if (isBot) return admitsBot(access, 'play') ? undefined : 'FORBIDDEN'
  const person = personId === undefined ? undefined : people.get(personId)
  if (!person) return 'SIGNED_OUT'
  return person.userType === 'admin' || access.includes('user') ? undefined : 'FORBIDDEN'
}

const NONE = { id: 'none' }

/** Returns the n-th item in the order of creation. Some numbers give an id that does not exist, and all do if there are no items. */
export function nth<T extends { id: string }>(items: ReadonlyMap<string, T>, n: number): T | { id: string } {
  return [...items.values()][n % (items.size + 1)] ?? NONE
}

export function several<T extends { id: string }>(items: ReadonlyMap<string, T>, numbers: readonly number[]): string[] {
  return [...new Set(numbers.map((n) => nth(items, n).id))]
}

/** Which version the caller sends as the one it has seen. */
export type SeenVersion = 'present' | 'old' | 'none'

export function versionOf(item: { id: string; version?: number }, seen: SeenVersion): { version?: number } {
  if (seen === 'none' || item.version === undefined) return {}
  return { version: seen === 'present' ? item.version : Math.max(1, item.version - 1) }
}

export function isStale(item: { version: number }, { version }: { version?: number }): boolean {
  return version !== undefined && version !== item.version
}

/** How a bulk act is run. `expected` is the number of rows that the caller was shown. */
export interface Run {
  dryRun: boolean
  expected?: number
}

/** Returns the outcome of a bulk act: a dry run changes nothing, and a number of rows other than `expected` is refused. */
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

/** Adds a record to the trash. The caller removes it from its own map. */
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

/** Remembers a change that can be undone, of a record with its new version. @param before the value that undoing brings back */
export function noteUndoableChange(
  { undoableChanges }: Model,
  kind: TrashKind,
  { id, version }: { id: string; version: number },
  before: number | boolean,
): void {
  undoableChanges.set(`${kind} ${id} ${version}`, { actId: undefined, kind, id, before, version })
}

/** Ends a person's sessions, the password links that the person made, and the one for the person. */
export function signOutEverywhere(model: Model, personId: string): void {
  for (const caller of model.callers) if (caller.personId === personId) caller.personId = undefined
  endLinks(model, (link, owner) => !link.isUsed && [link.madeBy, owner].includes(personId))
}

export function endLinks({ links }: Model, isEnded: (link: PasswordLink, owner: string) => boolean): void {
  for (const [owner, link] of links) if (isEnded(link, owner)) links.delete(owner)
}
