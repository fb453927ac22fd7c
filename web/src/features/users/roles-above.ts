/** The roles whose people the signed-in person may not act on. They are not in session.tsx, because the first load needs none of this. */
import type { SessionUser } from '@arcade/contract/auth/calls'
import type { Role } from '@arcade/contract/team/fields'
import { defaultRoleSettings, rolesAbove, rolesNotToInvite, type RoleSettings } from '@arcade/contract/team/permissions'
import { useQuery } from '@tanstack/react-query'
import { useMemo } from 'react'
import { api } from '#src/client/client.ts'
import { mayDo, useSession } from '#src/session.tsx'

/**
 * Returns the roles to whose people the signed-in person may do nothing, and which the person may not give: those that may do more. For people
 * who do not see personal fields this depends on the settings of the roles. Until these are loaded, those of the contract count. Stays the
 * same array until they change.
 */
export function useRolesAbove(): readonly Role[] {
  const { user, settings } = useRoleSettings()
  return useMemo(() => rolesAbove(user?.permissions ?? [], settings), [user, settings])
}

/** Returns the roles to which the signed-in person may not invite anybody, and for whose people the person may make no password link. */
export function useRolesNotToInvite(): Role[] {
  const { user, settings } = useRoleSettings()
  return rolesNotToInvite({ permissions: user?.permissions ?? [], role: user?.role ?? null }, settings)
}

function useRoleSettings(): { user: SessionUser | null; settings: Record<Role, Pick<RoleSettings, 'seesPersonal'>> } {
  const { user } = useSession()
  const isNeeded = user !== null && !mayDo(user, 'players.personal')
  const { data } = useQuery({ ...api.team.roles.queryOptions(), enabled: isNeeded })
  return useMemo(() => {
    const settings = Object.fromEntries((data?.roles ?? []).map((one) => [one.role, one.settings]))
    const own = user?.role ? { [user.role]: { seesPersonal: mayDo(user, 'players.personal') } } : {}
    return { user, settings: { ...defaultRoleSettings, ...settings, ...own } }
  }, [user, data])
}

/** Whether the signed-in person may act on people with this role. A page of many people calls `useRolesAbove` once instead. */
export function useMayActOn(role: Role | null): boolean {
  const above = useRolesAbove()
  return role === null || !above.includes(role)
}
