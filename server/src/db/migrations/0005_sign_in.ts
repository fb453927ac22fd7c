/**
 * What tells a person who signs in from a stranger: addresses from which they did so before, and the key that signs the cookie of their
 * devices. A window of attempts begins with its first one instead of with the quarter of an hour, so that nobody gets two windows' worth
 * around the turn. Entries of the audit trail get where a request came from.
 */
import { type Kysely, sql } from 'kysely'

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db)
}

const statements = [
  `create table known_addresses (
     user_id text not null references accounts (id) on delete cascade,
     address_hash bytea not null,
     seen_at timestamptz not null default now(),
     primary key (user_id, address_hash))`,
  `create table secrets (name text primary key, value bytea not null)`,
  `drop table attempts`,
  `create table attempt_windows (key text primary key, started_at timestamptz not null, count integer not null)`,
  `alter table audit_log add column address text, add column origin text`,
]
