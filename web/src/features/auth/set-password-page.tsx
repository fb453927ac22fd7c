/** Sets a new password by a link that an admin made, for users who forgot their password and imported users who have none. */
import type { NewPasswordInput, PasswordLinkState } from '@arcade/contract/account/calls'
import { Anchor } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { asCallError, problemOf } from '#src/client/call-error.ts'
import { api, client, forGuests, queryClient } from '#src/client/client.ts'
import { Form, SubmitButton, useForm } from '#src/ui/form.tsx'
import { NewPasswordFields } from '#src/ui/new-password-field.tsx'
import { Problem } from '#src/ui/page.tsx'
import { toast } from '#src/ui/toast.tsx'
import { AuthLayout, FormNotice } from './auth-layout.tsx'
import classes from './auth-layout.module.css'

const ASK = 'Ask an admin for a new one.'

const texts: Record<Exclude<PasswordLinkState, 'valid'>, string> = {
  used: `This link was used already: the password was set with it. ${ASK}`,
  expired: `This link has expired: it was good for a day. ${ASK}`,
  replaced: `This link is not valid. It may be incomplete, a newer one may have taken its place, or it was ended. ${ASK}`,
}

/** For links that were mailed to somebody who forgot the password. */
const mailedTexts: typeof texts = {
  ...texts,
  used: 'This link was used already: the password was set with it. Ask for another one on the login page.',
  expired: 'This link has expired: it was good for an hour. Ask for another one on the login page.',
}

export function SetPasswordPage() {
  const { link = '' } = useSearch({ from: '/auth/set-password' })
  const { data, error, refetch } = useQuery(
    api.account.passwordLink.queryOptions({ input: { link }, refetchOnWindowFocus: false, meta: forGuests }),
  )
  return (
    <AuthLayout
      mode="login"
      title="Set a New Password"
      {...(data?.email && { text: `For ${data.email}` })}
      notice={
        data &&
        data.state !== 'valid' && (
          <div className={classes['setup']}>
            <p>{(data.isMailed ? mailedTexts : texts)[data.state]}</p>
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
      {data?.state === 'valid' && <PasswordForm link={link} email={data.email ?? ''} onRefused={() => void refetch()} />}
    </AuthLayout>
  )
}

function PasswordForm({ link, email, onRefused }: { link: string; email: string; onRefused: () => void }) {
  const navigate = useNavigate()
  const [notice, setNotice] = useState<string>()
  const form = useForm(() => import('@arcade/contract/account/calls').then(({ newPasswordInput }) => newPasswordInput), {
    password: '',
    confirmPassword: '',
  })

  const handleSubmit = async (input: NewPasswordInput) => {
    setNotice(undefined)
    try {
      await client.account.setPassword({ ...input, link })
      form.reset()
      toast.success('Password set. Sign in with it.')
      // The call ended all sessions of the user, perhaps also the one of this browser.
      await queryClient.invalidateQueries({ queryKey: api.auth.session.key() })
      await navigate({ to: '/auth/log-in' })
      return undefined
    } catch (cause) {
      const error = asCallError(cause)
      toast.failure(error.isException ? 'Internal Server Error!' : 'Updating info failed!')
      setNotice(error.message)
      if (error.code === 'PASSWORD_LINK_INVALID') onRefused()
      return error
    }
  }

  return (
    <Form form={form} onSubmit={handleSubmit} label="Set a New Password">
      <input type="email" autoComplete="username" value={email} readOnly hidden />
      <NewPasswordFields control={form.control} label="New Password" knownTexts={[email]} />
      <SubmitButton size="md" fullWidth>
        Set Password
      </SubmitButton>
      <FormNotice>{notice && <p>{notice}</p>}</FormNotice>
    </Form>
  )
}
