/** Sign-in, sign-out and self-registration (§4, §5, §7 Authentication). */
import { sql } from 'kysely'
import type { Logger } from 'pino'
import type { contract } from '@arcade/contract/contract'
import { lower } from '#src/db/collations.ts'
import { type Attempts, limits } from '#src/identity/attempts.ts'
import { actOf, audit } from '#src/audit/audit.ts'
import type { SignInGuard } from '#src/identity/sign-in-guard.ts'
import { Failure, type Handlers } from '#src/calls.ts'
import type { Database } from '#src/db/database.ts'
import { hashNewPassword, type PasswordPolicy } from '#src/identity/passwords.ts'
import { askForSecondFactor, beginSession } from '#src/identity/begin-session.ts'
import { endPendingSignIn } from '#src/identity/pending-sign-ins.ts'
import { methodsOf } from '#src/identity/second-factor.ts'
import type { Sessions } from '#src/identity/sessions.ts'
import type { Passwords } from '#src/identity/sign-in-passwords.ts'
import { checkRegistration, createAccount, isEmailTaken, newAccountEntry, userRecord } from '#src/identity/accounts.ts'
import type { Mails } from '#src/mail/mails.ts'
import { sessionUserOf } from '#src/identity/roles.ts'
import { hasAdmin, setupLinkState, spendSetupLink } from '#src/identity/setup-links.ts'

export interface SignInServices {
  database: Database
  sessions: Sessions
  attempts: Attempts
  signInGuard: SignInGuard
  passwords: Passwords
  log: Logger
  registrationEmailHost: string
  passwordPolicy: PasswordPolicy
  mails: Mails
  /** The name of the sign-in service; null without one. */
  signInService: string | null
}

export function authHandlers(services: SignInServices): Handlers<typeof contract.auth> {
  const {
    database,
    sessions,
    attempts,
    signInGuard,
    passwords,
    log,
    registrationEmailHost,
    passwordPolicy,
    mails,
    signInService,
  } = services

  return {
    async session(_input, context) {
      const user = context.caller.kind === 'user' ? context.caller.user : null
      const isManaged = user?.userType === 'admin' || (await hasAdmin(database.db))
      return { user, registrationEmailHost, hasAdmin: isManaged, canResetByMail: mails.isOn, signInService }
    },

    async login({ email, password }, context) {
      const account = email.toLowerCase()
      const found = await database.db
        .selectFrom('accounts')
        .leftJoin('users', 'users.id', 'accounts.id')
        .leftJoin('role_settings', 'role_settings.role', 'users.role')
        .select(['accounts.id', 'password_hash', 'fname', 'lname', 'users.email', 'user_type', 'users.role', 'sees_personal'])
        .where(lower(sql.ref('accounts.email')), '=', account)
        .executeTakeFirst()
      const attempt = await signInGuard.begin(context, { email: account, userId: found?.id })
      if (!(await passwords.check(password, found?.password_hash)) || !found) {
        log.warn({ event: 'sign-in-failed', address: context.address, requestId: context.requestId }, 'Sign-in failed')
        const { id, fname, lname } = found ?? {}
        const record = id === undefined ? {} : { record: userRecord({ id, fname: fname ?? '', lname: lname ?? '' }) }
        await audit(database.db, actOf(context), 'session.refuse', record)
        throw new Failure('LOGIN_FAILED')
      }
      const { id, fname, lname, email: shown, user_type, role, sees_personal } = found
      if (fname === null || lname === null || shown === null || user_type === null) throw new Failure('NO_SUCH_DOCUMENT')
      const passwordHash = await passwords.renew({ id, hashed: found.password_hash }, password)
      const user = sessionUserOf({ id, fname, lname, email: shown, user_type, role, sees_personal, lacks_factor: false })
      const methods = await methodsOf(database.db, id)
      if (methods.length > 0) return askForSecondFactor(services, context, { userId: id, passwordHash, methods })
      await attempt.succeed()
      return beginSession(services, context, { user, passwordHash })
    },

    async logout(_input, context) {
      if (context.sessionToken !== undefined) {
        await sessions.end(context.sessionToken, actOf(context))
        await endPendingSignIn(database.db, context.sessionToken)
      }
      context.setSessionToken(undefined)
      return { success: true }
    },

    async register({ setup, ...input }, context) {
      checkRegistration(input, registrationEmailHost)
      await attempts.count(limits.registerByAddress, context.address)
      const passwordHash = await hashNewPassword(input.password, passwordPolicy)
      const registering = database.transaction(async (tx) => {
        if (setup !== undefined) await spendSetupLink(tx, setup)
        const created = await createAccount(tx, { ...input, passwordHash, userType: setup === undefined ? 'user' : 'admin' })
        await audit(tx, actOf(context, created), 'user.register', newAccountEntry(created))
        return created
      })
      const user = await registering.catch((cause: unknown) => {
        // The holder of a set-up link runs the console and may learn that the e-mail is in use. Other guests may not (security.md).
        if (setup === undefined || !isEmailTaken(cause)) throw cause
        throw new Failure('CREATE_USER_FAILED', { fields: { email: 'This email is in use already' }, cause })
      })
      return beginSession(services, context, { user, passwordHash, isFirst: true })
    },

    setupLink: async ({ setup }) => ({ state: await setupLinkState(database.db, setup) }),
  }
}
