/** The dialog of a confirmation (confirm.tsx). Cancel has the focus at first, so that a hasty Enter does nothing. */
import { Button } from '@mantine/core'
import { useState } from 'react'
import { Dialog, DialogActions } from './dialog.tsx'
import type { ConfirmDialogProps } from './question.ts'

export function ConfirmDialog({ question, onAnswer }: ConfirmDialogProps) {
  const [last, setLast] = useState(question) // still shown in the frame in which the dialog closes
  if (question && question !== last) setLast(question)
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
          {last?.act ?? last?.title}
        </Button>
      </DialogActions>
    </Dialog>
  )
}
