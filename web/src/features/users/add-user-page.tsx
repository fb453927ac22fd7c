/** Add User (§2 /add-user, §5 registration, §7 POST /registerUser). */
import type { RegistrationInput } from '@arcade/contract/users'
import { useNavigate } from '@tanstack/react-router'
import { asCallError, client } from '#src/client.ts'
import { refreshAfterActOn } from '#src/lists/changes.ts'
import { useSession } from '#src/session.tsx'
import { DraftOffer, useDraftForm } from '#src/ui/form-draft.tsx'
import { Form, FormActions, PasswordField, SubmitButton, TextField } from '#src/ui/form.tsx'
import { LinkButton } from '#src/ui/link-button.tsx'
import { Page, Panel } from '#src/ui/page.tsx'
import { toast } from '#src/ui/toast.tsx'

const empty = { fname: '', lname: '', email: '', password: '', confirmPassword: '' }

export function AddUserPage() {
  const navigate = useNavigate()
  const { registrationEmailHost } = useSession()
  const form = useDraftForm(
    () => import('@arcade/contract/users').then(({ registrationInputFor }) => registrationInputFor(registrationEmailHost)),
    empty,
    { name: 'user new' },
  )

  const handleSubmit = async (input: RegistrationInput) => {
    try {
      await client.users.create(input)
      form.finish()
      toast.success('User Added Successfuly!') // sic, §8
      await refreshAfterActOn('users')
      await navigate({ to: '/manage-users' })
      return undefined
    } catch (cause) {
      const error = asCallError(cause)
      toast.failure(error.isException ? 'Registration Failed!' : 'Registration Failed')
      return error
    }
  }

  return (
    <Page title="Add User" narrow>
      <Panel>
        <DraftOffer offer={form.offer} />
        <Form form={form} onSubmit={handleSubmit} label="Add User">
          <TextField control={form.control} name="fname" label="First Name" />
          <TextField control={form.control} name="lname" label="Last Name" />
          <TextField control={form.control} name="email" label="Email" type="email" />
          <PasswordField
            control={form.control}
            name="password"
            label="Password"
            autoComplete="new-password"
            checks={['confirmPassword']}
          />
          <PasswordField control={form.control} name="confirmPassword" label="Confirm Password" autoComplete="new-password" />
          <FormActions
            back={
              <LinkButton to="/manage-users" variant="default">
                Back
              </LinkButton>
            }
          >
            <SubmitButton>Create</SubmitButton>
          </FormActions>
        </Form>
      </Panel>
    </Page>
  )
}
