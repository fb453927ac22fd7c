/**
 * The trash: deleted records in full, with the act that deleted them, until they expire. A file that a deleted record names is no longer
 * served, but its bytes stay as long as the record. A server of the previous version still removes the files of its own deletions at once.
 */
import { type Kysely, sql } from 'kysely'

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db)
}

const statements = [
  `create table trash (
     id text primary key,
     act_id text not null,
     kind text not null constraint trash_kind_check check (kind in ('socialTask', 'dailyTask', 'announcement', 'user')),
     record_id text not null,
     name text not null,
     content jsonb not null,
     deleted_by_id text,
     deleted_by text,
     deleted_at timestamptz not null default now(),
     expires_at timestamptz not null)`,
  `create index trash_order on trash (deleted_at desc, id)`,
  `create index trash_act on trash (act_id)`,
  `create index trash_expiry on trash (expires_at)`,
  `alter table file_removals add column is_withdrawn boolean not null default false`,
]
