/** Roles of admins in the database: what a person may do, and the settings that owners change. */
import { type Kysely, type RawBuilder, sql, type Transaction } from 'kysely'
import type { SessionUser } from '@arcade/contract/auth/calls'
import { type Role, roleLabels } from '@arcade/contract/team/fields'
import {
  defaultRoleSettings,
  type Permission,
  permissionsOf,
  rolesAbove,
  rolesNotToInvite,
  type RoleSettings,
} from '@arcade/contract/team/permissions'
import type { UserType } from '@arcade/contract/users/fields'
import { type CallContext, Failure } from '#src/calls.ts'
import { idOrderSql } from '#src/db/collations.ts'
import type { Tables } from '#src/db/tables.ts'
import { takeLock } from '#src/db/transaction-locks.ts'

/** A row of `users` with the settings of its role. */
export interface PersonRow {
  id: string
  fname: string
  lname: string
  email: string
  user_type: UserType
  role: Role | null
  /** From `role_settings`; null if the role has the settings of the contract. */
  sees_personal: boolean | null
  /** Whether the person may use only the own account until a second factor is set up. */
  lacks_factor: boolean
}

/** SQL for the join that adds `r.sees_personal` to rows of `users u`. */
export const JOIN_SETTINGS = `left join role_settings r on r.role = coalesce(u.role, 'owner') and u.user_type = 'admin'`

/** Returns the role that counts; null for a user. An admin without a role was made by a server that knew none, and is an owner. */
export function roleThatCounts({ user_type: userType, role }: Pick<PersonRow, 'user_type' | 'role'>): Role | null {
  return userType === 'admin' ? (role ?? 'owner') : null
}

/** Returns the session data of a person (§3), with what the role may do. */
export function sessionUserOf(row: PersonRow): SessionUser {
  const { id, fname, lname, email, user_type: userType, sees_personal: seesPersonal, lacks_factor: lacksSecondFactor } = row
  const role = roleThatCounts(row)
  const held = role ? permissionsOf(role, { seesPersonal: seesPersonal ?? defaultRoleSettings[role].seesPersonal }) : []
  const permissions = lacksSecondFactor ? held.filter((one) => one === 'account.own') : held
  return { id, username: `${fname} ${lname}`, fname, lname, email, userType, role, permissions, lacksSecondFactor }
}

/** Returns the settings of each role. */
export async function readRoleSettings(db: Kysely<Tables>): Promise<Record<Role, RoleSettings>> {
  const rows = await db.selectFrom('role_settings').selectAll().execute()
  const changed = rows.map(
    ({ role, sees_personal: seesPersonal, max_adjustment, max_adjusted_daily, max_bulk: maxBulk }) =>
      [
        role,
        { seesPersonal, maxAdjustment: limitOf(max_adjustment), maxAdjustedDaily: limitOf(max_adjusted_daily), maxBulk },
      ] as const,
  )
  return { ...defaultRoleSettings, ...Object.fromEntries(changed) }
}

function limitOf(amount: string | number | null): number | null {
  return amount === null ? null : Number(amount)
}

/** Stores the settings of a role. */
export async function writeRoleSettings(tx: Transaction<Tables>, role: Role, settings: RoleSettings): Promise<void> {
  const values = {
    sees_personal: settings.seesPersonal,
    max_adjustment: settings.maxAdjustment,
    max_adjusted_daily: settings.maxAdjustedDaily,
    max_bulk: settings.maxBulk,
  }
  await tx
    .insertInto('role_settings')
    .values({ role, ...values })
    .onConflict((conflict) => conflict.column('role').doUpdateSet(values))
    .execute()
}

/** Returns the roles whose people may do more than somebody with these permissions, by the present settings of the roles. */
export async function findRolesAbove(db: Kysely<Tables>, held: readonly Permission[]): Promise<Role[]> {
  return rolesAbove(held, await readRoleSettings(db))
}

/** @throws Failure FORBIDDEN if a person with this role may do more than somebody with these permissions */
export async function refuseAbove(db: Kysely<Tables>, role: Role | null, held: readonly Permission[]): Promise<void> {
  if (role !== null && (await findRolesAbove(db, held)).includes(role)) throw notToBeDone(role)
}

function notToBeDone(role: Role): Failure {
  return new Failure('FORBIDDEN', { message: `Your role may not do this to a person with the role ${roleLabels[role]}.` })
}

/**
 * Refuses to make a link to an account with this role if the person could use that account to double their own limits.
 * @param act what the person would do to a person with this role, such as *invite*
 * @throws Failure FORBIDDEN
 */
export async function refusePeer(db: Kysely<Tables>, role: Role | null, person: SessionUser, act: string): Promise<void> {
  if (role === null) return
  const settings = await readRoleSettings(db)
  if (rolesAbove(person.permissions, settings).includes(role)) throw notToBeDone(role)
  if (rolesNotToInvite(person, settings).includes(role))
    throw new Failure('FORBIDDEN', { message: `Your role may not ${act} a person with the role ${roleLabels[role]}.` })
}

export interface Admin {
  id: string
  role: Role | null
}

/**
 * Takes the lock for changing who is an admin, so that the second of two simultaneous removals sees the outcome of the first. Returns the
 * admins with their roles. Row locks are not enough: a transaction that waits for them does not see who has become an admin meanwhile, and it could
 * deadlock with a transaction that holds that admin's row.
 * @throws Failure SIGNED_OUT if the caller's role was changed or taken away while the lock was waited for
 */
export async function lockAdmins(tx: Transaction<Tables>, { caller }: Pick<CallContext, 'caller'>): Promise<Admin[]> {
  // When several people lose their rights at once, each loss waits for the ones before it and for acts that are being committed.
  await sql`set local lock_timeout = '20s'`.execute(tx)
  await takeLock(tx, 'admins')
  const rows = await tx
    .selectFrom('users')
    .select(['id', 'user_type', 'role'])
    .where('user_type', '=', 'admin')
    .orderBy(sql.raw(idOrderSql('id')))
    .execute()
  const admins = rows.map((row) => ({ id: row.id, role: roleThatCounts(row) }))
  if (caller.kind === 'user' && admins.find(({ id }) => id === caller.user.id)?.role !== caller.user.role)
    throw new Failure('SIGNED_OUT')
  return admins
}

/** Returns SQL for the role that counts of a row of `users`, or of the table that has this alias in the statement. */
export function roleThatCountsOf(users = 'users'): RawBuilder<Role | null> {
  return sql<Role | null>`(case when ${sql.ref(users)}.user_type = 'admin' then coalesce(${sql.ref(users)}.role, 'owner') end)`
}
