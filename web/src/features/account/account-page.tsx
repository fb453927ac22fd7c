/** The account page of the signed-in admin: name, password, role, passkeys, sign-in service, Telegram account and sessions. The specification has no screen for it. */
import type { PasswordChangeInput } from '@arcade/contract/account/calls'
import type { DashboardUser } from '@arcade/contract/users/fields'
import type { UserUpdateInput } from '@arcade/contract/users/calls'
import { isolated } from '@arcade/contract/text'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { asCallError, problemOf } from '#src/client/call-error.ts'
import { api, client, fetchOnce, queryClient } from '#src/client/client.ts'
import { refreshAfterActOn } from '#src/lists/changes.ts'
import { mayDo, useSession } from '#src/session.tsx'
import { CONFIRM, useConfirm } from '#src/ui/confirm.tsx'
import { DraftOffer, useDraftForm } from '#src/ui/form-draft.tsx'
import { FormNotice, FormRefusal } from '#src/ui/form-notice.tsx'
import { Form, FormActions, PasswordField, SubmitButton, TextField, useForm } from '#src/ui/form.tsx'
import { NewPasswordFields } from '#src/ui/new-password-field.tsx'
import { Page, Panel, PanelText, Problem } from '#src/ui/page.tsx'
import { toast } from '#src/ui/toast.tsx'
import classes from './account.module.css'
import { EmailChange } from './email-change.tsx'
import { OwnRole } from './own-role.tsx'
import { Passkeys } from './passkeys.tsx'
import { SecondFactor } from './second-factor.tsx'
import { Sessions } from './sessions.tsx'
import { SignInService } from './sign-in-service.tsx'
import { Telegram } from './telegram.tsx'

export function AccountPage() {
  const { user, signInService } = useSession()
  const mustSetUp = user?.lacksSecondFactor ?? false
  // It stays in its place when it has been set up, because it then shows the recovery codes, once.
  const [isFirst] = useState(mustSetUp)
  const secondFactor = (
    <Panel title="Second Factor">
      <SecondFactor />
    </Panel>
  )
  return (
    <Page title="Your Account">
      {isFirst && (
        <>
          <FormNotice
            message={mustSetUp ? 'This console requires a second factor. Set one up here; then you can go on.' : undefined}
          />
          {secondFactor}
        </>
      )}
      <div className={classes['forms']}>
        <Panel title="Name">
          {user && (mayDo(user, NAME_NEEDS) ? <Name id={user.id} /> : <FixedName name={user.username} />)}
        </Panel>
        <Panel title="Password">
          <PanelText>When it changes, all your other sessions end, and so do the password links that you made.</PanelText>
          <PasswordForm email={user?.email ?? ''} />
        </Panel>
      </div>
      <Panel title="Role">
        <OwnRole />
      </Panel>
      {!isFirst && secondFactor}
      <Panel title="Passkeys">
        <Passkeys />
      </Panel>
      {signInService !== null && (
        <Panel title={`Sign-in with ${isolated(signInService)}`}>
          <SignInService />
        </Panel>
      )}
      <Panel title="Email">
        <PanelText>{user?.email}</PanelText>
        <EmailChange />
      </Panel>
      <Panel title="Telegram">
        <Telegram />
      </Panel>
      <Panel title="Sessions">
        <Sessions />
      </Panel>
    </Page>
  )
}

/** The calls that change a name are those of Update User. */
const NAME_NEEDS = 'users.write'

function FixedName({ name }: { name: string }) {
  return (
    <>
      <p className={classes['linked']}>
        <strong>{isolated(name)}</strong>
      </p>
      <PanelText>An owner or a manager can change your name.</PanelText>
    </>
  )
}

function Name({ id }: { id: string }) {
  // The name is not refetched in the background, because the form would then hold an older version than the page.
  const { data, error, refetch } = useQuery(api.users.get.queryOptions({ input: { id }, ...fetchOnce }))
  const handleReload = () => void refetch()
  if (data) return <NameForm key={data.version} user={data} onReload={handleReload} />
  if (error) return <Problem {...problemOf(error, handleReload)} />
  return <output>Loading...</output>
}

function NameForm({ user: { id, fname, lname, version }, onReload }: { user: DashboardUser; onReload: () => void }) {
  const confirm = useConfirm()
  const form = useDraftForm(
    () => import('@arcade/contract/users/calls').then(({ userUpdateInput }) => userUpdateInput),
    { fname, lname },
    { name: 'account', basis: version },
  )

  const handleSubmit = async (input: UserUpdateInput) => {
    if (!(await confirm({ title: 'Update user', message: 'Are you sure you want to update your name?', confirmLabel: CONFIRM })))
      return undefined
    try {
      const { user } = await client.users.update({ ...input, id, version })
      form.finish()
      queryClient.setQueryData(api.users.get.queryKey({ input: { id } }), (before) => before && { ...before, ...user })
      toast.success('Info Updated Successfully!')
      await refreshAfterActOn('users')
      return undefined
    } catch (cause) {
      const error = asCallError(cause)
      toast.failure(error.isException ? 'Internal Server Error' : 'Updating info failed!', { detail: error.message })
      return error
    }
  }

  return (
    <>
      <DraftOffer offer={form.offer} />
      <Form form={form} onSubmit={handleSubmit} label="Your name">
        <TextField control={form.control} name="fname" label="First Name" isRequired autoComplete="given-name" />
        <TextField control={form.control} name="lname" label="Last Name" isRequired autoComplete="family-name" />
        <FormRefusal form={form} onReload={onReload} />
        <FormActions>
          <SubmitButton>Update</SubmitButton>
        </FormActions>
      </Form>
    </>
  )
}

const emptyPasswords = { currentPassword: '', password: '', confirmPassword: '' }

function PasswordForm({ email }: { email: string }) {
  const form = useForm(
    () => import('@arcade/contract/account/calls').then(({ passwordChangeInput }) => passwordChangeInput),
    emptyPasswords,
  )

  const handleSubmit = async (input: PasswordChangeInput) => {
    try {
      await client.account.changePassword(input)
      form.reset()
      toast.success('Password changed.')
      void queryClient.invalidateQueries({ queryKey: api.account.sessions.key() })
      return undefined
    } catch (cause) {
      const error = asCallError(cause)
      toast.failure(error.isException ? 'Internal Server Error' : 'Updating info failed!', { detail: error.message })
      return error
    }
  }

  return (
    <Form form={form} onSubmit={handleSubmit} label="Your password">
      <input type="email" autoComplete="username" value={email} readOnly hidden />
      <PasswordField
        control={form.control}
        name="currentPassword"
        label="Current Password"
        isRequired
        autoComplete="current-password"
      />
      <NewPasswordFields control={form.control} label="New Password" knownTexts={[email]} />
      <FormRefusal form={form} />
      <FormActions>
        <SubmitButton>Change Password</SubmitButton>
      </FormActions>
    </Form>
  )
}
