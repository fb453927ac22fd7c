/** Accounts of a sign-in service (OpenID Connect) that admins have linked. A server of the previous version keeps working. */
import { type Kysely, sql } from 'kysely'

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of tables) await sql.raw(statement).execute(db)
}

const tables = [
  `create table oidc_links (
     user_id text not null constraint oidc_links_user_id_fkey references users on delete cascade,
     issuer text not null,
     subject text not null,
     name text,
     linked_at timestamptz not null default now(),
     last_used_at timestamptz,
     constraint oidc_links_pkey primary key (user_id),
     constraint oidc_links_subject_key unique (issuer, subject))`,
  `comment on table oidc_links is 'Accounts of a sign-in service (OpenID Connect) with which admins sign in.'`,
  `comment on column oidc_links.subject is 'Who it is there: the sub of the service.'`,
  `comment on column oidc_links.name is 'What the service called the person when the account was linked.'`,
  `create table oidc_flows (
     state_hash bytea primary key,
     browser_hash bytea not null,
     user_id text constraint oidc_flows_user_id_fkey references users on delete cascade,
     expires_at timestamptz not null)`,
  `create index oidc_flows_user_id on oidc_flows (user_id)`,
  `comment on table oidc_flows is 'Browsers that were sent to the sign-in service and have not come back. Coming back deletes the row.'`,
  `comment on column oidc_flows.browser_hash is 'The hash of the token in the cookie of the browser that was sent.'`,
  `comment on column oidc_flows.user_id is 'Who is linking an account; null for somebody who signs in.'`,
]
