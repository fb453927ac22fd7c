/**
 * What the operator chose on each page during this visit: the search parameters with which the page was last shown. It is kept in memory
 * only, until the tab is closed or reloaded, the operator logs out, or another user signs in.
 */

type Search = Readonly<Record<string, unknown>>

const searches = new Map<string, Search>()
const listeners = new Set<() => void>()
let visitor: string | undefined

/** Keeps the search parameters of a page. */
export function keepSearch(path: string, search: Search): void {
  change(() => searches.set(path, search))
}

/** Returns the parameters with which the page was last shown, always as the same object; undefined if it was not shown yet. */
export function keptSearch(path: string): Search | undefined {
  return searches.get(path)
}

/** Forgets one page, so that it opens as on the first visit. */
export function forgetSearch(path: string): void {
  change(() => searches.delete(path))
}

/** Call this when the user with this id signs in: the visit of any other user is forgotten. */
export function beginVisit(userId: string): void {
  if (userId !== visitor) endVisit()
  visitor = userId
}

/** Forgets all pages. */
export function endVisit(): void {
  change(() => searches.clear())
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
