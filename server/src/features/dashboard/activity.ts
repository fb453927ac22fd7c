/**
 * What happened over time (contract/metrics.ts): sums of counters that were kept as it happened (db/activity.ts), so a range costs as
 * much as it has buckets, however many players there are. One statement, one answer.
 */
import { type Activity, type ActivityRange, RANKS_SHOWN } from '@arcade/contract/dashboard'
import { activityNames, allTakenNames, type Bucket, bucketOf, readActivityName, takenNames } from '#src/db/activity.ts'
import { counterPartsSql } from '#src/db/counters.ts'
import type { Database } from '#src/db/database.ts'

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
/** As far back as `all` goes by the day; then by the month, and beyond MONTHS_SHOWN by the year. */
const DAYS_SHOWN = 92
const MONTHS_SHOWN = 36
/** Before that there was no Telegram: what is older has no bar of its own. */
const FIRST_YEAR = 2013

interface Row {
  buckets: [name: string, value: number][]
  types: Activity['types']
  players: Activity['topPlayers']
  items: Activity['topItems']
}

type Read = (parameters: unknown[]) => Promise<Row[]>
type Point = Activity['points'][number]

export function prepareActivity(database: Pick<Database, 'prepared'>): (range: ActivityRange) => Promise<Activity> {
  const read = database.prepared<Row>('activity', ACTIVITY)
  return async (range) => {
    const now = new Date()
    if (range === 'all') return readAll(read, now)
    const bucket = range === '24h' ? 'hour' : 'day'
    const from = range === '24h' ? start('hour', now, 23 * HOUR_MS) : start('day', now, (range === '7d' ? 6 : 29) * DAY_MS)
    return readFrom(read, { range, bucket, from, now })
  }
}

/** By the month first: where there are only few of them, by the day. */
async function readAll(read: Read, now: Date): Promise<Activity> {
  const span = { range: 'all', now } as const
  const activity = await readFrom(read, { ...span, bucket: 'month', from: new Date(Date.UTC(FIRST_YEAR, 0)) })
  const isEmpty = (point: Point): boolean => point.players + point.social + point.daily + point.announcement === 0
  const first = activity.points.findIndex((point) => !isEmpty(point))
  if (first < 0) return { ...activity, points: [] }
  const points = activity.points.slice(first)
  if (now.getTime() - Date.parse(points[0]!.at) < DAYS_SHOWN * DAY_MS) {
    const days = await readFrom(read, { ...span, bucket: 'day', from: new Date(points[0]!.at) })
    return {
      ...days,
      points: days.points.slice(
        Math.max(
          0,
          days.points.findIndex((point) => !isEmpty(point)),
        ),
      ),
    }
  }
  return points.length <= MONTHS_SHOWN ? { ...activity, points } : { ...activity, unit: 'year', points: byYear(points) }
}

interface Span {
  range: ActivityRange
  bucket: Bucket
  from: Date
  now: Date
}

async function readFrom(read: Read, { range, bucket, from, now }: Span): Promise<Activity> {
  const until = next(bucket, now)
  const taken = range === 'all' || bucket === 'month' ? allTakenNames : takenNames(bucket, from, until)
  const week = takenNames('day', start('day', now, 6 * DAY_MS), next('day', now))
  const [row] = await read([
    ...activityNames(bucket, from, until),
    taken.from,
    taken.to,
    taken.itemAt,
    week.from,
    week.to,
    week.itemAt,
  ])
  const { buckets, types, players, items } = row!
  return { range, unit: bucket, points: pointsOf(buckets, { bucket, from, until }), types, topPlayers: players, topItems: items }
}

function pointsOf(counted: Row['buckets'], { bucket, from, until }: { bucket: Bucket; from: Date; until: Date }): Point[] {
  const points = new Map<string, Point>()
  for (let at = from; at < until; at = next(bucket, at))
    points.set(bucketOf(bucket, at), { at: at.toISOString(), players: 0, social: 0, daily: 0, announcement: 0 })
  for (const [name, value] of counted) {
    const { at, series } = readActivityName(name)
    const point = points.get(at)
    if (point) point[series] = value
  }
  return [...points.values()]
}

function byYear(months: Point[]): Point[] {
  const years = Map.groupBy(months, ({ at }) => at.slice(0, 4))
  return [...years].map(([year, points]) => {
    const sum = (series: 'players' | 'social' | 'daily' | 'announcement') =>
      points.reduce((total, point) => total + point[series], 0)
    const at = `${year}-01-01T00:00:00.000Z`
    return { at, players: sum('players'), social: sum('social'), daily: sum('daily'), announcement: sum('announcement') }
  })
}

/** The beginning of the hour or day so long before `now`. */
function start(bucket: 'hour' | 'day', now: Date, before: number): Date {
  const length = bucket === 'hour' ? HOUR_MS : DAY_MS
  return new Date(Math.floor((now.getTime() - before) / length) * length)
}

/** The beginning of the bucket after that of `at`. */
function next(bucket: Bucket, at: Date): Date {
  if (bucket === 'month') return new Date(Date.UTC(at.getUTCFullYear(), at.getUTCMonth() + 1))
  return new Date(start(bucket, at, 0).getTime() + (bucket === 'hour' ? HOUR_MS : DAY_MS))
}

/** Counters of items, added up by item: what their names hold from `itemAt` on is `kind:id`. */
const perItem = (from: string, to: string, itemAt: string): string =>
  `(select split_part(item, ':', 1) as kind, substr(item, strpos(item, ':') + 1) as item_id, participations
    from (select substr(name, ${itemAt}::int) as item, sum(value)::bigint as participations
      from ${counterPartsSql(from, to)} as parts group by 1) as summed)`

/** $1 to $2: names of activity. $3 to $4: participations by item in the range, $6 to $7 this week; $5 and $8: where the item begins. */
const ACTIVITY = `select
  (select coalesce(json_agg(json_build_array(name, value)), '[]') from (
    select name, sum(value)::bigint as value from ${counterPartsSql('$1', '$2')} as parts group by name) as buckets) as buckets,
  (select coalesce(json_agg(typed order by participations desc, kind, type), '[]') from (
    select h.kind, h.type, sum(taken.participations)::bigint as participations from ${perItem('$3', '$4', '$5')} as taken
    join history_items h on h.kind = taken.kind and h.item_id = taken.item_id
    group by h.kind, h.type having sum(taken.participations) > 0) as typed) as types,
  (select coalesce(json_agg(ranked), '[]') from (
    select user_id as "userId", first_name as "firstName", last_name as "lastName", username, balance
    from telegram_users order by balance desc, user_id limit ${RANKS_SHOWN}) as ranked) as players,
  (select coalesce(json_agg(ranked), '[]') from (
    select h.kind, h.item_id as id, h.title, week.participations from ${perItem('$6', '$7', '$8')} as week
    join history_items h on h.kind = week.kind and h.item_id = week.item_id where week.participations > 0
    order by week.participations desc, h.kind, h.item_id limit ${RANKS_SHOWN}) as ranked) as items`
