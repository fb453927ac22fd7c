/** Signing in with the sign-in service (OpenID Connect, such as Telegram), and linking one's account there (security.md, Sign-in service). */
import type { Transaction } from 'kysely'
import type { Logger } from 'pino'
import type { contract } from '@arcade/contract/contract'
import type { AuditAction } from '@arcade/contract/audit/fields'
import { actOf, audit } from '#src/audit/audit.ts'
import { type CallContext, Failure, type Handlers, signedIn } from '#src/calls.ts'
import type { Database } from '#src/db/database.ts'
import type { Tables } from '#src/db/tables.ts'
import { userRecord } from '#src/identity/accounts.ts'
import { askForSecondFactor, beginSession } from '#src/identity/begin-session.ts'
import { addLink, beginFlow, linkOf, removeLink, takeFlow, ownerOfLink } from '#src/identity/oidc-links.ts'
import { endPendingSignIn, endPendingSignInsOf } from '#src/identity/pending-sign-ins.ts'
import { methodsOf } from '#src/identity/second-factor.ts'
import type { Sessions } from '#src/identity/sessions.ts'
import type { SignInGuard } from '#src/identity/sign-in-guard.ts'
import type { Identity, SignInService } from '#src/identity/sign-in-service.ts'
import type { Mails } from '#src/mail/mails.ts'

interface OidcServices {
  database: Database
  sessions: Sessions
  signInGuard: SignInGuard
  mails: Mails
  log: Logger
  publicOrigin: string | undefined
  /** Undefined if the console has none. */
  service: SignInService | undefined
}

export function oidcHandlers(services: OidcServices): Handlers<typeof contract.oidc> {
  const { database, signInGuard, service } = services

  return {
    async state(_input, context) {
      if (!service) return { service: null, link: null }
      return { service: service.name, link: await linkOf(database.db, signedIn(context).id, service.issuer) }
    },

    beginLink: async (_input, context) => depart(services, context, signedIn(context).id),

    async link(answer, context) {
      const { id } = signedIn(context)
      const { name: serviceName, issuer } = serviceOf(services)
      const identity = await comeBack(services, context, { answer, userId: id })
      await changeLink(services, context, async (tx) => {
        await addLink(tx, id, { ...identity, issuer })
        await tellChange(services, context, { tx, serviceName, action: 'user.oidc', name: identity.name })
      })
      return { success: true }
    },

    async unlink(_input, context) {
      const { id } = signedIn(context)
      const { name: serviceName } = serviceOf(services)
      await changeLink(services, context, async (tx) => {
        const name = await removeLink(tx, id)
        // One that was about to begin has waited for the link's lock.
        await endPendingSignInsOf(tx, id)
        await tellChange(services, context, { tx, serviceName, action: 'user.oidc-end', name })
      })
      return { success: true }
    },

    async beginSignIn(_input, context) {
      serviceOf(services)
      await signInGuard.countSignInStart(context)
      return depart(services, context, null)
    },

    async signIn(answer, context) {
      const { name, issuer } = serviceOf(services)
      const { subject } = await comeBack(services, context, { answer, userId: null })
      const linked = { issuer, subject }
      const user = await ownerOfLink(database.db, linked)
      const attempt = await signInGuard.begin(context, { email: undefined, userId: user?.id })
      if (!user) {
        await recordRefusal(services, context, 'OIDC_NOT_LINKED')
        throw new Failure('OIDC_NOT_LINKED', {
          message: `This ${name} account is not linked to an account here. Sign in with your password and link it under Your Account.`,
        })
      }
      const methods = await methodsOf(database.db, user.id)
      const message = `${name} knows you. Now prove your second factor.`
      if (methods.length > 0) return askForSecondFactor(services, context, { userId: user.id, linked, methods, message })
      await attempt.succeed()
      await endPendingSignIn(database.db, context.sessionToken)
      return beginSession(services, context, { user, linked })
    },
  }
}

/** Runs a change of one's link, which ends one's other sessions and gives this one a new token. */
async function changeLink(
  { database, sessions }: OidcServices,
  context: CallContext,
  change: (tx: Transaction<Tables>) => Promise<void>,
): Promise<void> {
  const { id } = signedIn(context)
  const token = await database.transaction(async (tx) => {
    // Locks the user before the account, in the same order as removing a user does.
    await tx.selectFrom('users').select('id').where('id', '=', id).forShare().execute()
    const renewed = await sessions.renewAlone(tx, id, context.sessionToken, false)
    await change(tx)
    return renewed
  })
  sessions.forgetUser(id)
  context.setSessionToken(token)
}

/** @throws Failure OIDC_OFF */
function serviceOf({ service }: OidcServices): SignInService {
  if (!service) throw new Failure('OIDC_OFF')
  return service
}

/** Returns the page to which the service sends the browser back. Without PUBLIC_URL the server answers only for hosts that are its own. */
function redirectUri({ publicOrigin }: OidcServices, { host }: CallContext): string {
  return `${publicOrigin ?? `http://${host}`}/auth/oidc`
}

/** Sends a browser to the service. @param userId who links an account; null for somebody who signs in */
async function depart(services: OidcServices, context: CallContext, userId: string | null): Promise<{ address: string }> {
  const { state, browser } = await beginFlow(services.database.db, userId)
  const address = await serviceOf(services).departure({ redirectUri: redirectUri(services, context), state, browser })
  context.setFlowCookie(browser)
  return { address }
}

/**
 * Finds out from the service who has come back.
 * @throws Failure OIDC_EXPIRED, OIDC_UNREACHABLE, OIDC_REFUSED
 */
async function comeBack(
  services: OidcServices,
  context: CallContext,
  { answer, userId }: { answer: { code: string; state: string; iss?: string | undefined }; userId: string | null },
): Promise<Identity> {
  const browser = context.flowCookie
  try {
    await takeFlow(services.database.db, { state: answer.state, browser }, userId)
    context.setFlowCookie(undefined)
    return await serviceOf(services).identify(answer, { redirectUri: redirectUri(services, context), browser: browser ?? '' })
  } catch (error) {
    if (!(error instanceof Failure) || error.code === 'OIDC_UNREACHABLE') throw error
    // Counts it against the limit of the address, so that nobody can fill the audit.
    if (userId === null) await services.signInGuard.begin(context, { email: undefined, userId: undefined })
    await recordRefusal(services, context, error.code, error.cause)
    throw error
  }
}

/** Logs and audits a return from the service that signed nobody in. */
async function recordRefusal(
  { database: { db }, log }: OidcServices,
  context: CallContext,
  code: Failure['code'],
  cause?: unknown,
): Promise<void> {
  const { address, requestId, caller } = context
  const userId = caller.kind === 'user' ? caller.user.id : undefined
  log.warn(
    { event: 'oidc-refused', code, userId, address, requestId, err: cause },
    'An account of the sign-in service was refused',
  )
  const record = caller.kind === 'user' && { record: userRecord(caller.user) }
  await audit(db, actOf(context), 'session.refuse', { ...record, detail: { method: 'oidc', code } })
}

/** Audits a change of one's link, and tells the person by mail, because a thief may hold the session. */
async function tellChange(
  { mails }: OidcServices,
  context: CallContext,
  { tx, action, serviceName, name }: { tx: Transaction<Tables>; action: AuditAction; serviceName: string; name: string | null },
): Promise<void> {
  const user = signedIn(context)
  await audit(tx, actOf(context), action, { record: userRecord(user), detail: { service: serviceName, account: name } })
  const change = action === 'user.oidc' ? 'linked' : 'unlinked'
  await mails.queue(tx, { to: { userId: user.id }, kind: 'signInLink', service: serviceName, change, act: actOf(context) })
}
