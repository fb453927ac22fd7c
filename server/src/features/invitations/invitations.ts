/** Invitations: made, renewed and ended by admins, and accepted by the guests whom they are for. */
import type { Transaction } from 'kysely'
import type { contract } from '@arcade/contract/contract'
import { actOf, audit, type AuditRecord } from '#src/audit/audit.ts'
import { type CallContext, Failure, type Handlers, signedIn } from '#src/calls.ts'
import type { Database } from '#src/db/database.ts'
import type { Tables } from '#src/db/tables.ts'
import { createAccount, isEmailTaken, newAccountEntry } from '#src/identity/accounts.ts'
import { type Attempts, limits } from '#src/identity/attempts.ts'
import {
  createInvitation,
  endInvitation,
  type Invitation,
  invitationState,
  lockInvitation,
  type MadeInvitation,
  openInvitations,
  renewInvitation,
  spendInvitation,
} from '#src/identity/invitations.ts'
import { hashNewPassword, type PasswordPolicy } from '#src/identity/passwords.ts'
import { refuseAbove, refusePeer } from '#src/identity/roles.ts'
import type { Sessions } from '#src/identity/sessions.ts'
import type { SignInGuard } from '#src/identity/sign-in-guard.ts'
import type { Mails } from '#src/mail/mails.ts'

export interface InvitationsServices {
  database: Database
  sessions: Sessions
  attempts: Attempts
  signInGuard: SignInGuard
  passwordPolicy: PasswordPolicy
  mails: Mails
}

export function invitationsHandlers(services: InvitationsServices): Handlers<typeof contract.invitations> {
  const { database, sessions, attempts, signInGuard, passwordPolicy, mails } = services
  const { db } = database

  /** Makes a link in a transaction that holds its maker's rights, records that and mails the link. */
  const makeLink = async (
    context: CallContext,
    action: 'invitation.create' | 'invitation.resend',
    make: (tx: Transaction<Tables>, madeBy: string) => Promise<MadeInvitation>,
  ) => {
    const inviter = signedIn(context)
    const { id: madeBy, username: by, permissions } = inviter
    await attempts.count(limits.invitationsOfUser, madeBy)
    const { id, path, expiresAt, replaced } = await database.transaction(async (tx) => {
      await sessions.lockAdmin(tx, madeBy, context.sessionToken)
      const made = await make(tx, madeBy)
      const { email, role } = made
      await refusePeer(tx, role, inviter, 'invite')
      if (made.replaced !== undefined) await refuseAbove(tx, made.replaced, permissions)
      await mails.queue(tx, { to: { email, invitationId: made.id }, kind: 'invitation', by, role, path: made.path })
      await audit(tx, actOf(context), action, { record: recordOf(made), detail: { role: role ?? 'user' } })
      return made
    })
    return { success: true, id, link: path, expiresAt, isMailed: mails.isOn, hasReplaced: replaced !== undefined } as const
  }

  return {
    create: ({ email, role }, context) =>
      makeLink(context, 'invitation.create', (tx, madeBy) =>
        createInvitation(tx, { email, role: role === 'user' ? null : role, madeBy }),
      ),

    list: async () => ({ invitations: await openInvitations(db) }),

    resend: ({ id }, context) =>
      makeLink(context, 'invitation.resend', async (tx, madeBy) => renewInvitation(tx, await lockInvitation(tx, id), madeBy)),

    async remove({ id }, context) {
      await database.transaction(async (tx) => {
        const ended = await endInvitation(tx, id)
        if (!ended) return
        await refuseAbove(tx, ended.role, signedIn(context).permissions)
        await audit(tx, actOf(context), 'invitation.end', { record: recordOf(ended) })
      })
      return { success: true }
    },

    state: ({ link }) => invitationState(db, tokenOf(link)),

    async accept({ link, fname, lname, password }, context) {
      await attempts.count(limits.registerByAddress, context.address)
      const token = tokenOf(link)
      if ((await invitationState(db, token)).state !== 'valid') throw new Failure('INVITATION_INVALID')
      const passwordHash = await hashNewPassword(password, passwordPolicy)
      const accepting = database.transaction(async (tx) => {
        const { id, email, role } = await spendInvitation(tx, token)
        const type = role === null ? ({ userType: 'user' } as const) : ({ userType: 'admin', role } as const)
        const created = await createAccount(tx, { fname, lname, email, passwordHash, ...type })
        const entry = newAccountEntry(created)
        await audit(tx, actOf(context, created), 'user.register', { ...entry, detail: { ...entry.detail, invitation: id } })
        return created
      })
      const user = await accepting.catch((cause: unknown) => {
        // Somebody has registered with the address at the same moment.
        throw isEmailTaken(cause) ? new Failure('INVITATION_INVALID', { cause }) : cause
      })
      if (context.sessionToken !== undefined) await sessions.end(context.sessionToken)
      context.setSessionToken(await sessions.begin(user.id, { act: actOf(context, user), passwordHash }))
      await signInGuard.remember(context, user.id, { isFirst: true })
      return { success: true, user }
    },
  }
}

/** Returns the token of a link, or of a path or address that ends with it. */
function tokenOf(link: string): string {
  return link.slice(link.lastIndexOf('=') + 1)
}

function recordOf({ id, email }: Invitation): AuditRecord {
  return { kind: 'invitation', id, name: email }
}
