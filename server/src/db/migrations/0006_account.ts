/** Sessions get a public id and a device, for the list of a user's own sessions. Links with which a user sets a new password. */
import { type Kysely, sql } from 'kysely'

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db)
}

const statements = [
  `alter table sessions add column id uuid not null default gen_random_uuid(), add column device text not null default ''`,
  `create table password_links (
     user_id text primary key references users (id) on delete cascade,
     token_hash bytea not null constraint password_links_token_hash_key unique,
     expires_at timestamptz not null,
     used_at timestamptz)`,
]
