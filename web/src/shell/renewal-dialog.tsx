/** The dialog for signing in again on top of a form, when the session ended before the form was saved (§4). */
import type { LoginInput } from '@arcade/contract/auth/calls'
import type { CodeInput } from '@arcade/contract/second-factor/calls'
import type { SecondFactorMethod } from '@arcade/contract/second-factor/fields'
import { Button } from '@mantine/core'
import { useEffect, useId, useRef, useState } from 'react'
import { asCallError } from '#src/client/call-error.ts'
import { client } from '#src/client/client.ts'
import { byPasskey, hasPasskeys } from '#src/client/passkeys.ts'
import { settleRenewal } from '#src/session.tsx'
import { CodeForm } from '#src/ui/code-form.tsx'
import { Dialog, DialogActions } from '#src/ui/dialog.tsx'
import { Form, PasswordField, SubmitButton, useForm } from '#src/ui/form.tsx'
import { isKeptAsDraft } from '#src/ui/unsaved.ts'
import classes from './renewal-dialog.module.css'

export function RenewalDialog({ email }: { email: string }) {
  const id = useId()
  const form = useForm(() => import('@arcade/contract/auth/calls').then(({ loginInput }) => loginInput), { email, password: '' })
  const [isKept] = useState(isKeptAsDraft)
  const [methods, setMethods] = useState<readonly SecondFactorMethod[]>()
  const problem = form.refusal?.code === 'LOGIN_FAILED' ? 'Invalid Credentials!' : form.refusal?.message

  const handleSubmit = async (input: LoginInput) => {
    try {
      const { user } = await client.auth.login(input)
      settleRenewal(user)
      return undefined
    } catch (cause) {
      const error = asCallError(cause)
      if (error.code === 'SECOND_FACTOR_NEEDED') {
        setMethods(error.methods)
        return undefined
      }
      if (!error.isException) form.resetField('password') // after an exception the password may still be right
      form.setFocus('password')
      return error
    }
  }

  return (
    // Escape does not close it: it is easily pressed by mistake, and would discard the input.
    <Dialog
      isOpen
      title="Your session has ended"
      description={`Sign in again as ${email} to go on. What you typed is still here.`}
    >
      {methods ? (
        <SecondFactorForm methods={methods} onExpire={() => setMethods(undefined)} />
      ) : (
        <Form form={form} onSubmit={handleSubmit} label="Sign in again">
          {/* Without the tabIndex, the dialog would try to focus it when it opens. */}
          <input type="email" autoComplete="username" value={email} readOnly hidden tabIndex={-1} />
          <PasswordField control={form.control} name="password" label="Password" isRequired autoComplete="current-password" />
          <p className={classes['problem']} aria-live="polite">
            {problem}
          </p>
          <DialogActions>
            <Button variant="default" aria-describedby={`${id}-cancel`} onClick={() => settleRenewal(null)}>
              Cancel
            </Button>
            <SubmitButton>Sign In</SubmitButton>
          </DialogActions>
          <p id={`${id}-cancel`} className={classes['note']}>
            Cancel leads to the Login screen. {isKept ? 'This browser keeps the text as a draft.' : 'The text is lost then.'}
          </p>
        </Form>
      )}
    </Dialog>
  )
}

interface SecondFactorFormProps {
  methods: readonly SecondFactorMethod[]
  /** Called if the sign-in has expired. */
  onExpire: () => void
}

/** The second step, after the right password. */
function SecondFactorForm({ methods, onExpire }: SecondFactorFormProps) {
  const code = useRef<HTMLInputElement>(null)
  useEffect(() => code.current?.focus(), [])

  const handleCode = async (input: CodeInput) => {
    try {
      return settleRenewal((await client.secondFactor.prove(input)).user)
    } catch (cause) {
      return asCallError(cause)
    }
  }
  const handlePasskey = async () => {
    try {
      return settleRenewal((await byPasskey(() => client.passkeys.secondFactorOptions(), client.passkeys.secondFactor)).user)
    } catch (cause) {
      return asCallError(cause)
    }
  }
  return (
    <CodeForm
      methods={methods}
      label="Second factor"
      submitLabel="Sign In"
      inputRef={code}
      onCode={handleCode}
      onExpire={onExpire}
      onCancel={() => settleRenewal(null)}
      onPasskey={hasPasskeys() ? handlePasskey : undefined}
    />
  )
}
