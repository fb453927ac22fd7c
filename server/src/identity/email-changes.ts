/**
 * Changes of one's own e-mail address. They take effect when the link to the new address and the one to the present address were both
 * opened and confirmed, within a day; the present address can also cancel. A person has one change at a time, and it ends with whatever ends
 * all of the person's sessions (docs/security.md, One-time secrets).
 */
import { type Kysely, sql, type Transaction } from 'kysely'
import type { EmailChange, EmailChangeState } from '@arcade/contract/emails/calls'
import { type Act, audit } from '#src/audit/audit.ts'
import { Failure } from '#src/calls.ts'
import type { Tables } from '#src/db/tables.ts'
import type { Mails } from '#src/mail/mails.ts'
import { endPasswordLinksFor } from './password-links.ts'
import { endResetsOf } from './password-resets.ts'
import { hashToken, newToken } from './tokens.ts'

const VALID_FOR_HOURS = 24

/**
 * Notes a change, which ends an earlier one, and mails both links.
 * @param user an admin whose rights the caller has locked (`Sessions.lockAdmin`), so that they cannot end at the same time
 */
export async function createEmailChange(
  tx: Transaction<Tables>,
  mails: Mails,
  { user, email }: { user: { id: string; email: string }; email: string },
): Promise<void> {
  const [forNew, forOld] = [newToken(), newToken()]
  await endEmailChange(tx, user.id)
  await tx
    .insertInto('email_changes')
    .values({
      user_id: user.id,
      new_email: email,
      old_email: user.email,
      new_hash: hashToken(forNew),
      old_hash: hashToken(forOld),
      expires_at: sql<Date>`now() + make_interval(hours => ${VALID_FOR_HOURS})`,
    })
    .execute()
  await mails.queue(tx, { to: { email, userId: user.id }, kind: 'confirmEmail', path: pathOf(forNew) })
  const old = { to: { email: user.email, userId: user.id }, kind: 'changedEmail' } as const
  await mails.queue(tx, { ...old, newEmail: email, path: pathOf(forOld) })
}

function pathOf(token: string): string {
  return `/confirm-email?link=${token}`
}

/** SQL for the changes that can still take effect: in time, and the person has the address that the change began with. */
const IS_OPEN = sql<boolean>`expires_at > now() and users.email = old_email`

/** Returns a person's change that waits to be confirmed. */
export async function findEmailChange(db: Kysely<Tables>, userId: string): Promise<EmailChange | null> {
  const row = await db
    .selectFrom('email_changes')
    .innerJoin('users', 'users.id', 'email_changes.user_id')
    .select(['new_email', 'new_confirmed_at', 'old_confirmed_at', 'expires_at'])
    .where('user_id', '=', userId)
    .where(IS_OPEN)
    .executeTakeFirst()
  if (!row) return null
  const { new_email: email, new_confirmed_at: byNew, old_confirmed_at: byOld, expires_at: expires } = row
  return { email, isConfirmedByNew: byNew !== null, isConfirmedByPresent: byOld !== null, expiresAt: expires.toISOString() }
}

interface FoundLink {
  userId: string
  fname: string
  lname: string
  oldEmail: string
  newEmail: string
  isOld: boolean
  isConfirmed: boolean
  isConfirmedByOther: boolean
  isOpen: boolean
}

async function findLink(db: Kysely<Tables>, token: string): Promise<FoundLink | undefined> {
  const hash = hashToken(token)
  const isOld = sql<boolean>`(old_hash = ${hash})`
  return db
    .selectFrom('email_changes')
    .innerJoin('users', 'users.id', 'email_changes.user_id')
    .select(['user_id as userId', 'fname', 'lname', 'old_email as oldEmail', 'new_email as newEmail', isOld.as('isOld')])
    .select([
      sql<boolean>`case when ${isOld} then old_confirmed_at else new_confirmed_at end is not null`.as('isConfirmed'),
      sql<boolean>`case when ${isOld} then new_confirmed_at else old_confirmed_at end is not null`.as('isConfirmedByOther'),
      IS_OPEN.as('isOpen'),
    ])
    .where((where) => where.or([where('new_hash', '=', hash), where('old_hash', '=', hash)]))
    .executeTakeFirst()
}

/** Finds the change of a link, and locks it and its person until the transaction ends. @throws Failure EMAIL_LINK_INVALID */
async function lockLink(tx: Transaction<Tables>, token: string): Promise<FoundLink> {
  const userId = (await findLink(tx, token))?.userId ?? null
  // Locks the user before the change, in the same order as a new role or password does.
  await sql`select from users where id = ${userId} for update`.execute(tx)
  await sql`select from email_changes where user_id = ${userId} for update`.execute(tx)
  const found = await findLink(tx, token)
  if (!found?.isOpen) throw new Failure('EMAIL_LINK_INVALID')
  return found
}

/** Refuses a link that never was one, without a transaction: guests can send very many. @throws Failure EMAIL_LINK_INVALID */
export async function refuseUnknownLink(db: Kysely<Tables>, token: string): Promise<void> {
  if (!(await findLink(db, token))) throw new Failure('EMAIL_LINK_INVALID')
}

/** Returns what a link of a change can do. */
export async function emailChangeState(
  db: Kysely<Tables>,
  token: string,
): Promise<{ state: EmailChangeState; email: string | null; isPresent: boolean }> {
  const found = await findLink(db, token)
  if (!found?.isOpen) return { state: found ? 'expired' : 'replaced', email: null, isPresent: false }
  return { state: found.isConfirmed ? 'confirmed' : 'valid', email: found.newEmail, isPresent: found.isOld }
}

/**
 * Confirms a change by one of its links, and makes it if the other address has confirmed already. It then ends the links to set a password
 * that were mailed to the earlier address.
 * @returns the person whose address has changed; undefined while the other address has not confirmed
 * @throws Failure EMAIL_LINK_INVALID, or by a constraint if somebody has taken the address meanwhile
 */
export async function confirmEmailChange(tx: Transaction<Tables>, act: Act, token: string): Promise<string | undefined> {
  const found = await lockLink(tx, token)
  const { userId, oldEmail, newEmail, isOld, isConfirmedByOther } = found
  if (!isConfirmedByOther) {
    const confirmed = { [isOld ? 'old_confirmed_at' : 'new_confirmed_at']: sql<Date>`now()` }
    await tx.updateTable('email_changes').set(confirmed).where('user_id', '=', userId).execute()
    return undefined
  }
  const { version } = await tx
    .updateTable('users')
    .set({ email: newEmail, version: sql`version + 1` })
    .where('id', '=', userId)
    .returning('version')
    .executeTakeFirstOrThrow()
  await tx.updateTable('accounts').set({ email: newEmail }).where('id', '=', userId).execute()
  await endEmailChange(tx, userId)
  await endResetsOf(tx, userId)
  await endPasswordLinksFor(tx, userId)
  await audit(tx, act, 'user.email', { record: recordOf(found), changes: { email: [oldEmail, newEmail] }, detail: { version } })
  return userId
}

/** Cancels a change by the link to the present address. @throws Failure EMAIL_LINK_INVALID */
export async function cancelEmailChange(tx: Transaction<Tables>, act: Act, token: string): Promise<void> {
  const found = await lockLink(tx, token)
  if (!found.isOld) throw new Failure('EMAIL_LINK_INVALID')
  await endEmailChange(tx, found.userId)
  await audit(tx, act, 'user.email-end', { record: recordOf(found) })
}

function recordOf({ userId, fname, lname }: FoundLink) {
  return { kind: 'user', id: userId, name: `${fname} ${lname}` } as const
}

/** Ends a person's change and the mails about it that were not sent yet. @returns whether there was one */
export async function endEmailChange(tx: Kysely<Tables>, userId: string): Promise<boolean> {
  const { numDeletedRows } = await tx.deleteFrom('email_changes').where('user_id', '=', userId).executeTakeFirstOrThrow()
  if (numDeletedRows === 0n) return false
  const kinds = ['confirmEmail', 'changedEmail']
  await tx.deleteFrom('mails').where('user_id', '=', userId).where('kind', 'in', kinds).where('sent_at', 'is', null).execute()
  return true
}

/** Deletes changes that were not confirmed in time. */
export async function sweepEmailChanges(db: Kysely<Tables>): Promise<void> {
  await sql`delete from email_changes where expires_at < now() - interval '1 day'`.execute(db)
}
