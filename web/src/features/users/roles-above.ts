/** The roles whose people the signed-in person may not act on. They are not in session.tsx, because the first load needs none of this. */
import type { SessionUser } from '@arcade/contract/auth/calls'
import type { Role } from '@arcade/contract/team/fields'
import { defaultRoleSettings, rolesAbove } from '@arcade/contract/team/permissions'
import { useQuery } from '@tanstack/react-query'
import { useSyncExternalStore } from 'react'
import { api, type client, queryClient } from '#src/client/client.ts'
import { currentUser, followSession, mayDo, useSession } from '#src/session.tsx'

/**
 * Returns the roles to whose people the signed-in person may do nothing, and which the person may not give: those that may do more. For people
 * who do not see personal fields this depends on the settings of the roles, which are loaded then.
 */
export function useRolesAbove(): Role[] {
  const { user } = useSession()
  useQuery({ ...api.team.roles.queryOptions(), enabled: user !== null && !mayDo(user, 'players.personal') })
  return rolesAboveOf(user)
}

/** Whether the signed-in person may remove people with this role, or give them a new password. Cheap enough for each row of a list. */
export function useMayActOn(role: Role | null): boolean {
  return useSyncExternalStore(followSession, () => role === null || !rolesAboveOf(currentUser()).includes(role))
}

/** Returns the roles that may do more than a person. What others see is a guess by the contract until the settings of the roles are loaded. */
function rolesAboveOf(user: SessionUser | null): Role[] {
  const loaded = queryClient.getQueryData<Awaited<ReturnType<typeof client.team.roles>>>(api.team.roles.queryKey())
  const settings = Object.fromEntries((loaded?.roles ?? []).map((one) => [one.role, one.settings]))
  const own = user?.role ? { [user.role]: { seesPersonal: mayDo(user, 'players.personal') } } : {}
  return rolesAbove(user?.permissions ?? [], { ...defaultRoleSettings, ...settings, ...own })
}
