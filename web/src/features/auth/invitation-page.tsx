/** Accepts an invitation: makes the account whose e-mail address and role the invitation names, and signs in. */
import type { AcceptInput, InvitationState, InvitedRole } from '@arcade/contract/invitations/calls'
import { roleLabels } from '@arcade/contract/team/fields'
import { Anchor } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { asCallError, problemOf } from '#src/client/call-error.ts'
import { api, client, forGuests } from '#src/client/client.ts'
import { setCurrentUser, useSession } from '#src/session.tsx'
import { Form, SubmitButton, TextField, useForm } from '#src/ui/form.tsx'
import { NewPasswordFields } from '#src/ui/new-password-field.tsx'
import { Problem } from '#src/ui/page.tsx'
import { toast } from '#src/ui/toast.tsx'
import { AuthLayout, FormNotice } from './auth-layout.tsx'
import classes from './auth-layout.module.css'

const ASK = 'Ask the person who invited you for a new one.'

const texts: Record<Exclude<InvitationState, 'valid'>, string> = {
  used: 'This invitation was used already: there is an account. Log in with it.',
  expired: `This invitation has expired: it was good for three days. ${ASK}`,
  replaced: `This invitation is not valid. It may be incomplete, a newer one may have taken its place, it was ended, or there is an account of your address already. ${ASK}`,
}

export function InvitationPage() {
  const { link = '' } = useSearch({ from: '/auth/invitation' })
  const { user } = useSession()
  const { data, error, refetch } = useQuery(
    api.invitations.state.queryOptions({ input: { link }, refetchOnWindowFocus: false, meta: forGuests }),
  )
  const isValid = data?.state === 'valid'
  return (
    <AuthLayout
      mode="signup"
      title="Accept Your Invitation"
      {...(isValid && { text: `For ${data.email}. ${roleText(data.role)}` })}
      notice={
        data &&
        (data.state !== 'valid' || user) && (
          <div className={classes['setup']} data-good={isValid || undefined}>
            {data.state !== 'valid' && <p>{texts[data.state]}</p>}
            {user && (
              <p>
                You are signed in as {user.email}
                {isValid && '; the account that you make here takes its place in this browser'}.{' '}
                <Anchor renderRoot={(props) => <Link to="/admin" {...props} />} underline="always">
                  Back to the dashboard
                </Anchor>
              </p>
            )}
          </div>
        )
      }
      footer={
        <Anchor renderRoot={(props) => <Link to="/auth/log-in" {...props} />} underline="always">
          Log In
        </Anchor>
      }
    >
      {error && !data && <Problem {...problemOf(error, () => void refetch())} />}
      {!error && !data && <output>Loading...</output>}
      {isValid && <AcceptForm link={link} email={data.email ?? ''} onRefused={() => void refetch()} />}
    </AuthLayout>
  )
}

function roleText(role: InvitedRole | null): string {
  return role === null || role === 'user' ? 'Your account will be of the type User.' : `Your role will be ${roleLabels[role]}.`
}

function AcceptForm({ link, email, onRefused }: { link: string; email: string; onRefused: () => void }) {
  const navigate = useNavigate()
  const [notice, setNotice] = useState<string>()
  const form = useForm(() => import('@arcade/contract/invitations/calls').then(({ acceptInput }) => acceptInput), {
    fname: '',
    lname: '',
    password: '',
    confirmPassword: '',
  })

  const handleSubmit = async (input: AcceptInput) => {
    setNotice(undefined)
    try {
      const { user } = await client.invitations.accept({ ...input, link })
      form.reset()
      setCurrentUser(user)
      toast.success('Account Created Successfully!')
      await navigate({ to: '/admin' })
      return undefined
    } catch (cause) {
      const error = asCallError(cause)
      toast.failure(error.isException ? 'Registration Failed!' : 'Registration Failed')
      setNotice(error.message)
      if (error.code === 'INVITATION_INVALID') onRefused()
      return error
    }
  }

  return (
    <Form form={form} onSubmit={handleSubmit} label="Accept Your Invitation">
      <div className={classes['pair']}>
        <TextField control={form.control} name="fname" label="First Name" isRequired autoComplete="given-name" />
        <TextField control={form.control} name="lname" label="Last Name" isRequired autoComplete="family-name" />
      </div>
      <input type="email" autoComplete="username" value={email} readOnly hidden />
      <NewPasswordFields control={form.control} label="Password" known={['fname', 'lname']} knownTexts={[email]} />
      <SubmitButton size="md" fullWidth>
        Create Account
      </SubmitButton>
      <FormNotice>{notice && <p>{notice}</p>}</FormNotice>
    </Form>
  )
}
