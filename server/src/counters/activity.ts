/**
 * Counts players and participations as they are written (design §4): totals, and activity by hour, day and month. Code that writes players
 * or participations calls this module. Hours are kept for four days only: no chart shows older hours, and years of them would take more room
 * than the rows that they count.
 */
import { type Kysely, sql } from 'kysely'
import { activityOfNameSql, type CountedItem, hourNamesBefore, itemOfNameSql, type TimeUnit, timeUnits } from './counter-keys.ts'
import { addDelta, type CounterRangeSql, type Deltas, isWithinSql } from './counters.ts'
import type { Database } from '#src/db/database.ts'
import { databaseNow } from '#src/db/moments.ts'
import type { Tables } from '#src/db/tables.ts'

/** The age up to which activity is also counted by hour: twice what any chart shows, so that an hour is complete for as long as it is shown. */
const COUNTED_HOURS = 48
const HOUR_MS = 3_600_000

/** Counter deltas of activity, and the time at which they are collected. `addToCounters` writes them. */
export interface ActivityDeltas {
  deltas: Deltas
  now: Date
}

export async function beginActivity(tx: Kysely<Tables>): Promise<ActivityDeltas> {
  return { deltas: new Map(), now: await databaseNow(tx) }
}

/** @param joinedAt when the player joined; without it only the total counts the player @param delta the change of the number of players */
export function addPlayerCount(activity: ActivityDeltas, joinedAt: Date | null, delta: number): void {
  addDelta(activity.deltas, { of: 'players' }, delta)
  addJoinActivity(activity, joinedAt, delta)
}

/** Counts a player at another time of joining. */
export function changeJoinTime(activity: ActivityDeltas, before: Date | null, after: Date | null): void {
  if (before?.getTime() === after?.getTime()) return
  addJoinActivity(activity, before, -1)
  addJoinActivity(activity, after, 1)
}

/** @param delta the change of the number of participations in the item at that time */
export function addParticipationCount(activity: ActivityDeltas, item: CountedItem, at: Date, delta: number): void {
  addDelta(activity.deltas, { of: 'participants', ...item }, delta)
  addParticipationActivity(activity, item, at, delta)
}

/** Counts a participation at another time. */
export function changeParticipationTime(activity: ActivityDeltas, item: CountedItem, before: Date, after: Date): void {
  if (before.getTime() === after.getTime()) return
  addParticipationActivity(activity, item, before, -1)
  addParticipationActivity(activity, item, after, 1)
}

/** Returns SQL for the activity in `sums` of the counters of `activityNames`: rows of `at`, in the format of `bucketText`, `series` and `value`. */
export function activitySql(sums: string, range: CounterRangeSql): string {
  return `(select ${activityOfNameSql.at} as at, ${activityOfNameSql.series} as series, value
    from ${sums} where ${isWithinSql(range)})`
}

/** Returns SQL for the counts of items in `sums` of a range of their counters: rows of `kind`, `item_id` and `value`. */
export function sumsOfItemsSql(sums: string, range: CounterRangeSql): string {
  const { kind, itemId } = itemOfNameSql(range[0])
  return `(select ${kind} as kind, ${itemId} as item_id, sum(value) as value
    from ${sums} where ${isWithinSql(range)} group by 1, 2)`
}

/** Deletes hours that are twice as old as the last one that activity is added to. */
export async function sweepHours({ db }: Pick<Database, 'db'>): Promise<void> {
  const before = new Date((await databaseNow(db)).getTime() - 2 * COUNTED_HOURS * HOUR_MS)
  for (const [from, to] of hourNamesBefore(before))
    await sql`delete from counters where name >= ${from} and name < ${to}`.execute(db)
}

function addJoinActivity({ deltas, now }: ActivityDeltas, at: Date | null, delta: number): void {
  if (at === null) return
  for (const bucket of timeUnitsFor(at, now)) addDelta(deltas, { of: 'activity', bucket, at, series: 'players' }, delta)
}

function addParticipationActivity({ deltas, now }: ActivityDeltas, item: CountedItem, at: Date, delta: number): void {
  for (const bucket of timeUnitsFor(at, now)) {
    addDelta(deltas, { of: 'activity', bucket, at, series: item.kind }, delta)
    if (bucket !== 'month') addDelta(deltas, { of: 'itemActivity', bucket, at, ...item }, delta)
  }
}

function timeUnitsFor(at: Date, now: Date): readonly TimeUnit[] {
  return at.getTime() < now.getTime() - COUNTED_HOURS * HOUR_MS ? ['day', 'month'] : timeUnits
}
