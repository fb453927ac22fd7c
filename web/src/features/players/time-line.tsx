/** All the items that a player took part in, day by day, with what these are worth at today’s rewards. */
import { historyKindLabels } from '@arcade/contract/history/fields'
import type { PlayerParticipation } from '@arcade/contract/players/calls'
import { isolated } from '@arcade/contract/text'
import { Button } from '@mantine/core'
import { useInfiniteQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { problemOf } from '#src/client/call-error.ts'
import { TimeOfDay } from '#src/ui/moment.tsx'
import { Problem } from '#src/ui/page.tsx'
import { Balance } from './balance.tsx'
import { participationKey, participationsOf } from './player-data.ts'
import classes from './player-page.module.css'
import { Waiting } from './waiting.tsx'

/** @param isKnown whether the page has loaded the player; until then the page reports failures, and the time line does not */
export function TimeLine({ userId, isKnown }: { userId: number; isKnown: boolean }) {
  const { data, error, refetch, hasNextPage, fetchNextPage, isFetchingNextPage } = useInfiniteQuery(participationsOf(userId))
  const all = data?.pages.flatMap(({ participations }) => participations)
  const days = Map.groupBy(all ?? [], ({ timestamp }) => dayName.format(new Date(timestamp)))
  return (
    <section className={classes['timeLine']} aria-labelledby="time-line">
      <h2 id="time-line">Took part in</h2>
      {error && !all && isKnown ? (
        <Problem {...problemOf(error, () => void refetch())} />
      ) : !all ? (
        <output aria-label="Loading" className={classes['waitingLines']}>
          <Waiting />
          <Waiting />
          <Waiting />
        </output>
      ) : all.length === 0 ? (
        <p className={classes['note']}>Nothing yet.</p>
      ) : (
        [...days].map(([day, participations]) => (
          <section key={day} aria-label={day} className={classes['day']}>
            <h3>{day}</h3>
            <ol>
              {participations.map((participation) => (
                <Participation key={participationKey(participation)} of={participation} />
              ))}
            </ol>
          </section>
        ))
      )}
      {hasNextPage && (
        <Button variant="default" aria-disabled={isFetchingNextPage} onClick={() => !isFetchingNextPage && void fetchNextPage()}>
          Show more
        </Button>
      )}
    </section>
  )
}

const dayName = new Intl.DateTimeFormat('en-US', { dateStyle: 'full' })

function Participation({ of: { kind, id, title, reward, userInput, timestamp } }: { of: PlayerParticipation }) {
  return (
    <li className={classes['participation']}>
      <span className={classes['time']}>
        <TimeOfDay iso={timestamp} />
      </span>
      <span className={classes['what']}>
        <Link to="/history" search={{ ...(kind !== 'announcement' && { tab: kind }), item: id }} preload={false}>
          {isolated(title)}
        </Link>
        <span className={classes['kind']}>{historyKindLabels[kind]}</span>
        {userInput && <span className={classes['input']}>{userInput}</span>}
      </span>
      <span className={classes['worth']}>
        <span className="app-sr-only">worth </span>
        <Balance amount={reward} /> <span className={classes['today']}>at today’s reward</span>
      </span>
    </li>
  )
}
