/**
 * What the operator did during this visit: the search parameters with which each page was last shown, and what was last opened from the
 * palette. It is kept in memory only, until the tab is closed or reloaded, the operator logs out, or another user signs in. For the Back of a
 * form that is reloaded, the parameters are also kept in the tab's sessionStorage. A page size that was chosen is kept in localStorage, for
 * one person.
 */
import type { Icon } from '@tabler/icons-react'

type Search = Readonly<Record<string, unknown>>

/** Something that the palette opened: a page, a form or a record. */
export interface Opened {
  id: string
  label: string
  detail?: string
  Icon: Icon
  /** The address. */
  to: string
}

const MAX_OPENED = 5

let opened: readonly Opened[] = []
const searches = new Map<string, Search>()
/** The parameters that the pages had before the tab was reloaded. */
let earlier: Readonly<Record<string, Search>> = {}
const listeners = new Set<() => void>()
let visitor: string | undefined

/** Keeps the search parameters of a page. */
export function keepSearch(path: string, search: Search): void {
  earlier = { ...earlier, [path]: search }
  writeOwn(TAB, 'searches', earlier)
  change(() => searches.set(path, search))
}

/** Returns the parameters with which the page was last shown, always as the same object; undefined if it was not shown yet. */
export function keptSearch(path: string): Search | undefined {
  return searches.get(path)
}

/** Returns the parameters with which the page was last shown in this tab, also before a reload. */
export function lastSearch(path: string): Search | undefined {
  return searches.get(path) ?? earlier[path]
}

/** Forgets one page, so that it opens as on the first visit. */
export function forgetSearch(path: string): void {
  change(() => searches.delete(path))
}

/** Keeps what the palette opened. */
export function keepOpened(latest: Opened): void {
  opened = [latest, ...opened.filter(({ id }) => id !== latest.id)].slice(0, MAX_OPENED)
}

/** Returns what the palette opened, the latest first. */
export function openedBefore(): readonly Opened[] {
  return opened
}

/** Forgets a record that was erased. */
export function forgetOpened(id: string): void {
  opened = opened.filter((one) => one.id !== id)
}

/** Call this when the user with this id signs in: the visit of any other user is forgotten. */
export function beginVisit(userId: string): void {
  if (userId === visitor) return
  visitor = userId
  earlier = readOwn<Search>(TAB, 'searches')
  sizes = readOwn<number>(BROWSER, 'page-sizes')
  opened = []
  change(() => searches.clear())
}

/** Forgets everything. */
export function endVisit(): void {
  earlier = {}
  writeOwn(TAB, 'searches', earlier)
  opened = []
  change(() => searches.clear())
}

let sizes: Readonly<Record<string, number>> = {}

/** Keeps the page size that the operator chose for a list. */
export function keepPageSize(list: string, size: number): void {
  change(() => {
    sizes = { ...sizes, [list]: size }
  })
  writeOwn(BROWSER, 'page-sizes', sizes)
}

/** Returns the page size that the operator chose for a list, if any. */
export function keptPageSize(list: string): number | undefined {
  return sizes[list]
}

/** Calls the listener after each change. Returns a function that stops it. */
export function subscribeToVisit(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

function change(act: () => void): void {
  act()
  for (const listener of listeners) listener()
}

const TAB = (): Storage => sessionStorage
const BROWSER = (): Storage => localStorage

/** A stored value belongs to one user. Another user's is replaced when the visitor stores one. */
interface Own<Value> {
  of: string | undefined
  values: Readonly<Record<string, Value>>
}

function readOwn<Value>(storage: () => Storage, name: string): Own<Value>['values'] {
  try {
    const own = JSON.parse(storage().getItem(`arcade-${name}`) ?? 'null') as Own<Value> | null
    return own && own.of === visitor && typeof own.values === 'object' ? own.values : {}
  } catch {
    return {} // the browser forbids storage, or the stored text is not JSON
  }
}

function writeOwn<Value>(storage: () => Storage, name: string, values: Own<Value>['values']): void {
  try {
    if (Object.keys(values).length === 0) storage().removeItem(`arcade-${name}`)
    else storage().setItem(`arcade-${name}`, JSON.stringify({ of: visitor, values } satisfies Own<Value>))
  } catch {
    // the browser forbids storage: the choice lasts until the page is closed
  }
}
