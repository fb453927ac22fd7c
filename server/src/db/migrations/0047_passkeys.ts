/** Passkeys (WebAuthn), and the challenges that browsers must sign. A server of the previous version keeps working. */
import { type Kysely, sql } from 'kysely'

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of tables) await sql.raw(statement).execute(db)
}

const tables = [
  `create table passkeys (
     id uuid primary key default gen_random_uuid(),
     user_id text not null constraint passkeys_user_id_fkey references users on delete cascade,
     credential_id bytea not null constraint passkeys_credential_id_key unique,
     public_key bytea not null,
     counter bigint not null,
     transports text[] not null,
     name text not null,
     device_type text not null,
     backed_up boolean not null,
     created_at timestamptz not null default now(),
     last_used_at timestamptz)`,
  `create index passkeys_user_id on passkeys (user_id)`,
  `comment on table passkeys is 'The passkeys of admins (WebAuthn): public keys, with which nobody can sign in.'`,
  `comment on column passkeys.public_key is 'A COSE key.'`,
  `comment on column passkeys.counter is 'The signature counter of the last use. It only grows; 0 if the authenticator has none.'`,
  `comment on column passkeys.device_type is 'singleDevice, or multiDevice for a passkey that can be on several devices.'`,
  `create table passkey_challenges (
     challenge_hash bytea primary key,
     purpose text not null,
     user_id text constraint passkey_challenges_user_id_fkey references users on delete cascade,
     expires_at timestamptz not null)`,
  `create index passkey_challenges_user_id on passkey_challenges (user_id)`,
  `comment on table passkey_challenges is 'Challenges that a browser was given and has not used. Using one deletes it.'`,
  `comment on column passkey_challenges.user_id is 'Whom it is for; null for somebody who signs in with a passkey alone.'`,
]
