/** The dialogs that change a balance (design §7): an adjustment with its reason, and the reversal of an entry. */
import type { ExplainedEntry } from '@arcade/contract/balances'
import type { AdjustmentInput, ReversalInput } from '@arcade/contract/ledger'
import { Button, Modal } from '@mantine/core'
import { type ReactNode, useState } from 'react'
import { asCallError, client, creation } from '#src/client.ts'
import { FormRefusal } from '#src/ui/form-notice.tsx'
import { NumberField } from '#src/ui/form-number.tsx'
import { Form, FormActions, SubmitButton, TextareaField, useForm } from '#src/ui/form.tsx'
import { toast } from '#src/ui/toast.tsx'
import { refreshPlayer } from './player-data.ts'

interface DialogProps {
  userId: number
  onClose: () => void
}

export function AdjustDialog({ isOpen, ...props }: DialogProps & { isOpen: boolean }) {
  return (
    <Modal opened={isOpen} onClose={props.onClose} title="Adjust Balance">
      <AdjustForm {...props} />
    </Modal>
  )
}

function AdjustForm({ userId, onClose }: DialogProps) {
  const form = useForm(() => import('@arcade/contract/ledger').then(({ adjustmentInput }) => adjustmentInput), {
    amount: '' as unknown as number,
    reason: '',
  })
  const [createOnce] = useState(creation)

  const handleSubmit = async (input: AdjustmentInput) => {
    try {
      await createOnce((options) => client.balances.adjust({ userId, ...input }, options))
    } catch (cause) {
      return refusalOf(cause)
    }
    toast.success('Balance adjusted.')
    onClose()
    await refreshPlayer(userId)
    return undefined
  }

  return (
    <Form form={form} onSubmit={handleSubmit} label="Adjust Balance">
      <NumberField
        control={form.control}
        name="amount"
        label="Amount"
        description="Above 0 it is given, below 0 it is taken."
        isRequired
      />
      <TextareaField control={form.control} name="reason" label="Reason" isRequired rows={3} />
      <FormRefusal form={form} />
      <Buttons onCancel={onClose} />
    </Form>
  )
}

/** @param props.entry undefined: the dialog is closed */
export function ReverseDialog({ entry, ...props }: DialogProps & { entry: ExplainedEntry | undefined }) {
  const [last, setLast] = useState(entry) // stays while the dialog closes
  if (entry && entry !== last) setLast(entry)
  return (
    <Modal opened={entry !== undefined} onClose={props.onClose} title={`Reverse entry ${last?.seq}`}>
      {last && <ReverseForm entry={last} {...props} />}
    </Modal>
  )
}

function ReverseForm({ userId, entry, onClose }: DialogProps & { entry: ExplainedEntry }) {
  const form = useForm(() => import('@arcade/contract/ledger').then(({ reversalInput }) => reversalInput), { reason: '' })
  const [createOnce] = useState(creation)
  const amount = Math.abs(entry.amount).toLocaleString('en-US', { maximumFractionDigits: 20 })

  const handleSubmit = async (input: ReversalInput) => {
    try {
      const { isFirst } = await createOnce((options) => client.balances.reverse({ userId, entryId: entry.id, ...input }, options))
      toast.success(isFirst ? 'Entry reversed.' : 'This entry had been reversed already.')
    } catch (cause) {
      return refusalOf(cause)
    }
    onClose()
    await refreshPlayer(userId)
    return undefined
  }

  return (
    <Form form={form} onSubmit={handleSubmit} label={`Reverse entry ${entry.seq}`}>
      <p>
        {entry.amount < 0 ? `${amount} is given back` : `${amount} is taken back`} by an entry of its own, which cannot be
        reversed.
        {entry.item && ' What was claimed stays done.'}
      </p>
      <TextareaField control={form.control} name="reason" label="Reason" isRequired rows={3} />
      <FormRefusal form={form} />
      <Buttons onCancel={onClose} />
    </Form>
  )
}

function Buttons({ onCancel }: { onCancel: () => void }): ReactNode {
  return (
    <FormActions
      back={
        <Button variant="default" onClick={onCancel}>
          Cancel
        </Button>
      }
    >
      <SubmitButton>Confirm</SubmitButton>
    </FormActions>
  )
}

/** What the server said, for the form to show. */
function refusalOf(cause: unknown) {
  const error = asCallError(cause)
  toast.failure(error.isException ? 'Internal Server Error' : error.message, { detail: error.message })
  return error
}
