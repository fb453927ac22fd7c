/** Whether a person may make a call. */
import type { Needs, Permission } from './permissions.ts'

/** Returns the permission that a caller lacks for a call; undefined if the caller may make it. */
export function missingPermission(needs: Needs, held: readonly Permission[]): Permission | undefined {
  const wanted = typeof needs === 'string' ? [needs] : needs
  return wanted.some((one) => held.includes(one)) ? undefined : wanted[0]
}
