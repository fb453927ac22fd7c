/**
 * Links with which a user sets a new password. An admin makes a link; it works once, within a day. A user has at most one at a time. It ends
 * together with what justifies it: the rights of its maker, and the password and role that the user had (docs/security.md, One-time secrets).
 */
import { type Kysely, sql, type Transaction } from 'kysely'
import type { OpenPasswordLink, PasswordLinkState } from '@arcade/contract/account/calls'
import { Failure } from '#src/calls.ts'
import { idOrderSql } from '#src/db/collations.ts'
import type { Tables } from '#src/db/tables.ts'
import { roleThatCountsOf } from './roles.ts'
import { hashToken, newToken } from './tokens.ts'

const VALID_FOR_HOURS = 24

/**
 * Makes the path `/set-password?link=…` for a user and ends an earlier one.
 * @param madeBy an admin whose rights the caller has locked (`Sessions.lockAdmin`), so that they cannot end at the same time
 * @throws Failure NO_SUCH_USER by its constraint
 */
export async function createPasswordLink(
  tx: Transaction<Tables>,
  { userId, madeBy }: { userId: string; madeBy: string },
): Promise<{ path: string; expiresAt: string }> {
  const token = newToken()
  const expiresAt = sql<Date>`now() + make_interval(hours => ${VALID_FOR_HOURS})`
  const link = { token_hash: hashToken(token), made_by: madeBy, expires_at: expiresAt, used_at: null }
  const { expires_at: expires } = await tx
    .insertInto('password_links')
    .values({ user_id: userId, ...link })
    .onConflict((conflict) => conflict.column('user_id').doUpdateSet(link))
    .returning('expires_at')
    .executeTakeFirstOrThrow()
  return { path: `/set-password?link=${token}`, expiresAt: expires.toISOString() }
}

/** SQL for the links that work. The maker is checked again in case a change of the role did not end the links. */
const IS_OPEN = sql<boolean>`used_at is null and expires_at > now()
  and exists (select from users as makers where makers.id = made_by and makers.user_type = 'admin')`

/** Returns whose link it is, or why it cannot be used. */
export async function passwordLinkState(
  db: Kysely<Tables>,
  token: string,
): Promise<{ state: PasswordLinkState; email: string | null }> {
  const link = await db
    .selectFrom('password_links')
    .innerJoin('users', 'users.id', 'password_links.user_id')
    .select(['email', 'used_at', sql<boolean>`expires_at > now()`.as('isInTime'), IS_OPEN.as('isOpen')])
    .where('token_hash', '=', hashToken(token))
    .executeTakeFirst()
  if (link?.isOpen) return { state: 'valid', email: link.email }
  if (link?.used_at) return { state: 'used', email: null }
  return { state: link && !link.isInTime ? 'expired' : 'replaced', email: null }
}

/** Uses up a link and returns whose it was. @throws Failure PASSWORD_LINK_INVALID */
export async function spendPasswordLink(tx: Transaction<Tables>, token: string): Promise<{ userId: string; email: string }> {
  const used = await tx
    .updateTable('password_links')
    .set({ used_at: sql<Date>`now()` })
    .from('users')
    .whereRef('users.id', '=', 'password_links.user_id')
    .where('token_hash', '=', hashToken(token))
    .where(IS_OPEN)
    .returning(['password_links.user_id as userId', 'users.email'])
    .executeTakeFirst()
  if (!used) throw new Failure('PASSWORD_LINK_INVALID')
  return used
}

/** Returns the links that work, those that end first at the top. */
export async function openPasswordLinks(db: Kysely<Tables>): Promise<OpenPasswordLink[]> {
  const rows = await db
    .selectFrom('password_links')
    .innerJoin('users as owner', 'owner.id', 'password_links.user_id')
    .innerJoin('users as maker', 'maker.id', 'password_links.made_by')
    .select(['owner.id', 'owner.email', 'expires_at'])
    .select([
      sql<string>`owner.fname || ' ' || owner.lname`.as('name'),
      roleThatCountsOf('owner').as('role'),
      sql<string>`maker.fname || ' ' || maker.lname`.as('madeBy'),
    ])
    .where(IS_OPEN)
    .orderBy('expires_at')
    .orderBy(sql.raw(idOrderSql('owner.id')))
    .execute()
  return rows.map(({ expires_at: expires, ...link }) => ({ ...link, expiresAt: expires.toISOString() }))
}

/** Ends the link for a user. @returns whether it still worked */
export async function endPasswordLink(tx: Transaction<Tables>, userId: string): Promise<boolean> {
  const { numDeletedRows } = await tx
    .deleteFrom('password_links')
    .where('user_id', '=', userId)
    .where(IS_OPEN)
    .executeTakeFirstOrThrow()
  return numDeletedRows > 0n
}

/** Ends the links that a user made. */
export async function endPasswordLinksBy(tx: Kysely<Tables>, userId: string): Promise<void> {
  await tx.deleteFrom('password_links').where('made_by', '=', userId).where('used_at', 'is', null).execute()
}

/** Ends the link for a user. A used one stays, so that its page can say that it was used. */
export async function endPasswordLinksFor(tx: Kysely<Tables>, userId: string): Promise<void> {
  await tx.deleteFrom('password_links').where('user_id', '=', userId).where('used_at', 'is', null).execute()
}
