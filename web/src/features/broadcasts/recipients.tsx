/** The recipients of a broadcast who have one outcome, such as those whose outcome is unknown. */
import type { Broadcast } from '@arcade/contract/broadcasts/calls'
import { type RecipientOutcome, recipientOutcomeLabels } from '@arcade/contract/broadcasts/fields'
import { Button, NativeSelect } from '@mantine/core'
import { useInfiniteQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useEffect, useEffectEvent, useRef } from 'react'
import { problemOf } from '#src/client/call-error.ts'
import { api } from '#src/client/client.ts'
import { PlayerLink } from '#src/lists/player-link.tsx'
import { Moment } from '#src/ui/moment.tsx'
import { formatted } from '#src/ui/numbers.ts'
import { Problem } from '#src/ui/page.tsx'
import { Cell, WideRow, WideTable } from '#src/ui/wide-table.tsx'
import classes from './broadcasts.module.css'

const outcomes = Object.keys(recipientOutcomeLabels) as RecipientOutcome[]

/** Shows at first those that an operator has to decide about. */
function firstOutcome(broadcast: Broadcast): RecipientOutcome {
  return (['unknown', 'failed', 'refused', 'sent'] as const).find((outcome) => broadcast[outcome] > 0) ?? 'pending'
}

export function Recipients({ broadcast }: { broadcast: Broadcast }) {
  const { outcome: chosen } = useSearch({ from: '/shell/management/broadcasts/$id' })
  const navigate = useNavigate()
  const outcome: RecipientOutcome = chosen ?? firstOutcome(broadcast)
  /** The address keeps the choice, for the way back from a player. */
  const choose = (next: RecipientOutcome) =>
    void navigate({ to: '.', search: { outcome: next }, replace: true, resetScroll: false })
  return (
    <div className={classes['stack']}>
      <div className={classes['outcomeChoice']}>
        <NativeSelect
          label="Outcome"
          value={outcome}
          data={outcomes.map((value) => ({ value, label: `${recipientOutcomeLabels[value]} (${formatted(broadcast[value])})` }))}
          onChange={({ target }) => choose(target.value as RecipientOutcome)}
        />
      </div>
      <OfOutcome key={outcome} id={broadcast.id} outcome={outcome} count={broadcast[outcome]} />
    </div>
  )
}

interface OfOutcomeProps {
  id: string
  outcome: RecipientOutcome
  /** How many there are. The list is loaded again when it changes, except where it changes all the time. */
  count: number
}

function OfOutcome({ id, outcome, count }: OfOutcomeProps) {
  const changesOften = outcome === 'pending' || outcome === 'sent'
  const known = changesOften ? 0 : count
  const { data, error, refetch, hasNextPage, fetchNextPage, isFetchingNextPage } = useInfiniteQuery(
    api.broadcasts.recipients.infiniteOptions({
      input: (after: string | undefined) => ({ id, outcome, ...(after !== undefined && { after }) }),
      initialPageParam: undefined,
      getNextPageParam: (page) => page.after ?? undefined,
      refetchOnWindowFocus: false,
    }),
  )
  const rows = data?.pages.flatMap(({ recipients }) => recipients) ?? []
  /** Only what was refused or skipped has reasons. */
  const hasReasons = rows.some(({ reason }) => reason !== null)
  const loaded = useRef(known)
  const loadAgain = useEffectEvent(() => void refetch())
  useEffect(() => {
    if (known === loaded.current) return
    loaded.current = known
    loadAgain()
  }, [known])
  // A page may be empty although others follow: the server looks through a limited number of chunks.
  const isEmptyPage = data !== undefined && rows.length === 0 && hasNextPage
  const loadNext = useEffectEvent(() => void fetchNextPage())
  useEffect(() => {
    if (isEmptyPage && !isFetchingNextPage) loadNext()
  }, [isEmptyPage, isFetchingNextPage])

  if (error && !data) return <Problem {...problemOf(error, () => void refetch())} />
  if (!data) return <output>Loading...</output>
  if (rows.length === 0 && !hasNextPage) return <p className={classes['hint']}>No recipient has this outcome.</p>
  return (
    <>
      <WideTable
        label={`Recipients: ${recipientOutcomeLabels[outcome]}`}
        columns={['Player', 'User ID', ...(hasReasons ? ['Reason'] : []), 'When']}
      >
        {rows.map(({ userId, name, reason, at }) => (
          <WideRow key={userId}>
            <Cell isLong>
              <PlayerLink userId={userId}>{name}</PlayerLink>
            </Cell>
            <Cell label="User ID">{userId}</Cell>
            {hasReasons && (
              <Cell label="Reason" isLong>
                {reason}
              </Cell>
            )}
            <Cell label="When">{at === null ? null : <Moment iso={at} />}</Cell>
          </WideRow>
        ))}
      </WideTable>
      {hasNextPage && (
        <div>
          <Button variant="default" loading={isFetchingNextPage} onClick={() => void fetchNextPage()}>
            Show more
          </Button>
        </div>
      )}
    </>
  )
}
