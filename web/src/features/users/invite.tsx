/** Invites a person by a link, which is sent by mail where the console can, and is always shown once to be copied. */
import type { InvitationInput, InvitedRole } from '@arcade/contract/invitations/calls'
import { roleLabels, roles } from '@arcade/contract/team/fields'
import { Button, TextInput } from '@mantine/core'
import { useState } from 'react'
import { api, client, queryClient } from '#src/client/client.ts'
import { showFailure } from '#src/lists/item-acts.ts'
import { useRolesAbove, useSession } from '#src/session.tsx'
import { CopyButton } from '#src/ui/copy-button.tsx'
import { DialogActions } from '#src/ui/dialog.tsx'
import { DialogForm, FormDialog } from '#src/ui/dialog-form.tsx'
import { SelectField, TextField, useForm } from '#src/ui/form.tsx'
import { Moment } from '#src/ui/moment.tsx'
import { toast } from '#src/ui/toast.tsx'
import classes from './update-user-page.module.css'

/** A link that was just made, which only this page knows. */
export interface NewInvitation {
  email: string
  address: string
  expiresAt: string
  isMailed: boolean
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
      <FormDialog isOpen={isOpen} onClose={handleClose} title="Invite">
        {made ? <Made made={made} onClose={handleClose} /> : <InviteForm onMade={setMade} onClose={handleClose} />}
      </FormDialog>
    </>
  )
}

export function roleWords(role: InvitedRole): string {
  return role === 'user' ? 'User' : roleLabels[role]
}

function InviteForm({ onMade, onClose }: { onMade: (made: NewInvitation) => void; onClose: () => void }) {
  const { canResetByMail } = useSession()
  const above = useRolesAbove()
  const form = useForm(() => import('@arcade/contract/invitations/calls').then(({ invitationInput }) => invitationInput), {
    email: '',
    role: '' as InvitedRole,
  })
  // The server refuses a role that may do more than one's own.
  const options = [...roles.filter((role) => !above.includes(role)), 'user' as const].map((value) => ({
    value,
    label: roleWords(value),
  }))

  const handleSubmit = async (input: InvitationInput) => {
    try {
      const { link, expiresAt, isMailed } = await client.invitations.create(input)
      onMade({ email: input.email, address: `${location.origin}${link}`, expiresAt, isMailed })
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
      <SelectField control={form.control} name="role" label="Role" isRequired placeholder="Select a role" options={options} />
    </DialogForm>
  )
}

function Made({ made, onClose }: { made: NewInvitation; onClose: () => void }) {
  return (
    <>
      <InvitationLink made={made} />
      <DialogActions>
        <Button data-autofocus onClick={onClose}>
          Done
        </Button>
      </DialogActions>
    </>
  )
}

export function InvitationLink({ made: { email, address, expiresAt, isMailed } }: { made: NewInvitation }) {
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
        {isMailed && 'It is on its way by mail. '}Good until <Moment iso={expiresAt} />, once. It is not shown again; anybody who
        has it can make the account.
      </p>
    </div>
  )
}
