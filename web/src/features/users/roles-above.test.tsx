/** People with a role that may do more are out of reach, and the page follows when one's own role changes. */
import { expect, test } from 'vitest'
import { page } from 'vitest/browser'
import { render } from '#src/testing/render.tsx'
import { signIn } from '#src/testing/sign-in.ts'
import { useMayActOn } from './roles-above.ts'

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
  signIn('owner')
  render(<Acts />)
  await expect.element(page.getByText('Delete: owner editor user', { exact: true })).toBeVisible()
  signIn('manager')
  await expect.element(page.getByText('Delete: editor user', { exact: true })).toBeVisible()
  signIn('manager', false)
  await expect.element(page.getByText('Delete: user', { exact: true })).toBeVisible()
  signIn('editor', false)
  await expect.element(page.getByText('Delete: editor user', { exact: true })).toBeVisible()
  signIn('analyst', false)
  await expect.element(page.getByText('Delete: user', { exact: true })).toBeVisible()
})
