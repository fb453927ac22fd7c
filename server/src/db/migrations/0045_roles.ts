/**
 * Roles of admins and their settings. Admins of before become owners. A server of the previous version keeps working: an admin whom it makes
 * has no role, which counts as owner.
 */
import { type Kysely, sql } from 'kysely'

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db)
}

const ROLE_CHECK = `check (role in ('owner', 'manager', 'editor', 'reviewer', 'analyst'))`

const statements = [
  `alter table users add column role text constraint users_role_check ${ROLE_CHECK}`,
  `comment on column users.role is 'What an admin may do; an admin without one is an owner. Without meaning for a user.'`,
  `update users set role = 'owner' where user_type = 'admin'`,
  `create table role_settings (
     role text primary key constraint role_settings_role_check ${ROLE_CHECK},
     sees_personal boolean not null,
     max_adjustment numeric,
     max_adjusted_daily numeric,
     max_bulk integer)`,
  `comment on table role_settings is 'What owners have decided about a role; a role without a row has the settings of the contract.'`,
  `comment on column role_settings.sees_personal is 'Whether the role sees personal fields of players.'`,
  `comment on column role_settings.max_adjustment is 'The most points that one adjustment may give or take.'`,
  `comment on column role_settings.max_adjusted_daily is 'The most points that one person may give and take in a UTC day, added up.'`,
  `comment on column role_settings.max_bulk is 'The most records that one bulk act may change.'`,
]
