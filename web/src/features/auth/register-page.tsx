/** Self-registration (§2 /register, §5), and with `?setup=` the registration of the first admin (design §7). */
import type { RegistrationInput } from '@arcade/contract/users/calls'
import { Anchor } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useNavigate, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { asCallError } from '#src/client/call-error.ts'
import { api, client, forGuests } from '#src/client/client.ts'
import { setCurrentUser, useSession } from '#src/session.tsx'
import { AppLink } from '#src/ui/app-link.tsx'
import { Form, SubmitButton, TextField, useForm } from '#src/ui/form.tsx'
import { NewPasswordFields } from '#src/ui/new-password-field.tsx'
import { toast } from '#src/ui/toast.tsx'
import { loginAddress } from './requested-page.ts'
import { AuthLayout, FormNotice } from './auth-layout.tsx'
import classes from './auth-layout.module.css'
import { refusalNotice } from './refusal-notice.ts'
import { SetupNotice } from './setup-notice.tsx'

const empty = { fname: '', lname: '', email: '', password: '', confirmPassword: '' }

export function RegisterPage() {
  const navigate = useNavigate()
  const { setup } = useSearch({ from: '/auth/register' })
  const { registrationEmailHost } = useSession()
  const form = useForm(
    () => import('@arcade/contract/users/calls').then(({ registrationInputFor }) => registrationInputFor(registrationEmailHost)),
    empty,
  )
  const notice = refusalNotice(form.refusal)
  const [takenEmail, setTakenEmail] = useState<string>()
  const link = useQuery(
    api.auth.setupLink.queryOptions({ input: { setup: setup ?? '' }, enabled: setup !== undefined, meta: forGuests }),
  )
  /** Whether this page registers the first admin. With an invalid set-up link it is the ordinary registration. */
  const isSetup = setup !== undefined && (link.data === undefined || link.data.state === 'valid')

  const handleSubmit = async (input: RegistrationInput) => {
    setTakenEmail(undefined)
    try {
      const { user } = await client.auth.register({ ...input, ...(isSetup && { setup }) })
      form.reset()
      setCurrentUser(user)
      toast.success('Account Created Successfully!')
      await navigate({ to: '/admin' })
      return undefined
    } catch (cause) {
      const error = asCallError(cause)
      toast.failure(error.isException ? 'Registration Failed!' : 'Registration Failed')
      if (isSetup && error.code === 'CREATE_USER_FAILED') setTakenEmail(input.email)
      if (error.code === 'SETUP_LINK_INVALID') await link.refetch()
      return error
    }
  }

  return (
    <AuthLayout
      mode="signup"
      title="Create Your New Account"
      notice={<SetupNotice hasLink={setup !== undefined} state={link.data?.state} takenEmail={takenEmail} />}
      footer={
        <Anchor component={AppLink} href={loginAddress()} underline="always">
          Already have an account? Log In
        </Anchor>
      }
    >
      <Form form={form} onSubmit={handleSubmit} label="Create Your New Account">
        <div className={classes['pair']}>
          <TextField control={form.control} name="fname" label="First Name" isRequired autoComplete="given-name" />
          <TextField control={form.control} name="lname" label="Last Name" isRequired autoComplete="family-name" />
        </div>
        <TextField control={form.control} name="email" label="Email" isRequired type="email" autoComplete="username" />
        <NewPasswordFields control={form.control} label="Password" known={['fname', 'lname', 'email']} />
        <SubmitButton size="md" fullWidth>
          Create Account
        </SubmitButton>
        <FormNotice>{notice && <p>{notice}</p>}</FormNotice>
      </Form>
    </AuthLayout>
  )
}
