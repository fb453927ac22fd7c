/** The counters of activity (counters/activity.ts) for tests: read, counted again from the rows, and raised without rows. */
import { type Kysely, sql } from 'kysely'
import type { HistoryKind } from '@arcade/contract/history/fields'
import { beginActivity, addParticipationCount, addPlayerCount } from '#src/counters/activity.ts'
import {
  activityNames,
  type ActivitySeries,
  type TimeUnit,
  type CounterKey,
  counterName,
  type CountedItem,
  itemActivityNames,
  itemPaidNames,
} from '#src/counters/counter-keys.ts'
import { addToCounter, addToCounters, counterSumsSql } from '#src/counters/counters.ts'
import type { Database } from '#src/db/database.ts'
import type { Tables } from '#src/db/tables.ts'

const HOUR_MS = 3_600_000

/** Counts the activity from the rows themselves. Leaves out hours before the last 24, which the counters do not keep exact. */
export async function countedActivity(db: Kysely<Tables>): Promise<Record<string, number>> {
  const { rows } = await sql<CountedRow>`
    with happened (at, series, kind, item_id, value) as (
      select created_at, 'players', null, null, 1 from telegram_users where created_at is not null
      union all select at, kind, null, null, 1 from participations
      union all select at, kind, kind, item_id, 1 from participations
      union all select at, 'paid', null, null, amount from ledger_entries where cause = 'claim'
      union all select at, 'claims', null, null, 1 from ledger_entries where cause = 'claim'
      union all select at, 'paid', kind, item_id, amount from ledger_entries where cause = 'claim'
    ), buckets (bucket) as (values ('hour'), ('day'), ('month'))
    select bucket, date_trunc(bucket, at at time zone 'UTC') at time zone 'UTC' as at, series, kind, item_id as "itemId", sum(value) as value
    from happened, buckets where (bucket <> 'hour' or at >= ${firstHour()}) and (bucket <> 'month' or (item_id is null and series <> 'claims'))
    group by 1, 2, 3, 4, 5 having sum(value) <> 0`.execute(db)
  return Object.fromEntries(rows.map((row) => [counterName(keyOf(row)), row.value]))
}

interface CountedRow {
  bucket: TimeUnit
  at: Date
  series: ActivitySeries
  kind: HistoryKind | null
  itemId: string | null
  value: number
}

function keyOf({ bucket, at, series, kind, itemId }: CountedRow): CounterKey {
  if (kind === null || itemId === null || bucket === 'month') return { of: 'activity', bucket, at, series }
  return { of: series === 'paid' ? 'itemPaid' : 'itemActivity', bucket, at, kind, itemId }
}

/** Reads the stored counters of activity, for the same hours as `countedActivity`. */
export async function activityCounters(db: Kysely<Tables>): Promise<Record<string, number>> {
  const [first, last] = [new Date('1970-01-01'), new Date('2999-12-31')]
  const ranges = [
    activityNames('hour', firstHour(), last),
    activityNames('day', first, last),
    activityNames('month', first, last),
    itemActivityNames('hour', firstHour(), last),
    itemActivityNames('day', first, last),
    itemPaidNames('hour', firstHour(), last),
    itemPaidNames('day', first, last),
  ]
  const counted: Record<string, number> = {}
  for (const [from, to] of ranges) {
    const sums = sql.raw(counterSumsSql([`'${from}'`, `'${to}'`]))
    const { rows } = await sql<{ name: string; value: number }>`select name, value from ${sums} as sums where value <> 0`.execute(
      db,
    )
    for (const { name, value } of rows) counted[name] = value
  }
  return counted
}

/** Raises the counters as if `players` players joined at one time and took part in one item at once. Adds no rows. */
export async function addActivity(
  database: Database,
  players: number,
  { at, ...item }: CountedItem & { at: Date },
): Promise<void> {
  await database.transaction(async (tx) => {
    const activity = await beginActivity(tx)
    addPlayerCount(activity, at, players)
    addParticipationCount(activity, item, at, players)
    await addToCounters(tx, activity.deltas)
  })
}

/** Raises a counter without adding the rows that it counts. */
export async function addCount(database: Database, counter: CounterKey, delta: number): Promise<void> {
  await database.transaction((tx) => addToCounter(tx, { counter, delta }))
}

function firstHour(): Date {
  return new Date(Math.floor(Date.now() / HOUR_MS - 24) * HOUR_MS)
}
