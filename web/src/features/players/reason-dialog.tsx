/** Asks for a reason before a player is blocked. */
import type { FieldValues } from 'react-hook-form'
import { DialogForm, FormDialog } from '#src/ui/dialog-form.tsx'
import { type FieldProps, type Refusal, TextareaField, useForm } from '#src/ui/form.tsx'
import classes from './player-standing.module.css'

interface ReasonDialogProps {
  /** The player's isolated name. */
  name: string
  isOpen: boolean
  onClose: () => void
  /** Must close the dialog if it accepts the reason. Otherwise it resolves with the refusal, which the dialog shows. */
  onReason: (reason: string) => Promise<Refusal | void>
}

const title = 'Block Player'

/** Says what happens to the players that are blocked. @param who the subject of the sentence */
export function blockingMeans(who: string, balance = 'the balance stays'): string {
  return `${who} can claim nothing, and the game can give and take nothing, until somebody unblocks them; ${balance}.`
}

export function ReasonDialog({ isOpen, ...props }: ReasonDialogProps) {
  return (
    <FormDialog isOpen={isOpen} onClose={props.onClose} title={title}>
      <ReasonForm {...props} />
    </FormDialog>
  )
}

function ReasonForm({ name, onClose, onReason }: Omit<ReasonDialogProps, 'isOpen'>) {
  const form = useForm(() => import('@arcade/contract/players/calls').then(({ blockInput }) => blockInput), { reason: '' })

  return (
    <DialogForm
      form={form}
      onSubmit={({ reason }) => onReason(reason)}
      label={title}
      submitLabel="Block player"
      isDestructive
      onCancel={onClose}
    >
      <p className={classes['consequence']}>{blockingMeans(name)}</p>
      <ReasonField control={form.control} name="reason" />
    </DialogForm>
  )
}

export function ReasonField<Input extends FieldValues, Output>(field: Pick<FieldProps<Input, Output>, 'control' | 'name'>) {
  return (
    <TextareaField
      {...field}
      label="Reason"
      description="Operators see it, and so does the audit. Players do not."
      isRequired
      rows={3}
    />
  )
}
