/** Log Out (§2), for the sidebar and the palette. */
import { useNavigate } from '@tanstack/react-router'
import { useRef } from 'react'
import { client } from '#src/client.ts'
import { setCurrentUser } from '#src/session.tsx'
import { toast } from '#src/ui/toast.tsx'

/** Signs out. A call while another one is on its way does nothing. */
export function useLogOut(): () => Promise<void> {
  const navigate = useNavigate()
  const isLeaving = useRef(false)
  return async () => {
    if (isLeaving.current) return
    isLeaving.current = true
    try {
      await client.auth.logout()
      setCurrentUser(null)
      toast.success('Logged Out Succesfully!') // sic, §2
      await navigate({ to: '/' })
    } catch {
      toast.failure('Logging Out Failed!')
    } finally {
      isLeaving.current = false
    }
  }
}
