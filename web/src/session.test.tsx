/** What a role may not do is not shown, and the page follows when the role changes. */
import { permissionsOf, type Role } from '@arcade/contract/team/fields'
import { onTestFinished, expect, test } from 'vitest'
import { page } from 'vitest/browser'
import { api, queryClient } from '#src/client/client.ts'
import { currentUser, mayOpen, Permitted, useMayActOn, useMayOpen } from './session.tsx'
import { render } from '#src/testing/render.tsx'

function signIn(role: Role | null, seesPersonal = true): void {
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

function Acts() {
  return (
    <>
      <Permitted needs="tasks.write">Add Task</Permitted>
      <Permitted needs={['players.personal']}>Email</Permitted>
      {useMayOpen('/audit') && 'Audit'}
      {useMayActOn('owner') && 'Delete an owner'}
      {useMayActOn('editor') && 'Delete an editor'}
      {useMayActOn(null) && 'Delete a user'}
    </>
  )
}

test('§6 a role shows what it may do, and the page follows at once when it changes', async () => {
  signIn('owner')
  render(<Acts />)
  await expect.element(page.getByText('Add TaskEmailAuditDelete an ownerDelete an editorDelete a user')).toBeVisible()
  signIn('manager')
  await expect.element(page.getByText(/^Add TaskEmailAuditDelete an editorDelete a user$/)).toBeVisible()
  signIn('manager', false)
  await expect.element(page.getByText(/^Add TaskAuditDelete a user$/)).toBeVisible()
  signIn('editor', false)
  await expect.element(page.getByText(/^Add TaskDelete an editorDelete a user$/)).toBeVisible()
  signIn('analyst', false)
  await expect.element(page.getByText(/^Delete a user$/)).toBeVisible()
})

test('§6 a user, and somebody signed out, may open no page of the management', () => {
  signIn(null)
  expect(['/', '/audit', '/account', '/manage-users'].map((path) => mayOpen(currentUser(), path))).toEqual([
    true,
    false,
    false,
    false,
  ])
  expect(mayOpen(null, '/')).toBe(false)
})
