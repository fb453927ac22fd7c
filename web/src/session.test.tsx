/** What a role may not do is not shown, and the page follows when the role changes. */
import { expect, test } from 'vitest'
import { page } from 'vitest/browser'
import { currentUser, mayOpen, Permitted, useMayOpen } from './session.tsx'
import { render } from '#src/testing/render.tsx'
import { signIn } from '#src/testing/sign-in.ts'

function Acts() {
  return (
    <>
      <Permitted needs="tasks.write">Add Task</Permitted>
      <Permitted needs={['players.personal']}>Email</Permitted>
      {useMayOpen('/audit') && 'Audit'}
    </>
  )
}

test('§6 a role shows what it may do, and the page follows at once when it changes', async () => {
  signIn('owner')
  render(<Acts />)
  await expect.element(page.getByText('Add TaskEmailAudit')).toBeVisible()
  signIn('manager', false)
  await expect.element(page.getByText(/^Add TaskAudit$/)).toBeVisible()
  signIn('editor')
  await expect.element(page.getByText(/^Add TaskEmail$/)).toBeVisible()
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
