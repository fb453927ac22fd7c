/** Segments: shared saved views of Telegram Users, as players that an item is for or a broadcast goes to. */
import { playerList, type PlayersFilter } from '@arcade/contract/players/fields'
import { isolated } from '@arcade/contract/text'
import type { View } from '@arcade/contract/views/calls'
import { useQuery } from '@tanstack/react-query'
import { api } from '#src/client/client.ts'
import { filtersOnly, type ListAddress, listFilter, readListAddress } from './list-address.ts'
import { parseSearch, stringifySearch } from './search-params.ts'

export type PlayersAddress = ListAddress<typeof playerList>

/** Returns the segments by name; undefined while they are loaded. */
export function useSegments(): { segments: readonly View[] | undefined; isLost: boolean } {
  const { data, isError } = useQuery(api.views.list.queryOptions())
  return { segments: data?.views.filter((view) => view.list === playerList.name && view.isShared), isLost: isError }
}

/**
 * Returns a function that says for which segment an item is. The text has no name while the segments are loaded, or if the segment is not
 * shared any more.
 */
export function useForSegmentText(): (segmentId: string) => string {
  const { segments } = useSegments()
  return (segmentId) => {
    const segment = segments?.find(({ id }) => id === segmentId)
    return `for ${segment ? isolated(segment.name) : 'a segment'}`
  }
}

/** Returns a segment's search and filters, without order, page and look; undefined if a part cannot be read: it then matches nobody. */
export function segmentAddress({ address }: Pick<View, 'address'>): PlayersAddress | undefined {
  const read = readListAddress(playerList, parseSearch(address))
  return read.unread === undefined ? filtersOnly(playerList, read) : undefined
}

/** Returns the same text for the same filters, whatever their order. */
export function filterText(filters: object): string {
  return stringifySearch(Object.fromEntries(Object.entries(filters).toSorted(([one], [other]) => (one < other ? -1 : 1))))
}

/** Returns the filter of a segment in the API; undefined if it matches nobody, because a part of its address cannot be read. */
export function segmentFilter(view: Pick<View, 'address'>): PlayersFilter | undefined {
  const address = segmentAddress(view)
  return address && listFilter(playerList, address)
}
