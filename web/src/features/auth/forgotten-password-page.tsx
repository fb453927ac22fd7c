/** Asks for a link to set a forgotten password, by mail. What it says is the same whether there is an account or not. */
import type { ForgottenPasswordInput } from '@arcade/contract/emails/calls'
import { Anchor } from '@mantine/core'
import { useState } from 'react'
import { asCallError } from '#src/client/call-error.ts'
import { client } from '#src/client/client.ts'
import { useSession } from '#src/session.tsx'
import { AppLink } from '#src/ui/app-link.tsx'
import { Form, SubmitButton, TextField, useForm } from '#src/ui/form.tsx'
import { toast } from '#src/ui/toast.tsx'
import { loginAddress } from './requested-page.ts'
import { AuthLayout, FormNotice } from './auth-layout.tsx'
import classes from './auth-layout.module.css'
import { refusalNotice } from './refusal-notice.ts'

export function ForgottenPasswordPage() {
  const { canResetByMail } = useSession()
  const [asked, setAsked] = useState<string>()
  return (
    <AuthLayout
      mode="login"
      title="Forgotten Your Password?"
      {...(canResetByMail && asked === undefined && { text: 'We send you a link with which you set a new one.' })}
      notice={
        <div aria-live="polite">
          {asked !== undefined && (
            <div className={classes['setup']} data-good>
              <p>
                If there is an account of {asked}, a mail with a link is on its way. The link works once, within an hour. Look
                into the spam folder, too.
              </p>
            </div>
          )}
          {!canResetByMail && (
            <div className={classes['setup']}>
              <p>This console cannot send mails. Ask an admin for a link to set a new password.</p>
            </div>
          )}
        </div>
      }
      footer={
        <Anchor component={AppLink} href={loginAddress()} underline="always">
          Log In
        </Anchor>
      }
    >
      {canResetByMail && <AskForm isAgain={asked !== undefined} onAsked={setAsked} />}
    </AuthLayout>
  )
}

function AskForm({ isAgain, onAsked }: { isAgain: boolean; onAsked: (email: string) => void }) {
  const form = useForm(
    () => import('@arcade/contract/emails/calls').then(({ forgottenPasswordInput }) => forgottenPasswordInput),
    { email: '' },
  )
  const notice = refusalNotice(form.refusal)

  const handleSubmit = async (input: ForgottenPasswordInput) => {
    try {
      await client.emails.forgottenPassword(input)
      form.reset()
      onAsked(input.email)
      return undefined
    } catch (cause) {
      const error = asCallError(cause)
      toast.failure(error.isException ? 'Internal Server Error!' : error.message, { detail: error.message })
      return error
    }
  }

  return (
    <Form form={form} onSubmit={handleSubmit} label="Forgotten Your Password?">
      <TextField control={form.control} name="email" label="Email" isRequired type="email" autoComplete="username" />
      <SubmitButton size="md" fullWidth>
        {isAgain ? 'Send Another Link' : 'Send the Link'}
      </SubmitButton>
      <FormNotice>{notice && <p>{notice}</p>}</FormNotice>
    </Form>
  )
}
