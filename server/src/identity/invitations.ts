/**
 * Invitations: links with which a person without an account makes one that has a role. A link works once, within 72 hours, and there is one
 * for an e-mail address at a time. It ends together with what justifies it, the rights of its maker (docs/security.md, One-time secrets).
 */
import { type Kysely, type RawBuilder, sql, type Transaction } from 'kysely'
import type { InvitationState, OpenInvitation } from '@arcade/contract/invitations/calls'
import type { Role } from '@arcade/contract/team/fields'
import { Failure } from '#src/calls.ts'
import { idOrderSql, lower } from '#src/db/collations.ts'
import type { Tables } from '#src/db/tables.ts'
import { hashToken, newToken } from './tokens.ts'

const VALID_FOR_HOURS = 72
/** Days after its end for which an unused invitation is still listed, so that it can be sent again. */
const KEPT_DAYS = 30

export interface Invitation {
  id: string
  email: string
  /** Null for an account of the type user. */
  role: Role | null
}

export interface MadeInvitation extends Invitation {
  path: string
  expiresAt: string
  /** The role of the earlier link for the address that has ended by it; undefined if there was none. */
  replaced?: Role | null
}

const EXPIRES_AT = sql<Date>`now() + make_interval(hours => ${VALID_FOR_HOURS})`

/** SQL for the end of a query over invitations: nobody has the address, as it could be after a registration. */
const IS_FREE = sql<boolean>`not exists (select from users where ${lower(sql.ref('users.email'))} = ${lower(sql.ref('invitations.email'))})
  and not exists (select from accounts where ${lower(sql.ref('accounts.email'))} = ${lower(sql.ref('invitations.email'))})`

/** SQL for the invitations that can be used. The maker is checked again in case a change of the role did not end them. */
const IS_OPEN = sql<boolean>`used_at is null and expires_at > now() and ${IS_FREE}
  and exists (select from users as makers where makers.id = made_by and makers.user_type = 'admin')`

/**
 * Makes an invitation and ends an earlier one for the same e-mail address.
 * @param madeBy an admin whose rights the caller has locked (`Sessions.lockAdmin`), so that they cannot end at the same time
 * @throws Failure EMAIL_TAKEN if there is an account with the address
 */
export async function createInvitation(
  tx: Transaction<Tables>,
  { email, role, madeBy }: { email: string; role: Role | null; madeBy: string },
): Promise<MadeInvitation> {
  const token = newToken()
  // Deleted and not overwritten: a new id, so that what is still queued for the earlier link goes with it.
  const [earlier] = await tx
    .deleteFrom('invitations')
    .where(lower(sql.ref('email')), '=', email.toLowerCase())
    .returning(['role', sql<boolean>`expires_at > now()`.as('wasGood')])
    .execute()
  const { id, expires_at: expires } = await tx
    .insertInto('invitations')
    .values({ email, role, token_hash: hashToken(token), made_by: madeBy, expires_at: EXPIRES_AT })
    .returning(['id', 'expires_at'])
    .executeTakeFirstOrThrow()
  const free = await tx.selectFrom('invitations').select('id').where('id', '=', id).where(IS_FREE).executeTakeFirst()
  if (!free) throw new Failure('EMAIL_TAKEN', { fields: { email: 'This email is in use already' } })
  const made = { id, email, role, path: pathOf(token), expiresAt: expires.toISOString() }
  return earlier?.wasGood ? { ...made, replaced: earlier.role } : made
}

/** Returns an invitation that was not used, and keeps it as it is until the transaction ends. @throws Failure NO_SUCH_INVITATION */
export async function lockInvitation(tx: Transaction<Tables>, id: string): Promise<Invitation> {
  const found = await tx
    .selectFrom('invitations')
    .select(['id', 'email', 'role'])
    .where('id', '=', id)
    .where('used_at', 'is', null)
    .where(IS_FREE)
    .forUpdate()
    .executeTakeFirst()
  if (!found || found.email === null) throw new Failure('NO_SUCH_INVITATION')
  return { ...found, email: found.email }
}

/** Gives a locked invitation a new link, for 72 hours anew, and ends the earlier one. From then on it depends on the rights of `madeBy`. */
export async function renewInvitation(tx: Transaction<Tables>, invitation: Invitation, madeBy: string): Promise<MadeInvitation> {
  const token = newToken()
  const { expires_at: expires } = await tx
    .updateTable('invitations')
    .set({ token_hash: hashToken(token), made_by: madeBy, made_at: sql<Date>`now()`, expires_at: EXPIRES_AT })
    .where('id', '=', invitation.id)
    .returning('expires_at')
    .executeTakeFirstOrThrow()
  // A mail with the earlier link that is still queued would only mislead.
  await tx.deleteFrom('mails').where('invitation_id', '=', invitation.id).execute()
  return { ...invitation, path: pathOf(token), expiresAt: expires.toISOString(), replaced: invitation.role }
}

function pathOf(token: string): string {
  return `/invitation?link=${token}`
}

/** Returns for whom an invitation is, or why it cannot be used. */
export async function invitationState(
  db: Kysely<Tables>,
  token: string,
): Promise<{ state: InvitationState; email: string | null; role: Role | 'user' | null }> {
  const found = await db
    .selectFrom('invitations')
    .select(['email', 'role', 'used_at', sql<boolean>`expires_at > now()`.as('isInTime'), IS_OPEN.as('isOpen')])
    .where('token_hash', '=', hashToken(token))
    .executeTakeFirst()
  if (found?.isOpen) return { state: 'valid', email: found.email, role: found.role ?? 'user' }
  const state = found?.used_at ? 'used' : found && !found.isInTime ? 'expired' : 'replaced'
  return { state, email: null, role: null }
}

/** Uses up an invitation. @throws Failure INVITATION_INVALID */
export async function spendInvitation(tx: Transaction<Tables>, token: string): Promise<Invitation> {
  const hash = hashToken(token)
  const found = await tx
    .selectFrom('invitations')
    .select(['id', 'email', 'role'])
    .where('token_hash', '=', hash)
    .where(IS_OPEN)
    .forUpdate()
    .executeTakeFirst()
  if (!found || found.email === null) throw new Failure('INVITATION_INVALID')
  await tx
    .updateTable('invitations')
    .set({ used_at: sql<Date>`now()`, email: null })
    .where('id', '=', found.id)
    .execute()
  await tx.deleteFrom('mails').where('invitation_id', '=', found.id).execute()
  return { ...found, email: found.email }
}

/** Returns the invitations that were not used, the newest first; those that have expired can be sent again. */
export async function openInvitations(db: Kysely<Tables>): Promise<OpenInvitation[]> {
  const rows = await db
    .selectFrom('invitations')
    .innerJoin('users as maker', 'maker.id', 'invitations.made_by')
    .select(['invitations.id', 'invitations.email', 'invitations.role', 'made_at', 'expires_at'])
    .select([sql<string>`maker.fname || ' ' || maker.lname`.as('madeBy'), sql<boolean>`expires_at <= now()`.as('isExpired')])
    .select(LAST_MAIL.as('mail'))
    .where('used_at', 'is', null)
    .where(IS_FREE)
    .orderBy('made_at', 'desc')
    .orderBy(sql.raw(idOrderSql('invitations.id::text')))
    .execute()
  return rows.map(({ id, email, role, made_at: made, expires_at: expires, madeBy, isExpired, mail }) => ({
    id,
    email: email ?? '',
    role: role ?? 'user',
    madeBy,
    madeAt: made.toISOString(),
    expiresAt: expires.toISOString(),
    isExpired,
    mail,
  }))
}

/** SQL for what became of the mail with the present link; null if none was queued, or if it was so long ago that it is not known. */
const LAST_MAIL = sql<OpenInvitation['mail']>`(
  select case when sent_at is not null then 'sent' when given_up_at is not null then 'failed' else 'queued' end
    from mails where invitation_id = invitations.id order by created_at desc limit 1)`

/** Deletes an invitation that was not used. @returns it, or undefined if there is none */
export async function endInvitation(tx: Transaction<Tables>, id: string): Promise<Invitation | undefined> {
  const ended = await tx
    .deleteFrom('invitations')
    .where('id', '=', id)
    .where('used_at', 'is', null)
    .returning(['id', 'email', 'role'])
    .executeTakeFirst()
  return ended && { ...ended, email: ended.email ?? '' }
}

/** Ends the invitations that a user made. Used ones stay, so that their page can say that they were used. */
export async function endInvitationsBy(tx: Kysely<Tables>, userId: string): Promise<void> {
  await tx.deleteFrom('invitations').where('made_by', '=', userId).where('used_at', 'is', null).execute()
}

/** Ends the invitations for people who are about to be removed, so that none works again when its address is free. */
export async function endInvitationsFor(tx: Kysely<Tables>, users: RawBuilder<boolean>): Promise<void> {
  await sql`delete from invitations where ${lower(sql.ref('email'))} in (select ${lower(sql.ref('email'))} from users where ${users})`.execute(
    tx,
  )
}

/** Deletes invitations that ended long ago. */
export async function sweepInvitations(db: Kysely<Tables>): Promise<void> {
  await sql`delete from invitations where expires_at < now() - make_interval(days => ${KEPT_DAYS})`.execute(db)
}
