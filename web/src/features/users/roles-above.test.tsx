/** People with a role that may do more are out of reach, and the page follows when one's own role changes. */
import { type Role, roleLabels, roles } from '@arcade/contract/team/fields'
import { defaultRoleSettings, permissionsOf, type RoleSettings } from '@arcade/contract/team/permissions'
import { QueryClientProvider } from '@tanstack/react-query'
import { expect, test } from 'vitest'
import { page } from 'vitest/browser'
import { api, queryClient } from '#src/client/client.ts'
import { render } from '#src/testing/render.tsx'
import { signIn } from '#src/testing/sign-in.ts'
import { useMayActOn } from './roles-above.ts'

/** Puts the roles into the query cache, as the server's answer does, with other settings for some of them. */
function haveRoles(others: Partial<Record<Role, Pick<RoleSettings, 'seesPersonal'>>> = {}): void {
  const queryKey = api.team.roles.queryKey()
  queryClient.setQueryDefaults(queryKey, { staleTime: Infinity })
  queryClient.setQueryData(queryKey, {
    roles: roles.map((role) => {
      const settings = { ...defaultRoleSettings[role], ...others[role] }
      return { role, label: roleLabels[role], people: 1, permissions: permissionsOf(role, settings), settings }
    }),
  })
}

function Acts() {
  return (
    <p>
      Delete:
      {useMayActOn('owner') && ' owner'}
      {useMayActOn('editor') && ' editor'}
      {useMayActOn(null) && ' user'}
    </p>
  )
}

test('§6 nobody is offered to act on people who may do more', async () => {
  haveRoles()
  signIn('owner')
  render(
    <QueryClientProvider client={queryClient}>
      <Acts />
    </QueryClientProvider>,
  )
  await expect.element(page.getByText('Delete: owner editor user', { exact: true })).toBeVisible()
  signIn('manager')
  await expect.element(page.getByText('Delete: editor user', { exact: true })).toBeVisible()
  signIn('manager', false)
  await expect.element(page.getByText('Delete: user', { exact: true })).toBeVisible()
  signIn('editor', false)
  await expect.element(page.getByText('Delete: editor user', { exact: true })).toBeVisible()
  signIn('analyst', false)
  await expect.element(page.getByText('Delete: user', { exact: true })).toBeVisible()
  haveRoles({ editor: { seesPersonal: false } })
  signIn('manager', false)
  await expect.element(page.getByText('Delete: editor user', { exact: true })).toBeVisible()
})
