/** Ranges of time on the dashboard, and its times in words: all in UTC, because days are counted so. */
import type { Activity } from '@arcade/contract/dashboard/calls'
import { type ActivityRange, DEFAULT_ACTIVITY_RANGE } from '@arcade/contract/dashboard/fields'

interface Range {
  range: ActivityRange
  label: string
  name: string
  /** The time before, with which the range is compared. */
  before?: string
}

export const ranges: readonly Range[] = [
  { range: '24h', label: '24 h', name: 'the last 24 hours', before: 'the 24 hours before' },
  { range: '7d', label: '7 d', name: 'the last 7 days', before: 'the 7 days before' },
  { range: '30d', label: '30 d', name: 'the last 30 days', before: 'the 30 days before' },
  { range: 'all', label: 'All', name: 'all of the time' },
]

export function rangeSearch(range: ActivityRange): { range?: ActivityRange } {
  return range === DEFAULT_ACTIVITY_RANGE ? {} : { range }
}

export type Point = Activity['points'][number]

/** Returns the texts of a range. */
export function rangeOf(wanted: ActivityRange): Range {
  return ranges.find(({ range }) => range === wanted)!
}

const inUtc = (options: Intl.DateTimeFormatOptions) => new Intl.DateTimeFormat('en-US', { ...options, timeZone: 'UTC' })
const formats: Record<Activity['unit'], Record<'tick' | 'name', Intl.DateTimeFormat>> = {
  hour: {
    tick: inUtc({ hour: '2-digit', minute: '2-digit', hourCycle: 'h23' }),
    name: inUtc({ month: 'short', day: 'numeric', hour: '2-digit', minute: '2-digit', hourCycle: 'h23' }),
  },
  day: { tick: inUtc({ month: 'short', day: 'numeric' }), name: inUtc({ dateStyle: 'medium' }) },
  month: { tick: inUtc({ month: 'short', year: 'numeric' }), name: inUtc({ month: 'long', year: 'numeric' }) },
  year: { tick: inUtc({ year: 'numeric' }), name: inUtc({ year: 'numeric' }) },
}

/** Returns the beginning of an hour, day, month or year: in short for an axis, and in full. */
export function formatTime(at: string, unit: Activity['unit']): { tick: string; name: string } {
  const date = new Date(at)
  return { tick: formats[unit].tick.format(date), name: formats[unit].name.format(date) }
}
