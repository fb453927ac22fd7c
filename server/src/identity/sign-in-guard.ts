/**
 * Limits sign-in attempts in a way that a stranger cannot use to lock a person out (security.md, Sessions). A device or address from which
 * the person has signed in before has a limit of its own; attempts from elsewhere share the limits of the account and of their address.
 * Reached limits are logged and audited.
 */
import { createHash } from 'node:crypto'
import { sql, type Transaction } from 'kysely'
import type { Logger } from 'pino'
import { actOf, audit } from '#src/audit/audit.ts'
import type { CallContext } from '#src/calls.ts'
import type { Database } from '#src/db/database.ts'
import type { Tables } from '#src/db/tables.ts'
import { type Attempts, type Limit, limits } from './attempts.ts'
import type { Mails } from '#src/mail/mails.ts'
import type { Devices } from './devices.ts'
import type { PendingSignIn } from './pending-sign-ins.ts'

const ADDRESSES_EACH = 50
const ADDRESS_DAYS = 180

export interface SignInGuard {
  /**
   * Counts an attempt before its password or passkey is checked.
   * @throws Failure TOO_MANY_ATTEMPTS
   */
  begin(context: CallContext, claimed: ClaimedIdentity): Promise<SignInAttempt>
  /**
   * Counts a code of an app before it is checked, after the password was right. Recovery codes are not counted: nobody guesses them, and they
   * let their owner in while somebody who knows the password uses up the limit.
   * @returns an attempt whose success counts for the password too @throws Failure TOO_MANY_ATTEMPTS
   */
  beginCode(context: CallContext, signIn: PendingSignIn & { email: string }, isCounted: boolean): Promise<SignInAttempt>
  /** Counts a guest who asks for a passkey's challenge, or to be sent to the sign-in service. @throws Failure TOO_MANY_ATTEMPTS */
  countSignInStart(context: CallContext): Promise<void>
  /**
   * Remembers that the user has signed in from the caller's address and device. Mails an admin whose device is new.
   * @param isFirst true for the session with which an account begins
   */
  remember(context: CallContext, userId: string, options?: { isFirst?: boolean }): Promise<void>
  /** Deletes addresses that were not used for a long time. */
  sweep(): Promise<void>
}

/** Who somebody claims to be. */
interface ClaimedIdentity {
  /** Undefined for a passkey and an account of the sign-in service: nobody can guess one, so the account needs no limit. */
  email: string | undefined
  /** The user with this e-mail address, passkey or account of the sign-in service, if there is one. */
  userId: string | undefined
}

export interface SignInAttempt {
  /** Counts the attempt as successful, because password, code or passkey was right. @throws Failure TOO_MANY_ATTEMPTS for too many of those */
  succeed(): Promise<void>
}

interface SignInGuardServices {
  database: Database
  attempts: Attempts
  devices: Devices
  mails: Mails
  log: Logger
}

export function createSignInGuard(services: SignInGuardServices): SignInGuard {
  const { database, attempts, devices, mails } = services
  const count = async (context: CallContext, counted: LimitedSubject[], userId: string | undefined): Promise<void> => {
    for (const [limit, subject] of counted)
      await attempts.count(limit, subject, () => recordReached(services, context, { limit, userId }))
  }
  const attemptOf = (context: CallContext, counted: LimitedSubject[], userId: string | undefined): SignInAttempt => ({
    async succeed() {
      for (const [limit, subject] of counted) await attempts.uncount(limit, subject)
      await count(context, [[limits.signInsOfUser, userId ?? '']], userId)
    },
  })
  return {
    async begin(context, claimed) {
      const counted = await limitsFor(services, context, claimed)
      await count(context, counted, claimed.userId)
      return attemptOf(context, counted, claimed.userId)
    },

    async beginCode(context, { email, userId, passwordHash }, isCounted) {
      const subject = await knownSubject(services, context, userId)
      const code: LimitedSubject = subject === undefined ? [limits.codeByAccount, userId] : [limits.codeFromKnown, subject]
      const codes = isCounted ? [code] : []
      const claimed = { email: passwordHash === null ? undefined : email.toLowerCase(), userId }
      await count(context, codes, userId)
      return attemptOf(context, [...codes, ...(await limitsFor(services, context, claimed))], userId)
    },

    async countSignInStart({ address, deviceCookie }) {
      // A known device has a limit of its own, so that others at its address cannot use it up.
      const subject = devices.isKnown(deviceCookie) ? `device ${deviceCookie}` : address
      await attempts.count(limits.signInStarts, subject)
    },

    async remember(context, userId, { isFirst = false } = {}) {
      const isNewDevice = !isFirst && devices.idOf(context.deviceCookie, userId) === undefined
      context.setDeviceCookie(devices.sign(userId))
      await database.transaction(async (tx) => {
        await sql`insert into known_addresses (user_id, address_hash) values (${userId}, ${hashAddress(context.address)})
          on conflict (user_id, address_hash) do update set seen_at = now()`.execute(tx)
        await sql`delete from known_addresses where user_id = ${userId} and address_hash in (
          select address_hash from known_addresses where user_id = ${userId} order by seen_at desc offset ${ADDRESSES_EACH})`.execute(
          tx,
        )
        // Not for the type user: anybody can register with the address of somebody else, and could have mails sent to it.
        if (isNewDevice && (await isAdmin(tx, userId)))
          await mails.queue(tx, { to: { userId }, kind: 'newDevice', act: actOf(context) })
      })
    },

    async sweep() {
      await sql`delete from known_addresses where seen_at < now() - make_interval(days => ${ADDRESS_DAYS})`.execute(database.db)
    },
  }
}

async function isAdmin(tx: Transaction<Tables>, userId: string): Promise<boolean> {
  const user = await tx.selectFrom('users').select('user_type').where('id', '=', userId).executeTakeFirst()
  return user?.user_type === 'admin'
}

/** A limit with its subject: whose attempts are counted together. */
type LimitedSubject = [Limit, subject: string]

/** Returns the limits that an attempt counts for. */
async function limitsFor(
  services: SignInGuardServices,
  context: CallContext,
  { email, userId }: ClaimedIdentity,
): Promise<LimitedSubject[]> {
  const subject = userId === undefined ? undefined : await knownSubject(services, context, userId)
  if (subject !== undefined) return [[limits.signInFromKnown, subject]]
  const ofAddress: LimitedSubject = [limits.signInByAddress, context.address]
  return email === undefined ? [ofAddress] : [ofAddress, [limits.signInByAccount, email]]
}

/** Returns the device or address of a call, if the user has signed in from it before. */
async function knownSubject(
  { database, devices }: SignInGuardServices,
  { address, deviceCookie }: CallContext,
  userId: string,
): Promise<string | undefined> {
  const device = devices.idOf(deviceCookie, userId)
  if (device !== undefined) return `${userId} device ${device}`
  return (await isKnownAddress(database, userId, address)) ? `${userId} address ${address}` : undefined
}

async function isKnownAddress({ db }: Database, userId: string, address: string): Promise<boolean> {
  const { rows } = await sql`
    select from known_addresses where user_id = ${userId} and address_hash = ${hashAddress(address)}
      and seen_at > now() - make_interval(days => ${ADDRESS_DAYS})`.execute(db)
  return rows.length > 0
}

/** Records a reached limit, once in a window. The audit entry names the account, so that operators see which one is attacked. */
async function recordReached(
  { database, log }: SignInGuardServices,
  context: CallContext,
  { limit, userId }: { limit: Limit; userId: string | undefined },
): Promise<void> {
  const { requestId, address } = context
  log.warn({ event: 'sign-in-limited', limit: limit.name, userId, address, requestId }, 'Too many attempts to sign in')
  const record = userId === undefined ? {} : { record: { kind: 'user', id: userId } as const }
  await audit(database.db, actOf(context), 'session.limit', { ...record, detail: { limit: limit.name } })
}

/** Returns the hash of an address, so that nobody reads addresses by chance. Somebody who has the table can try all of them. */
function hashAddress(address: string): Buffer {
  return createHash('sha256').update(address).digest()
}
