/** Backups that were made or tried, and whether scheduled work is paused until an operator resumes it, as it is after a restore. */
import { type Kysely, sql } from 'kysely'

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db)
}

const statements = [
  `create table backups (
     id text primary key,
     place text not null,
     is_scheduled boolean not null,
     started_at timestamptz not null default now(),
     finished_at timestamptz,
     verified_at timestamptz,
     removed_at timestamptz,
     rows bigint,
     bytes bigint,
     error text)`,
  `create index backups_order on backups (started_at desc, id)`,
  `create table scheduled_work_pauses (
     id smallint primary key default 1 check (id = 1),
     since timestamptz not null default now(),
     reason text not null)`,
]
