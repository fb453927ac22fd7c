/** Asks before something that cannot be undone (§5): one dialog for the app, a promise for the caller. */
import { Button } from '@mantine/core'
import { createContext, type ReactNode, use, useCallback, useEffect, useId, useRef, useState } from 'react'
import classes from './confirm.module.css'

interface Question {
  /** In a few words: `Delete user`. */
  title: string
  /** The whole question. */
  message: ReactNode
  /** What is confirmed destroys something. */
  isDestructive?: boolean
}

type Confirm = (question: Question) => Promise<boolean>

const ConfirmContext = createContext<Confirm>(() => Promise.resolve(false))

/** `await confirm({ title, message })`: true for Confirm; false for Cancel, Escape and everything else. */
export function useConfirm(): Confirm {
  return use(ConfirmContext)
}

export function ConfirmProvider({ children }: { children: ReactNode }) {
  const dialog = useRef<HTMLDialogElement>(null)
  const resolve = useRef<(isConfirmed: boolean) => void>(undefined)
  const [question, setQuestion] = useState<Question>()
  const id = useId()

  const confirm = useCallback<Confirm>((next) => {
    resolve.current?.(false)
    setQuestion(next)
    return new Promise((resolveNext) => {
      resolve.current = resolveNext
    })
  }, [])

  // The browser's own modal dialog traps the focus, closes on Escape and gives the focus back.
  useEffect(() => {
    if (!question || !dialog.current || dialog.current.open) return
    dialog.current.returnValue = ''
    dialog.current.showModal()
  }, [question])

  const handleClose = () => {
    resolve.current?.(dialog.current?.returnValue === 'confirm')
    resolve.current = undefined
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
        className={classes['dialog']}
        onClose={handleClose}
      >
        <h2 id={`${id}-title`} className={classes['title']}>
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
