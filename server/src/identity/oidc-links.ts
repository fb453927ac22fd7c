/**
 * Accounts of the sign-in service that people have linked, and browsers that were sent there (oidc_links, oidc_flows). Only who is signed in
 * links an account, never an e-mail address: the service may not have checked it.
 */
import { type Kysely, sql, type Transaction } from 'kysely'
import type { SessionUser } from '@arcade/contract/auth/calls'
import { Failure } from '#src/calls.ts'
import type { Tables } from '#src/db/tables.ts'
import { JOIN_SETTINGS, type PersonRow, sessionUserOf } from './roles.ts'
import type { Identity } from './sign-in-service.ts'
import { hashToken, newToken } from './tokens.ts'

const VALID_FOR_MINUTES = 10
/** For how long the cookie of a browser that was sent to the service is kept. */
export const FLOW_SECONDS = VALID_FOR_MINUTES * 60

/** What a browser was sent to the service for. The state begins with it, so that the page to which it comes back knows what to call. */
type FlowPurpose = 'link' | 'sign-in'

export interface Flow {
  /** Goes to the service and back, in addresses. */
  state: string
  /** Stays in a cookie of the browser. */
  browser: string
}

/** Notes that a browser is sent to the service. @param userId who links an account; null for somebody who signs in */
export async function beginFlow(db: Kysely<Tables>, userId: string | null): Promise<Flow> {
  const flow = { state: `${purposeOf(userId)}.${newToken()}`, browser: newToken() }
  const expires_at = sql<Date>`now() + make_interval(mins => ${VALID_FOR_MINUTES})`
  await db
    .insertInto('oidc_flows')
    .values({ state_hash: hashToken(flow.state), browser_hash: hashToken(flow.browser), user_id: userId, expires_at })
    .execute()
  return flow
}

function purposeOf(userId: string | null): FlowPurpose {
  return userId === null ? 'sign-in' : 'link'
}

/**
 * Uses up the flow of a browser that has come back, whatever the service answered. It is not used up by another browser, which an attacker
 * may have sent here with the attacker's own address.
 * @throws Failure OIDC_EXPIRED if it is unknown, used, expired, of another browser, or was begun for another purpose or by another person
 */
export async function takeFlow(
  db: Kysely<Tables>,
  { state, browser = '' }: { state: string; browser: string | undefined },
  userId: string | null,
): Promise<void> {
  const { rows } = await sql`
    delete from oidc_flows
     where state_hash = ${hashToken(state)} and browser_hash = ${hashToken(browser)}
       and user_id is not distinct from ${userId} and expires_at > now()
    returning state_hash`.execute(db)
  if (rows.length === 0) throw new Failure('OIDC_EXPIRED')
}

/** Deletes flows whose time is over. */
export async function sweepFlows(db: Kysely<Tables>): Promise<void> {
  await db
    .deleteFrom('oidc_flows')
    .where('expires_at', '<', sql<Date>`now()`)
    .execute()
}

/** An account of the service. */
export type LinkedIdentity = Pick<Identity, 'subject'> & { issuer: string }

/**
 * Links an account. One that was linked at another issuer, which this console does not ask any more, is replaced.
 * @throws Failure OIDC_LINKED or OIDC_TAKEN, by the constraints
 */
export async function addLink(
  tx: Transaction<Tables>,
  userId: string,
  { issuer, subject, name }: LinkedIdentity & Identity,
): Promise<void> {
  await tx.deleteFrom('oidc_links').where('user_id', '=', userId).where('issuer', '<>', issuer).execute()
  await tx.insertInto('oidc_links').values({ user_id: userId, issuer, subject, name }).execute()
}

/** Unlinks a person's account. @returns its name @throws Failure OIDC_NO_LINK */
export async function removeLink(tx: Transaction<Tables>, userId: string): Promise<string | null> {
  const removed = await tx.deleteFrom('oidc_links').where('user_id', '=', userId).returning('name').executeTakeFirst()
  if (!removed) throw new Failure('OIDC_NO_LINK')
  return removed.name
}

/** Returns a person's link at an issuer. */
export async function linkOf(
  db: Kysely<Tables>,
  userId: string,
  issuer: string,
): Promise<{ name: string | null; linkedAt: string; lastUsedAt: string | null } | null> {
  const row = await db
    .selectFrom('oidc_links')
    .select(['name', 'linked_at', 'last_used_at'])
    .where('user_id', '=', userId)
    .where('issuer', '=', issuer)
    .executeTakeFirst()
  if (!row) return null
  return { name: row.name, linkedAt: row.linked_at.toISOString(), lastUsedAt: row.last_used_at?.toISOString() ?? null }
}

/** Returns whether an account is linked to a person, and keeps it so until the transaction ends. */
export async function isLinked(tx: Transaction<Tables>, userId: string, { issuer, subject }: LinkedIdentity): Promise<boolean> {
  const { rows } = await sql`
    select from oidc_links where user_id = ${userId} and issuer = ${issuer} and subject = ${subject} for key share`.execute(tx)
  return rows.length > 0
}

/** Notes the use of an account and returns the person to whom it is linked. */
export async function ownerOfLink(db: Kysely<Tables>, { issuer, subject }: LinkedIdentity): Promise<SessionUser | undefined> {
  const { rows } = await sql<PersonRow>`
    with used as (
      update oidc_links set last_used_at = now() where issuer = ${issuer} and subject = ${subject} returning user_id)
    select u.id, u.fname, u.lname, u.email, u.user_type, u.role, r.sees_personal, false as lacks_factor
      from used join users u on u.id = used.user_id ${sql.raw(JOIN_SETTINGS)}`.execute(db)
  return rows[0] && sessionUserOf(rows[0])
}
