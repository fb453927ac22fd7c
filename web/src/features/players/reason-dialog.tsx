/** Asks for a reason before one player or the selected players are blocked. */
import { DialogForm, FormDialog } from '#src/ui/dialog-form.tsx'
import { type Refusal, TextareaField, useForm } from '#src/ui/form.tsx'
import classes from './player-standing.module.css'

interface ReasonDialogProps {
  title: string
  /** Who is blocked; the sentence in the dialog starts with it. */
  who: string
  isOpen: boolean
  onClose: () => void
  /** Must close the dialog if it accepts the reason. Otherwise it resolves with the refusal, which the dialog shows. */
  onReason: (reason: string) => Promise<Refusal | void>
}

export function ReasonDialog({ isOpen, ...props }: ReasonDialogProps) {
  return (
    <FormDialog isOpen={isOpen} onClose={props.onClose} title={props.title}>
      <ReasonForm {...props} />
    </FormDialog>
  )
}

function ReasonForm({ title, who, onClose, onReason }: Omit<ReasonDialogProps, 'isOpen'>) {
  const form = useForm(() => import('@arcade/contract/players/calls').then(({ blockInput }) => blockInput), { reason: '' })

  return (
    <DialogForm form={form} onSubmit={({ reason }) => onReason(reason)} label={title} onCancel={onClose}>
      <p className={classes['consequence']}>
        {who} can claim nothing, and the game can give and take nothing, until somebody unblocks them; the balance stays.
      </p>
      <TextareaField
        control={form.control}
        name="reason"
        label="Reason"
        description="Operators see it, and so does the audit. Players do not."
        isRequired
        rows={3}
      />
    </DialogForm>
  )
}
