/** Whole flows by keyboard alone: nothing here uses a pointer. */
import type { Locator, Page } from '@playwright/test'
import { settled } from '#src/lists.ts'
import { expect, hold, PASSWORD, test, toast } from '#src/test.ts'

test.use({ contextOptions: { reducedMotion: 'no-preference' } })

/** Presses Tab until `target` has the focus. @throws Error if Tab does not reach it */
async function tabTo(page: Page, target: Locator): Promise<void> {
  await expect(target).toBeVisible()
  for (let presses = 0; presses < 120; presses += 1) {
    if (await target.evaluate((element) => element === document.activeElement)) return
    await page.keyboard.press('Tab')
  }
  throw new Error(`${target.toString()} cannot be reached by Tab`)
}

test('Keyboard: sign in, skip the menu, add a task, edit it, delete it, sign out', async ({ page, server }) => {
  await server.addPerson({ fname: 'Ada', lname: 'Admin', email: 'ada@gmail.com', userType: 'admin' })
  await page.goto('/')
  await tabTo(page, page.getByLabel('Email', { exact: true }))
  await page.keyboard.type('ada@gmail.com')
  await tabTo(page, page.getByLabel('Password', { exact: true }))
  await page.keyboard.type(PASSWORD)
  await page.keyboard.press('Enter')
  await expect(page).toHaveURL('/admin')

  await tabTo(page, page.getByRole('link', { name: 'Social Tasks', exact: true }).first())
  await page.keyboard.press('Enter')
  await expect(page.getByRole('heading', { level: 1, name: 'Social Tasks' })).toBeFocused()
  await tabTo(page, page.getByRole('button', { name: 'Add Task' }))
  await page.keyboard.press('Enter')
  await expect(page.getByLabel('Priority')).toBeVisible()
  await tabTo(page, page.getByLabel('Priority'))
  await page.keyboard.type('900')
  await tabTo(page, page.getByLabel('Type'))
  await page.keyboard.type('Tw')
  await tabTo(page, page.getByLabel('Title'))
  await page.keyboard.type('By keyboard')
  await tabTo(page, page.getByLabel('Reward'))
  await page.keyboard.type('5')
  await page.keyboard.press('Enter')
  await expect(toast(page, 'Task Added Successfully!')).toBeVisible()

  await findTask(page)
  const row = page.getByRole('row').filter({ hasText: 'By keyboard' })
  await tabTo(page, row.getByRole('button', { name: 'Edit', exact: true }))
  await page.keyboard.press('Enter')
  await expect(page.getByLabel('Title')).toHaveValue('By keyboard')
  await tabTo(page, page.getByLabel('Title'))
  await page.keyboard.press('ControlOrMeta+a')
  await page.keyboard.type('By keyboard alone')
  await page.keyboard.press('Enter')
  await expect(toast(page, 'Task Updated Successfully!')).toBeVisible()

  await findTask(page)
  const changed = page.getByRole('row').filter({ hasText: 'By keyboard alone' })
  await tabTo(page, changed.getByRole('button', { name: 'Delete', exact: true }))
  await page.keyboard.press('Enter')
  await expect(page.getByRole('alertdialog')).toBeVisible()
  await page.keyboard.press('Escape')
  await expect(page.getByRole('alertdialog')).toBeHidden()
  await expect(changed.getByRole('button', { name: 'Delete', exact: true })).toBeFocused()
  await page.keyboard.press('Enter')
  await tabTo(page, page.getByRole('alertdialog').getByRole('button', { name: 'Confirm' }))
  await page.keyboard.press('Enter')
  await expect(toast(page, 'Task Deleted Succesfuly!')).toBeVisible()
  await expect(changed).toHaveCount(0)

  await tabTo(page, page.getByRole('button', { name: 'Log Out' }))
  await page.keyboard.press('Enter')
  await expect(page.getByRole('heading', { name: 'Welcome', exact: true })).toBeVisible()
})

/** Searches for the task, so that only a few tabs lead to the buttons of its row. */
async function findTask(page: Page): Promise<void> {
  await page.keyboard.press('/')
  await page.keyboard.press('ControlOrMeta+a') // the list comes back with the earlier search
  await page.keyboard.type('By keyboard')
  await expect(page.locator('tbody tr')).toHaveCount(1)
  await settled(page) // the earlier search may still be shown, whose rows are replaced
}

test('Keyboard: search, filter, sort, select and open a player', async ({ page, signIn }) => {
  await signIn('admin')
  await page.goto('/manage-telegram-users')
  await expect(page.getByText('1,203 players')).toBeVisible()
  await page.keyboard.press('/')
  await expect(page.getByRole('searchbox')).toBeFocused()
  await page.keyboard.type('moon_80')
  await expect(page).toHaveURL(/q=moon_80/)
  await tabTo(page, page.getByRole('button', { name: /^Filters/ }))
  await page.keyboard.press('Enter')
  await expect(page.getByLabel('Balance from')).toBeFocused()
  await page.keyboard.type('1')
  await page.keyboard.press('Enter')
  await expect(page).toHaveURL(/balanceMin=1/)
  await page.keyboard.press('Escape')
  await expect(page.getByRole('button', { name: /^Filters/ })).toBeFocused()
  await tabTo(page, page.getByRole('columnheader', { name: 'Username', exact: true }).getByRole('button'))
  await page.keyboard.press('Enter')
  await expect(page).toHaveURL(/sort=username/)
  await expect(page.locator('[aria-busy=true]')).toHaveCount(0)
  await tabTo(page, page.locator('td[data-column="User ID"] a').first())
  await page.keyboard.press('Enter')
  await expect(page).toHaveURL(/manage-telegram-users\/\d+/)
  await expect(page.getByRole('heading', { level: 1 })).toBeFocused()
  await page.goBack()
  await expect(page).toHaveURL(/q=moon_80/)
})

test('Keyboard: letters that are typed while the palette is being opened are in its field, and are no shortcuts', async ({
  page,
  signIn,
}) => {
  await signIn('admin')
  const release = await hold(page, '**/assets/palette-*.js')
  const undone: string[] = []
  page.on('request', (request) => request.url().includes('/api/trash/') && undone.push(request.url()))
  await page.goto('/social-tasks')
  await page.getByRole('row').nth(1).getByRole('button', { name: 'Delete' }).press('Enter')
  await page.getByRole('alertdialog').getByRole('button', { name: 'Confirm' }).press('Enter')
  await expect(page.getByRole('alert').getByRole('button', { name: 'Undo' })).toBeVisible()
  await page.keyboard.press('Control+k')
  await page.keyboard.type('usert')
  await page.keyboard.press('Backspace')
  await page.keyboard.type('s')
  release()
  const palette = page.getByRole('dialog', { name: 'Search', exact: true })
  await expect(palette.getByRole('combobox')).toHaveValue('users')
  await expect(palette.getByRole('option', { selected: true })).toHaveText(/^Manage Users/)
  expect(undone).toEqual([])
})

test('Keyboard: the skip link leads to the page’s content', async ({ page, signIn }) => {
  await signIn('admin')
  await page.goto('/social-tasks')
  await expect(page.getByText('Follow us on X')).toBeVisible()
  await page.keyboard.press('Tab')
  await expect(page.getByRole('link', { name: 'Skip to content' })).toBeFocused()
  await page.keyboard.press('Enter')
  await expect(page.locator('#main')).toBeFocused()
})
