/**
 * When, for whom and how often tasks and announcements can be claimed: a start and an end, a number of participants, points a day, and a
 * segment of players. Items limited in number or points keep what is left in `item_quotas`, in several rows, so that claims do not wait for
 * each other. A server of the previous version keeps working and leaves all of this as it is.
 */
import { type Kysely, sql } from 'kysely'

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const table of ['tasks', 'announcements']) {
    await sql`alter table ${sql.table(table)}
      add column starts_at timestamptz,
      add column ends_at timestamptz,
      add column max_participants integer,
      add column daily_budget numeric,
      add column segment_id text references saved_views (id) on delete restrict,
      add column start_pending boolean not null default false,
      add column end_pending boolean not null default false,
      add column full_at timestamptz,
      add column budget_spent_on date`.execute(db)
    await sql
      .raw(
        `create index ${table}_to_start on ${table} (starts_at) where start_pending;
         create index ${table}_to_end on ${table} (ends_at) where end_pending`,
      )
      .execute(db)
    await comment(db, table, meanings)
  }
  await sql`alter table tasks add column paused boolean not null default false`.execute(db)
  await comment(db, 'tasks', { paused: 'Whether an operator has paused the task: nobody can claim it.' })

  await sql`create table item_quotas (
    kind text not null,
    item_id text not null,
    quota text not null check (quota in ('places', 'points')),
    period text not null default '',
    bucket smallint not null,
    remaining numeric not null,
    primary key (kind, item_id, quota, period, bucket)
  )`.execute(db)
  await sql
    .raw(
      `comment on table item_quotas is 'What is left of the limits of items, each divided among several rows. The first claim of an item with a limit makes its rows.'`,
    )
    .execute(db)
  await comment(db, 'item_quotas', {
    quota: 'What is limited: places are participants, points are what a UTC day may pay.',
    period: 'The UTC day of points; empty for places.',
    remaining: 'The places or points left in this row; the sum of the rows is left in all.',
  })
}

const meanings = {
  starts_at: 'When the item starts; null if no start is set.',
  ends_at: 'When the item ends; null if no end is set.',
  max_participants: 'The most players that can take part; null if there is no limit.',
  daily_budget: 'The most points that the item pays in a UTC day; null if there is no limit.',
  segment_id: 'The view of players for whom the item is; null if it is for everyone.',
  start_pending:
    'Whether the start is still to be carried out. It is cleared then, so that a clock set back starts nothing twice.',
  end_pending: 'Whether the end is still to be carried out.',
  full_at: 'When the last place was taken; null if there are places left or there is no limit.',
  budget_spent_on: 'The UTC day on which the points of the day ran out last.',
}

async function comment(db: Kysely<unknown>, table: string, texts: Readonly<Record<string, string>>): Promise<void> {
  for (const [column, text] of Object.entries(texts))
    await sql.raw(`comment on column ${table}.${column} is '${text}'`).execute(db)
}
