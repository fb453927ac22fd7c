/** Acts on items without a table, such as sessions and tokens: confirmation, toast, reload. */
import type { QueryKey } from '@tanstack/react-query'
import { useRef } from 'react'
import { asCallError, type CallError } from '#src/client/call-error.ts'
import { queryClient } from '#src/client/client.ts'
import { useConfirm } from '#src/ui/confirm.tsx'
import type { Question } from '#src/ui/question.ts'
import { keepFocusInRows, markBusy } from '#src/ui/table-rows.ts'
import { toast } from '#src/ui/toast.tsx'

/** Shows a toast for the error. @returns the error, so that a form can show it as well */
export function showFailure(cause: unknown): CallError {
  const error = asCallError(cause)
  toast.failure(error.isException ? 'Internal Server Error' : error.message, { detail: error.message })
  return error
}

/**
 * Returns a function that runs an act after an optional confirmation, then reloads the queries under `key`. The act resolves with the
 * success message. Pressing the same button again meanwhile does nothing; other buttons work.
 */
export function useItemAct(key: QueryKey): (act: () => Promise<string>, question?: Question) => Promise<void> {
  const confirm = useConfirm()
  const busy = useRef(new WeakSet<Element>())
  return async (act, question) => {
    const button = document.activeElement ?? document.body
    const keepFocus = keepFocusInRows(button)
    if (busy.current.has(button) || (question && !(await confirm(question)))) return
    busy.current.add(button)
    // Acts without a confirmation are quick: the item's other buttons stay enabled.
    const endBusy = question ? markBusy(button) : undefined
    try {
      toast.success(await act())
    } catch (cause) {
      showFailure(cause)
      endBusy?.()
    }
    await queryClient.invalidateQueries({ queryKey: key })
    busy.current.delete(button)
    endBusy?.() // immediately: if only the button is gone, another one of the item gets the focus
    keepFocus()
  }
}
