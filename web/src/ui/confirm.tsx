/** Asks before an act that cannot be undone (§5): the app has one dialog, and the caller awaits the answer. */
import { Button } from '@mantine/core'
import { createContext, type ReactNode, use, useCallback, useEffect, useId, useRef, useState } from 'react'
import classes from './confirm.module.css'
import dialogClasses from './dialog.module.css'

export interface Question {
  /** The act in a few words, such as `Delete user`. */
  title: string
  message: ReactNode
  /** The act destroys something, so its button is red. */
  isDestructive?: boolean
}

type Confirm = (question: Question) => Promise<boolean>

const ConfirmContext = createContext<Confirm>(() => Promise.resolve(false))

/** `await confirm({ title, message })` is true after Confirm, and false after Cancel or Escape. */
export function useConfirm(): Confirm {
  return use(ConfirmContext)
}

export function ConfirmProvider({ children }: { children: ReactNode }) {
  const dialog = useRef<HTMLDialogElement>(null)
  const resolve = useRef<(isConfirmed: boolean) => void>(undefined)
  const [question, setQuestion] = useState<Question>()
  const id = useId()

  /** Answers the question by how its dialog was closed, which is no while it is open. */
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

  // The browser's modal dialog traps the focus, closes on Escape and gives the focus back.
  useEffect(() => {
    if (!question || !dialog.current || dialog.current.open) return
    dialog.current.showModal()
  }, [question])

  const handleClose = () => {
    if (dialog.current?.open) return // The browser tells late that it was closed, and the next question is there already.
    answer()
    setQuestion(undefined)
  }

  return (
    <ConfirmContext value={confirm}>
      {children}
      <dialog
        ref={dialog}
        role="alertdialog"
        aria-labelledby={`${id}-title`}
        aria-describedby={`${id}-message`}
        className={dialogClasses['dialog']}
        onClose={handleClose}
      >
        <h2 id={`${id}-title`} className={dialogClasses['title']}>
          {question?.title}
        </h2>
        <div id={`${id}-message`} className={classes['message']}>
          {question?.message}
        </div>
        <div className={classes['actions']}>
          <Button variant="default" onClick={() => dialog.current?.close('cancel')}>
            Cancel
          </Button>
          <Button {...(question?.isDestructive && { color: 'red' })} onClick={() => dialog.current?.close('confirm')}>
            Confirm
          </Button>
        </div>
      </dialog>
    </ConfirmContext>
  )
}
