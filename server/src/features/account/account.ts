/**
 * Account calls: change one's own password, list and end one's own sessions, make, list and end links to set a password, and use one. A new
 * password ends all sessions and links.
 */
import type { Kysely, Transaction } from 'kysely'
import type { PasswordLinkState } from '@arcade/contract/account/calls'
import type { contract } from '@arcade/contract/contract'
import type { Role } from '@arcade/contract/team/fields'
import { type CallContext, Failure, type Handlers, signedIn } from '#src/calls.ts'
import type { Database } from '#src/db/database.ts'
import type { Tables } from '#src/db/tables.ts'
import { type Attempts, limits } from '#src/identity/attempts.ts'
import { actOf, audit } from '#src/audit/audit.ts'
import {
  createPasswordLink,
  endPasswordLink,
  openPasswordLinks,
  passwordLinkState,
  spendPasswordLink,
} from '#src/identity/password-links.ts'
import { userRecord } from '#src/identity/accounts.ts'
import { findReset, spendReset } from '#src/identity/password-resets.ts'
import { hashNewPassword, type PasswordPolicy } from '#src/identity/passwords.ts'
import { refuseAbove, refusePeer, roleThatCounts } from '#src/identity/roles.ts'
import type { Sessions } from '#src/identity/sessions.ts'
import type { Passwords } from '#src/identity/sign-in-passwords.ts'
import type { Mails } from '#src/mail/mails.ts'
import { telegramHandlers } from './telegram.ts'

export interface AccountServices {
  database: Database
  sessions: Sessions
  attempts: Attempts
  passwords: Passwords
  passwordPolicy: PasswordPolicy
  mails: Mails
}

export function accountHandlers(services: AccountServices): Handlers<typeof contract.account> {
  const { database, sessions, attempts, passwords, passwordPolicy, mails } = services
  const { db } = database

  /** Stores a password hash and ends all sessions and links. Adds a missing account: imported users have none before their first password. */
  const setPassword = async (
    tx: Transaction<Tables>,
    context: CallContext,
    account: { id: string; email: string; passwordHash: string },
  ): Promise<void> => {
    const { id, email, passwordHash: password_hash } = account
    await tx
      .insertInto('accounts')
      .values({ id, email, password_hash })
      .onConflict((conflict) => conflict.column('id').doUpdateSet({ password_hash }))
      .execute()
    await sessions.endAllOf(tx, id)
    await audit(tx, actOf(context), 'user.password', { record: { kind: 'user', id, name: email } })
    await mails.queue(tx, { to: { userId: id }, kind: 'newPassword', act: actOf(context) })
  }

  return {
    ...telegramHandlers({ database, sessions }),

    async changePassword({ currentPassword, password }, context) {
      const { id, email } = signedIn(context)
      await attempts.count(limits.passwordChange, id)
      const account = await db.selectFrom('accounts').select('password_hash').where('id', '=', id).executeTakeFirst()
      if (!(await passwords.check(currentPassword, account?.password_hash))) {
        const message = 'This is not your current password'
        throw new Failure('INVALID_INPUT', { message, fields: { currentPassword: message } })
      }
      await attempts.uncount(limits.passwordChange, id)
      const passwordHash = await hashNewPassword(password, passwordPolicy)
      await database.transaction(async (tx) => {
        // While the passwords were hashed, the user may have been removed, the password changed elsewhere, or this session ended, such as by a
        // new second factor.
        const present = await tx
          .selectFrom('accounts')
          .select('password_hash')
          .where('id', '=', id)
          .forUpdate()
          .executeTakeFirst()
        if (present?.password_hash !== account?.password_hash) throw new Failure('SIGNED_OUT')
        await sessions.lock(tx, id, context.sessionToken)
        await setPassword(tx, context, { id, email, passwordHash })
      })
      sessions.forgetUser(id)
      context.setSessionToken(await sessions.begin(id, { act: actOf(context) }))
      return { success: true }
    },

    async sessions(_input, context) {
      const { id } = signedIn(context)
      return { sessions: await sessions.listOf(id, context.sessionToken) }
    },

    async endSession({ id }, context) {
      await sessions.endById(signedIn(context).id, id, actOf(context))
      return { success: true }
    },

    async endOtherSessions(_input, context) {
      await sessions.endOthers(signedIn(context).id, context.sessionToken, actOf(context))
      return { success: true }
    },

    async createPasswordLink({ id }, context) {
      const maker = signedIn(context)
      const madeBy = maker.id
      // Otherwise an open session could set a new password without the current one.
      if (id === madeBy) throw new Failure('NOT_BY_LINK')
      const link = await database.transaction(async (tx) => {
        await sessions.lockAdmin(tx, madeBy, context.sessionToken)
        await refusePeer(tx, await lockedRole(tx, id), maker, 'make a password link for')
        const made = await createPasswordLink(tx, { userId: id, madeBy })
        await auditLink(tx, context, { action: 'user.password-link', id })
        return made
      })
      return { success: true, ...link }
    },

    passwordLinks: async () => ({ links: await openPasswordLinks(db) }),

    async endPasswordLink({ id }, context) {
      await database.transaction(async (tx) => {
        await refuseAbove(tx, await lockedRole(tx, id), signedIn(context).permissions)
        if (await endPasswordLink(tx, id)) await auditLink(tx, context, { action: 'user.password-link-end', id })
      })
      return { success: true }
    },

    passwordLink: ({ link }) => linkState(db, link),

    async setPassword({ link, password }, context) {
      await attempts.count(limits.passwordLinkByAddress, context.address)
      const { state } = await linkState(db, link)
      if (state !== 'valid') throw new Failure('PASSWORD_LINK_INVALID')
      const passwordHash = await hashNewPassword(password, passwordPolicy)
      const userId = await database.transaction(async (tx) => {
        const { userId: id, email } = (await spendReset(tx, link)) ?? (await spendPasswordLink(tx, link))
        await setPassword(tx, context, { id, email, passwordHash })
        return id
      })
      sessions.forgetUser(userId)
      return { success: true }
    },
  }
}

/** Returns whose link it is, or why it cannot be used: one of an admin, or one that was mailed to somebody who forgot the password. */
async function linkState(
  db: Kysely<Tables>,
  link: string,
): Promise<{ state: PasswordLinkState; email: string | null; isMailed: boolean }> {
  const mailed = await findReset(db, link)
  if (!mailed) return { ...(await passwordLinkState(db, link)), isMailed: false }
  const { email, isUsed, isInTime } = mailed
  const state = isUsed ? 'used' : isInTime ? 'valid' : 'expired'
  return { state, email: state === 'valid' ? email : null, isMailed: true }
}

/** Returns the role of a person, which stays as it is until the transaction ends. */
async function lockedRole(tx: Transaction<Tables>, id: string): Promise<Role | null> {
  const user = await tx.selectFrom('users').select(['user_type', 'role']).where('id', '=', id).forShare().executeTakeFirst()
  return user ? roleThatCounts(user) : null
}

/** Writes the audit entry of an act on the password link for a user. */
async function auditLink(
  tx: Transaction<Tables>,
  context: CallContext,
  { action, id }: { action: 'user.password-link' | 'user.password-link-end'; id: string },
): Promise<void> {
  const user = await tx.selectFrom('users').select(['id', 'fname', 'lname']).where('id', '=', id).executeTakeFirstOrThrow()
  await audit(tx, actOf(context), action, { record: userRecord(user) })
}
