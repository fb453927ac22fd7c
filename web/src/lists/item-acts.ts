/** Acts on what has no table, such as sessions and tokens: a question first, one at a time, a toast after it, and its list is loaded again. */
import type { QueryKey } from '@tanstack/react-query'
import { useRef } from 'react'
import { asCallError, type CallError, queryClient } from '#src/client.ts'
import { type Question, useConfirm } from '#src/ui/confirm.tsx'
import { keepFocusInRows } from '#src/ui/table-rows.ts'
import { toast } from '#src/ui/toast.tsx'

/** Tells what went wrong. @returns it, for a form to show as well */
export function showFailure(cause: unknown): CallError {
  const error = asCallError(cause)
  toast.failure(error.isException ? 'Internal Server Error' : error.message, { detail: error.message })
  return error
}

/** @param key of what is loaded again. The act resolves with the text of success; nothing happens while one is under way. */
export function useItemAct(key: QueryKey): (act: () => Promise<string>, question?: Question) => Promise<void> {
  const confirm = useConfirm()
  const isBusy = useRef(false)
  return async (act, question) => {
    const keepFocus = keepFocusInRows(document.activeElement)
    if (isBusy.current || (question && !(await confirm(question)))) return
    isBusy.current = true
    try {
      toast.success(await act())
    } catch (cause) {
      showFailure(cause)
    }
    await queryClient.invalidateQueries({ queryKey: key })
    isBusy.current = false
    keepFocus()
  }
}
