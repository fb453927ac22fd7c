/** Puts a signed-in person into the query cache, as the server's answer does. */
import type { Role } from '@arcade/contract/team/fields'
import { permissionsOf } from '@arcade/contract/team/permissions'
import { onTestFinished } from 'vitest'
import { api, queryClient } from '#src/client/client.ts'

/** @param role null: a user, who is no admin */
export function signIn(role: Role | null, seesPersonal = true): void {
  const permissions = role ? permissionsOf(role, { seesPersonal }) : []
  const userType = role ? ('admin' as const) : ('user' as const)
  const user = {
    id: '1',
    username: 'Ada Admin',
    fname: 'Ada',
    lname: 'Admin',
    email: 'ada@gmail.com',
    userType,
    role,
    permissions,
    lacksSecondFactor: false,
  }
  queryClient.setQueryData(api.auth.session.queryKey(), {
    user,
    registrationEmailHost: 'gmail.com',
    hasAdmin: true,
    canResetByMail: false,
    signInService: null,
  })
  onTestFinished(() => queryClient.clear())
}
