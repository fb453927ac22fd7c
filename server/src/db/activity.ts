/**
 * When players joined and when they took part, counted as it happens (design §4): counters by hour, day and month in UTC, named so that
 * a range of time is a range of names. Hides those names. An hour is counted for two days only: nobody looks back further by the hour,
 * and years of them would outgrow what they count.
 */
import { sql } from 'kysely'
import type { Database } from './database.ts'
import type { HistoryKind } from './tables.ts'

/** Changes of counters by name, for `addToCounters`. */
export type Deltas = Map<string, number>

export interface Participation {
  kind: HistoryKind
  itemId: string
  at: Date
}

export const buckets = ['hour', 'day', 'month'] as const
export type Bucket = (typeof buckets)[number]

/** The length of `2026-11-21T08` in an ISO text, and so on; with the letter in a counter's name. */
const shapes: Record<Bucket, { letter: string; length: number }> = {
  hour: { letter: 'h', length: 13 },
  day: { letter: 'd', length: 10 },
  month: { letter: 'm', length: 7 },
}
/** Twice what is ever read, for clocks that differ. */
const HOURS_KEPT = 48
const HOUR_MS = 3_600_000

/** @param at a player without one is in no bucket. @param by -1 for what is no longer so */
export function countJoined(deltas: Deltas, at: Date | null, by: number): void {
  if (at !== null) for (const bucket of bucketsOf(at)) add(deltas, activityName(bucket, at, 'players'), by)
}

export function countTaken(deltas: Deltas, { kind, itemId, at }: Participation, by: number): void {
  for (const bucket of bucketsOf(at)) {
    add(deltas, activityName(bucket, at, kind), by)
    if (bucket !== 'month') add(deltas, `${takenPrefix(bucket, at)}${kind}:${itemId}`, by)
  }
}

/** A moment that moved from one time to another. */
export function hasMoved(before: Date | null, after: Date | null): boolean {
  return before?.getTime() !== after?.getTime()
}

/** Names from the first up to the second hold all activity from `from` up to `to`; a rest after the prefix is the series. */
export function activityNames(bucket: Bucket, from: Date, to: Date): [from: string, to: string] {
  return [activityName(bucket, from, ''), activityName(bucket, to, '')]
}

/** What a name of `activityNames` counts: when, as the beginning of an ISO text, and whom. */
export function readActivityName(name: string): { at: string; series: 'players' | HistoryKind } {
  const [, at = '', series = ''] = /^activity@.:(.+):(\w+)$/.exec(name) ?? []
  return { at, series: series as 'players' | HistoryKind }
}

/** The same for participations item by item; from `itemAt` on (counted from 1) such a name is `kind:id`. */
export function takenNames(bucket: 'hour' | 'day', from: Date, to: Date): { from: string; to: string; itemAt: number } {
  const first = takenPrefix(bucket, from)
  return { from: first, to: takenPrefix(bucket, to), itemAt: first.length + 1 }
}

/** The participants of every item, of all times. */
export const allTakenNames = { from: 'participants:', to: 'participants;', itemAt: 'participants:'.length + 1 }

/** The beginning of an ISO text that names the bucket of a moment. */
export function bucketOf(bucket: Bucket, at: Date): string {
  return at.toISOString().slice(0, shapes[bucket].length)
}

/** Deletes hours that nobody reads any more. */
export async function forgetHours({ db }: Pick<Database, 'db'>): Promise<void> {
  const before = new Date(Date.now() - 2 * HOURS_KEPT * HOUR_MS)
  for (const [from, to] of [
    ['activity@h:', activityName('hour', before, '')],
    ['taken@h:', takenPrefix('hour', before)],
  ])
    await sql`delete from counters where name >= ${from} and name < ${to}`.execute(db)
}

function bucketsOf(at: Date): readonly Bucket[] {
  return at.getTime() < Date.now() - HOURS_KEPT * HOUR_MS ? ['day', 'month'] : buckets
}

function activityName(bucket: Bucket, at: Date, series: string): string {
  return `activity@${shapes[bucket].letter}:${bucketOf(bucket, at)}:${series}`
}

function takenPrefix(bucket: 'hour' | 'day', at: Date): string {
  return `taken@${shapes[bucket].letter}:${bucketOf(bucket, at)}:`
}

function add(deltas: Deltas, name: string, by: number): void {
  deltas.set(name, (deltas.get(name) ?? 0) + by)
}
