/**
 * Tells a person who signs in from a stranger, by the addresses from which the person signed in before, and by the key that signs the
 * cookies of devices. A window of attempts now begins with its first attempt instead of on the quarter of an hour, so that nobody gets the
 * attempts of two windows around that time. Audit entries get the address and origin of the request.
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
