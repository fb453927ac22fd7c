/**
 * Saved views of lists, and which of them a person sees first. A view belongs to the user who made it: a private view is removed with that
 * user, a shared one stays.
 */
import { type Kysely, sql } from 'kysely'

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db)
}

const statements = [
  `create table saved_views (
     id text primary key,
     list text not null,
     name text not null,
     address text not null,
     owner_id text references users (id) on delete set null,
     private_to text references users (id) on delete cascade,
     created_at timestamptz not null default now(),
     version integer not null default 1)`,
  `create unique index saved_views_name_key on saved_views (owner_id, list, lower(name))`,
  `create index saved_views_private_to on saved_views (private_to)`,
  `create table default_views (
     user_id text not null references users (id) on delete cascade,
     list text not null,
     view_id text not null references saved_views (id) on delete cascade,
     primary key (user_id, list))`,
  `create index default_views_view_id on default_views (view_id)`,
]
