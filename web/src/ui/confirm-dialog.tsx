/** The dialog of a confirmation (confirm.tsx). Cancel has the focus at first, so that a hasty Enter does nothing. */
import { Button } from '@mantine/core'
import { Dialog, DialogActions } from './dialog.tsx'
import { useLast } from './last.ts'
import type { ConfirmDialogProps } from './question.ts'

export function ConfirmDialog({ question, onAnswer }: ConfirmDialogProps) {
  const last = useLast(question)
  return (
    <Dialog
      isQuestion
      isOpen={question !== undefined}
      title={last?.title}
      description={last?.message}
      onClose={() => onAnswer(false)}
    >
      <DialogActions>
        <Button variant="default" data-autofocus onClick={() => onAnswer(false)}>
          Cancel
        </Button>
        <Button {...(last?.isDestructive && { color: 'red' })} onClick={() => onAnswer(true)}>
          {last?.confirmLabel ?? last?.title}
        </Button>
      </DialogActions>
    </Dialog>
  )
}
