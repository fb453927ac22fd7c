/**
 * The Telegram accounts of admins, to which the bot sends the tests of a broadcast, and the codes by which an admin links one. A server of
 * the previous version keeps working.
 */
import { type Kysely, sql } from 'kysely'

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of tables) await sql.raw(statement).execute(db)
}

const tables = [
  `create table operator_telegrams (
     user_id text primary key constraint operator_telegrams_user_id_fkey references users on delete cascade,
     telegram_id bigint not null,
     linked_at timestamptz not null default now())`,
  `comment on table operator_telegrams is 'The Telegram account of an admin, to which the bot sends the tests of a broadcast.'`,
  `comment on column operator_telegrams.telegram_id is 'Telegram’s id of the account. Several admins may share one.'`,
  `create table telegram_link_codes (
     user_id text primary key constraint telegram_link_codes_user_id_fkey references users on delete cascade,
     code_hash bytea not null constraint telegram_link_codes_code_hash_key unique,
     expires_at timestamptz not null)`,
  `comment on table telegram_link_codes is 'The last code that an admin made to link a Telegram account. It is deleted when it is used.'`,
]
