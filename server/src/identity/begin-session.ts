/** Completes each way to sign in: begins a session and remembers the device, or asks for the second factor. */
import type { SessionUser } from '@arcade/contract/auth/calls'
import type { SecondFactorMethod } from '@arcade/contract/second-factor/fields'
import { actOf } from '#src/audit/audit.ts'
import { type CallContext, Failure } from '#src/calls.ts'
import type { Database } from '#src/db/database.ts'
import { isLinked, type LinkedIdentity } from './oidc-links.ts'
import { beginPendingSignIn, endPendingSignIn } from './pending-sign-ins.ts'
import type { Sessions } from './sessions.ts'
import type { SignInGuard } from './sign-in-guard.ts'

interface SignedInPerson {
  user: SessionUser
  /** The hash that the password matched; undefined if the person signed in without one. */
  passwordHash?: string | undefined
  provedBy?: SecondFactorMethod | undefined
  /** The passkey that proved who it is. */
  passkeyId?: string | undefined
  /** The account of the sign-in service that proved who it is. */
  linked?: LinkedIdentity | undefined
  /** True for the session with which an account begins. */
  isFirst?: boolean
}

/** Begins a session that replaces the one of the cookie. @returns the answer of calls that sign in */
export async function beginSession(
  { sessions, signInGuard }: { sessions: Sessions; signInGuard: SignInGuard },
  context: CallContext,
  { user, passwordHash, provedBy, passkeyId, linked, isFirst = false }: SignedInPerson,
): Promise<{ success: true; user: SessionUser }> {
  if (context.sessionToken !== undefined) await sessions.end(context.sessionToken)
  const token = await sessions.begin(user.id, { act: actOf(context, user), passwordHash, provedBy, passkeyId, linked })
  context.setSessionToken(token)
  await signInGuard.remember(context, user.id, { isFirst })
  const begun = await sessions.find(token)
  if (!begun) throw new Failure('SIGNED_OUT')
  return { success: true, user: begun.user }
}

/**
 * Puts a token into the cookie that is good for the second step of the sign-in alone. The attempt stays counted until that step is done, so
 * that somebody who has only passed the first one cannot use up the limit of successful sign-ins.
 * @throws Failure SECOND_FACTOR_NEEDED, always; OIDC_NOT_LINKED if the account of the sign-in service was unlinked meanwhile
 */
export async function askForSecondFactor(
  { database, sessions }: { database: Database; sessions: Sessions },
  context: CallContext,
  { userId, passwordHash, linked, methods, message }: FirstStep,
): Promise<never> {
  if (context.sessionToken !== undefined) {
    await sessions.end(context.sessionToken)
    await endPendingSignIn(database.db, context.sessionToken)
  }
  const token = await database.transaction(async (tx) => {
    if (linked && !(await isLinked(tx, userId, linked))) throw new Failure('OIDC_NOT_LINKED')
    return beginPendingSignIn(tx, { userId, passwordHash: passwordHash ?? null })
  })
  context.setSessionToken(token)
  throw new Failure('SECOND_FACTOR_NEEDED', { methods, ...(message !== undefined && { message }) })
}

interface FirstStep extends Pick<SignedInPerson, 'passwordHash' | 'linked'> {
  userId: string
  methods: SecondFactorMethod[]
  message?: string
}
