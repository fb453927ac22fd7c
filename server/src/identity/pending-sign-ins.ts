/**
 * Sign-ins that have passed their first step and wait for the second factor. The token is in the session cookie, but is no session's: it is
 * good for the second step alone, for ten minutes and five codes.
 */
import { type Kysely, sql, type Transaction } from 'kysely'
import { Failure } from '#src/calls.ts'
import type { Tables } from '#src/db/tables.ts'
import { hashToken, newToken } from './tokens.ts'

const VALID_FOR_MINUTES = 10
/** Codes that may be tried before the password is asked for again: typing errors are rarely more. */
const CODES_EACH = 5

export interface PendingSignIn {
  userId: string
  /** The hash that the password matched; null if the first step was not a password. */
  passwordHash: string | null
}

/** Begins the wait for the second factor and returns its token. */
export async function beginPendingSignIn(db: Kysely<Tables>, { userId, passwordHash }: PendingSignIn): Promise<string> {
  const token = newToken()
  const expires_at = sql<Date>`now() + make_interval(mins => ${VALID_FOR_MINUTES})`
  await db
    .insertInto('pending_sign_ins')
    .values({ token_hash: hashToken(token), user_id: userId, password_hash: passwordHash, expires_at })
    .execute()
  return token
}

/**
 * Finds a sign-in that waits for the second factor, and counts a code that is about to be checked.
 * @throws Failure SIGN_IN_EXPIRED if it has ended, also by too many codes
 */
export async function tryPendingSignIn(db: Kysely<Tables>, token: string | undefined): Promise<PendingSignIn> {
  const found = await db
    .updateTable('pending_sign_ins')
    .set({ attempts: sql`attempts + 1` })
    .where('token_hash', '=', hashToken(token ?? ''))
    .where('expires_at', '>', sql<Date>`now()`)
    .where('attempts', '<', CODES_EACH)
    .returning(['user_id as userId', 'password_hash as passwordHash'])
    .executeTakeFirst()
  if (!found) throw new Failure('SIGN_IN_EXPIRED')
  return found
}

/** Finds a sign-in that waits for the second factor. @throws Failure SIGN_IN_EXPIRED if it has ended */
export async function findPendingSignIn(db: Kysely<Tables>, token: string | undefined): Promise<PendingSignIn> {
  const found = await db
    .selectFrom('pending_sign_ins')
    .select(['user_id as userId', 'password_hash as passwordHash'])
    .where('token_hash', '=', hashToken(token ?? ''))
    .where('expires_at', '>', sql<Date>`now()`)
    .where('attempts', '<', CODES_EACH)
    .executeTakeFirst()
  if (!found) throw new Failure('SIGN_IN_EXPIRED')
  return found
}

/** Ends the wait because the second factor was proved. @throws Failure SIGN_IN_EXPIRED if it has ended meanwhile */
export async function takePendingSignIn(tx: Transaction<Tables>, token: string | undefined): Promise<void> {
  if (!(await endPendingSignIn(tx, token))) throw new Failure('SIGN_IN_EXPIRED')
}

/** @returns whether it was waiting */
export async function endPendingSignIn(db: Kysely<Tables>, token: string | undefined): Promise<boolean> {
  const { numDeletedRows } = await db
    .deleteFrom('pending_sign_ins')
    .where('token_hash', '=', hashToken(token ?? ''))
    .executeTakeFirstOrThrow()
  return numDeletedRows > 0n
}

/** Ends all sign-ins of a user that wait. */
export async function endPendingSignInsOf(tx: Kysely<Tables>, userId: string): Promise<void> {
  await tx.deleteFrom('pending_sign_ins').where('user_id', '=', userId).execute()
}

/** Deletes sign-ins whose time is over. */
export async function sweepPendingSignIns(db: Kysely<Tables>): Promise<void> {
  await db
    .deleteFrom('pending_sign_ins')
    .where('expires_at', '<', sql<Date>`now()`)
    .execute()
}
