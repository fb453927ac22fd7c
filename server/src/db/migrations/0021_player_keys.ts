/**
 * Idempotency keys of calls that change a player's balance. They are stored on the same node as the player's other rows. A server of the
 * previous version keeps working without them.
 */
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
  // Keys are written in the order of their times, so a BRIN index finds the old ones at almost no cost.
  await sql`create index player_keys_created_at on player_keys using brin (created_at)`.execute(db)
  const { rows: extensions } = await sql`select from pg_extension where extname = 'citus'`.execute(db)
  if (extensions.length === 0) return
  const { rows } = await sql`select from pg_dist_partition where logicalrelid = 'telegram_users'::regclass`.execute(db)
  if (rows.length > 0)
    await sql`select create_distributed_table('player_keys', 'user_id', colocate_with => 'telegram_users')`.execute(db)
}
