/** Acts on what has no table, such as sessions and tokens: a question first, a toast after it, and its list is loaded again. */
import type { QueryKey } from '@tanstack/react-query'
import { useRef } from 'react'
import { asCallError, type CallError, queryClient } from '#src/client.ts'
import { type Question, useConfirm } from '#src/ui/confirm.tsx'
import { keepFocusInRows, markBusy } from '#src/ui/table-rows.ts'
import { toast } from '#src/ui/toast.tsx'

/** Tells what went wrong. @returns it, for a form to show as well */
export function showFailure(cause: unknown): CallError {
  const error = asCallError(cause)
  toast.failure(error.isException ? 'Internal Server Error' : error.message, { detail: error.message })
  return error
}

/** @param key of what is loaded again. The act resolves with the text of success; pressed again meanwhile its button does nothing, another does. */
export function useItemAct(key: QueryKey): (act: () => Promise<string>, question?: Question) => Promise<void> {
  const confirm = useConfirm()
  const busy = useRef(new WeakSet<Element>())
  return async (act, question) => {
    const button = document.activeElement ?? document.body
    const keepFocus = keepFocusInRows(button)
    if (busy.current.has(button) || (question && !(await confirm(question)))) return
    busy.current.add(button)
    // What takes no question is over soon, and another button of the item may be pressed meanwhile.
    const endBusy = question ? markBusy(button) : undefined
    try {
      toast.success(await act())
    } catch (cause) {
      showFailure(cause)
      endBusy?.()
    }
    await queryClient.invalidateQueries({ queryKey: key })
    busy.current.delete(button)
    endBusy?.() // at once: where the button alone goes, another one of the item gets the focus
    keepFocus()
  }
}
