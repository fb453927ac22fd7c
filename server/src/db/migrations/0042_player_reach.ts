/**
 * When each player was last seen, and whether the bot can send the player messages: segments ask for both. Visits are filled once from what
 * is known of each player. A server of the previous version keeps working; it notes no visits.
 */
import { type Kysely, sql } from 'kysely'

export const isResumable = true

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of tables) await sql.raw(statement).execute(db)
  await divide(db)
  for (const statement of indexes) await sql.raw(statement).execute(db)
  for (const [thing, meaning] of Object.entries(meanings)) await sql.raw(`comment on ${thing} is '${meaning}'`).execute(db)
  await sql.raw(KNOWN_VISITS).execute(db)
}

const tables = [
  `create table if not exists player_visits (user_id bigint primary key, seen_at timestamptz not null)`,
  `create table if not exists player_messages (
     user_id bigint primary key,
     unreachable_at timestamptz,
     unreachable_reason text,
     opted_out_at timestamptz)`,
]

/** On a Citus cluster, new tables of players are divided like the others. */
async function divide(db: Kysely<unknown>): Promise<void> {
  const { rows: extensions } = await sql`select from pg_extension where extname = 'citus'`.execute(db)
  if (extensions.length === 0) return
  const { rows } = await sql<{ name: string }>`
    select new.name from unnest(array['player_visits', 'player_messages']) as new (name)
     where exists (select from pg_dist_partition where logicalrelid = 'telegram_users'::regclass)
       and not exists (select from pg_dist_partition where logicalrelid = new.name::regclass)`.execute(db)
  for (const { name } of rows)
    await sql`select create_distributed_table(${name}, 'user_id', colocate_with => 'telegram_users')`.execute(db)
}

const indexes = [
  `create index if not exists player_visits_by_seen_at on player_visits (seen_at desc, user_id)`,
  `create index if not exists player_messages_unreachable on player_messages (user_id) where unreachable_at is not null`,
  `create index if not exists player_messages_opted_out on player_messages (user_id) where opted_out_at is not null`,
]

const meanings = {
  'table player_visits':
    'When each player was last seen: by the own client, or when the bot called for the player. Accurate to an hour.',
  'table player_messages':
    'Whether the bot can send a player messages. A player without a row can be sent some, as far as is known.',
  'column player_messages.unreachable_at': 'When Telegram refused a message to the player; null since the player came back.',
  'column player_messages.unreachable_reason': 'What Telegram answered.',
  'column player_messages.opted_out_at': 'When the player asked for no more messages; null if the player did not.',
}

/** What a player did: joined, took part, claimed or played. Entries of imports and operators are not those of the player. */
const KNOWN_VISITS = `
  insert into player_visits (user_id, seen_at)
  select user_id, max(at) from (
    select user_id, created_at as at from telegram_users where created_at is not null
    union all
    select user_id, at from participations
    union all
    select user_id, at from ledger_entries where cause not in ('opening', 'import', 'adjustment', 'reversal')) as seen
   where user_id > 0 group by user_id
  on conflict (user_id) do nothing`
