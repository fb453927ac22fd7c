/** Add User (§2 /add-user, §5 registration, §7 POST /registerUser). */
import { listPaths } from '@arcade/contract/lists'
import { type Role, roleLabels, roles } from '@arcade/contract/team/fields'
import { roleDescriptions } from '@arcade/contract/team/permissions'
import { userTypeLabels } from '@arcade/contract/users/fields'
import type { newUserInputFor, NewUserInput } from '@arcade/contract/users/calls'
import { useState } from 'react'
import { type Control, useWatch } from 'react-hook-form'
import type { z } from 'zod'
import { asCallError } from '#src/client/call-error.ts'
import { client, makeCreateOnce } from '#src/client/client.ts'
import { BackToListButton, useReturnToList } from '#src/lists/back-to-list.tsx'
import { refreshAfterActOn } from '#src/lists/changes.ts'
import { Permitted, useSession } from '#src/session.tsx'
import { DraftOffer, useDraftForm } from '#src/ui/form-draft.tsx'
import { FormNotice, FormRefusal } from '#src/ui/form-notice.tsx'
import { FormPanel } from '#src/ui/form-page.tsx'
import { Form, FormActions, FormColumns, SelectField, SubmitButton, TextField } from '#src/ui/form.tsx'
import { NewPasswordFields } from '#src/ui/new-password-field.tsx'
import { Page } from '#src/ui/page.tsx'
import { toast } from '#src/ui/toast.tsx'
import { InviteButton } from './invite.tsx'

const empty = { fname: '', lname: '', email: '', password: '', confirmPassword: '', userType: 'user', role: '' } as const

export function AddUserPage() {
  const { registrationEmailHost } = useSession()
  const form = useDraftForm(
    () => import('@arcade/contract/users/calls').then(({ newUserInputFor }) => newUserInputFor(registrationEmailHost)),
    empty,
    { name: 'user new' },
  )
  const { handleSubmit, roleless, handleRetry } = useSave(form.finish)

  return (
    <Page title="Add User" narrow="two-columns" actions={<InviteButton />}>
      <FormPanel>
        <FormNotice
          message={
            roleless &&
            `${roleless.email} was added as a User. The role ${roleLabels[roleless.role]} could not be given: ${roleless.problem}`
          }
          action={roleless && { label: `Make ${roleLabels[roleless.role]}`, onClick: () => void handleRetry(roleless) }}
        />
        <DraftOffer offer={form.offer} />
        <Form form={form} onSubmit={handleSubmit} label="Add User">
          <UserFields control={form.control} />
          <FormActions back={<BackToListButton to={listPaths.users} />} notice={<FormRefusal form={form} />}>
            <SubmitButton>Create</SubmitButton>
          </FormActions>
        </Form>
      </FormPanel>
    </Page>
  )
}

function UserFields({ control }: { control: Control<z.input<ReturnType<typeof newUserInputFor>>, unknown, NewUserInput> }) {
  const [userType, role] = useWatch({ control, name: ['userType', 'role'] })
  return (
    <FormColumns>
      <TextField control={control} name="fname" label="First Name" isRequired />
      <TextField control={control} name="lname" label="Last Name" isRequired />
      <TextField control={control} name="email" label="Email" isRequired isWide type="email" />
      <NewPasswordFields control={control} label="Password" known={['fname', 'lname', 'email']} />
      <Permitted needs="users.roles">
        <SelectField
          control={control}
          name="userType"
          label="User Type"
          isRequired
          placeholder="Select a user type"
          hint={userType === 'admin' ? 'Has a role, which says what is allowed.' : 'May manage nothing.'}
          options={Object.entries(userTypeLabels).map(([value, label]) => ({ value, label }))}
        />
        {userType === 'admin' && (
          <SelectField
            control={control}
            name="role"
            label="Role"
            isRequired
            placeholder="Select a role"
            hint={role === '' ? '' : roleDescriptions[role]}
            options={roles.map((value) => ({ value, label: roleLabels[value] }))}
          />
        )}
      </Permitted>
    </FormColumns>
  )
}

/** A user who was added, but without the role that was chosen. */
interface Roleless {
  id: string
  email: string
  role: Role
  problem: string
}

/** Adds the user, then gives the role if one was chosen. @param finish ends the form's draft */
function useSave(finish: () => void) {
  const returnToList = useReturnToList(listPaths.users)
  const [createOnce] = useState(makeCreateOnce)
  const [roleless, setRoleless] = useState<Roleless>()

  /**
   * Gives the role to the user that was just created. Resolves with whether it succeeded; a failure is shown on this page with a button to
   * try again.
   */
  const giveRole = async (added: Omit<Roleless, 'problem'>) => {
    try {
      await client.users.setRole({ id: added.id, role: added.role })
      setRoleless(undefined)
      return true
    } catch (cause) {
      setRoleless({ ...added, problem: asCallError(cause).message })
      return false
    }
  }

  const handleSubmit = async ({ userType, role, ...input }: NewUserInput) => {
    setRoleless(undefined)
    try {
      const { id } = await createOnce((options) => client.users.create(input, options))
      finish()
      toast.success('User Added Successfuly!') // sic, §8
      const isDone = userType === 'user' || role === '' || (await giveRole({ id, role, email: input.email }))
      await refreshAfterActOn('users')
      if (isDone) await returnToList()
      return undefined
    } catch (cause) {
      const error = asCallError(cause)
      toast.failure(error.isException ? 'Registration Failed!' : 'Registration Failed', { detail: error.message })
      return error
    }
  }

  const handleRetry = async (added: Roleless) => {
    if (!(await giveRole(added))) return
    toast.success('Info Updated Successfully!')
    await refreshAfterActOn('users')
    await returnToList()
  }

  return { handleSubmit, roleless, handleRetry }
}
