/**
 * Times of day in a time zone, and the moments that they stand for. Where the clock goes forward, times of day are left out; where it goes
 * back, they come twice. Moments are milliseconds since 1970; a local time is the same number read as if the zone were UTC.
 */

const MINUTE_MS = 60_000
const DAY_MS = 24 * 60 * MINUTE_MS

/** The operator's time zone, which is the browser's. */
export function operatorZone(): string {
  return Intl.DateTimeFormat().resolvedOptions().timeZone
}

const formatters = new Map<string, Intl.DateTimeFormat>()

/** Formatters are kept, because making one takes longer than a hundred uses. */
function formatter(zone: string, name: string, options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat {
  const key = `${name} ${zone}`
  let found = formatters.get(key)
  if (!found) formatters.set(key, (found = new Intl.DateTimeFormat('en-US', { ...options, timeZone: zone })))
  return found
}

/** Returns by how many milliseconds the zone's clock is ahead of UTC. */
export function offsetAt(at: number, zone: string): number {
  const parts = formatter(zone, 'parts', {
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  }).formatToParts(at)
  const of = (type: Intl.DateTimeFormatPartTypes) => Number(parts.find((part) => part.type === type)?.value)
  const local = Date.UTC(of('year'), of('month') - 1, of('day'), of('hour'), of('minute'), of('second'))
  return local - Math.floor(at / 1000) * 1000
}

/** Returns the local time of a moment. */
export function toLocal(at: number, zone: string): number {
  return at + offsetAt(at, zone)
}

/** What a local time stands for. */
export type Reading =
  | { comes: 'once'; at: number }
  /** The clock goes back: `at` is the first of the two moments. */
  | { comes: 'twice'; at: number; second: number }
  /** The clock goes forward at the moment `at`, from the local time `before` to the local time `after`. */
  | { comes: 'never'; at: number; before: number; after: number }

/** Returns the moments of a local time. */
export function fromLocal(local: number, zone: string): Reading {
  const offsets = new Set([offsetAt(local - DAY_MS, zone), offsetAt(local + DAY_MS, zone)])
  const moments = [...offsets]
    .map((offset) => local - offset)
    .filter((at) => toLocal(at, zone) === local)
    .toSorted((one, other) => one - other)
  const [at, second] = moments
  if (at === undefined) return leftOut(local, zone)
  return second === undefined ? { comes: 'once', at } : { comes: 'twice', at, second }
}

/** Finds the moment at which the clock leaves out a local time. */
function leftOut(local: number, zone: string): Reading {
  let [early, late] = [local - 2 * DAY_MS, local + 2 * DAY_MS]
  const before = offsetAt(early, zone)
  while (late - early > 1) {
    const middle = Math.floor((early + late) / 2)
    if (offsetAt(middle, zone) === before) early = middle
    else late = middle
  }
  return { comes: 'never', at: late, before: late + before, after: toLocal(late, zone) }
}

/**
 * Returns the moment of a local time. If the clock shows that time twice, it is the first moment. If the clock skips that time, it is the
 * moment at which the clock goes forward.
 */
export function momentOf(local: number, zone: string): number {
  return fromLocal(local, zone).at
}

/** Moves a moment by minutes on the zone's clock: a day later is the same time of day, also after a clock change. */
export function movedBy(at: number, minutes: number, zone: string): number {
  return minutes === 0 ? at : momentOf(toLocal(at, zone) + minutes * MINUTE_MS, zone)
}

/** Returns the value of an `<input type="datetime-local">` for a moment: `2026-11-27T18:00`. */
export function toInputValue(at: number, zone: string): string {
  return new Date(toLocal(at, zone)).toISOString().slice(0, -':00.000Z'.length)
}

/** Returns the local time of the value of an `<input type="datetime-local">`; undefined if it is empty or none. */
export function localOfInput(value: string): number | undefined {
  const local = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d{1,3})?)?$/.test(value) ? Date.parse(`${value}Z`) : Number.NaN
  return Number.isNaN(local) ? undefined : local
}

/** Returns the zone's name with its offset at a moment: `Europe/Berlin (UTC+1)`. */
export function zoneText(at: number, zone: string): string {
  return zone === 'UTC' ? zone : `${zone.replaceAll('_', ' ')} (${offsetText(at, zone)})`
}

/** Returns the zone's offset at a moment: `UTC+5:30`. */
export function offsetText(at: number, zone: string): string {
  const minutes = Math.round(offsetAt(at, zone) / MINUTE_MS)
  if (minutes === 0) return 'UTC'
  const [hours, rest] = [Math.floor(Math.abs(minutes) / 60), Math.abs(minutes) % 60]
  return `UTC${minutes < 0 ? '−' : '+'}${hours}${rest === 0 ? '' : `:${String(rest).padStart(2, '0')}`}`
}

/** Formats a moment as `MM/dd/yyyy hh:mm a` (§3) in a zone. */
export function zonedText(at: number, zone: string): string {
  const day = formatter(zone, 'day', { year: 'numeric', month: '2-digit', day: '2-digit' }).format(at)
  return `${day} ${timeText(at, zone)}`
}

/** Formats the time of day of a moment as `hh:mm a` in a zone. */
export function timeText(at: number, zone: string): string {
  // Intl puts a narrow no-break space before AM and PM.
  return formatter(zone, 'time', { hour: '2-digit', minute: '2-digit', hour12: true }).format(at).replace('\u202F', ' ')
}

/** Formats a moment as `Fri, Nov 27` in a zone. */
export function weekdayText(at: number, zone: string): string {
  return formatter(zone, 'weekday', { weekday: 'short', month: 'short', day: 'numeric' }).format(at)
}

/** Says what is unusual about a local time; undefined for one that comes once. */
export function clockChangeText(local: number, zone: string): string | undefined {
  const reading = fromLocal(local, zone)
  if (reading.comes === 'never')
    return `On this day the clock goes from ${timeText(reading.before, 'UTC')} to ${timeText(reading.after, 'UTC')}, so there is no ${timeText(local, 'UTC')}.`
  if (reading.comes === 'twice') return `On this day the clock goes back, so ${timeText(local, 'UTC')} comes twice.`
  return undefined
}
