/** Update User (§2 /update-user/…): first and last name, and the role. Only the id is read from the address; the rest is loaded. */
import type { DashboardUser } from '@arcade/contract/entities/user'
import type { UserUpdateInput } from '@arcade/contract/users'
import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useNavigate, useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { api, asCallError, client } from '#src/client.ts'
import { refreshAfterActOn } from '#src/lists/changes.ts'
import { useConfirm } from '#src/ui/confirm.tsx'
import { Form, FormActions, SubmitButton, TextField, useForm } from '#src/ui/form.tsx'
import { LinkButton } from '#src/ui/link-button.tsx'
import { Page, Panel, Problem } from '#src/ui/page.tsx'
import { toast } from '#src/ui/toast.tsx'
import classes from './update-user-page.module.css'

export function UpdateUserPage() {
  const { userId } = useParams({ from: '/shell/management/update-user/$userId/$fname/$lname/$email' })
  // The user is not refetched in the background, because the form would then hold an older version than the page.
  const { data, error, refetch } = useQuery(
    api.users.get.queryOptions({ input: { id: userId }, staleTime: Infinity, gcTime: 0, refetchOnWindowFocus: false }),
  )
  return (
    <Page title="Update User" narrow>
      {data ? (
        <UserForms key={`${data.id} ${data.version}`} user={data} onReload={() => void refetch()} />
      ) : (
        <Panel>
          {error ? (
            <Problem message={asCallError(error).message} onRetry={() => void refetch()}>
              <BackButton />
            </Problem>
          ) : (
            <output>Loading...</output>
          )}
        </Panel>
      )}
    </Page>
  )
}

function BackButton() {
  return (
    <LinkButton to="/manage-users" variant="default">
      Back
    </LinkButton>
  )
}

interface UserProps {
  user: DashboardUser
  onReload: () => void
}

function UserForms({ user, onReload }: UserProps) {
  return (
    <>
      <Panel>
        <p className={classes['email']}>{user.email}</p>
        <NameForm user={user} onReload={onReload} />
      </Panel>
      <Panel>
        <RoleForm user={user} onReload={onReload} />
      </Panel>
    </>
  )
}

function NameForm({ user, onReload }: UserProps) {
  const confirm = useConfirm()
  const navigate = useNavigate()
  const [staleText, setStaleText] = useState<string>()
  const form = useForm(() => import('@arcade/contract/users').then(({ userUpdateInput }) => userUpdateInput), {
    fname: user.fname,
    lname: user.lname,
    version: user.version,
  })

  const handleSubmit = async (input: UserUpdateInput) => {
    const message = `Are you sure you want to update ${user.fname} ${user.lname}?`
    if (!(await confirm({ title: 'Update user', message }))) return undefined
    setStaleText(undefined)
    try {
      await client.users.update({ ...input, id: user.id })
      form.reset()
      toast.success('Info Updated Successfully!')
      await navigate({ to: '/manage-users' })
      await refreshAfterActOn('users')
      return undefined
    } catch (cause) {
      const error = asCallError(cause)
      toast.failure(error.isException ? 'Internal Server Error' : 'Updating info failed!')
      if (error.code === 'STALE') setStaleText(error.message)
      return error
    }
  }

  return (
    <Form form={form} onSubmit={handleSubmit} label="Update User">
      <TextField control={form.control} name="fname" label="First Name" />
      <TextField control={form.control} name="lname" label="Last Name" />
      <div aria-live="polite">
        {staleText && (
          <div className={classes['stale']}>
            <p>{staleText}</p>
            <Button variant="default" size="compact-sm" onClick={onReload}>
              Load the new version
            </Button>
          </div>
        )}
      </div>
      <FormActions>
        <BackButton />
        <SubmitButton>Update</SubmitButton>
      </FormActions>
    </Form>
  )
}

/** The specification has no screen for roles, so they are changed here. */
function RoleForm({ user, onReload }: UserProps) {
  const confirm = useConfirm()
  const [isBusy, setIsBusy] = useState(false)
  const isAdmin = user.userType === 'admin'
  const label = isAdmin ? 'Make User' : 'Make Admin'

  const handleChange = async () => {
    const effect = isAdmin
      ? 'They lose access to the management of the game.'
      : 'They may then change and delete everything here.'
    if (isBusy || !(await confirm({ title: label, message: `Change the role of ${user.fname} ${user.lname}? ${effect}` }))) return
    setIsBusy(true)
    try {
      await client.users.setUserType({ id: user.id, userType: isAdmin ? 'user' : 'admin' })
      toast.success('Info Updated Successfully!')
      await refreshAfterActOn('users')
      onReload()
    } catch (cause) {
      const error = asCallError(cause)
      toast.failure(error.isException ? 'Internal Server Error' : error.message)
    } finally {
      setIsBusy(false)
    }
  }

  return (
    <div className={classes['role']}>
      <p>
        Role: <strong>{isAdmin ? 'Admin' : 'User'}</strong>
      </p>
      <Button variant="default" onClick={() => void handleChange()}>
        {label}
      </Button>
    </div>
  )
}
