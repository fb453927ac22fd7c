/** The second factor: the second step of a sign-in, step-up, one's own set-up, and the reset by an owner. A change ends other sessions. */
import type { Transaction } from 'kysely'
import type { Logger } from 'pino'
import type { contract } from '@arcade/contract/contract'
import type { SecondFactorMethod, SecondFactorPolicy } from '@arcade/contract/second-factor/fields'
import { actOf, audit } from '#src/audit/audit.ts'
import { type CallContext, Failure, type Handlers, signedIn } from '#src/calls.ts'
import type { Database } from '#src/db/database.ts'
import type { Tables } from '#src/db/tables.ts'
import { userRecord } from '#src/identity/accounts.ts'
import { type Attempts, limits } from '#src/identity/attempts.ts'
import { beginSession } from '#src/identity/begin-session.ts'
import { takePendingSignIn, tryPendingSignIn } from '#src/identity/pending-sign-ins.ts'
import { refuseAbove, roleThatCounts, sessionUserOf } from '#src/identity/roles.ts'
import {
  beginTotp,
  confirmTotp,
  isTotpCode,
  methodsOf,
  readFactors,
  removeSecondFactor,
  removeTotp,
  replaceRecoveryCodes,
  spendCode,
  wrongCode,
} from '#src/identity/second-factor.ts'
import type { Sessions } from '#src/identity/sessions.ts'
import type { SignInGuard } from '#src/identity/sign-in-guard.ts'
import { hashToken } from '#src/identity/tokens.ts'
import type { Mails } from '#src/mail/mails.ts'
import type { SecretKey } from '#src/webhooks/secret-key.ts'

export interface SecondFactorServices {
  database: Database
  sessions: Sessions
  attempts: Attempts
  signInGuard: SignInGuard
  mails: Mails
  secretKey: SecretKey
  policy: SecondFactorPolicy
  log: Logger
}

type OwnHandlers = Omit<Handlers<typeof contract.secondFactor>, 'prove' | 'stepUp' | 'reset'>

export function secondFactorHandlers(services: SecondFactorServices): Handlers<typeof contract.secondFactor> {
  const { database, sessions, attempts, signInGuard, mails, secretKey } = services
  return {
    ...ownHandlers(services),

    async prove({ code }, context) {
      const { userId, passwordHash } = await tryPendingSignIn(database.db, context.sessionToken)
      const user = await findPerson(database, userId)
      const attempt = await signInGuard.beginCode(context, { userId, passwordHash, email: user.email }, isTotpCode(code))
      const method = await database.transaction(async (tx) => {
        const spent = await spendCode(tx, secretKey, { userId, code })
        if (spent) await takePendingSignIn(tx, context.sessionToken)
        return spent
      })
      if (!method) return refuseCode(services, context, { user, code, at: 'sign-in' })
      await attempt.succeed()
      return beginSession(services, context, { user, passwordHash: passwordHash ?? undefined, provedBy: method })
    },

    async stepUp({ code }, context) {
      const user = signedIn(context)
      if ((await methodsOf(database.db, user.id)).length === 0) throw new Failure('NO_SECOND_FACTOR')
      await countInSession(attempts, context)
      const token = await database.transaction(async (tx) => {
        const method = await spendCode(tx, secretKey, { userId: user.id, code })
        if (!method) return undefined
        await audit(tx, actOf(context), 'session.step-up', { record: userRecord(user), detail: { secondFactor: method } })
        return sessions.renew(tx, user.id, context.sessionToken)
      })
      if (token === undefined) return refuseCode(services, context, { user, code, at: 'step-up' })
      await forgiveInSession(attempts, context)
      sessions.forgetUser(user.id)
      context.setSessionToken(token)
      return { success: true }
    },

    async reset({ id }, context) {
      const { id: owner, permissions } = signedIn(context)
      if (id === owner) throw new Failure('NOT_YOURSELF', { message: 'Change your own second factor under Your Account.' })
      await database.transaction(async (tx) => {
        await sessions.lockAdmin(tx, owner, context.sessionToken)
        const columns = ['id', 'fname', 'lname', 'user_type', 'role'] as const
        const person = await tx.selectFrom('users').select(columns).where('id', '=', id).forShare().executeTakeFirst()
        if (!person) throw new Failure('NO_SUCH_USER')
        await refuseAbove(tx, roleThatCounts(person), permissions)
        const methods = await removeSecondFactor(tx, id)
        await sessions.endAllOf(tx, id)
        await audit(tx, actOf(context), 'user.second-factor-end', { record: userRecord(person), detail: { methods } })
        await mails.queue(tx, { to: { userId: id }, kind: 'secondFactor', change: 'reset', act: actOf(context) })
      })
      sessions.forgetUser(id)
      return { success: true }
    },
  }
}

/** The calls about one's own second factor. */
function ownHandlers({ database, sessions, attempts, mails, secretKey, policy }: SecondFactorServices): OwnHandlers {
  /** Runs a change of one's own second factor, which ends one's other sessions and renews this one. */
  const changing = async <T>(context: CallContext, change: (tx: Transaction<Tables>) => Promise<T>): Promise<T> => {
    const { id } = signedIn(context)
    const { token, result } = await database.transaction(async (tx) => {
      const renewed = await sessions.renewAlone(tx, id, context.sessionToken)
      return { token: renewed, result: await change(tx) }
    })
    sessions.forgetUser(id)
    context.setSessionToken(token)
    return result
  }
  const record = (context: CallContext) => ({ record: userRecord(signedIn(context)) })
  /** Tells the person by mail, because a thief may hold the session. */
  const tell = (tx: Transaction<Tables>, context: CallContext, change: 'on' | 'off' | 'codes'): Promise<void> =>
    mails.queue(tx, { to: { userId: signedIn(context).id }, kind: 'secondFactor', change, act: actOf(context) })

  return {
    async state(_input, context) {
      const { methods, totpConfirmedAt, recoveryCodesLeft } = await readFactors(database.db, signedIn(context).id)
      const totp = totpConfirmedAt && { confirmedAt: totpConfirmedAt.toISOString() }
      return { isOn: methods.length > 0, methods, totp, recoveryCodesLeft, policy }
    },

    async beginTotp(_input, context) {
      const { id, email } = signedIn(context)
      return database.transaction(async (tx) => beginTotp(tx, secretKey, { id, email }))
    },

    async confirmTotp({ code }, context) {
      const { id: userId } = signedIn(context)
      await countInSession(attempts, context)
      const recoveryCodes = await changing(context, async (tx) => {
        await confirmTotp(tx, secretKey, { userId, code })
        await audit(tx, actOf(context), 'user.second-factor', { ...record(context), detail: { method: 'totp' } })
        await tell(tx, context, 'on')
        return replaceRecoveryCodes(tx, userId)
      })
      await forgiveInSession(attempts, context)
      return { success: true, recoveryCodes }
    },

    async newRecoveryCodes(_input, context) {
      const { id: userId } = signedIn(context)
      const codes = await changing(context, async (tx) => {
        if ((await methodsOf(tx, userId)).length === 0) throw new Failure('NO_SECOND_FACTOR')
        await audit(tx, actOf(context), 'user.second-factor', { ...record(context), detail: { method: 'recovery' } })
        await tell(tx, context, 'codes')
        return replaceRecoveryCodes(tx, userId)
      })
      return { success: true, codes }
    },

    async removeTotp(_input, context) {
      await changing(context, async (tx) => {
        await removeTotp(tx, signedIn(context).id)
        await audit(tx, actOf(context), 'user.second-factor-end', { ...record(context), detail: { methods: ['totp'] } })
        await tell(tx, context, 'off')
      })
      return { success: true }
    },
  }
}

/** Logs and audits a wrong code. @throws Failure WRONG_CODE, always */
async function refuseCode(
  { database, log }: SecondFactorServices,
  context: CallContext,
  { user, code, at }: { user: Parameters<typeof userRecord>[0]; code: string; at: 'sign-in' | 'step-up' },
): Promise<never> {
  const { address, requestId } = context
  log.warn({ event: 'code-refused', at, userId: user.id, address, requestId }, 'A code for the second factor was refused')
  const method: SecondFactorMethod = isTotpCode(code) ? 'totp' : 'recovery'
  await audit(database.db, actOf(context), 'session.refuse-code', { record: userRecord(user), detail: { at, method } })
  throw wrongCode()
}

/** Counts a code that a signed-in person sends. A stranger cannot use up the limit, because it is the session's. */
async function countInSession(attempts: Attempts, { sessionToken = '' }: CallContext): Promise<void> {
  await attempts.count(limits.codeInSession, hashToken(sessionToken).toString('hex'))
}

async function forgiveInSession(attempts: Attempts, { sessionToken = '' }: CallContext): Promise<void> {
  await attempts.uncount(limits.codeInSession, hashToken(sessionToken).toString('hex'))
}

/** Returns who signs in. @throws Failure NO_SUCH_DOCUMENT if the user was removed */
async function findPerson({ db }: Database, userId: string): Promise<ReturnType<typeof sessionUserOf>> {
  const columns = ['id', 'fname', 'lname', 'email', 'user_type', 'role'] as const
  const row = await db.selectFrom('users').select(columns).where('id', '=', userId).executeTakeFirst()
  if (!row) throw new Failure('NO_SUCH_DOCUMENT')
  return sessionUserOf({ ...row, sees_personal: null, lacks_factor: false })
}
