/**
 * Activity over time: sums of counters that are kept as things happen (counters/activity.ts). The cost of a range depends on its number of
 * buckets, not on the number of players. One statement reads everything.
 */
import type { Activity } from '@arcade/contract/dashboard/calls'
import { type ActivityRange, MAX_PAID_ITEMS, RANKS_SHOWN } from '@arcade/contract/dashboard/fields'
import { activitySql, sumsOfItemsSql } from '#src/counters/activity.ts'
import {
  activityNames,
  type ActivitySeries,
  allPaidNames,
  allParticipantsNames,
  type TimeUnit,
  bucketText,
  itemActivityNames,
  itemPaidNames,
} from '#src/counters/counter-keys.ts'
import { counterSumsSql } from '#src/counters/counters.ts'
import { idOrderSql } from '#src/db/collations.ts'
import { playerEntity, sourceSql } from '#src/db/entities.ts'
import type { Reads } from '#src/db/reads.ts'
import { IS_BLOCKED } from '#src/ledger/blocks.ts'
import { placeholders } from '#src/ledger/parameters.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
/** Range `all` has a point for each day up to this many days, then for each month up to MONTHS_SHOWN months, then for each year. */
const DAYS_SHOWN = 92
const MONTHS_SHOWN = 36
/** Nothing happened earlier: the game's calls accept times from 1970, an import from 2005. */
const EARLIEST = new Date(0)

interface Row {
  /** `at` is the start of the bucket, as `bucketText` writes it. */
  counted: { at: string; series: ActivitySeries; value: number }[]
  types: Activity['types']
  topPlayers: Activity['topPlayers']
  topItems: Activity['topItems']
  paidItems: Activity['paidItems']
}

type Read = (parameters: unknown[]) => Promise<readonly Row[]>
type Point = Activity['points'][number]

export function prepareActivity(reads: Pick<Reads, 'prepared'>): (range: ActivityRange) => Promise<Activity> {
  const read = reads.prepared<Row>('activity', ACTIVITY)
  const readNow = reads.prepared<{ now: Date }>('now', 'select now() as now')
  return async (range) => {
    const [{ now }] = (await readNow([])) as [{ now: Date }]
    if (range === 'all') return readAll(read, now)
    const bucket = range === '24h' ? 'hour' : 'day'
    const from = range === '24h' ? startOf('hour', now, 23 * HOUR_MS) : startOf('day', now, (range === '7d' ? 6 : 29) * DAY_MS)
    return readFrom(read, { range, bucket, from, now })
  }
}

/** Reads by month, and again by day if the months cover less than DAYS_SHOWN days. */
async function readAll(read: Read, now: Date): Promise<Activity> {
  const span = { range: 'all', now } as const
  const months = await readFrom(read, { ...span, bucket: 'month', from: EARLIEST })
  const [first] = months.points
  if (first && now.getTime() - Date.parse(first.at) < DAYS_SHOWN * DAY_MS)
    return readFrom(read, { ...span, bucket: 'day', from: new Date(first.at) })
  return months.points.length <= MONTHS_SHOWN ? months : { ...months, unit: 'year', points: byYear(months.points) }
}

interface Span {
  range: ActivityRange
  bucket: TimeUnit
  from: Date
  now: Date
}

async function readFrom(read: Read, { range, bucket, from, now }: Span): Promise<Activity> {
  const until = startOfNext(bucket, now)
  const isAll = range === 'all' || bucket === 'month'
  const items = isAll ? allParticipantsNames : itemActivityNames(bucket, from, until)
  const paid = isAll ? allPaidNames : itemPaidNames(bucket, from, until)
  const itemsThisWeek = itemActivityNames('day', startOf('day', now, 6 * DAY_MS), startOfNext('day', now))
  const before = range === 'all' ? from : new Date(2 * from.getTime() - until.getTime())
  const [row] = await read([...activityNames(bucket, before, until), ...items, ...itemsThisWeek, ...paid])
  const { counted, ...others } = row!
  const begin = isAll ? firstOf(counted, until) : from
  const points = toPoints(counted, { bucket, from: begin, until })
  const previous = range === 'all' ? [] : toPoints(counted, { bucket, from: before, until: from })
  return { range, unit: bucket, points, previous, ...others }
}

/** Returns the start of the first bucket in which something happened, or `until` if nothing did. */
function firstOf(counted: Row['counted'], until: Date): Date {
  return counted.reduce((first, { at, value }) => (value !== 0 && new Date(at) < first ? new Date(at) : first), until)
}

function toPoints(counted: Row['counted'], { bucket, from, until }: { bucket: TimeUnit; from: Date; until: Date }): Point[] {
  const points = new Map<string, Point>()
  for (let at = from; at < until; at = startOfNext(bucket, at))
    points.set(bucketText(bucket, at), { at: at.toISOString(), players: 0, social: 0, daily: 0, announcement: 0, paid: 0 })
  for (const { at, series, value } of counted) {
    const point = points.get(at)
    if (point && series !== 'claims') point[series] = value
  }
  return [...points.values()]
}

function byYear(months: Point[]): Point[] {
  const years = Map.groupBy(months, ({ at }) => at.slice(0, 4))
  return [...years].map(([year, points]) => {
    const sum = (series: Exclude<keyof Point, 'at'>) => points.reduce((total, point) => total + point[series], 0)
    const at = `${year}-01-01T00:00:00.000Z`
    return {
      at,
      players: sum('players'),
      social: sum('social'),
      daily: sum('daily'),
      announcement: sum('announcement'),
      paid: sum('paid'),
    }
  })
}

/** Returns the start of the hour or day that `msAgo` milliseconds before `now` falls in. */
function startOf(bucket: 'hour' | 'day', now: Date, msAgo: number): Date {
  const length = bucket === 'hour' ? HOUR_MS : DAY_MS
  return new Date(Math.floor((now.getTime() - msAgo) / length) * length)
}

/** Returns the start of the bucket after the one that `at` falls in. */
function startOfNext(bucket: TimeUnit, at: Date): Date {
  if (bucket === 'month') return new Date(Date.UTC(at.getUTCFullYear(), at.getUTCMonth() + 1))
  return new Date(startOf(bucket, at, 0).getTime() + (bucket === 'hour' ? HOUR_MS : DAY_MS))
}

/** The parameters of ACTIVITY, in the order in which `readFrom` passes them: where each of four ranges of counters begins and ends. */
const params = placeholders(
  'activityFrom',
  'activityTo',
  'itemsFrom',
  'itemsTo',
  'thisWeekFrom',
  'thisWeekTo',
  'paidFrom',
  'paidTo',
)
const ACTIVITY_RANGE = [params.activityFrom, params.activityTo] as const
const ITEMS_RANGE = [params.itemsFrom, params.itemsTo] as const
const ITEMS_THIS_WEEK = [params.thisWeekFrom, params.thisWeekTo] as const
/** Points that were paid for claims of items. */
const PAID_RANGE = [params.paidFrom, params.paidTo] as const

const ACTIVITY = `with sums as materialized ${counterSumsSql(ACTIVITY_RANGE, ITEMS_RANGE, ITEMS_THIS_WEEK, PAID_RANGE)}
select
  (select coalesce(json_agg(activity), '[]') from ${activitySql('sums', ACTIVITY_RANGE)} as activity) as counted,
  (select coalesce(json_agg(typed order by participations desc, ${idOrderSql('kind')}, ${idOrderSql('type')}), '[]') from (
    select h.kind, h.type, sum(item.value) as participations from ${sumsOfItemsSql('sums', ITEMS_RANGE)} as item
    join history_items h on h.kind = item.kind and h.item_id = item.item_id
    group by h.kind, h.type having sum(item.value) > 0) as typed) as types,
  (select coalesce(json_agg(ranked), '[]') from (
    select user_id as "userId", first_name as "firstName", last_name as "lastName", username, balance, ${IS_BLOCKED} as "isBlocked"
    from ${sourceSql(playerEntity, 'balance')} order by balance desc, user_id limit ${RANKS_SHOWN}) as ranked) as "topPlayers",
  (select coalesce(json_agg(ranked), '[]') from (
    select h.kind, h.item_id as id, h.title, item.value as participations from ${sumsOfItemsSql('sums', ITEMS_THIS_WEEK)} as item
    join history_items h on h.kind = item.kind and h.item_id = item.item_id where item.value > 0
    order by item.value desc, ${idOrderSql('h.kind')}, ${idOrderSql('h.item_id')} limit ${RANKS_SHOWN}) as ranked) as "topItems",
  (select coalesce(json_agg(ranked), '[]') from (
    select h.kind, h.item_id as id, h.title, item.value as paid from ${sumsOfItemsSql('sums', PAID_RANGE)} as item
    join history_items h on h.kind = item.kind and h.item_id = item.item_id where item.value > 0
    order by item.value desc, ${idOrderSql('h.kind')}, ${idOrderSql('h.item_id')} limit ${MAX_PAID_ITEMS}) as ranked) as "paidItems"`
