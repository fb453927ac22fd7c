/** Links with which a user sets a new password. An admin makes a link; it works once. A user has at most one at a time. */
import { randomBytes } from 'node:crypto'
import { type Kysely, sql, type Transaction } from 'kysely'
import type { PasswordLinkState } from '@arcade/contract/account/calls'
import { Failure } from '#src/calls.ts'
import type { Tables } from '#src/db/tables.ts'
import { hashToken } from './sessions.ts'

const VALID_FOR_HOURS = 24

/** Makes the path `/set-password?link=…` for a user and ends an earlier one. @throws Failure NO_SUCH_USER by its constraint */
export async function createPasswordLink(tx: Transaction<Tables>, userId: string): Promise<{ path: string; expiresAt: string }> {
  const token = randomBytes(32).toString('base64url')
  const expiresAt = sql<Date>`now() + make_interval(hours => ${VALID_FOR_HOURS})`
  const link = { token_hash: hashToken(token), expires_at: expiresAt, used_at: null }
  const { expires_at: expires } = await tx
    .insertInto('password_links')
    .values({ user_id: userId, ...link })
    .onConflict((conflict) => conflict.column('user_id').doUpdateSet(link))
    .returning('expires_at')
    .executeTakeFirstOrThrow()
  return { path: `/set-password?link=${token}`, expiresAt: expires.toISOString() }
}

/** Returns whose link it is, or why it cannot be used. */
export async function passwordLinkState(
  db: Kysely<Tables>,
  token: string,
): Promise<{ state: PasswordLinkState; email: string | null }> {
  const link = await db
    .selectFrom('password_links')
    .innerJoin('users', 'users.id', 'password_links.user_id')
    .select(['email', 'used_at', sql<boolean>`expires_at > now()`.as('isInTime')])
    .where('token_hash', '=', hashToken(token))
    .executeTakeFirst()
  if (!link) return { state: 'replaced', email: null }
  const state = link.used_at ? 'used' : link.isInTime ? 'valid' : 'expired'
  return { state, email: state === 'valid' ? link.email : null }
}

/** Uses up a link and returns whose it was. @throws Failure PASSWORD_LINK_INVALID */
export async function spendPasswordLink(tx: Transaction<Tables>, token: string): Promise<{ userId: string; email: string }> {
  const used = await tx
    .updateTable('password_links')
    .set({ used_at: sql<Date>`now()` })
    .from('users')
    .whereRef('users.id', '=', 'password_links.user_id')
    .where('token_hash', '=', hashToken(token))
    .where('used_at', 'is', null)
    .where('expires_at', '>', sql<Date>`now()`)
    .returning(['password_links.user_id as userId', 'users.email'])
    .executeTakeFirst()
  if (!used) throw new Failure('PASSWORD_LINK_INVALID')
  return used
}
