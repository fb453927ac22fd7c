/** The confirmation before an act that cannot be undone (§5). The app has one dialog; the caller awaits its answer. */
import { type ComponentType, createContext, type ReactNode, use, useCallback, useMemo, useRef, useState } from 'react'
import type { ConfirmDialogProps, Question } from './question.ts'
import { toast } from './toast.tsx'

/** What the button of a confirmation of §5 says: before delete, update user and status toggle. */
export const CONFIRM = 'Confirm'

type Confirm = (question: Question) => Promise<boolean>

const ConfirmContext = createContext<{ confirm: Confirm; dismiss: () => void }>({
  confirm: () => Promise.resolve(false),
  dismiss: () => {},
})

/** `await confirm({ title, message })` resolves with true after the act's button, with false after Cancel or Escape. */
export function useConfirm(): Confirm {
  return use(ConfirmContext).confirm
}

/** Returns a function that closes the question, if there is one, as Cancel does. */
export function useDismissQuestion(): () => void {
  return use(ConfirmContext).dismiss
}

export function ConfirmProvider({ children }: { children: ReactNode }) {
  const resolve = useRef<(isConfirmed: boolean) => void>(undefined)
  const [question, setQuestion] = useState<Question>()
  const [Dialog, setDialog] = useState<ComponentType<ConfirmDialogProps>>()

  /** Answers the current question, if there is one. */
  const answer = useCallback((isConfirmed: boolean) => {
    resolve.current?.(isConfirmed)
    resolve.current = undefined
    setQuestion(undefined)
  }, [])

  const confirm = useCallback<Confirm>(
    async (next) => {
      answer(false)
      setQuestion(next)
      const asked = new Promise<boolean>((resolveNext) => {
        resolve.current = resolveNext
      })
      try {
        // The first page does not need the dialog; the browser has prefetched it (vite.config.ts).
        const { ConfirmDialog } = await import('./confirm-dialog.tsx')
        setDialog(() => ConfirmDialog)
      } catch {
        toast.failure('The question could not be loaded.')
        answer(false)
      }
      return asked
    },
    [answer],
  )

  const value = useMemo(() => ({ confirm, dismiss: () => answer(false) }), [confirm, answer])
  return (
    <ConfirmContext value={value}>
      {children}
      {Dialog && <Dialog question={question} onAnswer={answer} />}
    </ConfirmContext>
  )
}
