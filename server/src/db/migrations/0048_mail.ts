/**
 * The queue of mails, invitations, forgotten passwords and changes of e-mail addresses. A server of the previous version keeps working: it
 * sends no mails, and a session that it ends does not end the invitations of its person.
 */
import { type Kysely, sql } from 'kysely'

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db)
}

const statements = [
  `create table invitations (
     id uuid primary key default gen_random_uuid(),
     email text,
     role text constraint invitations_role_check check (role in ('owner', 'manager', 'editor', 'reviewer', 'analyst')),
     token_hash bytea not null constraint invitations_token_hash_key unique,
     made_by text not null constraint invitations_made_by_fkey references users on delete cascade,
     made_at timestamptz not null default now(),
     expires_at timestamptz not null,
     used_at timestamptz)`,
  `create unique index invitations_email_key on invitations (lower(email collate letters))`,
  `create index invitations_made_by on invitations (made_by)`,
  `comment on table invitations is 'Links with which a person without an account makes one that has a role.'`,
  `comment on column invitations.email is 'Null once the link was used: the account has the address then.'`,
  `comment on column invitations.role is 'Null for an account of the type user.'`,
  `comment on column invitations.made_by is 'Whose rights the link stands on: the admin who made it, or made it anew.'`,

  `create table mails (
     id uuid primary key default gen_random_uuid(),
     kind text not null,
     user_id text constraint mails_user_id_fkey references users on delete cascade,
     invitation_id uuid constraint mails_invitation_id_fkey references invitations on delete cascade,
     recipient text not null,
     content bytea,
     attempts integer not null default 0,
     created_at timestamptz not null default now(),
     next_at timestamptz default now(),
     give_up_at timestamptz not null,
     sent_at timestamptz,
     given_up_at timestamptz,
     result text)`,
  `create index mails_next_at on mails (next_at) where next_at is not null`,
  `create index mails_user_id on mails (user_id)`,
  `create index mails_invitation_id on mails (invitation_id)`,
  `comment on table mails is 'Mails to be sent, and for some days those that were sent or given up.'`,
  `comment on column mails.content is 'Subject and texts, encrypted with SECRET_KEY. Null once the mail was sent or given up, because it may hold a link.'`,
  `comment on column mails.next_at is 'When a server may try next: also the end of a lease. Null once the mail was sent or given up.'`,
  `comment on column mails.give_up_at is 'After this time the mail is of no use and is not tried again.'`,
  `comment on column mails.result is 'How the last attempt ended.'`,

  `create table password_requests (
     id uuid primary key default gen_random_uuid(),
     user_id text,
     requested_at timestamptz not null default now())`,
  `comment on table password_requests is 'Requests for a link to set a forgotten password; a background task answers them within seconds.'`,
  `comment on column password_requests.user_id is 'Null if nobody has the e-mail address: the request takes the same work then.'`,
  `create table password_resets (
     token_hash bytea primary key,
     user_id text not null constraint password_resets_user_id_fkey references users on delete cascade,
     expires_at timestamptz not null,
     used_at timestamptz)`,
  `create index password_resets_user_id on password_resets (user_id)`,
  `comment on table password_resets is 'Links that were mailed to people who forgot their password. Beside password_links, so that a stranger cannot end a link of an admin.'`,

  `create table email_changes (
     user_id text primary key constraint email_changes_user_id_fkey references users on delete cascade,
     new_email text not null,
     old_email text not null,
     new_hash bytea not null constraint email_changes_new_hash_key unique,
     old_hash bytea not null constraint email_changes_old_hash_key unique,
     new_confirmed_at timestamptz,
     old_confirmed_at timestamptz,
     expires_at timestamptz not null)`,
  `comment on table email_changes is 'A change of a person’s own e-mail address, which waits until it is confirmed at both.'`,
  `comment on column email_changes.new_hash is 'The hash of the link that was mailed to the new address.'`,
  `comment on column email_changes.old_hash is 'The hash of the link that was mailed to the present address, which can also cancel the change.'`,
]
