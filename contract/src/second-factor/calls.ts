/** The second factor: setting it up, proving it at sign-in and again before weighty acts (step-up), and its reset by an owner. */
import { z } from 'zod'
import { sessionUser } from '#src/auth/calls.ts'
import { call } from '#src/call.ts'
import { idField } from '#src/field-schemas.ts'
import { RECOVERY_CODES, secondFactorMethods, secondFactorPolicies } from './fields.ts'

const CODE_MISSING = 'Code is required'
/** A code of the authenticator app, or a recovery code, as it was typed: spaces and dashes do not count. */
export const codeField = z.string(CODE_MISSING).trim().min(1, CODE_MISSING).max(64, 'Code is too long')
/** The form of a code. */
export const codeInput = z.strictObject({ code: codeField })
export type CodeInput = z.infer<typeof codeInput>

export const secondFactorState = z.object({
  /** Whether the person is asked for a second factor. */
  isOn: z.boolean(),
  /** What the person can prove it with now; `recovery` only while codes are left. */
  methods: z.array(z.enum(secondFactorMethods)),
  /** The authenticator app; null without one. */
  totp: z.object({ confirmedAt: z.iso.datetime() }).nullable(),
  recoveryCodesLeft: z.int(),
  /** Who must have a second factor (SECOND_FACTOR). */
  policy: z.enum(secondFactorPolicies),
})
export type SecondFactorState = z.infer<typeof secondFactorState>

const recoveryCodes = z.array(z.string()).length(RECOVERY_CODES)
const done = z.object({ success: z.literal(true) })
const tags = ['Second factor']

export const secondFactor = {
  prove: call(['guest'], { onFullDisk: 'small' })
    .route({
      method: 'POST',
      path: '/api/session/second-factor',
      tags,
      summary: 'Finish a sign-in that asked for the second factor, by a code of the app or a recovery code',
      description:
        '`POST /api/session` answers 403 `SECOND_FACTOR_NEEDED` with the `methods` and a cookie that is good for this call alone, for ten minutes and five codes. A code works once.',
    })
    .input(codeInput)
    .output(done.extend({ user: sessionUser })),
  stepUp: call(['admin'], { needs: 'account.own', onFullDisk: 'small' })
    .route({
      method: 'POST',
      path: '/api/session/step-up',
      tags,
      summary: 'Prove the second factor again, for the next ten minutes; the session gets a new token',
      description: 'Calls that need it answer 403 `STEP_UP_NEEDED` with the `methods` until then.',
    })
    .input(codeInput)
    .output(done),

  state: call(['admin'], { needs: 'account.own' })
    .route({ method: 'GET', path: '/api/account/second-factor', tags, summary: 'One’s own second factor, and who must have one' })
    .output(secondFactorState),
  beginTotp: call(['admin'], { needs: 'account.own', stepUp: true })
    .route({
      method: 'POST',
      path: '/api/account/second-factor/totp',
      tags,
      summary: 'Make the secret of an authenticator app (RFC 6238), which counts once a code of it is confirmed',
      description: 'An app that is confirmed already stays until the new one is.',
    })
    .output(z.object({ secret: z.string(), uri: z.string() })),
  confirmTotp: call(['admin'], { needs: 'account.own', stepUp: true })
    .route({
      method: 'POST',
      path: '/api/account/second-factor/totp/confirm',
      tags,
      summary: 'Switch an authenticator app on by its first code, and get ten recovery codes; one’s other sessions end',
      description: 'Recovery codes of before end. They are not shown again.',
    })
    .input(codeInput)
    .output(done.extend({ recoveryCodes })),
  newRecoveryCodes: call(['admin'], { needs: 'account.own', stepUp: true })
    .route({
      method: 'POST',
      path: '/api/account/second-factor/recovery-codes',
      tags,
      summary: 'Make ten new recovery codes; those of before and one’s other sessions end',
    })
    .output(done.extend({ codes: recoveryCodes })),
  removeTotp: call(['admin'], { needs: 'account.own', stepUp: true })
    .route({
      method: 'DELETE',
      path: '/api/account/second-factor/totp',
      tags,
      summary: 'Switch one’s own authenticator app off; one’s other sessions end',
      description: 'Recovery codes end with the last method.',
    })
    .output(done),
  reset: call(['admin'], { needs: 'users.roles', stepUp: true })
    .route({
      method: 'DELETE',
      path: '/api/users/{id}/second-factor',
      tags,
      summary: 'Remove another person’s second factor, who has lost it, and end the person’s sessions',
    })
    .input(z.strictObject({ id: idField }))
    .output(done),
}
