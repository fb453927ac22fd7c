/** Log Out (§2), for the sidebar and the palette. */
import { useNavigate } from '@tanstack/react-router'
import { useRef } from 'react'
import { logOut } from '#src/session.tsx'
import { useConfirm } from '#src/ui/confirm.tsx'
import { toast } from '#src/ui/toast.tsx'
import { hasUnsavedWork } from '#src/ui/unsaved.ts'

/** Signs out. Asks first if unsaved input would be lost. Does nothing while another sign-out is under way. */
export function useLogOut(): () => Promise<void> {
  const navigate = useNavigate()
  const confirm = useConfirm()
  const isLeaving = useRef(false)
  return async () => {
    if (isLeaving.current) return
    isLeaving.current = true
    try {
      if (hasUnsavedWork() && !(await confirm(question))) return
      await logOut()
      toast.success('Logged Out Succesfully!') // sic, §2
      await navigate({ to: '/' })
    } catch {
      toast.failure('Logging Out Failed!')
    } finally {
      isLeaving.current = false
    }
  }
}

const question = {
  title: 'Log out without saving?',
  message: 'What you typed here is not saved. Logging out also deletes the drafts that this browser keeps for you.',
  confirmLabel: 'Log out',
  isDestructive: true,
}
