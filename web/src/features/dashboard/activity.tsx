/**
 * The activity below the dashboard's cards: charts over time, top balances, and the items with most participants. It is loaded after the
 * cards and kept up to date by server events.
 */
import { type ActivityRange, DEFAULT_ACTIVITY_RANGE } from '@arcade/contract/dashboard/fields'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { Link, useSearch } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import { api, queryClient } from '#src/client/client.ts'
import { follow } from '#src/client/follow.ts'
import { Panel, Problem } from '#src/ui/page.tsx'
import { Panels } from './activity-panels.tsx'
import { ActivitySkeleton } from './activity-skeleton.tsx'
import classes from './dashboard-page.module.css'
import { rangeOf, ranges, rangeSearch } from './times.ts'

export function Activity() {
  const { range = DEFAULT_ACTIVITY_RANGE } = useSearch({ strict: false }) as { range?: ActivityRange }
  const { data, isError, isPlaceholderData, refetch } = useQuery({
    ...api.dashboard.activity.queryOptions({ input: { range } }),
    placeholderData: keepPreviousData,
  })
  const isLive = useLiveFigures(range)
  const before = rangeOf(range).before
  return (
    <section className={classes['activity']} aria-label="Activity">
      <header className={classes['activityHeader']}>
        <h2>Activity</h2>
        <span className={classes['live']} data-live={isLive || undefined}>
          {isLive ? 'Live' : 'Connecting'}
        </span>
        {before && (
          <span className={classes['legend']}>
            <i aria-hidden /> {before}
          </span>
        )}
        <fieldset className={classes['ranges']} aria-label="Range of time">
          {ranges.map(({ range: value, label, name }) => (
            <Link
              key={value}
              to="."
              search={rangeSearch(value)}
              replace={value === range} // a chosen range is a step of its own, to which Back returns
              resetScroll={false}
              activeOptions={{ exact: true }}
              aria-current={value === range ? 'page' : undefined} // also if the address names the default range
            >
              {label}
              <span className="app-sr-only">: {name}</span>
            </Link>
          ))}
        </fieldset>
      </header>
      {data ? (
        <Panels activity={data} range={range} isStale={isPlaceholderData} />
      ) : isError ? (
        <Panel>
          <Problem message="The activity cannot be shown right now." onRetry={() => void refetch()} />
        </Panel>
      ) : (
        <ActivitySkeleton />
      )}
    </section>
  )
}

/** Whether the figures are being kept up to date. Changes are not announced to screen readers, because they are frequent. */
function useLiveFigures(range: ActivityRange): boolean {
  const [isLive, setIsLive] = useState(false)
  useEffect(() => {
    const metricsKey = api.dashboard.get.queryKey()
    const activityKey = api.dashboard.activity.queryKey({ input: { range } })
    return follow(
      'figures',
      { range },
      {
        onOpen: ({ metrics, activity }) => {
          setIsLive(true)
          // Figures that have changed since they were loaded are loaded again.
          const isKnown = (key: readonly unknown[], data: object) =>
            JSON.stringify(queryClient.getQueryData(key)) === JSON.stringify(data)
          if (!isKnown(metricsKey, metrics)) void queryClient.invalidateQueries({ queryKey: metricsKey })
          if (!isKnown(activityKey, activity)) void queryClient.invalidateQueries({ queryKey: activityKey })
        },
        onChange: ({ metrics, activity }) => {
          // An answer that is still on its way is older than this event.
          for (const queryKey of [metricsKey, activityKey]) void queryClient.cancelQueries({ queryKey })
          queryClient.setQueryData(metricsKey, metrics)
          queryClient.setQueryData(activityKey, activity)
        },
        onLost: () => setIsLive(false),
      },
    )
  }, [range])
  return isLive
}
