/** The recipients of a broadcast in words, from its filter. */
import type { Broadcast } from '@arcade/contract/broadcasts/calls'
import { playerList, type PlayersFilter } from '@arcade/contract/players/fields'
import { isolated } from '@arcade/contract/text'
import { type Filter, filterWords, itemsIn } from '#src/lists/filter-words.ts'
import { useItemTitles } from '#src/lists/item-field.tsx'
import { filterText, type PlayersAddress, segmentFilter, useSegments } from '#src/lists/segments.ts'
import { toolbarFilters } from '#src/lists/toolbar-filters.ts'
import { momentText } from '#src/ui/moment.tsx'

/** All filters of players; a search can only be taken over from their list, so it has no field. */
const audienceFilters: readonly Filter[] = [
  { name: 'q', label: 'Search', kind: 'choice', options: [] },
  ...toolbarFilters(playerList),
]

/** Returns the filters that an address sets. */
export function activeFilters(address: PlayersAddress): readonly Filter[] {
  const values: Readonly<Record<string, unknown>> = { ...address }
  return audienceFilters.filter(({ name }) => values[name] !== undefined)
}

type Audience = Pick<Broadcast, 'filter' | 'isFilterWithheld'>

/**
 * Returns the words for the recipients of broadcasts: `All players`, or `Segment: Wallets · Has: Wallet · Seen within 30 days`. A segment is
 * named while it has the same filters.
 */
export function useAudienceWords(broadcasts: readonly Audience[]): (broadcast: Audience) => string {
  const { segments } = useSegments()
  // Reversed, so that the first of several segments with the same filters counts.
  const segmentNames = new Map(
    segments?.toReversed().flatMap((view) => {
      const filter = segmentFilter(view)
      return filter ? [[filterText(filter), view.name]] : []
    }),
  )
  const titleOf = useItemTitles(broadcasts.flatMap(({ filter }) => itemsIn(audienceFilters, asValues(filter))))
  return ({ filter, isFilterWithheld }) => {
    const parts = Object.entries(asValues(filter)).map(([name, value]) => {
      if (name === 'search') return `Search: ${value}`
      if (name === 'joinedFrom') return `Joined from ${momentText(String(value))}`
      if (name === 'joinedBefore') return `Joined before ${momentText(String(value))}`
      const declared = audienceFilters.find((one) => one.name === name)
      return declared ? filterWords(declared, value, titleOf) : `${name}: ${value}`
    })
    const segment = segmentNames.get(filterText(filter))
    if (isFilterWithheld) parts.push('Filters that your role may not see')
    else if (segment !== undefined && parts.length > 0) parts.unshift(`Segment: ${isolated(segment)}`)
    return parts.length === 0 ? 'All players' : parts.join(' · ')
  }
}

function asValues(filter: PlayersFilter): Record<string, string | number> {
  return Object.fromEntries(Object.entries(filter).filter((entry): entry is [string, string | number] => entry[1] !== undefined))
}
