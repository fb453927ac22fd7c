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

const UTC = { timeZone: 'UTC' } as const
const formats = {
  hour: {
    tick: { hour: '2-digit', minute: '2-digit', hourCycle: 'h23', ...UTC },
    name: { month: 'short', day: 'numeric', hour: '2-digit', minute: '2-digit', hourCycle: 'h23', ...UTC },
  },
  day: { tick: { month: 'short', day: 'numeric', ...UTC }, name: { dateStyle: 'medium', ...UTC } },
  month: { tick: { month: 'short', year: 'numeric', ...UTC }, name: { month: 'long', year: 'numeric', ...UTC } },
  year: { tick: { year: 'numeric', ...UTC }, name: { year: 'numeric', ...UTC } },
} as const satisfies Record<Activity['unit'], Record<'tick' | 'name', Intl.DateTimeFormatOptions>>

/** Returns the beginning of an hour, day, month or year: in short for an axis, and in full. */
export function formatTime(at: string, unit: Activity['unit']): { tick: string; name: string } {
  const format = (options: Intl.DateTimeFormatOptions) => new Intl.DateTimeFormat('en-US', options).format(new Date(at))
  return { tick: format(formats[unit].tick), name: format(formats[unit].name) }
}
