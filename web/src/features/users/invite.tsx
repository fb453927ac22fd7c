/** Invites a person by a link, which is sent by mail where the console can, and is always shown once to be copied. */
import type { InvitationInput, InvitedRole } from '@arcade/contract/invitations/calls'
import { roleLabels, roles } from '@arcade/contract/team/fields'
import { roleDescriptions } from '@arcade/contract/team/permissions'
import { Button, TextInput } from '@mantine/core'
import { useState } from 'react'
import { useWatch } from 'react-hook-form'
import { api, client, queryClient } from '#src/client/client.ts'
import { showFailure } from '#src/lists/item-acts.ts'
import { useSession } from '#src/session.tsx'
import { CopyButton } from '#src/ui/copy-button.tsx'
import { DialogActions } from '#src/ui/dialog.tsx'
import { DialogForm, FormDialog } from '#src/ui/dialog-form.tsx'
import { SelectField, TextField, useForm } from '#src/ui/form.tsx'
import { Moment } from '#src/ui/moment.tsx'
import { toast } from '#src/ui/toast.tsx'
import { useRolesNotToInvite } from './roles-above.ts'
import classes from './update-user-page.module.css'

/** A link that was just made, which only this page knows. */
interface NewInvitation {
  email: string
  address: string
  expiresAt: string
  isMailed: boolean
  hasReplaced: boolean
}

type Made = Awaited<ReturnType<typeof client.invitations.create>>

export function newInvitation(email: string, { link, expiresAt, isMailed, hasReplaced }: Made): NewInvitation {
  return { email, address: `${location.origin}${link}`, expiresAt, isMailed, hasReplaced }
}

export function InviteButton() {
  const [isOpen, setIsOpen] = useState(false)
  const [made, setMade] = useState<NewInvitation>()
  const handleClose = () => {
    setIsOpen(false)
    setMade(undefined)
  }
  return (
    <>
      <Button variant="default" onClick={() => setIsOpen(true)}>
        Invite
      </Button>
      <FormDialog isOpen={isOpen && !made} onClose={handleClose} title="Invite">
        <InviteForm onMade={setMade} onClose={handleClose} />
      </FormDialog>
      <NewLinkDialog made={made} onClose={handleClose} />
    </>
  )
}

export function roleWords(role: InvitedRole): string {
  return role === 'user' ? 'User' : roleLabels[role]
}

function InviteForm({ onMade, onClose }: { onMade: (made: NewInvitation) => void; onClose: () => void }) {
  const { canResetByMail } = useSession()
  const refused = useRolesNotToInvite()
  const form = useForm(() => import('@arcade/contract/invitations/calls').then(({ invitationInput }) => invitationInput), {
    email: '',
    role: '' as InvitedRole,
  })
  const role = useWatch({ control: form.control, name: 'role' })
  const options = [...roles.filter((one) => !refused.includes(one)), 'user' as const].map((value) => ({
    value,
    label: roleWords(value),
  }))

  const handleSubmit = async (input: InvitationInput) => {
    try {
      onMade(newInvitation(input.email, await client.invitations.create(input)))
      toast.success('Invitation made.')
      await queryClient.invalidateQueries({ queryKey: api.invitations.key() })
      return undefined
    } catch (cause) {
      return showFailure(cause)
    }
  }

  return (
    <DialogForm form={form} onSubmit={handleSubmit} label="Invite" submitLabel="Invite" onCancel={onClose}>
      <TextField
        control={form.control}
        name="email"
        label="Email"
        isRequired
        type="email"
        autoComplete="off"
        description={canResetByMail ? 'The link is mailed there, and shown to you.' : 'You get a link to send there yourself.'}
      />
      <SelectField
        control={form.control}
        name="role"
        label="Role"
        isRequired
        placeholder="Select a role"
        hint={roleHint(role)}
        options={options}
      />
    </DialogForm>
  )
}

/** What the role may do; empty until one is chosen. */
function roleHint(role: InvitedRole | ''): string {
  if (role === '') return ''
  return role === 'user' ? 'May manage nothing.' : roleDescriptions[role]
}

/** Shows a link that was just made, once. It is open while there is one. */
export function NewLinkDialog({ made, onClose }: { made: NewInvitation | undefined; onClose: () => void }) {
  return (
    <FormDialog isOpen={made !== undefined} onClose={onClose} title="Invitation">
      {made && <NewLink made={made} />}
      <DialogActions>
        <Button data-autofocus onClick={onClose}>
          Done
        </Button>
      </DialogActions>
    </FormDialog>
  )
}

function NewLink({ made: { email, address, expiresAt, isMailed, hasReplaced } }: { made: NewInvitation }) {
  return (
    <div className={classes['link']}>
      <TextInput
        label={`Invitation of ${email}`}
        value={address}
        readOnly
        onFocus={(event) => event.currentTarget.select()}
        rightSection={<CopyButton label="Invitation" text={address} />}
      />
      <p>
        {isMailed ? 'It is on its way by mail. ' : 'Copy it and send it yourself. '}Good until <Moment iso={expiresAt} />, once.
        {hasReplaced && ' The earlier link has ended.'} It is not shown again; anybody who has it can make the account.
      </p>
    </div>
  )
}
