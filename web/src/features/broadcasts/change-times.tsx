/** Changes when a scheduled broadcast begins and ends. */
import type { Broadcast, BroadcastTimes } from '@arcade/contract/broadcasts/calls'
import { Button } from '@mantine/core'
import { useState } from 'react'
import { api, client, queryClient } from '#src/client/client.ts'
import { showFailure } from '#src/lists/item-acts.ts'
import { DialogForm, FormDialog } from '#src/ui/dialog-form.tsx'
import { MomentField } from '#src/ui/form-moment.tsx'
import { useForm } from '#src/ui/form.tsx'
import { toast } from '#src/ui/toast.tsx'
import { pastStart } from './options.tsx'

export function ChangeTimesButton({ broadcast }: { broadcast: Broadcast }) {
  const [isOpen, setIsOpen] = useState(false)
  const handleClose = () => setIsOpen(false)
  return (
    <>
      <Button variant="default" onClick={() => setIsOpen(true)}>
        Change Time
      </Button>
      <FormDialog isOpen={isOpen} onClose={handleClose} title="Change Time">
        <ChangeTimesForm broadcast={broadcast} onClose={handleClose} />
      </FormDialog>
    </>
  )
}

function ChangeTimesForm({
  broadcast: { id, sendAt = '', endsAt = '' },
  onClose,
}: {
  broadcast: Broadcast
  onClose: () => void
}) {
  const form = useForm(
    () => import('@arcade/contract/broadcasts/calls').then(({ broadcastTimes }) => broadcastTimes),
    { sendAt, endsAt },
    // Without an end, all players get the message. An empty beginning is refused, because it would mean at once.
    { used: ({ sendAt: begins, endsAt: ends }) => ({ sendAt: begins, ...(ends !== '' && { endsAt: ends }) }) },
  )
  const handleSubmit = async (times: BroadcastTimes) => {
    try {
      await client.broadcasts.reschedule({ id, ...times })
      onClose()
      toast.success('The time is changed.')
      await queryClient.invalidateQueries({ queryKey: api.broadcasts.key() })
      return undefined
    } catch (cause) {
      return showFailure(cause)
    }
  }
  return (
    <DialogForm form={form} onSubmit={handleSubmit} label="Change Time" submitLabel="Change time" onCancel={onClose}>
      <MomentField control={form.control} name="sendAt" label="Begins" isRequired checks={['endsAt']} note={pastStart} />
      <MomentField control={form.control} name="endsAt" label="Ends at the latest (optional)" />
    </DialogForm>
  )
}
