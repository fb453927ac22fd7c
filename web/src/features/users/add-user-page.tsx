/** Add User (§2 /add-user, §5 registration, §7 POST /registerUser). */
import { listPaths } from '@arcade/contract/lists'
import { userTypeLabels } from '@arcade/contract/users/fields'
import type { newUserInputFor, NewUserInput } from '@arcade/contract/users/calls'
import { useState } from 'react'
import { type Control, useWatch } from 'react-hook-form'
import type { z } from 'zod'
import { asCallError } from '#src/client/call-error.ts'
import { client, creation } from '#src/client/client.ts'
import { BackToListButton, useReturnToList } from '#src/lists/back-to-list.tsx'
import { refreshAfterActOn } from '#src/lists/changes.ts'
import { useSession } from '#src/session.tsx'
import { DraftOffer, useDraftForm } from '#src/ui/form-draft.tsx'
import { FormNotice, FormRefusal } from '#src/ui/form-notice.tsx'
import { FormPanel } from '#src/ui/form-page.tsx'
import { Form, FormActions, FormColumns, SelectField, SubmitButton, TextField } from '#src/ui/form.tsx'
import { NewPasswordFields } from '#src/ui/new-password-field.tsx'
import { Page } from '#src/ui/page.tsx'
import { toast } from '#src/ui/toast.tsx'

const empty = { fname: '', lname: '', email: '', password: '', confirmPassword: '', userType: 'user' } as const

export function AddUserPage() {
  const { registrationEmailHost } = useSession()
  const form = useDraftForm(
    () => import('@arcade/contract/users/calls').then(({ newUserInputFor }) => newUserInputFor(registrationEmailHost)),
    empty,
    { name: 'user new' },
  )
  const { handleSubmit, roleless, handleRetry } = useSave(form.finish)

  return (
    <Page title="Add User" narrow="two-columns">
      <FormPanel>
        <FormNotice
          message={roleless && `${roleless.email} was added as a User. The role Admin could not be given: ${roleless.problem}`}
          action={roleless && { label: 'Make Admin', onClick: () => void handleRetry(roleless) }}
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
  const userType = useWatch({ control, name: 'userType' })
  return (
    <FormColumns>
      <TextField control={control} name="fname" label="First Name" isRequired />
      <TextField control={control} name="lname" label="Last Name" isRequired />
      <TextField control={control} name="email" label="Email" isRequired isWide type="email" />
      <NewPasswordFields control={control} label="Password" known={['fname', 'lname', 'email']} />
      <SelectField
        control={control}
        name="userType"
        label="Role"
        isRequired
        placeholder="Select a role"
        description={userType === 'admin' ? 'May change and delete everything here.' : 'May manage nothing.'}
        options={Object.entries(userTypeLabels).map(([value, label]) => ({ value, label }))}
      />
    </FormColumns>
  )
}

/** A user who was added, but without the role that was chosen. */
interface Roleless {
  id: string
  email: string
  problem: string
}

/** Adds the user, then gives the role Admin if it was chosen. @param finish ends the form's draft */
function useSave(finish: () => void) {
  const returnToList = useReturnToList(listPaths.users)
  const [createOnce] = useState(creation)
  const [roleless, setRoleless] = useState<Roleless>()

  /**
   * Gives the role Admin to the user that was just created. Resolves with whether it succeeded; a failure is shown on this page with a
   * button to try again.
   */
  const giveAdmin = async (id: string, email: string) => {
    try {
      await client.users.setUserType({ id, userType: 'admin' })
      setRoleless(undefined)
      return true
    } catch (cause) {
      setRoleless({ id, email, problem: asCallError(cause).message })
      return false
    }
  }

  const handleSubmit = async ({ userType: role, ...input }: NewUserInput) => {
    setRoleless(undefined)
    try {
      const { id } = await createOnce((options) => client.users.create(input, options))
      finish()
      toast.success('User Added Successfuly!') // sic, §8
      const isDone = role === 'user' || (await giveAdmin(id, input.email))
      await refreshAfterActOn('users')
      if (isDone) await returnToList()
      return undefined
    } catch (cause) {
      const error = asCallError(cause)
      toast.failure(error.isException ? 'Registration Failed!' : 'Registration Failed', { detail: error.message })
      return error
    }
  }

  const handleRetry = async ({ id, email }: Roleless) => {
    if (!(await giveAdmin(id, email))) return
    toast.success('Info Updated Successfully!')
    await refreshAfterActOn('users')
    await returnToList()
  }

  return { handleSubmit, roleless, handleRetry }
}
