/** The end of every way to sign in: a new session in the cookie, and the device is known from now on. */
import type { SessionUser } from '@arcade/contract/auth/calls'
import type { SecondFactorMethod } from '@arcade/contract/second-factor/fields'
import { actOf } from '#src/audit/audit.ts'
import { type CallContext, Failure } from '#src/calls.ts'
import type { Sessions } from './sessions.ts'
import type { SignInGuard } from './sign-in-guard.ts'

interface SignedInPerson {
  user: SessionUser
  /** The hash that the password matched; undefined if the person signed in without one. */
  passwordHash?: string | undefined
  provedBy?: SecondFactorMethod | undefined
  /** The passkey that proved who it is. */
  passkeyId?: string | undefined
  /** True for the session with which an account begins. */
  isFirst?: boolean
}

/** Begins a session that replaces the one of the cookie. @returns the answer of calls that sign in */
export async function beginSession(
  { sessions, signInGuard }: { sessions: Sessions; signInGuard: SignInGuard },
  context: CallContext,
  { user, passwordHash, provedBy, passkeyId, isFirst = false }: SignedInPerson,
): Promise<{ success: true; user: SessionUser }> {
  if (context.sessionToken !== undefined) await sessions.end(context.sessionToken)
  const token = await sessions.begin(user.id, { act: actOf(context, user), passwordHash, provedBy, passkeyId })
  context.setSessionToken(token)
  await signInGuard.remember(context, user.id, { isFirst })
  const signedIn = await sessions.userOf(token)
  if (!signedIn) throw new Failure('SIGNED_OUT')
  return { success: true, user: signedIn }
}
