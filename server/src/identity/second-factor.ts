/**
 * The second factor of a person: an authenticator app (TOTP), passkeys (passkeys.ts) and recovery codes. A code counts once, on all
 * servers: a condition of the UPDATE or DELETE decides. Hides the tables, encryption and hashes.
 */
import { type Kysely, sql, type Transaction } from 'kysely'
import { RECOVERY_CODES, STEP_UP_MINUTES, type SecondFactorMethod } from '@arcade/contract/second-factor/fields'
import { type CallContext, Failure } from '#src/calls.ts'
import type { Tables } from '#src/db/tables.ts'
import type { SecretKey } from '#src/webhooks/secret-key.ts'
import { endPasskeysOf } from './own-passkeys.ts'
import { hashToken } from './tokens.ts'
import { newTotpSecret, stepOfCode, totpUri } from './totp.ts'
import { hashTypedCode, newTypedCode } from './typed-codes.ts'

/** Characters of a recovery code: 80 bits, which nobody guesses. */
const RECOVERY_CODE_LENGTH = 16
/** Minutes within which a new secret must be confirmed. */
const SET_UP_MINUTES = 60

/** SQL for whether the person of `users u` has a second factor. A recovery code alone is none. */
export const HAS_SECOND_FACTOR = `(exists (select from totp_secrets where user_id = u.id and confirmed_at is not null)
  or exists (select from passkeys where user_id = u.id))`

/** What a person can prove the second factor with. */
export interface FactorState {
  methods: SecondFactorMethod[]
  totpConfirmedAt: Date | null
  recoveryCodesLeft: number
}

export async function readFactors(db: Kysely<Tables>, userId: string): Promise<FactorState> {
  const { rows } = await sql<{ confirmedAt: Date | null; hasPasskey: boolean; codes: number }>`
    select (select confirmed_at from totp_secrets where user_id = ${userId}) as "confirmedAt",
           exists (select from passkeys where user_id = ${userId}) as "hasPasskey",
           (select count(*) from recovery_codes where user_id = ${userId}) as codes`.execute(db)
  const { confirmedAt = null, hasPasskey = false, codes = 0 } = rows[0] ?? {}
  const main: SecondFactorMethod[] = [...(confirmedAt ? ['totp' as const] : []), ...(hasPasskey ? ['passkey' as const] : [])]
  const methods: SecondFactorMethod[] = main.length > 0 && codes > 0 ? [...main, 'recovery'] : main
  return { methods, totpConfirmedAt: confirmedAt, recoveryCodesLeft: codes }
}

/** Returns what a person can prove the second factor with; empty for a person without one. */
export async function methodsOf(db: Kysely<Tables>, userId: string): Promise<SecondFactorMethod[]> {
  return (await readFactors(db, userId)).methods
}

/**
 * Asks for a fresh proof before a weighty act: calls that the contract marks, and what only a handler knows to be weighty.
 * @throws Failure STEP_UP_NEEDED if a person has a second factor and has not proved it in this session within STEP_UP_MINUTES
 */
export async function refuseWithoutStepUp(
  db: Kysely<Tables>,
  { caller, sessionToken = '' }: Pick<CallContext, 'caller' | 'sessionToken'>,
): Promise<void> {
  if (caller.kind !== 'user') return
  const methods = await methodsOf(db, caller.user.id)
  if (methods.length === 0) return
  const { rows } = await sql`
    select from sessions where token_hash = ${hashToken(sessionToken)}
       and second_factor_at > now() - make_interval(mins => ${STEP_UP_MINUTES})`.execute(db)
  if (rows.length === 0) throw new Failure('STEP_UP_NEEDED', { methods })
}

/** Whether a code has the form of an app's. Any other is read as a recovery code. */
export function isTotpCode(code: string): boolean {
  return /^\d{6}$/.test(withoutGaps(code))
}

/** Uses up a code of a person. @returns the method of the code, or undefined for a wrong one @throws Failure TOTP_UNREADABLE */
export async function spendCode(
  tx: Transaction<Tables>,
  secretKey: SecretKey,
  { userId, code }: { userId: string; code: string },
): Promise<SecondFactorMethod | undefined> {
  if (isTotpCode(code)) return (await spendTotpCode(tx, secretKey, { userId, code })) ? 'totp' : undefined
  const { numDeletedRows } = await tx
    .deleteFrom('recovery_codes')
    .where('user_id', '=', userId)
    .where('code_hash', '=', hashTypedCode(code))
    .executeTakeFirstOrThrow()
  return numDeletedRows > 0n ? 'recovery' : undefined
}

async function spendTotpCode(
  tx: Transaction<Tables>,
  secretKey: SecretKey,
  { userId, code }: { userId: string; code: string },
): Promise<boolean> {
  const app = await tx
    .selectFrom('totp_secrets')
    .select(['secret', CLOCK.as('now')])
    .where('user_id', '=', userId)
    .executeTakeFirst()
  if (!app?.secret) return false
  const step = stepOfCode(readSecret(secretKey, app.secret), withoutGaps(code), app.now)
  if (step === undefined) return false
  const { numUpdatedRows } = await tx
    .updateTable('totp_secrets')
    .set({ last_step: step })
    .where('user_id', '=', userId)
    .where('secret', '=', app.secret)
    .where(sql<boolean>`last_step is null or last_step < ${step}`)
    .executeTakeFirstOrThrow()
  return numUpdatedRows > 0n
}

/** The database's clock, the same for all servers. A transaction's `now()` would stand still while it waits for a row. */
const CLOCK = sql<Date>`clock_timestamp()`

/** Makes a secret that waits for its first code. A confirmed app stays until then. */
export async function beginTotp(
  tx: Transaction<Tables>,
  secretKey: SecretKey,
  { id, email }: { id: string; email: string },
): Promise<{ secret: string; uri: string }> {
  const secret = newTotpSecret()
  const made = { new_secret: secretKey.encrypt(secret), new_secret_at: sql<Date>`now()` }
  await tx
    .insertInto('totp_secrets')
    .values({ user_id: id, ...made })
    .onConflict((conflict) => conflict.column('user_id').doUpdateSet(made))
    .execute()
  return { secret, uri: totpUri(secret, email) }
}

/** Makes the new secret count, if the code is of it. @throws Failure WRONG_CODE, or TOTP_NOT_BEGUN without a new secret */
export async function confirmTotp(
  tx: Transaction<Tables>,
  secretKey: SecretKey,
  { userId, code }: { userId: string; code: string },
): Promise<void> {
  const begun = await tx
    .selectFrom('totp_secrets')
    .select(['new_secret', CLOCK.as('now')])
    .where('user_id', '=', userId)
    .where('new_secret_at', '>', sql<Date>`now() - make_interval(mins => ${SET_UP_MINUTES})`)
    .forUpdate()
    .executeTakeFirst()
  if (!begun?.new_secret) throw new Failure('TOTP_NOT_BEGUN')
  const step = stepOfCode(readSecret(secretKey, begun.new_secret), withoutGaps(code), begun.now)
  if (step === undefined) throw wrongCode()
  await tx
    .updateTable('totp_secrets')
    .set({
      secret: begun.new_secret,
      confirmed_at: sql<Date>`now()`,
      last_step: step,
      new_secret: null,
      new_secret_at: null,
    })
    .where('user_id', '=', userId)
    .execute()
}

/** Returns ten new recovery codes, which replace those of before. They are stored as hashes, so this is the only time to show them. */
export async function replaceRecoveryCodes(tx: Transaction<Tables>, userId: string): Promise<string[]> {
  await tx.deleteFrom('recovery_codes').where('user_id', '=', userId).execute()
  const codes = Array.from({ length: RECOVERY_CODES }, () => newTypedCode(RECOVERY_CODE_LENGTH))
  await tx
    .insertInto('recovery_codes')
    .values(codes.map((code) => ({ user_id: userId, code_hash: hashTypedCode(code) })))
    .execute()
  return codes
}

/** Removes a person's app, and the recovery codes with the last method. @throws Failure NO_SECOND_FACTOR without an app */
export async function removeTotp(tx: Transaction<Tables>, userId: string): Promise<void> {
  const removed = await tx.deleteFrom('totp_secrets').where('user_id', '=', userId).returning('confirmed_at').executeTakeFirst()
  if (!removed?.confirmed_at) throw new Failure('NO_SECOND_FACTOR')
  await endCodesWithoutMethod(tx, userId)
}

/** Removes a person's recovery codes if there is nothing else to prove the second factor with. */
export async function endCodesWithoutMethod(tx: Transaction<Tables>, userId: string): Promise<void> {
  if ((await methodsOf(tx, userId)).length === 0) await tx.deleteFrom('recovery_codes').where('user_id', '=', userId).execute()
}

/** Removes all of a person's second factor. @returns its methods @throws Failure NO_SECOND_FACTOR */
export async function removeSecondFactor(tx: Transaction<Tables>, userId: string): Promise<SecondFactorMethod[]> {
  const methods = await methodsOf(tx, userId)
  await endPasskeysOf(tx, userId)
  await tx.deleteFrom('totp_secrets').where('user_id', '=', userId).execute()
  await tx.deleteFrom('recovery_codes').where('user_id', '=', userId).execute()
  if (methods.length === 0) throw new Failure('NO_SECOND_FACTOR')
  return methods
}

/** Returns the failure of a wrong code, which forms show at their field. */
export function wrongCode(): Failure {
  const { message } = new Failure('WRONG_CODE')
  return new Failure('WRONG_CODE', { fields: { code: message } })
}

function withoutGaps(code: string): string {
  return code.replaceAll(/[\s-]/g, '')
}

function readSecret(secretKey: SecretKey, kept: Buffer): string {
  try {
    return secretKey.decrypt(kept)
  } catch (cause) {
    throw new Failure('TOTP_UNREADABLE', { cause })
  }
}
