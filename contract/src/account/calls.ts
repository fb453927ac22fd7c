/** The signed-in user's own account, for admins: password, sessions and Telegram account. The name is changed like that of any user, see users/calls.ts. */
import { z } from 'zod'
import { call } from '#src/call.ts'
import { idField, newPasswordField } from '#src/field-schemas.ts'
import { roleField } from '#src/team/calls.ts'
import { confirmPasswordField, passwordsMatch } from '#src/users/calls.ts'

const newPassword = { password: newPasswordField, confirmPassword: confirmPasswordField }

export const passwordChangeInput = z
  .strictObject({
    currentPassword: z.string('Current Password is required').min(1, 'Current Password is required').max(1024),
    ...newPassword,
  })
  .refine(...passwordsMatch)
export type PasswordChangeInput = z.infer<typeof passwordChangeInput>

/** The form behind a password link. */
export const newPasswordInput = z.strictObject(newPassword).refine(...passwordsMatch)
export type NewPasswordInput = z.infer<typeof newPasswordInput>

/** `replaced`: a newer link was made, the link was ended, or it never existed. */
const passwordLinkStates = ['valid', 'used', 'expired', 'replaced'] as const
export type PasswordLinkState = (typeof passwordLinkStates)[number]
const linkField = z.string().max(128)

/** A password link that works. The link itself is known only to its maker. */
export const openPasswordLink = z.object({
  /** The user for whom the link is. */
  id: idField,
  name: z.string(),
  email: z.string(),
  role: roleField.nullable(),
  /** The name of the admin who made it. */
  madeBy: z.string(),
  expiresAt: z.iso.datetime(),
})
export type OpenPasswordLink = z.infer<typeof openPasswordLink>

export const session = z.object({
  id: idField,
  /** Such as `Chrome on Windows`; empty for sessions older than this column. */
  device: z.string(),
  begunAt: z.iso.datetime(),
  /** An IPv4 address or the /64 network of an IPv6 one; empty if a server of an older version began the session. */
  begunAddress: z.string(),
  /** Accurate to ten minutes. */
  lastSeenAt: z.iso.datetime(),
  /** The address of the last use, about a minute after a change of it. */
  lastAddress: z.string(),
  isCurrent: z.boolean(),
})
export type Session = z.infer<typeof session>

/** The Telegram account of an admin, to which the bot sends the tests of a broadcast. */
export const linkedTelegram = z.object({
  telegramId: z.number(),
  /** The player’s name; null if the console does not know a player of this id. */
  name: z.string().nullable(),
  linkedAt: z.iso.datetime(),
})
export type LinkedTelegram = z.infer<typeof linkedTelegram>

const done = z.object({ success: z.literal(true) })
const tags = ['Account']

export const account = {
  changePassword: call(['admin'], { needs: 'account.own' })
    .route({ method: 'PUT', path: '/api/account/password', tags, summary: 'Change one’s own password; all other sessions end' })
    .input(passwordChangeInput)
    .output(done),
  sessions: call(['admin'], { needs: 'account.own' })
    .route({ method: 'GET', path: '/api/account/sessions', tags, summary: 'One’s own sessions, this one first, then the latest' })
    .output(z.object({ sessions: z.array(session) })),
  endSession: call(['admin'], { needs: 'account.own' })
    .route({ method: 'DELETE', path: '/api/account/sessions/{id}', tags, summary: 'End one of one’s own sessions' })
    .input(z.strictObject({ id: z.uuid() }))
    .output(done),
  endOtherSessions: call(['admin'], { needs: 'account.own' })
    .route({ method: 'DELETE', path: '/api/account/sessions', tags, summary: 'End all of one’s own sessions but this one' })
    .output(done),

  createPasswordLink: call(['admin'], { needs: 'users.write', stepUp: true })
    .route({
      method: 'POST',
      path: '/api/password-links',
      tags,
      summary: 'Make a link with which a user sets a new password, once and within a day',
      description:
        'The link ends early with a newer link for the user, with a new password, a new role or the removal of the user, and when its maker is removed, is demoted, gets a new password or ends sessions.',
    })
    .input(z.strictObject({ id: idField }))
    .output(done.extend({ path: z.string(), expiresAt: z.iso.datetime() })),
  passwordLinks: call(['admin'], { needs: 'users.read' })
    .route({
      method: 'GET',
      path: '/api/password-links',
      tags,
      summary: 'The password links that can be used now: for whom, by whom and until when',
    })
    .output(z.object({ links: z.array(openPasswordLink) })),
  endPasswordLink: call(['admin'], { needs: 'users.write' })
    .route({
      method: 'DELETE',
      path: '/api/password-links/{id}',
      tags,
      summary: 'End the password link for a user, whose role may not be above one’s own, if there is one',
    })
    .input(z.strictObject({ id: idField }))
    .output(done),
  passwordLink: call(['guest'])
    .route({ method: 'POST', path: '/api/password-link', tags, summary: 'Whether a password link can be used and by whom' })
    .input(z.strictObject({ link: linkField }))
    /** `isMailed`: the link was mailed to somebody who forgot the password. It works for an hour, and a new one needs no admin. */
    .output(z.object({ state: z.enum(passwordLinkStates), email: z.string().nullable(), isMailed: z.boolean() })),
  setPassword: call(['guest'])
    .route({ method: 'PUT', path: '/api/password-link', tags, summary: 'Set a new password by a link; the user’s sessions end' })
    .input(z.strictObject({ ...newPassword, link: linkField }).refine(...passwordsMatch))
    .output(done),

  createTelegramCode: call(['admin'], { needs: 'account.own' })
    .route({
      method: 'POST',
      path: '/api/account/telegram-code',
      tags,
      summary: 'Make a code that links one’s own Telegram account, once and within ten minutes, when it is sent to the bot',
      description: 'The code ends early with a newer one, with a new password or role, and with any session that one ends.',
    })
    .output(done.extend({ code: z.string(), expiresAt: z.iso.datetime() })),
  telegram: call(['admin'], { needs: 'account.own' })
    .route({ method: 'GET', path: '/api/account/telegram', tags, summary: 'One’s own linked Telegram account, or null' })
    .output(z.object({ telegram: linkedTelegram.nullable() })),
  unlinkTelegram: call(['admin'], { needs: 'account.own' })
    .route({
      method: 'DELETE',
      path: '/api/account/telegram',
      tags,
      summary: 'Unlink one’s own Telegram account, and end an open code',
    })
    .output(done),
}
