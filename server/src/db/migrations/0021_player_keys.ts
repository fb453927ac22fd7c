/** Idempotency keys of what moves a player's balance, which lie where the player's other rows are. A server of the version before goes on without them. */
import { type Kysely, sql } from 'kysely'

export async function up(db: Kysely<unknown>): Promise<void> {
  await sql`create table player_keys (
    user_id bigint not null,
    key_hash bytea not null,
    fingerprint bytea not null,
    seq bigint,
    is_first boolean not null,
    created_at timestamptz not null default now(),
    primary key (user_id, key_hash))`.execute(db)
  // Keys come in the order of their moments, so that ranges of pages tell the old ones apart at next to no cost.
  await sql`create index player_keys_created_at on player_keys using brin (created_at)`.execute(db)
  const { rows: extensions } = await sql`select from pg_extension where extname = 'citus'`.execute(db)
  if (extensions.length === 0) return
  const { rows } = await sql`select from pg_dist_partition where logicalrelid = 'telegram_users'::regclass`.execute(db)
  if (rows.length > 0)
    await sql`select create_distributed_table('player_keys', 'user_id', colocate_with => 'telegram_users')`.execute(db)
}
