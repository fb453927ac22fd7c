/** Players who join and take part, and what the counters of activity (db/activity.ts) must be: the same names, counted the slow way. */
import { type Kysely, sql } from 'kysely'
import { beginActivity, countParticipations, countPlayers } from '#src/db/activity.ts'
import {
  activityNames,
  type ActivitySeries,
  type Bucket,
  type CounterKey,
  counterName,
  type Item,
  itemActivityNames,
} from '#src/db/counter-keys.ts'
import { addToCounter, addToCounters, counterPartsSql } from '#src/db/counters.ts'
import type { Database } from '#src/db/database.ts'
import type { Tables } from '#src/db/tables.ts'

const HOUR_MS = 3_600_000

/** The counters of activity as they must be. Hours are right for the last 24 only, so others are left out. */
export async function countedActivity(db: Kysely<Tables>): Promise<Record<string, number>> {
  const { rows } = await sql<{ bucket: Bucket; at: Date; series: ActivitySeries; itemId: string | null; value: number }>`
    with happened (at, series, item_id) as (
      select created_at, 'players', null from telegram_users where created_at is not null
      union all select at, kind, null from participations
      union all select at, kind, item_id from participations
    ), buckets (bucket) as (values ('hour'), ('day'), ('month'))
    select bucket, date_trunc(bucket, at at time zone 'UTC') at time zone 'UTC' as at, series, item_id as "itemId", count(*) as value
    from happened, buckets where (bucket <> 'hour' or at >= ${firstHour()}) and (item_id is null or bucket <> 'month')
    group by 1, 2, 3, 4`.execute(db)
  return Object.fromEntries(
    rows.map(({ bucket, at, series, itemId, value }) => {
      const isOfItem = itemId !== null && bucket !== 'month' && series !== 'players'
      const key: CounterKey = isOfItem
        ? { of: 'itemActivity', bucket, at, kind: series, itemId }
        : { of: 'activity', bucket, at, series }
      return [counterName(key), value]
    }),
  )
}

/** The counters of activity as they are; the same hours as above. */
export async function activityCounters(db: Kysely<Tables>): Promise<Record<string, number>> {
  const [first, last] = [new Date('1970-01-01'), new Date('2999-12-31')]
  const ranges = [
    activityNames('hour', firstHour(), last),
    activityNames('day', first, last),
    activityNames('month', first, last),
    itemActivityNames('hour', firstHour(), last),
    itemActivityNames('day', first, last),
  ]
  const counted: Record<string, number> = {}
  for (const [from, to] of ranges) {
    const parts = sql.raw(counterPartsSql(`'${from}'`, `'${to}'`))
    const { rows } = await sql<{ name: string; value: number }>`
      select name, sum(value)::bigint as value from ${parts} as parts group by name having sum(value) <> 0`.execute(db)
    for (const { name, value } of rows) counted[name] = value
  }
  return counted
}

/** Counts, without rows, so many players who join at a moment and take part in one thing at once. */
export async function addActivity(database: Database, players: number, { at, ...item }: Item & { at: Date }): Promise<void> {
  await database.transaction(async (tx) => {
    const activity = await beginActivity(tx)
    countPlayers(activity, at, players)
    countParticipations(activity, item, at, players)
    await addToCounters(tx, activity.deltas)
  })
}

/** Adds to a counter without the rows that it counts. */
export async function addCount(database: Database, counter: CounterKey, delta: number): Promise<void> {
  await database.transaction((tx) => addToCounter(tx, { counter, delta }))
}

function firstHour(): Date {
  return new Date(Math.floor(Date.now() / HOUR_MS - 24) * HOUR_MS)
}
