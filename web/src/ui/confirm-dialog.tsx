/** The dialog of a confirmation (confirm.tsx). Cancel has the focus at first, so that a hasty Enter does nothing. */
import { Button } from '@mantine/core'
import { Dialog, DialogActions } from './dialog.tsx'
import type { ConfirmDialogProps } from './question.ts'

export function ConfirmDialog({ question, onAnswer }: ConfirmDialogProps) {
  return (
    <Dialog
      isQuestion
      isOpen={question !== undefined}
      title={question?.title}
      description={question?.message}
      onClose={() => onAnswer(false)}
    >
      <DialogActions>
        <Button variant="default" data-autofocus onClick={() => onAnswer(false)}>
          Cancel
        </Button>
        <Button {...(question?.isDestructive && { color: 'red' })} onClick={() => onAnswer(true)}>
          {question?.confirmLabel ?? question?.title}
        </Button>
      </DialogActions>
    </Dialog>
  )
}
