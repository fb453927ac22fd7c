/**
 * Keeps what was typed and not saved: asks before the page is left, by a link, the palette, Back or closing the tab, and has a session
 * that ended meanwhile renewed above the form.
 */
import { useBlocker } from '@tanstack/react-router'
import { lazy, Suspense, useEffect } from 'react'
import { useRenewal } from '#src/session.tsx'
import { useConfirm } from '#src/ui/confirm.tsx'
import { forgetUnsavedWork, hasUnsavedWork, isKeptAsDraft, useHasUnsavedWork } from '#src/ui/unsaved.ts'

const loadRenewalDialog = () => import('./renewal-dialog.tsx').then(({ RenewalDialog }) => ({ default: RenewalDialog }))
const RenewalDialog = lazy(loadRenewalDialog)

const title = 'Leave without saving?'
const keptMessage =
  'What you typed here is not saved. This browser keeps it as a draft, without passwords and files, and the form offers it when you come back.'
const lostMessage = 'What you typed in the dialog is not saved, and lost if you leave.'

export function UnsavedWorkGuard() {
  const confirm = useConfirm()
  const isUnsaved = useHasUnsavedWork()
  const renewal = useRenewal()

  useBlocker({
    disabled: !isUnsaved,
    enableBeforeUnload: hasUnsavedWork,
    shouldBlockFn: async () => {
      if (!hasUnsavedWork()) return false
      const isLeaving = await confirm({ title, message: isKeptAsDraft() ? keptMessage : lostMessage })
      if (isLeaving) forgetUnsavedWork()
      return !isLeaving
    },
  })

  // The dialog is there before it is needed: without a session, or after an update of the server, it might not come any more.
  useEffect(() => {
    if (isUnsaved) loadRenewalDialog().catch(() => {})
  }, [isUnsaved])

  return <Suspense fallback={null}>{renewal && <RenewalDialog email={renewal.user.email} />}</Suspense>
}
