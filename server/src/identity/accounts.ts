/** Accounts with their users documents: creation, roles, and how the first admin comes about (§5, §7; design §7). */
import { randomBytes, randomUUID } from 'node:crypto'
import { type Kysely, sql, type Transaction } from 'kysely'
import { type SessionUser } from '@arcade/contract/auth'
import { registrationInputFor, type RegistrationInput } from '@arcade/contract/users'
import type { UserType } from '@arcade/contract/entities/user'
import { Failure } from '#src/calls.ts'
import { addToCounter } from '#src/db/counters.ts'
import type { Database } from '#src/db/database.ts'
import type { Tables } from '#src/db/tables.ts'
import { hashPassword } from './passwords.ts'
import { hashToken, type Sessions } from './sessions.ts'

/** Checks the registration with the rule of §5 that needs the configuration, as the form does. @throws Failure INVALID_INPUT */
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
}

/** Creates the authentication account and its users document. A taken e-mail violates `accounts_email_key` or `users_email_key`. */
export async function createAccount(tx: Transaction<Tables>, account: NewAccount): Promise<SessionUser> {
  const { fname, lname, email, userType } = account
  const id = randomUUID()
  await tx.insertInto('accounts').values({ id, email, password_hash: account.passwordHash }).execute()
  await tx.insertInto('users').values({ id, fname, lname, email, user_type: userType }).execute()
  await addToCounter(tx, { counter: { of: 'users', userType }, delta: 1 })
  return { id, username: `${fname} ${lname}`, fname, lname, email, userType }
}

const SETUP_LINK_MINUTES = 30

/** Makes the one-time token of `/register?setup=…` (design §7), in place of any earlier one; `undefined` if there is an admin already. */
export async function createSetupLink(database: Database): Promise<string | undefined> {
  if (await hasAdmin(database.db)) return undefined
  const token = randomBytes(32).toString('base64url')
  await database.transaction(async (tx) => {
    await tx.deleteFrom('setup_links').execute()
    const expiresAt = new Date(Date.now() + SETUP_LINK_MINUTES * 60_000)
    await tx
      .insertInto('setup_links')
      .values({ token_hash: hashToken(token), expires_at: expiresAt })
      .execute()
  })
  return token
}

/** Spends a set-up link, which works once. @throws Failure SETUP_LINK_INVALID */
export async function useSetupLink(tx: Transaction<Tables>, token: string): Promise<void> {
  const used = await tx
    .deleteFrom('setup_links')
    .where('token_hash', '=', hashToken(token))
    .returning('expires_at')
    .executeTakeFirst()
  if (!used || used.expires_at.getTime() < Date.now() || (await hasAdmin(tx))) throw new Failure('SETUP_LINK_INVALID')
}

async function hasAdmin(db: Kysely<Tables>): Promise<boolean> {
  return (await db.selectFrom('users').select('id').where('user_type', '=', 'admin').limit(1).executeTakeFirst()) !== undefined
}

/**
 * Makes sure that `email` is an admin with this password: creates the account or, where it exists, sets its password and
 * role and ends its sessions. For the operator of the machine, not for a request.
 * @param unlessAdminExists do nothing when the installation has an admin (ADMIN_EMAIL, design §7)
 */
export async function ensureAdmin(
  database: Database,
  sessions: Pick<Sessions, 'endAllOf'>,
  { email, password, unlessAdminExists }: { email: string; password: string; unlessAdminExists: boolean },
): Promise<'created' | 'updated' | 'kept'> {
  if (unlessAdminExists && (await hasAdmin(database.db))) return 'kept'
  const passwordHash = await hashPassword(password)
  return database.transaction(async (tx) => {
    const account = await tx
      .selectFrom('accounts')
      .leftJoin('users', 'users.id', 'accounts.id')
      .select(['accounts.id', 'user_type'])
      .where(sql<string>`lower(accounts.email)`, '=', email.toLowerCase())
      .executeTakeFirst()
    const [fname, lname] = ['Admin', 'Admin']
    if (!account) {
      await createAccount(tx, { fname, lname, email, passwordHash, userType: 'admin' })
      return 'created'
    }
    await tx.updateTable('accounts').set({ password_hash: passwordHash }).where('id', '=', account.id).execute()
    if (account.user_type === null) {
      await tx.insertInto('users').values({ id: account.id, fname, lname, email, user_type: 'admin' }).execute()
      await addToCounter(tx, { counter: { of: 'users', userType: 'admin' }, delta: 1 })
    } else if (account.user_type === 'user') {
      await changeUserType(tx, account.id, 'admin')
    }
    await sessions.endAllOf(tx, account.id)
    return 'updated'
  })
}

/** Changes a role and the counters of both; the row's version goes up. */
export async function changeUserType(tx: Transaction<Tables>, id: string, userType: UserType): Promise<void> {
  await tx
    .updateTable('users')
    .set({ user_type: userType, version: sql`version + 1` })
    .where('id', '=', id)
    .execute()
  await addToCounter(tx, { counter: { of: 'users', userType }, delta: 1 })
  await addToCounter(tx, { counter: { of: 'users', userType: userType === 'admin' ? 'user' : 'admin' }, delta: -1 })
}
