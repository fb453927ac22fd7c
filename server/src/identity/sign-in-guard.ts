/**
 * Limits sign-in attempts in a way that a stranger cannot use to lock a person out (security.md, Sessions). A device or address from which
 * the person has signed in before has a limit of its own; attempts from elsewhere share the limits of the account and of their address.
 * Reached limits are logged and audited.
 */
import { createHash } from 'node:crypto'
import { sql } from 'kysely'
import type { Logger } from 'pino'
import { actOf, audit } from '#src/audit/audit.ts'
import type { CallContext } from '#src/calls.ts'
import type { Database } from '#src/db/database.ts'
import { type Attempts, type Limit, limits } from './attempts.ts'
import type { Devices } from './devices.ts'

const ADDRESSES_EACH = 50
const ADDRESS_DAYS = 180

export interface SignInGuard {
  /**
   * Counts an attempt before its password is checked.
   * @param userId the user with this e-mail address, if there is one
   * @throws Failure TOO_MANY_ATTEMPTS
   */
  begin(context: CallContext, attempt: { email: string; userId: string | undefined }): Promise<SignInAttempt>
  /** Remembers that the user has signed in from the caller's address and device. */
  remember(context: CallContext, userId: string): Promise<void>
  /** Deletes addresses that were not used for a long time. */
  sweep(): Promise<void>
}

export interface SignInAttempt {
  /** Counts the attempt as successful, because the password was right. @throws Failure TOO_MANY_ATTEMPTS for too many of those */
  succeed(): Promise<void>
}

export function createSignInGuard({
  database,
  attempts,
  devices,
  log,
}: {
  database: Database
  attempts: Attempts
  devices: Devices
  log: Logger
}): SignInGuard {
  const { db } = database
  return {
    async begin(context, { email, userId }) {
      const counted = await limitsFor(context, email, userId)
      for (const [limit, subject] of counted) await attempts.count(limit, subject, () => tell(context, limit, userId))
      return {
        async succeed() {
          for (const [limit, subject] of counted) await attempts.forgive(limit, subject)
          await attempts.count(limits.signInsOfUser, userId ?? '', () => tell(context, limits.signInsOfUser, userId))
        },
      }
    },

    async remember(context, userId) {
      context.setDeviceCookie(devices.sign(userId))
      await database.transaction(async (tx) => {
        await sql`insert into known_addresses (user_id, address_hash) values (${userId}, ${hashAddress(context.address)})
          on conflict (user_id, address_hash) do update set seen_at = now()`.execute(tx)
        await sql`delete from known_addresses where user_id = ${userId} and address_hash in (
          select address_hash from known_addresses where user_id = ${userId} order by seen_at desc offset ${ADDRESSES_EACH})`.execute(
          tx,
        )
      })
    },

    async sweep() {
      await sql`delete from known_addresses where seen_at < now() - make_interval(days => ${ADDRESS_DAYS})`.execute(db)
    },
  }

  async function limitsFor(context: CallContext, email: string, userId: string | undefined): Promise<[Limit, string][]> {
    if (userId !== undefined) {
      const device = devices.idOf(context.deviceCookie, userId)
      if (device !== undefined) return [[limits.signInFromKnown, `${userId} device ${device}`]]
      if (await isKnownAddress(userId, context.address)) return [[limits.signInFromKnown, `${userId} address ${context.address}`]]
    }
    return [
      [limits.signInByAddress, context.address],
      [limits.signInByAccount, email],
    ]
  }

  async function isKnownAddress(userId: string, address: string): Promise<boolean> {
    const { rows } = await sql`
      select from known_addresses where user_id = ${userId} and address_hash = ${hashAddress(address)}
        and seen_at > now() - make_interval(days => ${ADDRESS_DAYS})`.execute(db)
    return rows.length > 0
  }

  /** Records a reached limit, once in a window. The audit entry names the account, so that operators see which one is attacked. */
  async function tell(context: CallContext, limit: Limit, userId: string | undefined): Promise<void> {
    const { requestId, address } = context
    log.warn({ event: 'sign-in-limited', limit: limit.name, userId, address, requestId }, 'too many attempts to sign in')
    const record = userId === undefined ? {} : { record: { kind: 'user', id: userId } as const }
    await audit(db, actOf(context), 'session.limit', { ...record, detail: { limit: limit.name } })
  }
}

/** Returns the hash of an address: the table contains no addresses. */
function hashAddress(address: string): Buffer {
  return createHash('sha256').update(address).digest()
}
