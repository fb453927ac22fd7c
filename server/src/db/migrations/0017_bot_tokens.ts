/**
 * Bot tokens get a scope, a second secret while they are rotated, and the time of their last use. Existing tokens get the scope `play`,
 * which covers the calls they could make. A server of the previous version keeps working without these columns.
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
