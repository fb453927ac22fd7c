/**
 * A bot token has a scope, two secrets while it is being rotated, and a last use. Tokens from before could call what `play` covers. A
 * server of the version before goes on without knowing any of it.
 */
import { type Kysely, sql } from 'kysely'

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`alter table bot_tokens
    add column scope text not null default 'play' constraint bot_tokens_scope_check check (scope in ('read', 'play', 'admin')),
    add column rotated_at timestamptz,
    add column last_used_at timestamptz,
    add column previous_hash bytea constraint bot_tokens_previous_hash_key unique,
    add column previous_used_at timestamptz`.execute(db)
}
