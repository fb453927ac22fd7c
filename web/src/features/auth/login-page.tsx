/** Login (§2 signed-out area, §5, §8). */
import type { LoginInput, SessionUser } from '@arcade/contract/auth/calls'
import { isolated } from '@arcade/contract/text'
import { Anchor } from '@mantine/core'
import { type ReactNode, useState } from 'react'
import { asCallError } from '#src/client/call-error.ts'
import { client } from '#src/client/client.ts'
import { byPasskey, hasPasskeys } from '#src/client/passkeys.ts'
import { leaveFor, refusalOfService } from '#src/client/sign-in-service.ts'
import { endedSession, useSession } from '#src/session.tsx'
import { AppLink, goTo, hasPageHere } from '#src/ui/app-link.tsx'
import { Form, PasswordField, SubmitButton, TextField, useForm } from '#src/ui/form.tsx'
import { PasskeyButton, ProofButton } from '#src/ui/passkey-button.tsx'
import { toast } from '#src/ui/toast.tsx'
import { isPageRequested, rememberRequestedPage } from './requested-page.ts'
import { AuthLayout, FormNotice } from './auth-layout.tsx'
import { welcome } from './welcome.ts'
import classes from './auth-layout.module.css'
import { refusalNotice } from './refusal-notice.ts'

export function LoginPage() {
  /** The user whose session ended on the page at this address; undefined if the login page was opened by its own address. */
  const endedUserId = location.pathname === '/auth/log-in' ? undefined : endedSession()
  const { form, secondStep, handleSubmit, handlePasskey } = useSignIn(endedUserId)
  const { canResetByMail, signInService } = useSession()
  const notice = refusalNotice(form.refusal)
  /** Why the sign-in service did not sign the visitor in. */
  const refused = refusalOfService()

  if (secondStep) return secondStep
  return (
    <AuthLayout
      mode="login"
      title="Welcome"
      text="Sign into your account"
      notice={
        (refused !== undefined || endedUserId !== undefined) && (
          <div className={classes['setup']} role={refused === undefined ? undefined : 'status'}>
            <p>{refused ?? 'Your session has ended. Sign in again to go on where you were.'}</p>
          </div>
        )
      }
      footer={
        <Anchor component={AppLink} href="/register" underline="always" onClickCapture={rememberRequestedPage}>
          Create an account
        </Anchor>
      }
    >
      <Form form={form} onSubmit={handleSubmit} label="Sign into your account">
        <TextField control={form.control} name="email" label="Email" isRequired type="email" autoComplete="username" />
        <PasswordField control={form.control} name="password" label="Password" isRequired autoComplete="current-password" />
        <SubmitButton size="md" fullWidth>
          Sign In
        </SubmitButton>
        <FormNotice>{notice && <p>{notice}</p>}</FormNotice>
        {canResetByMail && (
          <p className={classes['forgotten']}>
            <Anchor component={AppLink} href="/forgotten-password" underline="always" onClickCapture={rememberRequestedPage}>
              Forgotten your password?
            </Anchor>
          </p>
        )}
      </Form>
      {hasPasskeys() && <PasskeyButton onUse={handlePasskey} />}
      {signInService !== null && <ProofButton onUse={leaveForService}>Continue with {isolated(signInService)}</ProofButton>}
    </AuthLayout>
  )
}

/**
 * Returns the login form with its handlers, and the second step once the server asks for it.
 * @param endedUserId the user whose session ended on the page at this address
 */
function useSignIn(endedUserId: string | undefined) {
  const form = useForm(() => import('@arcade/contract/auth/calls').then(({ loginInput }) => loginInput), {
    email: '',
    password: '',
  })
  const [secondStep, setSecondStep] = useState<ReactNode>()

  const enter = async (user: SessionUser) => {
    // A page's address that was opened signed out is kept, unless it is where another user's session ended.
    const staysHere = endedUserId === undefined ? isPageRequested() && (await hasPageHere()) : user.id === endedUserId
    form.reset()
    welcome(user)
    if (!staysHere) await goTo('/admin') // §4
  }
  const handleSubmit = async (input: LoginInput) => {
    try {
      await enter((await client.auth.login(input)).user)
      return undefined
    } catch (cause) {
      const error = asCallError(cause)
      if (error.code === 'SECOND_FACTOR_NEEDED') {
        const { SecondStep } = await import('./second-step.tsx')
        return setSecondStep(<SecondStep methods={error.methods} onSignIn={enter} onLeave={() => setSecondStep(undefined)} />)
      }
      if (error.isException) toast.failure('Internal Server Error!', { detail: error.message })
      else {
        toast.failure('Invalid Credentials!')
        form.resetField('password')
      }
      return error
    }
  }

  const handlePasskey = async () => {
    try {
      return await enter((await byPasskey(() => client.passkeys.signInOptions(), client.passkeys.signIn)).user)
    } catch (cause) {
      return asCallError(cause)
    }
  }

  return { form, secondStep, handleSubmit, handlePasskey }
}

/** Leaves for the sign-in service. Returns why that was not possible. */
async function leaveForService() {
  try {
    const isRequested = isPageRequested() && (await hasPageHere())
    return await leaveFor(await client.oidc.beginSignIn(), isRequested ? location.pathname + location.search : undefined)
  } catch (cause) {
    return asCallError(cause)
  }
}
