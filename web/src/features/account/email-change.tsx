/** Changes one's own e-mail address: a link to each of both addresses confirms it. Shows what the change that waits still needs. */
import type { EmailChange as Waiting, EmailChangeInput } from '@arcade/contract/emails/calls'
import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { asCallError, problemOf } from '#src/client/call-error.ts'
import { api, client, queryClient } from '#src/client/client.ts'
import { useItemAct } from '#src/lists/item-acts.ts'
import { useAutoReload } from '#src/lists/live.ts'
import { useSession } from '#src/session.tsx'
import { FormRefusal } from '#src/ui/form-notice.tsx'
import { Form, FormActions, FormColumns, PasswordField, SubmitButton, TextField, useForm } from '#src/ui/form.tsx'
import { Moment } from '#src/ui/moment.tsx'
import { PanelText, Problem } from '#src/ui/page.tsx'
import { toast } from '#src/ui/toast.tsx'
import classes from './account.module.css'

export function EmailChange() {
  const { canResetByMail } = useSession()
  const query = useQuery(api.emails.waiting.queryOptions())
  const { data, error, refetch } = query
  useAutoReload(query)
  if (error && !data) return <Problem {...problemOf(error, () => void refetch())} />
  if (!data) return <output>Loading...</output>
  if (data.change) return <WaitingChange change={data.change} />
  if (!canResetByMail) return <PanelText>It can be changed once the console can send mails (SMTP_URL).</PanelText>
  return <ChangeForm />
}

function WaitingChange({ change: { email, isConfirmedByNew, isConfirmedByPresent, expiresAt } }: { change: Waiting }) {
  const act = useItemAct(api.emails.key())
  const missing = [!isConfirmedByNew && 'the new address', !isConfirmedByPresent && 'the present address'].filter(Boolean)
  const handleEnd = () =>
    void act(async () => {
      await client.emails.endChange()
      return 'Change of e-mail cancelled.'
    })
  return (
    <>
      <p className={classes['linked']}>
        Changes to <strong>{email}</strong> as soon as {missing.join(' and ')} {missing.length === 1 ? 'has' : 'have'} confirmed
        it by the link in the mail, until <Moment iso={expiresAt} />.
      </p>
      <div className={classes['buttons']}>
        <Button variant="default" onClick={handleEnd}>
          Cancel the Change
        </Button>
      </div>
    </>
  )
}

function ChangeForm() {
  const form = useForm(() => import('@arcade/contract/emails/calls').then(({ emailChangeInput }) => emailChangeInput), {
    email: '',
    currentPassword: '',
  })

  const handleSubmit = async (input: EmailChangeInput) => {
    try {
      await client.emails.change(input)
      form.reset()
      toast.success('Mails sent to both addresses.')
      await queryClient.invalidateQueries({ queryKey: api.emails.key() })
      return undefined
    } catch (cause) {
      const error = asCallError(cause)
      toast.failure(error.isException ? 'Internal Server Error' : 'Updating info failed!', { detail: error.message })
      return error
    }
  }

  return (
    <Form form={form} onSubmit={handleSubmit} label="Your e-mail">
      <FormColumns>
        <TextField control={form.control} name="email" label="New Email" isRequired type="email" autoComplete="email" />
        <PasswordField
          control={form.control}
          name="currentPassword"
          label="Current Password"
          isRequired
          autoComplete="current-password"
        />
      </FormColumns>
      <FormRefusal form={form} />
      <FormActions>
        <SubmitButton>Change Email</SubmitButton>
      </FormActions>
    </Form>
  )
}
