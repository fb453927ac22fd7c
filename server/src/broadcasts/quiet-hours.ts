/** Quiet hours, in which no broadcast is sent: from one full hour to another, by the console's time zone. */

/** `from` and `to` are hours from 0 to 23; `zone` is a name such as Europe/Berlin. */
export interface QuietHours {
  from: number
  to: number
  zone: string
}

const MINUTE_MS = 60_000
const DAY_MINUTES = 24 * 60

/** Returns when the quiet hours end that this moment is in; undefined if it is in none. */
export function quietUntil(moment: Date, { from, to, zone }: QuietHours): Date | undefined {
  if (!isQuiet(hourIn(zone, moment), from, to)) return undefined
  // Looks minute by minute, because at a change of the clock an hour can be missing or come twice.
  const first = Math.floor(moment.getTime() / MINUTE_MS) + 1
  for (let minute = first; minute <= first + 2 * DAY_MINUTES; minute += 1) {
    const later = new Date(minute * MINUTE_MS)
    if (!isQuiet(hourIn(zone, later), from, to)) return later
  }
  return undefined
}

function isQuiet(hour: number, from: number, to: number): boolean {
  return from < to ? hour >= from && hour < to : hour >= from || hour < to
}

/** One formatter a zone: making one takes longer than using it. */
const formatters = new Map<string, Intl.DateTimeFormat>()

function hourIn(zone: string, moment: Date): number {
  const formatter =
    formatters.get(zone) ?? new Intl.DateTimeFormat('en-GB', { timeZone: zone, hour: 'numeric', hourCycle: 'h23' })
  formatters.set(zone, formatter)
  return Number(formatter.format(moment))
}
