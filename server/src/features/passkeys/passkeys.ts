/** One's own passkeys, and signing in with one instead of the password (security.md, Sessions). */
import type { Transaction } from 'kysely'
import type { contract } from '@arcade/contract/contract'
import type { AssertionResponse } from '@arcade/contract/passkeys/calls'
import type { AuditAction } from '@arcade/contract/audit/fields'
import type { SessionUser } from '@arcade/contract/auth/calls'
import { actOf, audit } from '#src/audit/audit.ts'
import { type CallContext, Failure, type Handlers, signedIn } from '#src/calls.ts'
import type { Database } from '#src/db/database.ts'
import type { Tables } from '#src/db/tables.ts'
import { userRecord } from '#src/identity/accounts.ts'
import {
  addPasskey,
  findRelyingParty,
  type Passkeys,
  type RelyingParty,
  removePasskey,
  renamePasskey,
  type UsedPasskey,
} from '#src/identity/passkeys.ts'
import type { Sessions } from '#src/identity/sessions.ts'
import type { SignInGuard } from '#src/identity/sign-in-guard.ts'

interface PasskeysServices {
  database: Database
  sessions: Sessions
  passkeys: Passkeys
  signInGuard: SignInGuard
  publicOrigin: string | undefined
}

export function passkeysHandlers(services: PasskeysServices): Handlers<typeof contract.passkeys> {
  const { database, sessions, passkeys, signInGuard, publicOrigin } = services

  /** @throws Failure PASSKEYS_OFF if browsers make no passkeys at the address under which the console was asked */
  const partyOf = ({ host }: CallContext): RelyingParty => {
    const party = findRelyingParty(publicOrigin, host)
    if (!party) throw new Failure('PASSKEYS_OFF')
    return party
  }

  /** Changes one's own passkeys in a transaction that one's rights and session outlive. */
  const changeOwn = <T>(context: CallContext, change: (tx: Transaction<Tables>, userId: string) => Promise<T>): Promise<T> => {
    const { id } = signedIn(context)
    return database.transaction(async (tx) => {
      await sessions.lockAdmin(tx, id, context.sessionToken)
      return change(tx, id)
    })
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
      const passkey = await changeOwn(context, async (tx, userId) => {
        const added = await addPasskey(tx, userId, { name, made })
        await auditPasskey(tx, context, { action: 'user.passkey', owner: signedIn(context), name })
        return added
      })
      return { success: true, passkey }
    },

    async rename({ id, name }, context) {
      await changeOwn(context, async (tx, userId) => {
        const before = await renamePasskey(tx, userId, { id, name })
        if (before !== name)
          await audit(tx, actOf(context), 'user.passkey-rename', {
            record: userRecord(signedIn(context)),
            changes: { passkey: [before, name] },
          })
      })
      return { success: true }
    },

    async remove({ id }, context) {
      await changeOwn(context, async (tx, userId) => {
        const name = await removePasskey(tx, userId, id)
        await auditPasskey(tx, context, { action: 'user.passkey-end', owner: signedIn(context), name })
      })
      return { success: true }
    },

    async signInOptions(_input, context) {
      const party = partyOf(context)
      await signInGuard.countChallenge(context)
      return { options: await passkeys.requestOptions(party, { purpose: 'sign-in', userId: null }) }
    },

    async signIn({ response }, context) {
      const { owner } = await provePerson(services, context, { party: partyOf(context), response })
      if (context.sessionToken !== undefined) await sessions.end(context.sessionToken)
      context.setSessionToken(await sessions.begin(owner.id, { act: actOf(context, owner) }))
      await signInGuard.remember(context, owner.id)
      return { success: true, user: owner }
    },
  }
}

/** Checks the passkey of somebody who signs in with it alone. Limits and audits attempts. @throws Failure PASSKEY_REFUSED, TOO_MANY_ATTEMPTS */
async function provePerson(
  { database, passkeys, signInGuard }: PasskeysServices,
  context: CallContext,
  { party, response }: { party: RelyingParty; response: AssertionResponse },
): Promise<UsedPasskey> {
  const claimed = await passkeys.ownerOf(response)
  const attempt = await signInGuard.begin(context, { email: undefined, userId: claimed?.id })
  const onCopied = ({ owner, name }: UsedPasskey): Promise<void> =>
    auditPasskey(database.db, context, { action: 'user.passkey-copy', owner, name })
  try {
    const used = await passkeys.checkUse(party, response, { purpose: 'sign-in', userId: null, onCopied })
    await attempt.succeed()
    return used
  } catch (error) {
    const record = claimed && { record: userRecord(claimed) }
    await audit(database.db, actOf(context), 'session.refuse', { ...record, detail: { by: 'passkey' } })
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
