/** Sign-in, sign-out and self-registration (§2 signed-out area, §3 session data, §4, §5). */
import { z } from 'zod'
import { call } from '#src/call.ts'
import { emailField, idField, passwordField } from '#src/field-schemas.ts'
import { permissionField, roleField } from '#src/team/calls.ts'
import { passwordsMatch, registrationFields, userTypeField } from '#src/users/calls.ts'

export const loginInput = z.strictObject({ email: emailField, password: passwordField })
export type LoginInput = z.infer<typeof loginInput>

/** The session data of §3. `username` is the first name, a space, and the last name. */
export const sessionUser = z.object({
  id: idField,
  username: z.string(),
  fname: z.string(),
  lname: z.string(),
  email: z.string(),
  userType: userTypeField,
  /** The role of an admin; null for a user. */
  role: roleField.nullable(),
  /** What the role may do; empty for a user. */
  permissions: z.array(permissionField),
  /** Whether the person may use only the own account until a second factor is set up (SECOND_FACTOR=admins). */
  lacksSecondFactor: z.boolean(),
})
export type SessionUser = z.infer<typeof sessionUser>

/**
 * `valid`: the link registers the first admin; `used`: there is already an admin; `replaced`: a newer link was made, or the link never
 * existed.
 */
const setupLinkStates = ['valid', 'used', 'expired', 'replaced'] as const
export type SetupLinkState = (typeof setupLinkStates)[number]
const setupField = z.string().max(128)

const done = z.object({ success: z.literal(true) })

export const auth = {
  session: call(['guest'])
    .route({
      method: 'GET',
      path: '/api/session',
      tags: ['Accounts'],
      summary: 'Who is signed in, and what a signed-out visitor may do',
    })
    /** While `hasAdmin` is false, users who register without a setup link cannot do anything yet. */
    .output(
      z.object({
        user: sessionUser.nullable(),
        registrationEmailHost: z.string(),
        hasAdmin: z.boolean(),
        /** Whether the console mails links to people who forgot their password (SMTP_URL). */
        canResetByMail: z.boolean(),
        /** The name of the service with which people whose accounts are linked can sign in (OIDC_CLIENT_ID); null without one. */
        signInService: z.string().nullable(),
      }),
    ),
  login: call(['guest'], { onFullDisk: 'small' })
    .route({ method: 'POST', path: '/api/session', tags: ['Accounts'], summary: 'Sign in' })
    .input(loginInput)
    .output(done.extend({ user: sessionUser })),
  logout: call(['guest'], { onFullDisk: 'allowed', unexpected: 'LOGOUT_FAILED' })
    .route({ method: 'DELETE', path: '/api/session', tags: ['Accounts'], summary: 'Sign out' })
    .output(done),
  register: call(['guest'])
    .route({ method: 'POST', path: '/api/register', tags: ['Accounts'], summary: 'Register oneself and sign in' })
    .input(z.strictObject({ ...registrationFields, setup: setupField.optional() }).refine(...passwordsMatch))
    .output(done.extend({ user: sessionUser })),
  setupLink: call(['guest'], { onFullDisk: 'allowed' })
    .route({
      method: 'POST',
      path: '/api/setup-link',
      tags: ['Accounts'],
      summary: 'Whether a set-up link makes the first admin, or else why not',
    })
    .input(z.strictObject({ setup: setupField }))
    .output(z.object({ state: z.enum(setupLinkStates) })),
}
