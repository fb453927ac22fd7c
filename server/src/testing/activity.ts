/** Players who join and take part, and what the counters of activity (db/activity.ts) must be: the same names, counted the slow way. */
import { type Kysely, sql } from 'kysely'
import { countJoined, countTaken, type Deltas, type Participation } from '#src/db/activity.ts'
import { addToCounters } from '#src/db/counters.ts'
import type { Database } from '#src/db/database.ts'
import type { Tables } from '#src/db/tables.ts'

/** Hours are right for the last 24 only, so others are left out. */
export async function countedActivity(db: Kysely<Tables>): Promise<Record<string, number>> {
  const { rows } = await sql<{ name: string; value: number }>`
    with happened (at, series, item) as (
      select created_at, 'players', null from telegram_users where created_at is not null
      union all select at, kind, kind || ':' || item_id from participations
    ), shaped (letter, format) as (values ('h', 'YYYY-MM-DD"T"HH24'), ('d', 'YYYY-MM-DD'), ('m', 'YYYY-MM'))
    select 'activity@' || letter || ':' || to_char(at at time zone 'UTC', format) || ':' || series as name, count(*) as value
    from happened, shaped where letter <> 'h' or at >= date_trunc('hour', now() - interval '24 hours') group by 1
    union all
    select 'taken@' || letter || ':' || to_char(at at time zone 'UTC', format) || ':' || item, count(*)
    from happened, shaped where item is not null and letter <> 'm' and (letter <> 'h' or at >= date_trunc('hour', now() - interval '24 hours')) group by 1`.execute(
    db,
  )
  return Object.fromEntries(rows.map(({ name, value }) => [name, value]))
}

/** The counters of activity as they are; the same hours as above. */
export async function activityCounters(db: Kysely<Tables>): Promise<Record<string, number>> {
  const { rows } = await sql<{ name: string; value: number }>`
    select name, sum(value)::bigint as value from (select name, value from counters union all select name, delta from counter_deltas) as parts
    where (name like 'activity@%' or name like 'taken@%')
      and (name not like '%@h:%' or name >= split_part(name, '@', 1) || '@h:' || to_char((now() - interval '24 hours') at time zone 'UTC', 'YYYY-MM-DD"T"HH24'))
    group by name having sum(value) <> 0`.execute(db)
  return Object.fromEntries(rows.map(({ name, value }) => [name, value]))
}

/** Counts, without rows, so many players who join at a moment and take part in one thing at once. */
export async function addActivity(database: Database, players: number, participation: Participation): Promise<void> {
  await database.transaction(async (tx) => {
    const deltas: Deltas = new Map([['telegramUsers', players]])
    countJoined(deltas, participation.at, players)
    countTaken(deltas, participation, players)
    await addToCounters(tx, deltas)
  })
}
