/** Invitations: one-time links with which a person without an account makes one that has a role. */
import { z } from 'zod'
import { call } from '#src/call.ts'
import { emailField, firstNameField, idField, lastNameField, newPasswordField } from '#src/field-schemas.ts'
import { sessionUser } from '#src/auth/calls.ts'
import { roles } from '#src/team/fields.ts'
import { confirmPasswordField, passwordsMatch } from '#src/users/calls.ts'

/** The role that the account gets; `user` is an account of the type user. */
const invitedRoleField = z.enum([...roles, 'user'], 'Role is required')
export type InvitedRole = z.infer<typeof invitedRoleField>

/** The form of an invitation. The address may be at any host: the inviter decides (§5 limits who may register unasked). */
export const invitationInput = z.strictObject({ email: emailField, role: invitedRoleField })
export type InvitationInput = z.infer<typeof invitationInput>

/** `replaced`: a newer link was made, the invitation was ended, somebody has the address by now, or the link never existed. */
const invitationStates = ['valid', 'used', 'expired', 'replaced'] as const
export type InvitationState = (typeof invitationStates)[number]

/** A link, or the path or address that ends with it. */
const linkField = z.string().max(1024)

/** An invitation that was not used. */
export const openInvitation = z.object({
  id: idField,
  email: z.string(),
  role: invitedRoleField,
  /** The name of the admin who made its link. */
  madeBy: z.string(),
  madeAt: z.iso.datetime(),
  expiresAt: z.iso.datetime(),
  isExpired: z.boolean(),
  /** What became of the mail with the link; null if none was queued or it is not known any more. */
  mail: z.enum(['queued', 'sent', 'failed']).nullable(),
})
export type OpenInvitation = z.infer<typeof openInvitation>

const accepting = {
  fname: firstNameField,
  lname: lastNameField,
  password: newPasswordField,
  confirmPassword: confirmPasswordField,
}

/** The form behind an invitation's link. */
export const acceptInput = z.strictObject(accepting).refine(...passwordsMatch)
export type AcceptInput = z.infer<typeof acceptInput>

const done = z.object({ success: z.literal(true) })
const made = done.extend({
  id: idField,
  /** The path of the link, such as `/invitation?link=…`. It is told only once. */
  link: z.string(),
  expiresAt: z.iso.datetime(),
  /** Whether the link is also sent by mail. */
  isMailed: z.boolean(),
  /** Whether an earlier link for the address has ended by it. */
  hasReplaced: z.boolean(),
})
const tags = ['Team']

export const invitations = {
  create: call(['admin'], { needs: 'users.write', stepUp: true })
    .route({
      method: 'POST',
      path: '/api/invitations',
      tags,
      summary: 'Invite a person by a link that works once, within 72 hours',
      description:
        'The role may not be above one’s own, nor that of an open invitation of the address, which it ends. The link is sent by mail where SMTP_URL is set. It ends early with a newer invitation of the address, when the address gets an account, and when its maker is removed, gets another role, a new password or another second factor, or ends sessions.',
    })
    .input(invitationInput)
    .output(made),
  list: call(['admin'], { needs: 'users.read' })
    .route({ method: 'GET', path: '/api/invitations', tags, summary: 'The invitations that were not used, the newest first' })
    .output(z.object({ invitations: z.array(openInvitation) })),
  resend: call(['admin'], { needs: 'users.write', stepUp: true })
    .route({
      method: 'POST',
      path: '/api/invitations/{id}/resend',
      tags,
      summary: 'Make a new link for an invitation, for 72 hours anew; the earlier link ends',
    })
    .input(z.strictObject({ id: z.uuid() }))
    .output(made),
  remove: call(['admin'], { needs: 'users.write' })
    .route({
      method: 'DELETE',
      path: '/api/invitations/{id}',
      tags,
      summary: 'End an invitation, whose role may not be above one’s own',
    })
    .input(z.strictObject({ id: z.uuid() }))
    .output(done),
  state: call(['guest'])
    .route({ method: 'POST', path: '/api/invitation', tags, summary: 'Whether an invitation can be used, and for whom it is' })
    .input(z.strictObject({ link: linkField }))
    .output(z.object({ state: z.enum(invitationStates), email: z.string().nullable(), role: invitedRoleField.nullable() })),
  accept: call(['guest'])
    .route({ method: 'PUT', path: '/api/invitation', tags, summary: 'Make the account of an invitation and sign in' })
    .input(z.strictObject({ ...accepting, link: linkField }).refine(...passwordsMatch))
    .output(done.extend({ user: sessionUser })),
}
