/** Every collection of §3, accounts and sessions, counters. Valid on PostgreSQL 15 to 18; no trigger, no procedure, no sequence. */
import { type Kysely, sql } from 'kysely'

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db)
}

const statements = [
  `create extension if not exists pg_trgm`,

  `create table accounts (
     id text primary key,
     email text not null,
     password_hash text not null,
     created_at timestamptz not null default now())`,
  `create unique index accounts_email_key on accounts (lower(email))`,

  `create table users (
     id text primary key,
     fname text not null,
     lname text not null,
     email text not null,
     user_type text not null constraint users_user_type_check check (user_type in ('admin', 'user')),
     created_at timestamptz not null default now(),
     version integer not null default 1)`,
  `create unique index users_email_key on users (lower(email))`,
  `create index users_order on users (created_at, id)`,
  `create index users_admins on users (id) where user_type = 'admin'`,

  `create table sessions (
     token_hash bytea primary key,
     user_id text not null references accounts (id) on delete cascade,
     created_at timestamptz not null default now(),
     last_seen_at timestamptz not null default now())`,
  `create index sessions_user on sessions (user_id)`,

  `create table attempts (
     key text not null,
     window_start timestamptz not null,
     count integer not null,
     primary key (key, window_start))`,
  `create table setup_links (token_hash bytea primary key, expires_at timestamptz not null)`,
  `create table bot_tokens (
     id text primary key,
     name text not null constraint bot_tokens_name_key unique,
     token_hash bytea not null constraint bot_tokens_token_hash_key unique,
     created_at timestamptz not null default now())`,
  `create table audit_log (
     id text primary key,
     at timestamptz not null default now(),
     actor_id text,
     action text not null,
     target text not null,
     detail jsonb not null default '{}',
     request_id text)`,
  `create index audit_log_at on audit_log (at desc)`,

  `create table telegram_users (
     user_id bigint primary key,
     created_at timestamptz,
     first_name text,
     last_name text,
     username text,
     twitter_username text,
     instagram_username text,
     linked_in_username text,
     discord_username text,
     youtube_username text,
     email text,
     phone_number text,
     ton_wallet_address text,
     bsc_wallet text,
     balance numeric not null default 0 constraint telegram_users_balance_check check (abs(balance) <= 9007199254740992),
     seen_status_epoch bigint not null default 0)`,
  `create index telegram_users_by_balance on telegram_users (balance desc, user_id)`,
  `create index telegram_users_by_first_name on telegram_users (lower(first_name), user_id)`,

  `create table tasks (
     collection text not null constraint tasks_collection_check check (collection in ('social', 'daily')),
     id text not null,
     image text not null,
     priority numeric not null,
     title text not null,
     link text,
     reward numeric not null,
     created_at timestamptz not null default now(),
     version integer not null default 1,
     primary key (collection, id),
     constraint tasks_priority_key unique (collection, priority) deferrable initially immediate)`,

  `create table announcements (
     id text primary key,
     type text not null constraint announcements_type_check check (type in ('desc', 'link')),
     title text not null,
     subtitle text not null,
     description text,
     link text,
     link_type text constraint announcements_link_type_check check (link_type in ('input', 'noInput')),
     input_text text,
     reward numeric not null,
     status boolean not null default false,
     image_key text,
     image_name text,
     icon_key text,
     icon_name text,
     created_at timestamptz not null default now(),
     version integer not null default 1)`,
  `create index announcements_order on announcements (created_at, id)`,

  `create table history_items (
     kind text not null constraint history_items_kind_check check (kind in ('announcement', 'social', 'daily')),
     item_id text not null,
     title text not null,
     type text not null,
     link text,
     link_type text,
     description text,
     input_text text,
     reward numeric not null,
     created_at timestamptz not null default now(),
     primary key (kind, item_id))`,

  `create table participations (
     user_id bigint not null,
     kind text not null,
     item_id text not null,
     period text not null default '',
     username text,
     first_name text,
     last_name text,
     user_input text,
     at timestamptz not null default now(),
     primary key (user_id, kind, item_id, period))`,
  `create index participations_of_item on participations (kind, item_id, at desc, user_id)`,

  `create table status_epoch (id smallint primary key default 1 check (id = 1), epoch bigint not null)`,
  `insert into status_epoch (epoch) values (0)`,

  `create table counters (name text primary key, value bigint not null)`,
  `create table counter_deltas (
     user_id bigint not null,
     id uuid not null default gen_random_uuid(),
     name text not null,
     delta bigint not null,
     primary key (user_id, id))`,
  `create index counter_deltas_name on counter_deltas (name)`,

  `create table file_removals (key text primary key, requested_at timestamptz not null default now())`,
]
