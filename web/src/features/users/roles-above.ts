/** The roles whose people the signed-in person may not act on. They are not in session.tsx, because the first load needs none of this. */
import type { Role } from '@arcade/contract/team/fields'
import { defaultRoleSettings, rolesAbove } from '@arcade/contract/team/permissions'
import { useQuery } from '@tanstack/react-query'
import { api } from '#src/client/client.ts'
import { mayDo, useSession } from '#src/session.tsx'

/**
 * Returns the roles to whose people the signed-in person may do nothing, and which the person may not give: those that may do more. For people
 * who do not see personal fields this depends on the settings of the roles. Until these are loaded, those of the contract count.
 */
export function useRolesAbove(): Role[] {
  const { user } = useSession()
  const isNeeded = user !== null && !mayDo(user, 'players.personal')
  const { data } = useQuery({ ...api.team.roles.queryOptions(), enabled: isNeeded })
  const settings = Object.fromEntries((data?.roles ?? []).map((one) => [one.role, one.settings]))
  const own = user?.role ? { [user.role]: { seesPersonal: mayDo(user, 'players.personal') } } : {}
  return rolesAbove(user?.permissions ?? [], { ...defaultRoleSettings, ...settings, ...own })
}

/** Whether the signed-in person may act on people with this role. */
export function useMayActOn(role: Role | null): boolean {
  const above = useRolesAbove()
  return role === null || !above.includes(role)
}
