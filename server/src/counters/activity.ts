/**
 * How many players there are and who took part in what, counted as it happens (design §4): the totals, and activity by hour, day and
 * month. Whoever writes players or participations calls it. An hour is counted for two days only: nobody looks back further by the
 * hour, and years of hours would outgrow what they count.
 */
import { type Kysely, sql } from 'kysely'
import { activityOfNameSql, type Bucket, buckets, hourNamesBefore, type Item, itemOfNameSql } from './counter-keys.ts'
import { addDelta, type CounterRangeSql, type Deltas, isWithinSql } from './counters.ts'
import type { Database } from '#src/db/database.ts'
import { databaseNow } from '#src/db/moments.ts'
import type { Tables } from '#src/db/tables.ts'

/** Twice what is ever read, so that an hour is counted from its begin to the end of the last chart that shows it. */
const HOURS_KEPT = 48
const HOUR_MS = 3_600_000

/** Counts of what happens, and what time it is while they are made. They are written with `addToCounters`. */
export interface ActivityDeltas {
  deltas: Deltas
  now: Date
}

export async function beginActivity(tx: Kysely<Tables>): Promise<ActivityDeltas> {
  return { deltas: new Map(), now: await databaseNow(tx) }
}

/** @param joinedAt a player of whom it is not known is in the total alone @param by how many players more, or fewer */
export function countPlayers(activity: ActivityDeltas, joinedAt: Date | null, by: number): void {
  addDelta(activity.deltas, { of: 'players' }, by)
  countJoined(activity, joinedAt, by)
}

/** A player turned out to have joined at another time. */
export function movePlayer(activity: ActivityDeltas, before: Date | null, after: Date | null): void {
  if (before?.getTime() === after?.getTime()) return
  countJoined(activity, before, -1)
  countJoined(activity, after, 1)
}

/** @param by how many participations in the item at that time more, or fewer */
export function countParticipations(activity: ActivityDeltas, item: Item, at: Date, by: number): void {
  addDelta(activity.deltas, { of: 'participants', ...item }, by)
  countTaking(activity, item, at, by)
}

/** A participation turned out to have been at another time. */
export function moveParticipation(activity: ActivityDeltas, item: Item, before: Date, after: Date): void {
  if (before.getTime() === after.getTime()) return
  countTaking(activity, item, before, -1)
  countTaking(activity, item, after, 1)
}

/** Activity of a range that `activityNames` gives, of `sums` of counters: rows of `at`, as `bucketText` writes it, `series` and `value`. */
export function activitySql(sums: string, range: CounterRangeSql): string {
  return `(select ${activityOfNameSql.at} as at, ${activityOfNameSql.series} as series, value
    from ${sums} where ${isWithinSql(range)})`
}

/** What was counted of items in a range of their counters, of `sums` of counters: rows of `kind`, `item_id` and `value`. */
export function sumsOfItemsSql(sums: string, range: CounterRangeSql): string {
  const { kind, itemId } = itemOfNameSql(range[0])
  return `(select ${kind} as kind, ${itemId} as item_id, sum(value) as value
    from ${sums} where ${isWithinSql(range)} group by 1, 2)`
}

/** Deletes hours that nobody reads any more. */
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
