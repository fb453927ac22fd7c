/**
 * When each admin looked at the dashboard, and counters of claims by hour and day, filled once from the ledger. A server of the previous
 * version keeps working; the few claims whose counters it folds from now on are missing from the new ones until `arcade check --repair`
 * recounts them.
 */
import { type Kysely, sql } from 'kysely'

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of tables) await sql.raw(statement).execute(db)
  const { rows } = await sql.raw<{ name: string; value: string }>(CLAIMS).execute(db)
  await sql`insert into counters (name, value)
    select * from unnest(${rows.map(({ name }) => name)}::text[], ${rows.map(({ value }) => value)}::numeric[])`.execute(db)
}

const tables = [
  `create table dashboard_looks (
     user_id text primary key constraint dashboard_looks_user_id_fkey references users on delete cascade,
     seen_at timestamptz not null default now(),
     looked_at timestamptz)`,
  `comment on table dashboard_looks is 'When an admin looked at the dashboard. A visit ends after half an hour without a look.'`,
  `comment on column dashboard_looks.seen_at is 'The last look, of the present or the last visit.'`,
  `comment on column dashboard_looks.looked_at is 'The last look of the visit before that one; null before the second visit.'`,
]

/** Without the claims that uncounted_entries counts: folding them adds to the new counters. */
const CLAIMS = `
  with claims as materialized (
    select date_trunc('hour', entry.at at time zone 'UTC') as hour, count(*) as claims
      from ledger_entries entry left join uncounted_entries uncounted on uncounted.user_id = entry.user_id and uncounted.seq = entry.seq
     where entry.cause = 'claim' and uncounted.user_id is null group by 1)
  select 'activity@h:' || to_char(hour, 'YYYY-MM-DD"T"HH24') || ':claims' as name, claims::text as value
    from claims where hour >= now() at time zone 'UTC' - interval '48 hours'
  union all
  select 'activity@d:' || to_char(hour, 'YYYY-MM-DD') || ':claims', sum(claims)::text from claims group by 1`
