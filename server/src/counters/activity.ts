/**
 * Counts players and participations as they are written (design §4): totals, and activity by hour, day and month. Code that writes players
 * or participations calls this module. Hours are kept for two days only: no chart shows older hours, and years of them would take more room
 * than the rows that they count.
 */
import { type Kysely, sql } from 'kysely'
import { activityOfNameSql, type Bucket, buckets, hourNamesBefore, type Item, itemOfNameSql } from './counter-keys.ts'
import { addDelta, type CounterRangeSql, type Deltas, isWithinSql } from './counters.ts'
import type { Database } from '#src/db/database.ts'
import { databaseNow } from '#src/db/moments.ts'
import type { Tables } from '#src/db/tables.ts'

/** Hours that are kept: twice as many as any chart shows, so that an hour is complete for as long as it is shown. */
const HOURS_KEPT = 48
const HOUR_MS = 3_600_000

/** Counter deltas of activity, and the time at which they are collected. `addToCounters` writes them. */
export interface ActivityDeltas {
  deltas: Deltas
  now: Date
}

export async function beginActivity(tx: Kysely<Tables>): Promise<ActivityDeltas> {
  return { deltas: new Map(), now: await databaseNow(tx) }
}

/** @param joinedAt when the player joined; without it only the total counts the player @param by the change of the number of players */
export function countPlayers(activity: ActivityDeltas, joinedAt: Date | null, by: number): void {
  addDelta(activity.deltas, { of: 'players' }, by)
  countJoined(activity, joinedAt, by)
}

/** Moves a player to another time of joining. */
export function movePlayer(activity: ActivityDeltas, before: Date | null, after: Date | null): void {
  if (before?.getTime() === after?.getTime()) return
  countJoined(activity, before, -1)
  countJoined(activity, after, 1)
}

/** @param by the change of the number of participations in the item at that time */
export function countParticipations(activity: ActivityDeltas, item: Item, at: Date, by: number): void {
  addDelta(activity.deltas, { of: 'participants', ...item }, by)
  countTaking(activity, item, at, by)
}

/** Moves a participation to another time. */
export function moveParticipation(activity: ActivityDeltas, item: Item, before: Date, after: Date): void {
  if (before.getTime() === after.getTime()) return
  countTaking(activity, item, before, -1)
  countTaking(activity, item, after, 1)
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

/** Deletes hours that no chart shows any more. */
export async function forgetHours({ db }: Pick<Database, 'db'>): Promise<void> {
  const before = new Date((await databaseNow(db)).getTime() - 2 * HOURS_KEPT * HOUR_MS)
  for (const [from, to] of hourNamesBefore(before))
    await sql`delete from counters where name >= ${from} and name < ${to}`.execute(db)
}

function countJoined({ deltas, now }: ActivityDeltas, at: Date | null, by: number): void {
  if (at === null) return
  for (const bucket of bucketsFor(at, now)) addDelta(deltas, { of: 'activity', bucket, at, series: 'players' }, by)
}

function countTaking({ deltas, now }: ActivityDeltas, item: Item, at: Date, by: number): void {
  for (const bucket of bucketsFor(at, now)) {
    addDelta(deltas, { of: 'activity', bucket, at, series: item.kind }, by)
    if (bucket !== 'month') addDelta(deltas, { of: 'itemActivity', bucket, at, ...item }, by)
  }
}

function bucketsFor(at: Date, now: Date): readonly Bucket[] {
  return at.getTime() < now.getTime() - HOURS_KEPT * HOUR_MS ? ['day', 'month'] : buckets
}
