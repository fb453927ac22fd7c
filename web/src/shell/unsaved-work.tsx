/**
 * Protects unsaved input: asks before leaving the page (by link, palette, Back or closing the tab), and lets the user sign in again on top
 * of the form when the session ends.
 */
import { useBlocker } from '@tanstack/react-router'
import { lazy, Suspense, useEffect } from 'react'
import { useRenewal } from '#src/session.tsx'
import { useConfirm, useDismissQuestion } from '#src/ui/confirm.tsx'
import { useOnOtherPage } from './page-change.ts'
import { forgetUnsavedWork, hasUnsavedWork, isKeptAsDraft, useHasUnsavedWork } from '#src/ui/unsaved.ts'

const loadRenewalDialog = () => import('./renewal-dialog.tsx').then(({ RenewalDialog }) => ({ default: RenewalDialog }))
const RenewalDialog = lazy(loadRenewalDialog)

const title = 'Leave without saving?'
const keptMessage =
  'What you typed here is not saved. This browser keeps it as a draft, without passwords and files, and the form offers it when you come back.'
const lostMessage = 'What is not saved here is lost if you leave.'

export function UnsavedWorkGuard() {
  const confirm = useConfirm()
  const isUnsaved = useHasUnsavedWork()
  const renewal = useRenewal()
  useOnOtherPage(useDismissQuestion()) // it belongs to the page before

  useBlocker({
    disabled: !isUnsaved,
    enableBeforeUnload: hasUnsavedWork,
    shouldBlockFn: async () => {
      if (!hasUnsavedWork()) return false
      const isLeaving = await confirm({ title, message: isKeptAsDraft() ? keptMessage : lostMessage, confirmLabel: 'Leave' })
      if (isLeaving) forgetUnsavedWork()
      return !isLeaving
    },
  })

  // Preload the dialog: after the session ends or the server is updated, it may no longer be available.
  useEffect(() => {
    if (isUnsaved) loadRenewalDialog().catch(() => {})
  }, [isUnsaved])

  return <Suspense fallback={null}>{renewal && <RenewalDialog email={renewal.user.email} />}</Suspense>
}
