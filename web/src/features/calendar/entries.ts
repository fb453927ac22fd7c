/** What the calendar shows: tasks and announcements, and broadcasts among them. */
import type { CalendarBroadcast, CalendarItem } from '@arcade/contract/calendar/calls'
import { type CalendarKind, calendarKinds } from '@arcade/contract/calendar/fields'
import { timeText, weekdayText } from '#src/ui/zoned-time.ts'
import type { Dates } from './days.ts'
import { datesOf, datesText, kindText } from './move.ts'

export type Entry = CalendarItem | CalendarBroadcast

export function isItem(entry: Entry): entry is CalendarItem {
  return 'kind' in entry
}

export function kindOf(entry: Entry): CalendarKind {
  return isItem(entry) ? entry.kind : 'broadcast'
}

/** A key for React: ids of different kinds may be equal. */
export function entryKey(entry: Entry): string {
  return `${kindOf(entry)} ${entry.id}`
}

export function entryKindText(kind: CalendarKind): string {
  return kind === 'broadcast' ? 'Broadcast' : kindText(kind)
}

/** The kinds that a person can choose from. */
export function kindsFor({ maySeeBroadcasts }: { maySeeBroadcasts: boolean }): CalendarKind[] {
  return calendarKinds.filter((kind) => kind !== 'broadcast' || maySeeBroadcasts)
}

/** Returns when a broadcast began and ends. One that is being sent without an end goes on until now, another one has only a beginning. */
export function broadcastDates(
  { startsAt, endsAt, state }: CalendarBroadcast,
  now: number,
): { startsAt: number; endsAt: number } {
  const start = Date.parse(startsAt)
  const isUnderWay = state === 'sending' || state === 'waiting' || state === 'paused'
  return { startsAt: start, endsAt: Math.max(start, endsAt === null ? (isUnderWay ? now : start) : Date.parse(endsAt)) }
}

/** Returns when an entry is, as a bar shows it. */
export function entryDates(entry: Entry, now: number): Dates {
  return isItem(entry) ? datesOf(entry) : broadcastDates(entry, now)
}

/** Returns the times of a broadcast in words; one moment for a broadcast without a known end. */
export function broadcastText({ startsAt, endsAt }: Pick<CalendarBroadcast, 'startsAt' | 'endsAt'>, zone: string): string {
  const start = Date.parse(startsAt)
  const end = Date.parse(endsAt ?? startsAt)
  const text = (at: number) => `${weekdayText(at, zone)}, ${timeText(at, zone)}`
  return text(start) === text(end) ? text(start) : datesText({ startsAt: start, endsAt: end }, zone)
}

/** Like `broadcastText`, without the day where the mark shows it. */
export function shortText({ startsAt, endsAt }: Pick<CalendarBroadcast, 'startsAt' | 'endsAt'>, zone: string): string {
  const text = broadcastText({ startsAt, endsAt }, zone)
  const days = text.split(' – ').filter((part) => part.includes(','))
  return days.length > 1 ? text : text.replace(/^.*, /, '')
}

interface Answer {
  items: readonly CalendarItem[]
  broadcasts: readonly CalendarBroadcast[]
}

/**
 * Returns the entries that overlap the span, in the order of their start. The answer may belong to another span, or be older than a move.
 * @param kind only entries of this kind
 */
export function entriesIn(
  { items, broadcasts }: Answer,
  { from, to }: { from: number; to: number },
  { now, kind }: { now: number; kind: CalendarKind | undefined },
): Entry[] {
  const all: Entry[] = [...items, ...broadcasts]
  const isWithin = (entry: Entry): boolean => {
    const { startsAt, endsAt } = entryDates(entry, now)
    if (startsAt !== null && startsAt >= from) return startsAt < to
    return (startsAt === null || startsAt < to) && (endsAt === null || endsAt > from)
  }
  const startOf = ({ startsAt }: Entry): number => (startsAt === null ? 0 : Date.parse(startsAt))
  return all
    .filter((entry) => (kind === undefined || kindOf(entry) === kind) && isWithin(entry))
    .toSorted((one, other) => startOf(one) - startOf(other))
}

export interface EntryEvent {
  entry: Entry
  at: number
  what: string
}

/** Returns what happens to an entry, and when. */
export function eventsOf(entry: Entry): EntryEvent[] {
  const { startsAt, endsAt } = datesOf(entry)
  const [start, end] = isItem(entry) ? (['starts', 'ends'] as const) : broadcastEvents(entry)
  const isMoment = startsAt === endsAt
  return [
    ...(startsAt === null ? [] : [{ entry, at: startsAt, what: start }]),
    ...(endsAt === null || isMoment ? [] : [{ entry, at: endsAt, what: end }]),
  ]
}

function broadcastEvents({ state }: CalendarBroadcast): [start: string, end: string] {
  if (state === 'scheduled') return ['begins', 'ends']
  if (state === 'done' || state === 'cancelled') return ['began', state]
  return ['began', 'ends']
}
