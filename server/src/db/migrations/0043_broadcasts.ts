/**
 * Broadcasts: announcements that the console sends to players through Telegram. Each recipient has an outcome, on the player's shard; what
 * the servers share is on the coordinator. A server of the previous version keeps working without them.
 */
import { type Kysely, sql } from 'kysely'

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db)
  const { rows: extensions } = await sql`select from pg_extension where extname = 'citus'`.execute(db)
  if (extensions.length === 0) return
  const { rows } = await sql`select from pg_dist_partition where logicalrelid = 'telegram_users'::regclass`.execute(db)
  if (rows.length > 0)
    await sql`select create_distributed_table('broadcast_recipients', 'user_id', colocate_with => 'telegram_users')`.execute(db)
}

const statements = [
  `create table broadcasts (
     id text primary key,
     number integer not null constraint broadcasts_number_key unique,
     announcement_id text not null,
     title text not null,
     content text,
     photo_id text,
     filter text not null,
     state text not null constraint broadcasts_state_check check (state in ('scheduled', 'planning', 'sending', 'done', 'cancelled')),
     is_paused boolean not null default false,
     problem text,
     send_at timestamptz,
     ends_at timestamptz,
     hold_back smallint not null default 0,
     stars_each numeric,
     stars_most numeric,
     made_by text,
     made_at timestamptz not null default now(),
     started_at timestamptz,
     planned_up_to bigint,
     planned_at timestamptz,
     done_at timestamptz,
     counts json)`,
  `comment on column broadcasts.number is 'Names the broadcast in the rows of recipients, shorter than the id.'`,
  `comment on column broadcasts.content is 'The message as it is sent, in JSON; null until sending begins.'`,
  `comment on column broadcasts.photo_id is 'What Telegram calls the image after the first message with it, so that it is uploaded once.'`,
  `comment on column broadcasts.filter is 'The filter of the list of players, in JSON.'`,
  `comment on column broadcasts.problem is 'Why the console paused or cancelled the broadcast by itself.'`,
  `comment on column broadcasts.hold_back is 'Percent of the players who get no message, to compare them with the others.'`,
  `comment on column broadcasts.stars_each is 'The price of a message of paid sending, which an operator confirmed; null if sending is not paid.'`,
  `comment on column broadcasts.planned_up_to is 'Players up to this id have been looked at; null before the first.'`,
  `comment on column broadcasts.counts is 'Recipients by their outcome when the broadcast was done or cancelled.'`,
  `create table broadcast_chunks (
     broadcast integer not null,
     chunk integer not null,
     size integer not null,
     leased_by text,
     lease_until timestamptz,
     done_at timestamptz,
     counts json not null,
     primary key (broadcast, chunk))`,
  `comment on table broadcast_chunks is 'Recipients of a broadcast that one worker sends to, one after the other.'`,
  `comment on column broadcast_chunks.counts is 'Recipients by their outcome when the chunk was last leased or released.'`,
  `create index broadcast_chunks_open on broadcast_chunks (broadcast, chunk) where done_at is null`,
  `create table telegram_pace (
     id boolean primary key default true constraint telegram_pace_id_check check (id),
     next_at timestamptz not null default now(),
     waiting_since timestamptz,
     waiting_until timestamptz,
     reason text)`,
  `comment on table telegram_pace is 'One row: the time of the next message of all servers, and until when they wait.'`,
  `comment on column telegram_pace.waiting_since is 'Nobody waits before this time, which only a clock that was set back shows.'`,
  // The fill factor leaves room for the next version of a row on its page, so that a changed outcome changes no index.
  `create table broadcast_recipients (
     user_id bigint not null,
     at timestamptz,
     broadcast integer not null,
     chunk integer not null,
     outcome smallint not null,
     primary key (user_id, broadcast)) with (fillfactor = 85)`,
  `comment on column broadcast_recipients.outcome is 'A number of broadcasts/outcomes.ts.'`,
  `comment on column broadcast_recipients.at is 'When the outcome was written; null for a message that waits and for the control group.'`,
  `create index broadcast_recipients_chunk on broadcast_recipients (broadcast, chunk)`,
]
