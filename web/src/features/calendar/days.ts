/**
 * The days of the calendar's week or month in a time zone, and where moments lie among them. Each day is one column, also a day of 23 or 25
 * hours at a clock change.
 */
import { momentOf, toLocal, weekdayText } from '#src/ui/zoned-time.ts'

export const spanKinds = ['week', 'month'] as const
export type SpanKind = (typeof spanKinds)[number]

const MINUTE_MS = 60_000
const DAY_MINUTES = 24 * 60
const DAY_MS = DAY_MINUTES * MINUTE_MS

/** The steps in which an item is moved, in minutes of the zone's clock. */
export const steps: Readonly<Record<SpanKind, { small: number; large: number }>> = {
  week: { small: 30, large: DAY_MINUTES },
  month: { small: DAY_MINUTES, large: 7 * DAY_MINUTES },
}

export interface Day {
  /** As in an address: `2026-11-27`. */
  name: string
  /** The moments at which the day begins and ends. */
  from: number
  to: number
  weekday: string
  date: number
  isWeekend: boolean
}

export interface Span {
  kind: SpanKind
  zone: string
  days: readonly Day[]
  from: number
  to: number
  /** `November 2026`, `Nov 23 – 29, 2026`. */
  title: string
  /** A day of the span before and of the span after. */
  previous: string
  next: string
}

/** Returns the day of a moment. */
export function dayOf(at: number, zone: string): string {
  return nameOf(toLocal(at, zone))
}

/** The first day of the week where the operator lives, from 1 for Monday to 7 for Sunday. */
export function firstWeekday(language = navigator.language): number {
  const locale = new Intl.Locale(language) as Intl.Locale & { getWeekInfo?: () => { firstDay: number } }
  return locale.getWeekInfo?.().firstDay ?? 1
}

/** Returns the week or month with this day. */
export function spanOf(kind: SpanKind, day: string, zone: string, weekBegins: number): Span {
  const asked = Date.parse(day)
  const date = new Date(asked)
  const isMonth = kind === 'month'
  const daysBefore = isMonth ? date.getUTCDate() - 1 : (date.getUTCDay() - (weekBegins % 7) + 7) % 7
  const first = asked - daysBefore * DAY_MS
  const count = isMonth ? new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1, 0)).getUTCDate() : 7
  const days = Array.from({ length: count }, (_, index) => dayAt(first + index * DAY_MS, zone))
  return {
    kind,
    zone,
    days,
    from: days[0]!.from,
    to: days.at(-1)!.to,
    title: titleOf(kind, first, first + (count - 1) * DAY_MS),
    previous: nameOf(first - DAY_MS),
    next: nameOf(first + count * DAY_MS),
  }
}

/** @param midnight the local time at which the day begins */
function dayAt(midnight: number, zone: string): Day {
  const weekday = new Date(midnight).getUTCDay()
  return {
    name: nameOf(midnight),
    from: momentOf(midnight, zone),
    to: momentOf(midnight + DAY_MS, zone),
    weekday: weekdayText(midnight, 'UTC').slice(0, 3),
    date: new Date(midnight).getUTCDate(),
    isWeekend: weekday === 0 || weekday === 6,
  }
}

function nameOf(local: number): string {
  return new Date(local).toISOString().slice(0, 10)
}

const monthTitle = new Intl.DateTimeFormat('en-US', { timeZone: 'UTC', month: 'long', year: 'numeric' })
const weekTitle = new Intl.DateTimeFormat('en-US', { timeZone: 'UTC', month: 'short', day: 'numeric', year: 'numeric' })

function titleOf(kind: SpanKind, first: number, last: number): string {
  return kind === 'month' ? monthTitle.format(first) : weekTitle.formatRange(first, last).replaceAll(/[\u2009\u202F]/g, ' ')
}

/** Returns where a moment lies, in columns from the left, also outside the span: 1.5 is noon of the second day. */
export function columnOf(at: number, { days, from, to }: Span): number {
  if (at < from) return (at - from) / DAY_MS
  if (at >= to) return days.length + (at - to) / DAY_MS
  const index = days.findIndex((day) => at < day.to)
  const day = days[index]!
  return index + (at - day.from) / (day.to - day.from)
}

/** Returns the minutes by which a drag over a number of columns moves an item. */
export function draggedMinutes(columns: number, kind: SpanKind): number {
  const { small } = steps[kind]
  return Math.round((columns * DAY_MINUTES) / small) * small || 0 // 0 instead of -0
}

/** When an item starts and ends; null for no such moment. */
export interface Dates {
  startsAt: number | null
  endsAt: number | null
}

/** Where a bar lies. */
export interface BarExtent {
  /** In columns from the left, within the span. */
  left: number
  right: number
  /** The item begins before the span or ends after it. */
  goesOnBefore: boolean
  goesOnAfter: boolean
}

/** Returns where an item's bar lies. */
export function barExtent({ startsAt, endsAt }: Dates, span: Span): BarExtent {
  const { length } = span.days
  const within = (column: number) => Math.min(length, Math.max(0, column))
  const start = startsAt === null ? -1 : columnOf(startsAt, span)
  const end = endsAt === null ? length + 1 : columnOf(endsAt, span)
  return { left: within(start), right: within(end), goesOnBefore: start < 0, goesOnAfter: end > length }
}
