/** What a confirmation asks (confirm.tsx). */
import type { ReactNode } from 'react'

export interface Question {
  /** The act in two or three words, such as `Delete user`. */
  title: string
  message: ReactNode
  /** What the button says that does it; by default the title. */
  confirmLabel?: string
  /** Destructive acts have a red button. */
  isDestructive?: boolean
}

export interface ConfirmDialogProps {
  /** Undefined while the dialog is closed. */
  question: Question | undefined
  onAnswer: (isConfirmed: boolean) => void
}
