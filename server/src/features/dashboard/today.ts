/**
 * What happened since an admin looked at the dashboard last, with the same span before, from the counters of activity. A visit ends when no
 * look was noted for half an hour. Hours are counted for two days only (counters/activity.ts), so a longer span counts days. For
 * days, the change is that of whole days, because the current one would look like a fall for most of the day.
 */
import { sql } from 'kysely'
import type { Today } from '@arcade/contract/dashboard/calls'
import { activitySql } from '#src/counters/activity.ts'
import { activityNames, bucketText } from '#src/counters/counter-keys.ts'
import { counterSumsSql } from '#src/counters/counters.ts'
import type { Database } from '#src/db/database.ts'

export interface TodaySource {
  read(userId: string): Promise<Today>
  /** Notes that the user looks at the dashboard. */
  look(userId: string): Promise<void>
}

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS
const MIN_HOURS = 24
const MAX_DAYS = 30

type FigureName = 'players' | 'participations' | 'claims' | 'paid'
type Figure = Today[FigureName]

export function createToday({ db, reads }: Pick<Database, 'db' | 'reads'>): TodaySource {
  const readLook = reads.prepared<{ now: Date; lookedAt: Date | null }>('look', LOOK)
  const readFigures = reads.prepared<Figure & { name: FigureName }>('today', FIGURES)
  return {
    async read(userId) {
      const [{ now, lookedAt }] = (await readLook([userId])) as [{ now: Date; lookedAt: Date | null }]
      const { unit, lengthMs, since, until, compared } = spanOf(now, lookedAt)
      const rows = await readFigures([
        ...activityNames(unit, new Date(since.getTime() - compared * lengthMs), new Date(now.getTime() + lengthMs)),
        bucketText(unit, since),
        bucketText(unit, until),
        unit === 'hour' && lookedAt && lookedAt >= since ? bucketText('hour', lookedAt) : null,
      ])
      const figure = (of: FigureName): Figure => {
        const { name: _name, ...found } = rows.find(({ name }) => name === of)!
        return found
      }
      return {
        lookedAt: lookedAt?.toISOString() ?? null,
        since: since.toISOString(),
        unit,
        compared,
        players: figure('players'),
        participations: figure('participations'),
        claims: figure('claims'),
        paid: figure('paid'),
      }
    },
    async look(userId) {
      await sql`insert into dashboard_looks (user_id) values (${userId}) on conflict (user_id) do update
        set looked_at = ${sql.raw(LOOKED_AT)}, seen_at = now()`.execute(db)
    },
  }
}

/** The end of the last visit, also before the first look of this visit is stored. */
const LOOKED_AT = `case when dashboard_looks.seen_at < now() - interval '30 minutes' then dashboard_looks.seen_at else dashboard_looks.looked_at end`

/** Always one row: the current time, and the end of the user's last visit or null. */
const LOOK = `select now() as now, (select ${LOOKED_AT} from dashboard_looks where user_id = $1) as "lookedAt"`

const NAMES = ['$1', '$2'] as const
/** $3 is the first hour or day of the span, $4 the first one after those that are compared, and $5 the hour of the last look or null. */
const FIGURES = `
  with sums as materialized ${counterSumsSql(NAMES)},
  activity as materialized (
    select case when series in ('players', 'claims', 'paid') then series else 'participations' end as name, at, value
      from ${activitySql('sums', NAMES)} as counted)
  select figure.name, coalesce(sum(value) filter (where at >= $3::text), 0) as value,
         coalesce(sum(value) filter (where at >= $3::text and at < $4::text), 0) as whole,
         coalesce(sum(value) filter (where at < $3::text), 0) as before,
         case when $5::text is not null then coalesce(sum(value) filter (where at >= $5::text), 0) end as "sinceLook"
    from unnest(array['players', 'participations', 'claims', 'paid']) as figure (name) left join activity on activity.name = figure.name
   group by figure.name`

interface Span {
  unit: 'hour' | 'day'
  lengthMs: number
  since: Date
  /** Where the comparison ends: after the current hour, or before the current day. */
  until: Date
  /** The hours or days from `since` to `until`. */
  compared: number
}

function spanOf(now: Date, lookedAt: Date | null): Span {
  const isLong = lookedAt !== null && now.getTime() - lookedAt.getTime() > MIN_HOURS * HOUR_MS
  const [unit, lengthMs] = isLong ? (['day', DAY_MS] as const) : (['hour', HOUR_MS] as const)
  const current = floor(now, lengthMs)
  const since = isLong
    ? Math.max(floor(lookedAt, DAY_MS), current - (MAX_DAYS - 1) * DAY_MS)
    : current - (MIN_HOURS - 1) * HOUR_MS
  const until = isLong ? current : current + HOUR_MS
  return { unit, lengthMs, since: new Date(since), until: new Date(until), compared: (until - since) / lengthMs }
}

function floor(at: Date, lengthMs: number): number {
  return Math.floor(at.getTime() / lengthMs) * lengthMs
}
