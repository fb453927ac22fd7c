/** The confirmation before an act that cannot be undone (§5). The app has one dialog; the caller awaits its answer. */
import { Button, type TextInput } from '@mantine/core'
import { createContext, type ReactNode, type RefObject, use, useCallback, useEffect, useId, useRef, useState } from 'react'
import classes from './confirm.module.css'
import dialogClasses from './dialog.module.css'

export interface Question {
  /** The act in two or three words, such as `Delete user`. */
  title: string
  message: ReactNode
  /** Destructive acts have a red confirm button. */
  isDestructive?: boolean
  /** What has to be typed before Confirm works, for an act on very many rows. The asker brings the field, which most pages do not load. */
  typed?: { text: string; Field: typeof TextInput } | undefined
}

type Confirm = (question: Question) => Promise<boolean>

const ConfirmContext = createContext<Confirm>(() => Promise.resolve(false))

/** `await confirm({ title, message })` resolves with true after Confirm, with false after Cancel or Escape. */
export function useConfirm(): Confirm {
  return use(ConfirmContext)
}

export function ConfirmProvider({ children }: { children: ReactNode }) {
  const dialog = useRef<HTMLDialogElement>(null)
  const resolve = useRef<(isConfirmed: boolean) => void>(undefined)
  const [question, setQuestion] = useState<Question>()

  /** Answers the current question with the dialog's return value; false while it is still open. */
  const answer = useCallback(() => {
    resolve.current?.(dialog.current?.returnValue === 'confirm')
    resolve.current = undefined
    if (dialog.current) dialog.current.returnValue = ''
  }, [])

  const confirm = useCallback<Confirm>(
    (next) => {
      answer()
      setQuestion(next)
      return new Promise((resolveNext) => {
        resolve.current = resolveNext
      })
    },
    [answer],
  )

  // A modal <dialog> traps the focus, closes on Escape and restores the focus.
  useEffect(() => {
    if (!question || !dialog.current || dialog.current.open) return
    dialog.current.showModal()
  }, [question])

  const handleClose = () => {
    if (dialog.current?.open) return // The close event comes late: the next question is already open.
    answer()
    setQuestion(undefined)
  }

  return (
    <ConfirmContext value={confirm}>
      {children}
      <ConfirmDialog dialog={dialog} question={question} onClose={handleClose} />
    </ConfirmContext>
  )
}

interface ConfirmDialogProps {
  dialog: RefObject<HTMLDialogElement | null>
  /** Undefined while the dialog is closed. */
  question: Question | undefined
  onClose: () => void
}

function ConfirmDialog({ dialog, question, onClose }: ConfirmDialogProps) {
  const id = useId()
  const [typing, setTyping] = useState<{ question: Question | undefined; text: string }>()
  const typed = question?.typed
  const isTyped = !typed || (typing?.question === question && typing?.text.trim() === typed.text)
  return (
    <dialog
      ref={dialog}
      role="alertdialog"
      aria-labelledby={`${id}-title`}
      aria-describedby={`${id}-message`}
      className={dialogClasses['dialog']}
      onClose={onClose}
    >
      <h2 id={`${id}-title`} className={dialogClasses['title']}>
        {question?.title}
      </h2>
      <div id={`${id}-message`} className={classes['message']}>
        {question?.message}
      </div>
      {typed && (
        <typed.Field
          className={classes['typed'] ?? ''}
          label={`To confirm, type ${typed.text}`}
          inputMode="numeric"
          autoComplete="off"
          value={typing?.question === question ? typing?.text : ''}
          onChange={({ currentTarget }) => setTyping({ question, text: currentTarget.value })}
        />
      )}
      <div className={classes['actions']}>
        <Button variant="default" onClick={() => dialog.current?.close('cancel')}>
          Cancel
        </Button>
        <Button
          {...(question?.isDestructive && { color: 'red' })}
          disabled={!isTyped}
          onClick={() => dialog.current?.close('confirm')}
        >
          Confirm
        </Button>
      </div>
    </dialog>
  )
}
