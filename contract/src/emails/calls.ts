/** What needs mails (SMTP_URL): links for forgotten passwords, and changes of one's own e-mail address, which both addresses confirm. */
import { z } from 'zod'
import { call } from '#src/call.ts'
import { emailField } from '#src/field-schemas.ts'

export const forgottenPasswordInput = z.strictObject({ email: emailField })
export type ForgottenPasswordInput = z.infer<typeof forgottenPasswordInput>

export const emailChangeInput = z.strictObject({
  email: emailField,
  currentPassword: z.string('Current Password is required').min(1, 'Current Password is required').max(1024),
})
export type EmailChangeInput = z.infer<typeof emailChangeInput>

/** A change of one's own address that waits to be confirmed. */
export const emailChange = z.object({
  /** The new address. */
  email: z.string(),
  isConfirmedByNew: z.boolean(),
  isConfirmedByPresent: z.boolean(),
  expiresAt: z.iso.datetime(),
})
export type EmailChange = z.infer<typeof emailChange>

/** `confirmed`: by this address, and the other one has not confirmed yet. `replaced`: the change was made or cancelled, or never existed. */
const emailChangeStates = ['valid', 'confirmed', 'expired', 'replaced'] as const
export type EmailChangeState = (typeof emailChangeStates)[number]
const linkField = z.string().max(128)

const done = z.object({ success: z.literal(true) })
const tags = ['Account']

export const emails = {
  forgottenPassword: call(['guest'])
    .route({
      method: 'POST',
      path: '/api/forgotten-password',
      tags,
      summary: 'Ask for a link to set a forgotten password, by mail',
      description: 'The answer and its time are the same whether there is an account of the address or not. Needs SMTP_URL.',
    })
    .input(forgottenPasswordInput)
    .output(done),
  change: call(['admin'], { needs: 'account.own' })
    .route({
      method: 'POST',
      path: '/api/account/email',
      tags,
      summary: 'Ask to change one’s own e-mail address; a link to each of both addresses confirms it',
      description: 'It takes effect when both links were confirmed, within a day. Needs SMTP_URL.',
    })
    .input(emailChangeInput)
    .output(done),
  waiting: call(['admin'], { needs: 'account.own' })
    .route({ method: 'GET', path: '/api/account/email', tags, summary: 'The change of one’s own address that waits, or null' })
    .output(z.object({ change: emailChange.nullable() })),
  endChange: call(['admin'], { needs: 'account.own' })
    .route({ method: 'DELETE', path: '/api/account/email', tags, summary: 'Cancel the change of one’s own address' })
    .output(done),
  link: call(['guest'])
    .route({ method: 'POST', path: '/api/email-link', tags, summary: 'What a link of a change of e-mail can do' })
    .input(z.strictObject({ link: linkField }))
    /** `isPresent`: the link was mailed to the present address, which can also cancel the change. */
    .output(z.object({ state: z.enum(emailChangeStates), email: z.string().nullable(), isPresent: z.boolean() })),
  confirm: call(['guest'])
    .route({ method: 'PUT', path: '/api/email-link', tags, summary: 'Confirm a change of e-mail, or cancel it' })
    .input(z.strictObject({ link: linkField, act: z.enum(['confirm', 'cancel']).default('confirm') }))
    /** `isChanged`: the address has changed, because both have confirmed. */
    .output(done.extend({ isChanged: z.boolean() })),
}
