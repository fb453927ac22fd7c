/** The end of every way to sign in on the pages of the signed-out area. */
import type { SessionUser } from '@arcade/contract/auth/calls'
import { noteRefusal } from '#src/client/sign-in-service.ts'
import { setCurrentUser } from '#src/session.tsx'
import { toast } from '#src/ui/toast.tsx'

/** Makes a person the signed-in one, and says so. */
export function welcome(user: SessionUser): void {
  noteRefusal(undefined)
  setCurrentUser(user)
  toast.success('Logged In Successfuly!') // sic, §8
}
