/**
 * The second factor of people: authenticator apps (TOTP) and recovery codes, sign-ins that wait for it, and when a session's person last
 * proved it. A server of the previous version keeps working, but asks for the password alone.
 */
import { type Kysely, sql } from 'kysely'

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db)
}

const statements = [
  `alter table sessions add column second_factor_at timestamptz`,
  `comment on column sessions.second_factor_at is 'When the person last proved the second factor in this session.'`,
  `create table totp_secrets (
     user_id text primary key constraint totp_secrets_user_id_fkey references users on delete cascade,
     secret bytea,
     confirmed_at timestamptz,
     last_step bigint,
     new_secret bytea,
     new_secret_at timestamptz,
     constraint totp_secrets_confirmed_check check ((secret is null) = (confirmed_at is null)))`,
  `comment on table totp_secrets is 'The authenticator app of a person (RFC 6238), a second factor once it is confirmed.'`,
  `comment on column totp_secrets.secret is 'The confirmed secret, encrypted with SECRET_KEY.'`,
  `comment on column totp_secrets.last_step is 'The step of 30 seconds of the last accepted code: codes of it and of earlier steps do not count.'`,
  `comment on column totp_secrets.new_secret is 'A secret that is not confirmed yet, encrypted.'`,
  `create table recovery_codes (
     user_id text not null constraint recovery_codes_user_id_fkey references users on delete cascade,
     code_hash bytea not null,
     constraint recovery_codes_pkey primary key (user_id, code_hash))`,
  `comment on table recovery_codes is 'The recovery codes that a person has left. A code is deleted when it is used.'`,
  `create table pending_sign_ins (
     token_hash bytea primary key,
     user_id text not null constraint pending_sign_ins_user_id_fkey references users on delete cascade,
     password_hash text,
     attempts integer not null default 0,
     expires_at timestamptz not null)`,
  `comment on table pending_sign_ins is 'Sign-ins whose password was right and that wait for the second factor.'`,
  `comment on column pending_sign_ins.password_hash is 'The hash that the password matched: a new password ends the sign-in. Null if no password was asked for.'`,
  `comment on column pending_sign_ins.attempts is 'Codes that were tried.'`,
  `create index pending_sign_ins_user_id_idx on pending_sign_ins (user_id)`,
  `create index pending_sign_ins_expires_at_idx on pending_sign_ins (expires_at)`,
]
