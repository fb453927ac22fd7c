/** Numbers and times of broadcasts in words. */
import type { Broadcast, BroadcastPlan } from '@arcade/contract/broadcasts/calls'
import { counted } from '#src/ui/numbers.ts'

/** Returns how many players a planned broadcast reaches. Chance decides who is held back, so with a control group it is about that number. */
export function recipientsText({ recipients, isApproximate, held }: BroadcastPlan): string {
  return `${isApproximate || held > 0 ? 'about ' : ''}${counted(recipients, 'player')}`
}

/** Whether nothing more happens to the broadcast by itself. */
export function isOver({ state }: Pick<Broadcast, 'state'>): boolean {
  return state === 'done' || state === 'cancelled'
}

const SOON_MS = 60_000 // a scheduled broadcast is looked at more often from a minute before it begins

/** Whether the broadcast changes within seconds: it is being sent, or is about to be. */
export function isMoving({ state, sendAt, madeAt }: Pick<Broadcast, 'state' | 'sendAt' | 'madeAt'>): boolean {
  if (state === 'scheduled') return Date.parse(sendAt ?? madeAt) < Date.now() + SOON_MS
  return state === 'sending' || state === 'waiting'
}

/** How many of the recipients have an outcome, those of the control group not counted. */
export function outcomesOf({ total, pending, held }: Broadcast): { settled: number; of: number } {
  return { settled: total - pending - held, of: total - held }
}

/** Returns a share of at most one as `12.5 %`, with at most one decimal. */
export function percentText(share: number): string {
  return `${decimal.format(share * 100)} %`
}

/** Returns a difference of two shares in percentage points: `+0.9`. */
export function pointsText(difference: number): string {
  return signed.format(difference * 100)
}

/** Returns a share of the smallest difference: at least two significant digits, because it is often below one point. */
export function smallText(difference: number): string {
  return `${small.format(difference * 100)} percentage points`
}

const decimal = new Intl.NumberFormat('en-US', { maximumFractionDigits: 1 })
const signed = new Intl.NumberFormat('en-US', { maximumFractionDigits: 1, minimumFractionDigits: 1, signDisplay: 'exceptZero' })
const small = new Intl.NumberFormat('en-US', { maximumSignificantDigits: 2 })

const HOUR_MINUTES = 60
const DAY_MINUTES = 24 * HOUR_MINUTES

/** Returns `less than a minute`, `9 minutes`, `2 h 5 min` or `3 days 4 h`. */
export function durationText(exactMinutes: number): string {
  if (exactMinutes < 1) return 'less than a minute'
  const minutes = Math.round(exactMinutes)
  if (minutes < HOUR_MINUTES) return counted(minutes, 'minute')
  const [days, hours] = [Math.floor(minutes / DAY_MINUTES), Math.floor((minutes % DAY_MINUTES) / HOUR_MINUTES)]
  const parts =
    days > 0 ? [counted(days, 'day'), inUnit(hours, 'h')] : [inUnit(hours, 'h'), inUnit(minutes % HOUR_MINUTES, 'min')]
  return parts.filter(Boolean).join(' ')
}

/** Returns nothing for 0. */
function inUnit(value: number, unit: string): string {
  return value > 0 ? `${value} ${unit}` : ''
}

/** Returns how long it was between two times, in words. */
export function spanText(from: string, to: string): string {
  return durationText((Date.parse(to) - Date.parse(from)) / MINUTE_MS)
}

const MINUTE_MS = 60_000

/** Whether a time is on the present day. */
export function isToday(iso: string): boolean {
  return new Date(iso).toDateString() === new Date().toDateString()
}
