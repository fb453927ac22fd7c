/** The recipients of a new broadcast: all players, a segment, or filters of one's own, counted while they are chosen. */
import type { BroadcastPlan } from '@arcade/contract/broadcasts/calls'
import { playerList, type PlayersFilter } from '@arcade/contract/players/fields'
import { isolated } from '@arcade/contract/text'
import { listPaths } from '@arcade/contract/lists'
import type { View } from '@arcade/contract/views/calls'
import { Button, NativeSelect } from '@mantine/core'
import { keepPreviousData, useQuery, type UseQueryResult } from '@tanstack/react-query'
import { asCallError } from '#src/client/call-error.ts'
import { api } from '#src/client/client.ts'
import type { FilterValues } from '#src/lists/filter-words.ts'
import { FilterChips, FiltersPane } from '#src/lists/filters.tsx'
import { withoutUndefined } from '#src/lists/list-address.ts'
import { filterText, type PlayersAddress, segmentAddress, useSegments } from '#src/lists/segments.ts'
import { stringifySearch } from '#src/lists/search-params.ts'
import { useUnreadText } from '#src/lists/unread.ts'
import { isOffered, toolbarFilters } from '#src/lists/toolbar-filters.ts'
import { useMay } from '#src/session.tsx'
import { formatted } from '#src/ui/numbers.ts'
import { capitalised } from '#src/ui/words.ts'
import { activeFilters } from './audience-words.ts'
import classes from './broadcasts.module.css'
import { durationText, recipientsText } from './words.ts'

/** Asks whom a broadcast would reach. The last answer stays until the next one arrives. */
export function usePlan(filter: PlayersFilter, holdBack: number): UseQueryResult<BroadcastPlan> {
  const input = { ...(Object.keys(filter).length > 0 && { filter }), ...(holdBack > 0 && { holdBack }) }
  return useQuery(api.broadcasts.plan.queryOptions({ input, placeholderData: keepPreviousData, refetchOnWindowFocus: false }))
}

/** Returns the segment that an item is for, unless an audience is that segment: others could not claim the item. */
export function useItemSegment(segmentId: string | null | undefined, audience: PlayersAddress): View | undefined {
  const { segments } = useSegments()
  const segment = segments?.find(({ id }) => id === segmentId)
  return segment && !isSegment(segment, audience) ? segment : undefined
}

/** Whether an audience is a segment's players. One that cannot be read has none. */
function isSegment(segment: View, audience: PlayersAddress): boolean {
  const address = segmentAddress(segment)
  return address !== undefined && filterText(address) === filterText(audience)
}

const OWN = 'own' // no id of a view: those are UUIDs

interface AudienceProps {
  address: PlayersAddress
  plan: UseQueryResult<BroadcastPlan>
  onChange: (address: PlayersAddress) => void
}

export function Audience({ address, plan, onChange }: AudienceProps) {
  const { segments, isLost } = useSegments()
  const active = activeFilters(address)
  const values = address as FilterValues // it has filters only
  const seesPersonal = useMay('players.personal')
  const offered = toolbarFilters(playerList, { seesPersonal }).filter(isOffered)
  const unread = useUnreadText(playerList)
  const segment = active.length > 0 ? segments?.find((view) => isSegment(view, address)) : undefined
  const isOwn = active.length > 0 && !segment
  const handleChoice = (choice: string) => {
    const chosen = segments?.find(({ id }) => id === choice)
    const filters = chosen ? segmentAddress(chosen) : {}
    if (choice !== OWN && filters) onChange(filters)
  }
  const handleFilter = (changed: object) => onChange(withoutUndefined<object>({ ...address, ...changed }))
  return (
    <div className={classes['stack']}>
      <div className={classes['audience']}>
        <NativeSelect
          label="Send to"
          value={isOwn ? OWN : (segment?.id ?? '')}
          onChange={({ target }) => handleChoice(target.value)}
          data={[
            { value: '', label: 'All players' },
            ...(segments ?? []).map(segmentChoice),
            ...(isOwn ? [{ value: OWN, label: 'The players that these filters match' }] : []),
          ]}
        />
        <FiltersPane filters={offered} values={values} active={active.length} found={foundText(plan)} onFilter={handleFilter} />
      </div>
      {unread !== undefined && <output className={classes['problem']}>{unread}</output>}
      {active.length > 0 && <FilterChips active={active} values={values} onFilter={handleFilter} />}
      {isLost && <p className={classes['problem']}>The segments could not be loaded.</p>}
      <Count plan={plan} href={`${listPaths.telegramUsers}${stringifySearch(values)}`} />
    </div>
  )
}

/** Returns a segment as a choice. One that cannot be read cannot be chosen, because it would have no recipients. */
function segmentChoice(view: View) {
  const label = `Segment: ${isolated(view.name)}`
  if (segmentAddress(view)) return { value: view.id, label }
  return { value: view.id, label: `${label} (a part of this view cannot be read)`, disabled: true }
}

/** Returns the recipients in words, while the filters' pane lies over them. */
function foundText({ data, isPlaceholderData }: UseQueryResult<BroadcastPlan>): string {
  return data && !isPlaceholderData ? capitalised(recipientsText(data)) : 'Counting…'
}

/** @param href the list of those players */
function Count({
  plan: { data, error, isPlaceholderData, refetch },
  href,
}: {
  plan: UseQueryResult<BroadcastPlan>
  href: string
}) {
  if (error && !data)
    return (
      <div role="alert" className={classes['count']}>
        <p className={classes['problem']}>{asCallError(error).message}</p>
        <Button variant="default" size="compact-md" onClick={() => void refetch()}>
          Retry
        </Button>
      </div>
    )
  return (
    <output className={classes['count']} data-stale={isPlaceholderData || undefined}>
      {data ? (
        <>
          <span className={classes['figure']}>{capitalised(recipientsText(data))}</span>
          <span>
            {[data.recipients > 0 && `in ${durationText(data.minutes)}`, skippedText(data.skipped)].map(
              (part) => typeof part === 'string' && `${part} · `,
            )}
            <a href={href} target="_blank" rel="noreferrer">
              See them
            </a>
          </span>
        </>
      ) : (
        <span className={classes['figure']}>Counting…</span>
      )}
    </output>
  )
}

function skippedText(skipped = 0): string | undefined {
  if (skipped === 0) return undefined
  const who = skipped === 1 ? '1 who matches is' : `${formatted(skipped)} who match are`
  return `${who} skipped: blocked, erased, unreachable or without messages`
}
