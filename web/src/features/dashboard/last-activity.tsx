/** Ranges of time on the dashboard, and what an empty panel says: when there was last something to show. */
import type { Activity } from '@arcade/contract/dashboard/calls'
import { type ActivityRange, DEFAULT_ACTIVITY_RANGE } from '@arcade/contract/dashboard/fields'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { api } from '#src/client.ts'
import classes from './dashboard-page.module.css'

export const ranges: { range: ActivityRange; label: string; name: string }[] = [
  { range: '24h', label: '24 h', name: 'the last 24 hours' },
  { range: '7d', label: '7 d', name: 'the last 7 days' },
  { range: '30d', label: '30 d', name: 'the last 30 days' },
  { range: 'all', label: 'All', name: 'all of the time' },
]

export function rangeSearch(range: ActivityRange): { range?: ActivityRange } {
  return range === DEFAULT_ACTIVITY_RANGE ? {} : { range }
}

export type Point = Activity['points'][number]

interface Last {
  /** In words, as exact as the unit in which it was counted. */
  time: string
  /** The shortest range that shows it; undefined if the chosen range does. */
  range: ActivityRange | undefined
}

/** Returns the last time at which `countOf` was above 0, also in longer ranges; undefined while it loads, or if it never was. */
function useLast(activity: Activity, range: ActivityRange, countOf: (point: Point) => number): Last | undefined {
  const here = findLast(activity, countOf)
  const query = (earlier: ActivityRange, isWanted: boolean) =>
    api.dashboard.activity.queryOptions({ input: { range: earlier }, ...(!isWanted && { enabled: false }) })
  const isShort = range === '24h' || range === '7d'
  const month = useQuery(query('30d', !here && isShort)).data
  const inMonth = month && findLast(month, countOf)
  const ever = useQuery(query('all', !here && (range === '30d' || (isShort && month !== undefined && !inMonth)))).data
  if (here) return { time: here.time, range: undefined }
  if (month && inMonth) return { time: inMonth.time, range: inMonth.daysAgo < 7 && range === '24h' ? '7d' : '30d' }
  const inAll = ever && findLast(ever, countOf)
  return inAll && { time: inAll.time, range: 'all' }
}

function findLast({ points, unit }: Activity, countOf: (point: Point) => number) {
  const index = points.findLastIndex((point) => countOf(point) > 0)
  const point = points[index]
  return point && { time: formatTime(point.at, unit).name, daysAgo: points.length - 1 - index }
}

interface LastActivityProps {
  activity: Activity
  /** The chosen range. `activity` may still be that of the previous range. */
  range: ActivityRange
  /** What is counted, in the singular. */
  what: string
  countOf: (point: Point) => number
  /** Whether to link to a range that shows it; true by default. */
  hasLink?: boolean
}

/** Says in an empty panel when there was last something to show, and links to a range that shows it. */
export function LastActivity({ activity, range, what, countOf, hasLink = true }: LastActivityProps) {
  const last = useLast(activity, range, countOf)
  if (!last) return null
  const offered = hasLink && ranges.find(({ range: other }) => other === last.range)
  return (
    <>
      <p className={classes['last']}>
        Last {what}: {last.time}
      </p>
      {offered && (
        <p className={classes['last']}>
          <Link to="." search={rangeSearch(offered.range)} replace resetScroll={false}>
            Show {offered.name}
          </Link>
        </p>
      )}
    </>
  )
}

const formats = {
  hour: { tick: { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' }, name: { dateStyle: 'medium', timeStyle: 'short' } },
  day: { tick: { month: 'short', day: 'numeric', timeZone: 'UTC' }, name: { dateStyle: 'medium', timeZone: 'UTC' } },
  month: {
    tick: { month: 'short', year: 'numeric', timeZone: 'UTC' },
    name: { month: 'long', year: 'numeric', timeZone: 'UTC' },
  },
  year: { tick: { year: 'numeric', timeZone: 'UTC' }, name: { year: 'numeric', timeZone: 'UTC' } },
} as const satisfies Record<Activity['unit'], Record<'tick' | 'name', Intl.DateTimeFormatOptions>>

/** Formats hours in the operator's time zone. Longer units are counted in UTC, so they are formatted in UTC, and `name` says so. */
export function formatTime(at: string, unit: Activity['unit']): { tick: string; text: string; name: string } {
  const date = new Date(at)
  const format = (options: Intl.DateTimeFormatOptions) => new Intl.DateTimeFormat('en-US', options).format(date)
  const text = format(formats[unit].name)
  return { tick: format(formats[unit].tick), text, name: unit === 'hour' ? text : `${text} (UTC)` }
}
