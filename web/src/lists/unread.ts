/**
 * The parts that were left out of a page's address, because they could not be read. The router keeps their names with the entry of the
 * browser's history, so that they are gone with the next change of the address.
 */
import { nameInAddress } from '@arcade/contract/address-filters'
import type { List } from '@arcade/contract/entity'
import { isolated } from '@arcade/contract/text'
import { useLocation } from '@tanstack/react-router'

declare module '@tanstack/react-router' {
  interface HistoryState {
    /** The names of the parts that were left out of the address, separated by commas. */
    unread?: string
  }
}

/** Returns the names of the parts that were left out of the page's address; undefined if there are none. */
export function useUnread(): string | undefined {
  return useLocation({ select: ({ state }) => state.unread })
}

/** Says what was left out of the address of the list's page; undefined if nothing was. */
export function useUnreadText(list: List): string | undefined {
  const unread = useUnread()
  if (unread === undefined) return undefined
  const filters = Object.entries(list.filters).map(([name, filter]) => [nameInAddress(name, filter), filter.label] as const)
  const labels = new Map([['q', 'Search'], ...filters])
  const parts = unread.split(',').map((name) => labels.get(name) ?? isolated(name))
  return `Left out of the address, because ${parts.length === 1 ? 'it' : 'they'} could not be read: ${parts.join(', ')}.`
}
