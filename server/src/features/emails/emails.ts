/** Forgotten passwords by mail, and changes of one's own e-mail address. */
import type { Logger } from 'pino'
import type { contract } from '@arcade/contract/contract'
import { emailFieldFor } from '@arcade/contract/users/calls'
import { actOf, audit } from '#src/audit/audit.ts'
import { Failure, type Handlers, signedIn } from '#src/calls.ts'
import type { Database } from '#src/db/database.ts'
import { isEmailTaken, userRecord } from '#src/identity/accounts.ts'
import { type Attempts, limits } from '#src/identity/attempts.ts'
import {
  cancelEmailChange,
  confirmEmailChange,
  createEmailChange,
  emailChangeState,
  endEmailChange,
  findEmailChange,
  refuseUnknownLink,
} from '#src/identity/email-changes.ts'
import type { PasswordResets } from '#src/identity/password-resets.ts'
import type { Sessions } from '#src/identity/sessions.ts'
import type { Passwords } from '#src/identity/sign-in-passwords.ts'
import type { Mails } from '#src/mail/mails.ts'

export interface EmailsServices {
  database: Database
  sessions: Sessions
  attempts: Attempts
  passwords: Passwords
  passwordResets: PasswordResets
  mails: Mails
  registrationEmailHost: string
  log: Logger
}

export function emailsHandlers(services: EmailsServices): Handlers<typeof contract.emails> {
  const { database, sessions, attempts, passwords, passwordResets, mails, registrationEmailHost, log } = services
  const { db } = database
  const refuseWithoutMails = (): void => {
    if (!mails.isOn) throw new Failure('MAIL_OFF')
  }

  return {
    // The rest does not depend on whether anybody has the address: the limits go by the typed address, and one row is written.
    async forgottenPassword({ email }, context) {
      refuseWithoutMails()
      await attempts.count(limits.forgottenByAddress, context.address)
      log.info(
        { event: 'forgotten-password', address: context.address, requestId: context.requestId },
        'A password was forgotten',
      )
      try {
        await attempts.count(limits.forgottenByAccount, email.toLowerCase())
      } catch (error) {
        // Beyond the limit no further mail is sent; those that were sent hold links that work.
        if (error instanceof Failure && error.code === 'TOO_MANY_ATTEMPTS') return { success: true }
        throw error
      }
      await passwordResets.request(email)
      return { success: true }
    },

    async change({ email, currentPassword }, context) {
      refuseWithoutMails()
      const user = signedIn(context)
      if (email === user.email) throw new Failure('SAME_EMAIL', { fields: { email: 'This is your e-mail address already' } })
      refuseOtherHost(email, { present: user.email, registrationEmailHost })
      await attempts.count(limits.emailChangesOfUser, user.id)
      await attempts.count(limits.passwordChange, user.id)
      const account = await db.selectFrom('accounts').select('password_hash').where('id', '=', user.id).executeTakeFirst()
      if (!(await passwords.check(currentPassword, account?.password_hash))) {
        const message = 'This is not your current password'
        throw new Failure('INVALID_INPUT', { message, fields: { currentPassword: message } })
      }
      await attempts.uncount(limits.passwordChange, user.id)
      await database.transaction(async (tx) => {
        await sessions.lockAdmin(tx, user.id, context.sessionToken)
        await createEmailChange(tx, mails, { user, email })
        await audit(tx, actOf(context), 'user.email-ask', { record: userRecord(user), changes: { email: [user.email, email] } })
      })
      return { success: true }
    },

    waiting: async (_input, context) => ({ change: await findEmailChange(db, signedIn(context).id) }),

    async endChange(_input, context) {
      const user = signedIn(context)
      await database.transaction(async (tx) => {
        if (await endEmailChange(tx, user.id)) await audit(tx, actOf(context), 'user.email-end', { record: userRecord(user) })
      })
      return { success: true }
    },

    link: ({ link }) => emailChangeState(db, link),

    async confirm({ link, act }, context) {
      await attempts.count(limits.passwordLinkByAddress, context.address)
      await refuseUnknownLink(db, link)
      const done = database.transaction(async (tx) => {
        if (act === 'confirm') {
          const changed = await confirmEmailChange(tx, actOf(context), link)
          if (changed !== undefined) await sessions.announceChange(tx, changed)
          return changed
        }
        await cancelEmailChange(tx, actOf(context), link)
        return undefined
      })
      const userId = await done.catch((cause: unknown) => {
        throw isEmailTaken(cause) ? new Failure('EMAIL_TAKEN', { cause }) : cause
      })
      if (userId !== undefined) sessions.forgetUser(userId)
      return { success: true, isChanged: userId !== undefined }
    },
  }
}

/** Checks the host of a new address: that of registrations (§5), or that of the person's present address. @throws Failure INVALID_INPUT */
function refuseOtherHost(
  email: string,
  { present, registrationEmailHost }: { present: string; registrationEmailHost: string },
): void {
  const isAt = (host: string): boolean => emailFieldFor(host).safeParse(email).success
  if (isAt(registrationEmailHost) || isAt(present.slice(present.lastIndexOf('@') + 1))) return
  const message = `Email must be a @${registrationEmailHost}`
  throw new Failure('INVALID_INPUT', { message, fields: { email: message } })
}
