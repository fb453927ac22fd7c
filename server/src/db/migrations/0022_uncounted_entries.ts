/**
 * One row for everything that a ledger entry adds to counters. New counters of the points that claims paid, which may be fractions, and of
 * balances, filled once from the existing rows. A server of the previous version keeps working; the few entries that it writes from now on
 * are missing from these new counters until `arcade check --repair` recounts them.
 */
import { type Kysely, sql } from 'kysely'

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of tables) await sql.raw(statement).execute(db)
  const { rows: extensions } = await sql`select from pg_extension where extname = 'citus'`.execute(db)
  if (extensions.length > 0) {
    const { rows } = await sql`select from pg_dist_partition where logicalrelid = 'telegram_users'::regclass`.execute(db)
    if (rows.length > 0)
      await sql`select create_distributed_table('uncounted_entries', 'user_id', colocate_with => 'telegram_users')`.execute(db)
  }
  for (const statement of counts) {
    const { rows } = await sql.raw<{ name: string; value: string }>(statement).execute(db)
    await sql`insert into counters (name, value)
      select * from unnest(${rows.map(({ name }) => name)}::text[], ${rows.map(({ value }) => value)}::numeric[])`.execute(db)
  }
}

const tables = [
  `alter table counters alter column value type numeric`,
  `alter table counter_deltas alter column delta type numeric`,
  `create table uncounted_entries (
     user_id bigint not null,
     seq bigint not null,
     at timestamptz not null,
     amount numeric not null,
     balance numeric not null,
     kind text,
     item_id text,
     primary key (user_id, seq))`,
]

const WHOLE = `trunc(balance)::text`
const bucket = (at: string, format: string): string => `to_char(${at} at time zone 'UTC', '${format}')`
const HOUR = 'YYYY-MM-DD"T"HH24'
const DAY = 'YYYY-MM-DD'
const MONTH = 'YYYY-MM'
const ITEM = `kind || ':' || item_id`
const RECENT = `at >= now() - interval '48 hours'`

const paid = (name: string, condition = 'true'): string =>
  `select ${name} as name, sum(amount)::text as value from ledger_entries where cause = 'claim' and ${condition} group by 1 having sum(amount) <> 0`

const counts = [
  `select 'balances:' || case when balance < 0 then '-' else lpad(length(${WHOLE})::text, 2, '0') || left(${WHOLE}, 2) end as name,
     count(*)::text as value from balances group by 1`,
  paid(`'paid:' || ${ITEM}`),
  paid(`'activity@h:' || ${bucket('at', HOUR)} || ':paid'`, RECENT),
  paid(`'activity@d:' || ${bucket('at', DAY)} || ':paid'`),
  paid(`'activity@m:' || ${bucket('at', MONTH)} || ':paid'`),
  paid(`'paid@h:' || ${bucket('at', HOUR)} || ':' || ${ITEM}`, RECENT),
  paid(`'paid@d:' || ${bucket('at', DAY)} || ':' || ${ITEM}`),
]
