/**
 * Counters of when players joined and took part, filled once from the existing rows. From now on names of counters are compared byte by
 * byte, so that a range of names is a range of the index, whatever the database's language.
 */
import { type Kysely, sql } from 'kysely'

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db)
}

const recent = (at: string): string => `${at} >= now() - interval '48 hours'`
const bucket = (at: string, format: string): string => `to_char(${at} at time zone 'UTC', '${format}')`
const HOUR = 'YYYY-MM-DD"T"HH24'
const DAY = 'YYYY-MM-DD'
const MONTH = 'YYYY-MM'

/** Returns SQL for the names and values of counters: one for each bucket, and with `each` one for each bucket and item. */
const fill = (table: string, at: string, what: string, each?: string): string =>
  [
    [`'activity@h:' || ${bucket(at, HOUR)} || ':' || ${what}`, recent(at)],
    [`'activity@d:' || ${bucket(at, DAY)} || ':' || ${what}`, `${at} is not null`],
    [`'activity@m:' || ${bucket(at, MONTH)} || ':' || ${what}`, `${at} is not null`],
    ...(each === undefined
      ? []
      : [
          [`'taken@h:' || ${bucket(at, HOUR)} || ':' || ${each}`, recent(at)],
          [`'taken@d:' || ${bucket(at, DAY)} || ':' || ${each}`, 'true'],
        ]),
  ]
    .map(([name, condition]) => `select ${name} as name, count(*) as value from ${table} where ${condition} group by 1`)
    .join(' union all ')

const statements = [
  `alter table counters alter column name type text collate "C"`,
  `alter table counter_deltas alter column name type text collate "C"`,
  `lock table telegram_users, participations in share mode`,
  `insert into counters (name, value) ${fill('telegram_users', 'created_at', `'players'`)}`,
  `insert into counters (name, value) ${fill('participations', 'at', 'kind', `kind || ':' || item_id`)}`,
]
