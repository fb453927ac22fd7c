/** Update User (§2 /update-user/…): first and last name, and the role. Only the id is read from the address; the rest is loaded. */
import { listPaths } from '@arcade/contract/lists'
import { roleLabels } from '@arcade/contract/team/fields'
import type { DashboardUser } from '@arcade/contract/users/fields'
import type { ShownUser, UserUpdateInput } from '@arcade/contract/users/calls'
import { isolated } from '@arcade/contract/text'
import { useQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { useState } from 'react'
import { asCallError, problemOf } from '#src/client/call-error.ts'
import { api, client, fetchOnce, queryClient } from '#src/client/client.ts'
import { BackToListButton, useReturnToList } from '#src/lists/back-to-list.tsx'
import { refreshAfterActOn } from '#src/lists/changes.ts'
import { Permitted } from '#src/session.tsx'
import { CONFIRM, useConfirm } from '#src/ui/confirm.tsx'
import { DraftOffer, useDraftForm } from '#src/ui/form-draft.tsx'
import { FormRefusal } from '#src/ui/form-notice.tsx'
import { FormPanel, FormWithAside } from '#src/ui/form-page.tsx'
import { Form, FormActions, FormColumns, SubmitButton, TextField } from '#src/ui/form.tsx'
import { Page, Panel, Problem } from '#src/ui/page.tsx'
import { toast } from '#src/ui/toast.tsx'
import { MERGE_BEGINS, MergeVersions, SAVE_MERGED, useMerge } from '#src/versions/merge.tsx'
import { FromBefore } from '#src/versions/from-before.tsx'
import { RecordHistory } from '#src/versions/record-history.tsx'
import { OpenPasswordLinks } from './open-password-links.tsx'
import { SecondFactorReset } from './second-factor-reset.tsx'
import { type NewPasswordLink, PasswordLink } from './password-link.tsx'
import { RoleForm } from './role-form.tsx'
import { useMayActOn, useRolesNotToInvite } from './roles-above.ts'
import classes from './update-user-page.module.css'

export function UpdateUserPage() {
  const { userId } = useParams({ from: '/shell/management/update-user/$userId/$fname/$lname/$email' })
  // The user is not refetched in the background, because the form would then hold an older version than the page.
  const { data, error, refetch } = useQuery(api.users.get.queryOptions({ input: { id: userId }, ...fetchOnce }))
  const [loads, setLoads] = useState(0)
  const handleReload = () => void refetch().then(() => setLoads((count) => count + 1))
  return (
    <Page title="Update User" narrow="with-aside">
      {data ? (
        <UserForms key={`${data.id} ${loads}`} user={data} onReload={handleReload} />
      ) : (
        <Panel>
          {error ? (
            <Problem {...problemOf(error, handleReload)}>
              <BackToListButton to={listPaths.users} />
            </Problem>
          ) : (
            <output>Loading...</output>
          )}
        </Panel>
      )}
    </Page>
  )
}

interface UserProps {
  user: ShownUser
  onReload: () => void
}

function UserForms({ user, onReload }: UserProps) {
  /** The version that the name form is based on. A change of the role on this page raises it; any other change makes a save stale. */
  const [version, setVersion] = useState(user.version)
  const [link, setLink] = useState<NewPasswordLink>()
  const mayActOn = useMayActOn(user.role)
  const notByLink = useRolesNotToInvite()
  const mayMakeLink = user.role === null || !notByLink.includes(user.role)
  const handleRoleChange = (changed: DashboardUser) => {
    setLink(undefined) // a change of the role ends the link
    if (changed.version === version + 1) setVersion(changed.version)
    queryClient.setQueryData(api.users.get.queryKey({ input: { id: user.id } }), (before) => before && { ...before, ...changed })
  }
  const aside = (
    <>
      <RecordHistory kind="user" id={user.id} version={user.version} onRestored={onReload} />
      <FromBefore kind="user" id={user.id} />
    </>
  )
  return (
    <FormWithAside aside={aside}>
      <FormPanel>
        <p className={classes['email']}>{user.email}</p>
        {mayActOn ? (
          <NameForm user={user} version={version} onReload={onReload} />
        ) : (
          <>
            <p>{isolated(`${user.fname} ${user.lname}`)}</p>
            <p>Your role may not change a person with the role {roleLabels[user.role ?? 'owner']}.</p>
            <FormActions back={<BackToListButton to={listPaths.users} />} />
          </>
        )}
      </FormPanel>
      {mayMakeLink && (
        <Panel>
          <PasswordLink user={user} link={link} onMake={setLink} />
        </Panel>
      )}
      <OpenPasswordLinks userId={user.id} onEnd={() => setLink(undefined)} />
      <Permitted needs="users.roles">
        <Panel>
          <RoleForm user={user} onChange={handleRoleChange} />
        </Panel>
        <SecondFactorReset user={user} />
      </Permitted>
    </FormWithAside>
  )
}

function NameForm({ user, version, onReload }: UserProps & { version: number }) {
  const confirm = useConfirm()
  const returnToList = useReturnToList(listPaths.users)
  const form = useDraftForm(
    () => import('@arcade/contract/users/calls').then(({ userUpdateInput }) => userUpdateInput),
    { fname: user.fname, lname: user.lname },
    { name: `user ${user.id}`, basis: version },
  )
  const merge = useMerge({
    kind: 'user',
    record: { ...user, version },
    load: () => client.users.get({ id: user.id }),
    toValues: ({ fname, lname }) => ({ fname, lname }),
    alsoTold: ['userType', 'role'],
  })

  const handleSubmit = async (input: UserUpdateInput) => {
    const message = `Are you sure you want to update ${isolated(`${user.fname} ${user.lname}`)}?`
    if (!(await confirm({ title: 'Update user', message, confirmLabel: CONFIRM }))) return undefined
    try {
      await client.users.update({ ...input, id: user.id, version: merge.version() })
      form.finish()
      toast.success('Info Updated Successfully!')
      await returnToList()
      await refreshAfterActOn('users')
      return undefined
    } catch (cause) {
      const error = asCallError(cause)
      if (error.code === 'STALE' && (await merge.begin())) toast.note(MERGE_BEGINS)
      else toast.failure(error.isException ? 'Internal Server Error' : 'Updating info failed!', { detail: error.message })
      return error
    }
  }

  return (
    <>
      <DraftOffer offer={form.offer} />
      <Form form={form} onSubmit={handleSubmit} label="Update User">
        <MergeVersions
          merge={merge}
          formValues={form.getValues}
          onChoose={(name, value) => form.setValue(name as 'fname' | 'lname', value as string, { shouldDirty: true })}
        />
        <FormColumns>
          <TextField control={form.control} name="fname" label="First Name" isRequired />
          <TextField control={form.control} name="lname" label="Last Name" isRequired />
        </FormColumns>
        <FormActions back={<BackToListButton to={listPaths.users} />} notice={<FormRefusal form={form} onReload={onReload} />}>
          <SubmitButton>{merge.newer ? SAVE_MERGED : 'Update'}</SubmitButton>
        </FormActions>
      </Form>
    </>
  )
}
