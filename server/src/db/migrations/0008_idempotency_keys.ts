/** Answers of requests that created something, so that a repeated request gets the same one. */
import { type Kysely, sql } from 'kysely'

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`create table idempotency_keys (
    caller text not null,
    key_hash bytea not null,
    fingerprint bytea not null,
    answer text,
    created_at timestamptz not null default now(),
    primary key (caller, key_hash))`.execute(db)
  await sql`create index idempotency_keys_created_at on idempotency_keys (created_at)`.execute(db)
}
