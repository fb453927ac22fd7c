/** One's own passkeys, and their use: instead of the password, after it, and for a step-up (security.md, Passkeys). */
import type { Transaction } from 'kysely'
import type { Logger } from 'pino'
import type { contract } from '@arcade/contract/contract'
import type { AssertionResponse } from '@arcade/contract/passkeys/calls'
import type { AuditAction } from '@arcade/contract/audit/fields'
import type { SessionUser } from '@arcade/contract/auth/calls'
import { actOf, audit } from '#src/audit/audit.ts'
import { type CallContext, Failure, type Handlers, signedIn } from '#src/calls.ts'
import type { Database } from '#src/db/database.ts'
import type { Tables } from '#src/db/tables.ts'
import { userRecord } from '#src/identity/accounts.ts'
import { beginSession } from '#src/identity/begin-session.ts'
import { addPasskey, removePasskey, renamePasskey } from '#src/identity/own-passkeys.ts'
import {
  findRelyingParty,
  type PasskeyPurpose,
  type Passkeys,
  type RelyingParty,
  type UsedPasskey,
} from '#src/identity/passkeys.ts'
import { endPendingSignIn, findPendingSignIn, takePendingSignIn, tryPendingSignIn } from '#src/identity/pending-sign-ins.ts'
import { endCodesWithoutMethod, readFactors, replaceRecoveryCodes } from '#src/identity/second-factor.ts'
import type { Sessions } from '#src/identity/sessions.ts'
import type { SignInGuard } from '#src/identity/sign-in-guard.ts'
import type { Mails } from '#src/mail/mails.ts'

interface PasskeysServices {
  database: Database
  sessions: Sessions
  passkeys: Passkeys
  signInGuard: SignInGuard
  mails: Mails
  log: Logger
  publicOrigin: string | undefined
}

export function passkeysHandlers(services: PasskeysServices): Handlers<typeof contract.passkeys> {
  const { database, sessions, passkeys, signInGuard, mails, publicOrigin } = services

  /** @throws Failure PASSKEYS_OFF if browsers make no passkeys at the address at which the console was reached */
  const partyOf = ({ host }: CallContext): RelyingParty => {
    const party = findRelyingParty(publicOrigin, host)
    if (!party) throw new Failure('PASSKEYS_OFF')
    return party
  }

  return {
    async list(_input, context) {
      const isPossible = findRelyingParty(publicOrigin, context.host) !== undefined
      return { passkeys: await passkeys.listOf(signedIn(context).id), isPossible }
    },

    async options(_input, context) {
      return { options: await passkeys.creationOptions(partyOf(context), signedIn(context)) }
    },

    async add({ name, response }, context) {
      const made = await passkeys.checkNew(partyOf(context), signedIn(context).id, response)
      const added = await changeFactor(services, context, async (tx, userId) => {
        const { recoveryCodesLeft } = await readFactors(tx, userId)
        const passkey = await addPasskey(tx, userId, { name, made })
        await auditPasskey(tx, context, { action: 'user.passkey', owner: signedIn(context), name })
        await mails.queue(tx, { to: { userId }, kind: 'newPasskey', name, act: actOf(context) })
        return { passkey, recoveryCodes: recoveryCodesLeft === 0 ? await replaceRecoveryCodes(tx, userId) : null }
      })
      return { success: true, ...added }
    },

    async rename({ id, name }, context) {
      const owner = signedIn(context)
      await database.transaction(async (tx) => {
        const before = await renamePasskey(tx, owner.id, { id, name })
        if (before === name) return
        const changes = { passkey: [before, name] } as const
        await audit(tx, actOf(context), 'user.passkey-rename', { record: userRecord(owner), changes })
      })
      return { success: true }
    },

    async remove({ id }, context) {
      await changeFactor(services, context, async (tx, userId) => {
        const name = await removePasskey(tx, userId, id)
        await endCodesWithoutMethod(tx, userId)
        await auditPasskey(tx, context, { action: 'user.passkey-end', owner: signedIn(context), name })
        await mails.queue(tx, { to: { userId }, kind: 'endedPasskey', name, act: actOf(context) })
      })
      return { success: true }
    },

    async signInOptions(_input, context) {
      const party = partyOf(context)
      await signInGuard.countSignInStart(context)
      return { options: await passkeys.requestOptions(party, { purpose: 'sign-in', userId: null }) }
    },

    async signIn({ response }, context) {
      const claimed = await passkeys.ownerOf(response)
      const attempt = await signInGuard.begin(context, { email: undefined, userId: claimed?.id })
      const use = { purpose: 'sign-in', userId: null, claimed } as const
      const { id: passkeyId, owner: user } = await checkUse(services, context, { party: partyOf(context), response, ...use })
      await attempt.succeed()
      await endPendingSignIn(database.db, context.sessionToken)
      return beginSession(services, context, { user, provedBy: 'passkey', passkeyId })
    },

    async secondFactorOptions(_input, context) {
      const party = partyOf(context)
      const { userId } = await findPendingSignIn(database.db, context.sessionToken)
      await signInGuard.countSignInStart(context)
      return { options: await passkeys.requestOptions(party, { purpose: 'second-factor', userId }) }
    },

    async secondFactor({ response }, context) {
      const party = partyOf(context)
      const { userId, passwordHash } = await tryPendingSignIn(database.db, context.sessionToken)
      const claimed = await passkeys.ownerOf(response)
      const use = { purpose: 'second-factor', userId, claimed } as const
      const { id: passkeyId, owner: user } = await checkUse(services, context, { party, response, ...use })
      const attempt = await signInGuard.beginCode(context, { userId, passwordHash, email: user.email }, false)
      await database.transaction((tx) => takePendingSignIn(tx, context.sessionToken))
      await attempt.succeed()
      return beginSession(services, context, { user, passwordHash: passwordHash ?? undefined, provedBy: 'passkey', passkeyId })
    },

    async stepUpOptions(_input, context) {
      const party = partyOf(context)
      const { id: userId } = signedIn(context)
      if (!(await readFactors(database.db, userId)).methods.includes('passkey')) throw new Failure('NO_SECOND_FACTOR')
      return { options: await passkeys.requestOptions(party, { purpose: 'step-up', userId }) }
    },

    async stepUp({ response }, context) {
      const claimed = signedIn(context)
      const use = { purpose: 'step-up', userId: claimed.id, claimed } as const
      await checkUse(services, context, { party: partyOf(context), response, ...use })
      const token = await database.transaction(async (tx) => {
        await audit(tx, actOf(context), 'session.step-up', {
          record: userRecord(claimed),
          detail: { secondFactor: 'passkey' },
        })
        return sessions.renew(tx, claimed.id, context.sessionToken)
      })
      sessions.forgetUser(claimed.id)
      context.setSessionToken(token)
      return { success: true }
    },
  }
}

/** Runs a change of what one can prove the second factor with. It ends one's other sessions and renews this one. */
async function changeFactor<T>(
  { database, sessions }: PasskeysServices,
  context: CallContext,
  change: (tx: Transaction<Tables>, userId: string) => Promise<T>,
): Promise<T> {
  const { id } = signedIn(context)
  const { token, result } = await database.transaction(async (tx) => {
    // Locks the user before the account, in the same order as removing a user does.
    await tx.selectFrom('users').select('id').where('id', '=', id).forShare().execute()
    const renewed = await sessions.renewAlone(tx, id, context.sessionToken)
    return { token: renewed, result: await change(tx, id) }
  })
  sessions.forgetUser(id)
  context.setSessionToken(token)
  return result
}

interface AskedUse {
  party: RelyingParty
  response: AssertionResponse
  purpose: PasskeyPurpose
  /** Who must use a passkey; null for anybody who has one. */
  userId: string | null
  /** The owner of the passkey that the response claims to be from. */
  claimed: SessionUser | undefined
}

/** Checks the use of a passkey, and audits one that is refused. @throws Failure PASSKEY_REFUSED */
async function checkUse(
  { database: { db }, passkeys, log }: PasskeysServices,
  context: CallContext,
  { party, response, purpose, userId, claimed }: AskedUse,
): Promise<UsedPasskey> {
  const onCopied = ({ owner, name }: UsedPasskey): Promise<void> =>
    auditPasskey(db, context, { action: 'user.passkey-copy', owner, name })
  try {
    return await passkeys.checkUse(party, response, { purpose, userId, onCopied })
  } catch (error) {
    const { address, requestId } = context
    log.warn({ event: 'passkey-refused', at: purpose, userId: claimed?.id, address, requestId }, 'A passkey was refused')
    const record = claimed && { record: userRecord(claimed) }
    await audit(db, actOf(context), 'session.refuse', { ...record, detail: { at: purpose, method: 'passkey' } })
    throw error
  }
}

/** Writes the audit entry of an act on somebody's passkey. */
async function auditPasskey(
  tx: Parameters<typeof audit>[0],
  context: CallContext,
  { action, owner, name }: { action: AuditAction; owner: SessionUser; name: string },
): Promise<void> {
  await audit(tx, actOf(context), action, { record: userRecord(owner), detail: { passkey: name } })
}
