import type { View } from '@arcade/contract/views/calls'
import { expect, test, vi } from 'vitest'
import { page, userEvent } from 'vitest/browser'
import { render } from '#src/testing/render.tsx'
import { type ListView, ViewsPane } from './views-pane.tsx'

const view = (id: string, changes: Partial<ListView> = {}) => ({
  id,
  list: 'users' as const,
  name: `View ${id}`,
  address: `q=${id}`,
  isShared: false,
  isOwn: true,
  owner: 'Ada Admin',
  isDefault: false,
  version: 1,
  href: `/manage-users?q=${id}`,
  isCurrent: false,
  ...changes,
})

const views = [
  view('a', { isCurrent: true }),
  view('b', { isShared: true, isOwn: false, owner: 'Bob Boss', isDefault: true }),
  view('c', { isShared: true, isOwn: false, owner: null }),
]

function setUp() {
  const calls = {
    onOpen: vi.fn<(href: string) => void>(),
    onSave: vi.fn<Parameters<typeof ViewsPane>[0]['onSave']>(async () => {}),
    onDelete: vi.fn<(deleted: View) => Promise<void>>(async () => {}),
    onDefault: vi.fn<(chosen: View | undefined) => Promise<void>>(async () => {}),
  }
  render(<ViewsPane views={views} whole={{ href: '/manage-users', isCurrent: false }} {...calls} />)
  return calls
}

const button = page.getByRole('button', { name: 'Saved: View a' })
const name = page.getByRole('textbox', { name: 'Name' })

test('Views: the button names the current view; the pane has all views as links that work by keyboard', async () => {
  const { onOpen } = setUp()
  await button.click()
  await expect.element(page.getByRole('link', { name: 'View a' })).toHaveAttribute('aria-current', 'true')
  await expect.element(page.getByText('Shared by Bob Boss')).toBeVisible()
  await expect.element(page.getByText('Shared', { exact: true })).toBeVisible()
  const link = page.getByRole('link', { name: /View b/ })
  await expect.element(link).toHaveAttribute('href', '/manage-users?q=b')
  ;(link.element() as HTMLElement).focus()
  await userEvent.keyboard('{Enter}')
  expect(onOpen).toHaveBeenCalledExactlyOnceWith('/manage-users?q=b')
  await expect.element(button).toHaveFocus()
})

test('Views: a view is saved under a name, private unless shared; a refusal stands at its field', async () => {
  const { onSave } = setUp()
  onSave.mockResolvedValueOnce({ fields: { name: 'You have a view of this name already' } })
  await button.click()
  await page.getByRole('button', { name: 'Save', exact: true }).click()
  await expect.element(name).toHaveAccessibleDescription('Name is required')
  expect(onSave).not.toHaveBeenCalled()
  await name.fill('Newest')
  await userEvent.keyboard('{Enter}')
  await expect.element(name).toHaveAccessibleDescription('You have a view of this name already')
  await page.getByRole('checkbox', { name: 'Share with all admins' }).click()
  await name.fill('Newer')
  await userEvent.keyboard('{Enter}')
  await expect.element(name).not.toBeInTheDocument()
  expect(onSave.mock.calls).toEqual([
    [{ name: 'Newest', isShared: false }, undefined, false],
    [{ name: 'Newer', isShared: true }, undefined, false],
  ])
})

test('Views: a view is changed, deleted, and made the default or not', async () => {
  const { onSave, onDelete, onDefault } = setUp()
  await button.click()
  await page.getByRole('button', { name: 'See View a first' }).click()
  const second = page.getByRole('button', { name: 'See View b first' })
  await expect.element(second).toHaveAttribute('aria-pressed', 'true')
  await second.click()
  expect(onDefault.mock.calls).toEqual([[views[0]], [undefined]])
  await page.getByRole('button', { name: 'Change View b' }).click()
  await expect.element(name).toHaveValue('View b')
  await name.fill('Renamed')
  await page.getByRole('checkbox', { name: 'Replace its content with what the list shows now' }).click()
  await page.getByRole('button', { name: 'Update', exact: true }).click()
  await expect.element(name).not.toBeInTheDocument()
  expect(onSave).toHaveBeenCalledExactlyOnceWith({ name: 'Renamed', isShared: true }, views[1], true)
  await button.click()
  await page.getByRole('button', { name: 'Delete View a' }).click()
  expect(onDelete).toHaveBeenCalledExactlyOnceWith(views[0])
})
