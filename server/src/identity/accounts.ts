/** Accounts with their rows of `users`: creation, roles, and the first admin (§5, §7; design §7). */
import { randomUUID } from 'node:crypto'
import { type Kysely, sql, type Transaction } from 'kysely'
import { type SessionUser } from '@arcade/contract/auth/calls'
import { registrationInputFor, type RegistrationInput } from '@arcade/contract/users/calls'
import type { Role } from '@arcade/contract/team/fields'
import type { UserType } from '@arcade/contract/users/fields'
import { type Act, audit, type AuditEntryInput, type AuditRecord, changesBetween } from '#src/audit/audit.ts'
import { Failure } from '#src/calls.ts'
import { addToCounter } from '#src/counters/counters.ts'
import type { Database } from '#src/db/database.ts'
import { columnName, userEntity } from '#src/db/entities.ts'
import { violatedConstraint } from '#src/postgres/errors.ts'
import { lower } from '#src/db/collations.ts'
import type { Tables } from '#src/db/tables.ts'
import { takeLock } from '#src/db/transaction-locks.ts'
import { hashNewPassword, type PasswordPolicy } from './passwords.ts'
import { roleThatCounts, sessionUserOf } from './roles.ts'
import type { Sessions } from './sessions.ts'
import { hasAdmin } from './setup-links.ts'

/** Checks a registration by the rules of §5 that depend on the configuration, as the form does. @throws Failure INVALID_INPUT */
export function checkRegistration(input: RegistrationInput, registrationEmailHost: string): void {
  const result = registrationInputFor(registrationEmailHost).safeParse(input)
  if (result.success) return
  const fields = Object.fromEntries(result.error.issues.map((issue) => [issue.path.join('.'), issue.message]))
  throw new Failure('INVALID_INPUT', { fields, message: result.error.issues[0]?.message ?? 'The request is not valid.' })
}

export interface NewAccount {
  fname: string
  lname: string
  email: string
  passwordHash: string
  userType: UserType
  /** The role of an admin; owner by default. */
  role?: Role
}

/** Returns a user as an audit record. */
export function userRecord({ id, fname, lname }: { id: string; fname: string; lname: string }): AuditRecord {
  return { kind: 'user', id, name: `${fname} ${lname}` }
}

/** Returns the names of the users that still exist, by id. */
export async function namesOfUsers(
  db: Kysely<Tables>,
  ids: readonly (string | null)[],
): Promise<ReadonlyMap<string | null, string>> {
  const known = ids.filter((id) => id !== null)
  if (known.length === 0) return new Map()
  const people = await db.selectFrom('users').select(['id', 'fname', 'lname']).where('id', 'in', known).execute()
  return new Map(people.map(({ id, fname, lname }) => [id, `${fname} ${lname}`]))
}

/** The fields of a created or removed user that an audit entry contains. */
const auditedFields = ['fname', 'lname', 'email', 'userType', 'role'] as const

export function auditedUser(user: Pick<SessionUser, (typeof auditedFields)[number]>): Record<string, unknown> {
  return Object.fromEntries(auditedFields.map((name) => [name, user[name]]))
}

/** SQL for the same fields of many removed users, as the JSON of their changes. */
export const removedUserSql = sql.raw(
  `json_build_object(${auditedFields.map((name) => `'${name}', json_build_array(${columnName(userEntity, name)}, null)`).join(', ')})`,
)

/** Whether an error means that another user has the e-mail address. */
export function isEmailTaken(error: unknown): boolean {
  return violatedConstraint(error)?.endsWith('_email_key') ?? false
}

/** Creates an account and its row of `users`. A taken e-mail address violates `accounts_email_key` or `users_email_key`. */
export async function createAccount(tx: Transaction<Tables>, account: NewAccount): Promise<SessionUser> {
  const { fname, lname, email, userType } = account
  const role = userType === 'admin' ? (account.role ?? 'owner') : null
  const id = randomUUID()
  await tx.insertInto('accounts').values({ id, email, password_hash: account.passwordHash }).execute()
  await tx.insertInto('users').values({ id, fname, lname, email, user_type: userType, role }).execute()
  await addToCounter(tx, { counter: { of: 'users', userType }, delta: 1 })
  return sessionUserOf({ id, fname, lname, email, user_type: userType, role, sees_personal: null, lacks_factor: false })
}

/** Returns the audit entry of an account that an act has just created. */
export function newAccountEntry(user: SessionUser): AuditEntryInput {
  return { record: userRecord(user), changes: changesBetween(null, auditedUser(user)), detail: { version: 1 } }
}

interface FirstAdmin {
  act: Act
  email: string
  password: string
  policy: PasswordPolicy
  /** Whether to do nothing if the console has an admin already (ADMIN_EMAIL, design §7). */
  unlessAdminExists: boolean
}

/**
 * Makes sure that `email` is an admin with this password: creates the account or, where it exists, sets its password and
 * role and ends its sessions. For commands and the start of the server, not for requests.
 * @throws Failure INVALID_INPUT for a password that the policy refuses
 */
export async function ensureAdmin(
  database: Database,
  sessions: Pick<Sessions, 'endAllOf'>,
  { act, email, password, policy, unlessAdminExists }: FirstAdmin,
): Promise<'created' | 'updated' | 'kept'> {
  if (unlessAdminExists && (await hasAdmin(database.db))) return 'kept'
  const passwordHash = await hashNewPassword(password, policy)
  return database.transaction(async (tx) => {
    if (unlessAdminExists) {
      // If several servers start at once, the lock makes one of them create the admin.
      await takeLock(tx, 'admins')
      if (await hasAdmin(tx)) return 'kept'
    }
    const account = await tx
      .selectFrom('accounts')
      .leftJoin('users', 'users.id', 'accounts.id')
      .select(['accounts.id', 'user_type', 'role'])
      .where(lower(sql.ref('accounts.email')), '=', email.toLowerCase())
      .executeTakeFirst()
    const [fname, lname] = ['Admin', 'Admin']
    if (!account) {
      const user = await createAccount(tx, { fname, lname, email, passwordHash, userType: 'admin' })
      await audit(tx, act, 'user.create', newAccountEntry(user))
      return 'created'
    }
    await tx.updateTable('accounts').set({ password_hash: passwordHash }).where('id', '=', account.id).execute()
    if (account.user_type === null) {
      await tx.insertInto('users').values({ id: account.id, fname, lname, email, user_type: 'admin', role: 'owner' }).execute()
      await addToCounter(tx, { counter: { of: 'users', userType: 'admin' }, delta: 1 })
    } else {
      await changeRole(tx, { id: account.id, from: roleThatCounts({ ...account, user_type: account.user_type }), to: 'owner' })
    }
    await sessions.endAllOf(tx, account.id)
    const record = { kind: 'user', id: account.id, name: email } as const
    await audit(tx, act, 'user.password', { record })
    if (account.user_type !== 'admin')
      await audit(tx, act, 'user.role', { record, changes: { userType: [account.user_type, 'admin'] } })
    return 'updated'
  })
}

/** Changes a person's role, the user type that follows from it, the counters of both types and the row's version. Null makes a user. */
export async function changeRole(
  tx: Transaction<Tables>,
  { id, from, to }: { id: string; from: Role | null; to: Role | null },
): Promise<void> {
  if (from === to) return
  const [before, after] = [userTypeOf(from), userTypeOf(to)]
  await tx
    .updateTable('users')
    .set({ user_type: after, role: to, version: sql`version + 1` })
    .where('id', '=', id)
    .execute()
  if (before === after) return
  await addToCounter(tx, { counter: { of: 'users', userType: after }, delta: 1 })
  await addToCounter(tx, { counter: { of: 'users', userType: before }, delta: -1 })
}

function userTypeOf(role: Role | null): UserType {
  return role === null ? 'user' : 'admin'
}
