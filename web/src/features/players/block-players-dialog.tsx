/** Asks once before the selected players are blocked: names them, and asks for a reason and, if they are many, for their number. */
import { BLOCK_TYPED_ABOVE } from '@arcade/contract/players/fields'
import { type BulkAct, type BulkDone, Plan } from '#src/lists/bulk-act.tsx'
import { DialogForm, FormDialog } from '#src/ui/dialog-form.tsx'
import { TextField, useForm } from '#src/ui/form.tsx'
import { ReasonField } from './reason-dialog.tsx'

interface BlockPlayersProps {
  act: Pick<BulkAct, 'question' | 'confirmLabel'>
  /** What the dry run found; undefined closes the dialog. */
  planned: BulkDone | undefined
  onReason: (reason: string) => void
  onClose: () => void
}

const title = 'Block Players'

export function BlockPlayersDialog({ planned, ...props }: BlockPlayersProps) {
  return (
    <FormDialog isOpen={planned !== undefined} onClose={props.onClose} title={title}>
      {planned && <BlockPlayersForm planned={planned} {...props} />}
    </FormDialog>
  )
}

function BlockPlayersForm({ act, planned, onReason, onClose }: BlockPlayersProps & { planned: BulkDone }) {
  const { affected } = planned
  const form = useForm(() => import('@arcade/contract/players/calls').then(({ blockManyInput }) => blockManyInput(affected)), {
    reason: '',
    typed: '',
  })
  return (
    <DialogForm
      form={form}
      onSubmit={async ({ reason }) => onReason(reason)}
      label={title}
      submitLabel={act.confirmLabel(affected)}
      isDestructive
      onCancel={onClose}
    >
      <div>
        <Plan act={act} plan={planned} />
      </div>
      <ReasonField control={form.control} name="reason" />
      {affected > BLOCK_TYPED_ABOVE && (
        <TextField control={form.control} name="typed" label={`To confirm, type ${affected}`} isRequired />
      )}
    </DialogForm>
  )
}
