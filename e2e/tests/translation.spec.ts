/** The console while the browser translates the page: its texts and counts go on, and nothing fails. */
import { rows, settled } from '#src/lists.ts'
import { control, expect, field, test, toast } from '#src/test.ts'
import { translate } from '#src/translation.ts'

test.beforeEach(async ({ signIn, page: _page }) => {
  await signIn('admin')
})

test('Translation: paging, searching and sorting a translated list shows the texts of each page', async ({ page }) => {
  await page.goto('/manage-telegram-users')
  await expect(page.getByText('Page 1 of 241')).toBeVisible()
  await settled(page)
  await translate(page)
  const pager = page.getByRole('navigation', { name: 'Pages' })
  await expect(pager.locator('font').first()).toBeVisible()
  const first = await rows(page).allTextContents()
  for (const number of [2, 3]) {
    await page.getByRole('button', { name: 'Next Page' }).click()
    await expect(pager.getByText(`Page ${number} of 241`)).toBeVisible()
    await settled(page)
  }
  expect(await rows(page).allTextContents()).not.toEqual(first)
  for (const number of [2, 1]) {
    await page.getByRole('button', { name: 'Prev Page' }).click()
    await expect(pager.getByText(`Page ${number} of 241`)).toBeVisible()
    await settled(page)
  }
  expect(await rows(page).allTextContents()).toEqual(first)
  await page.getByRole('searchbox').fill('moon_80')
  await expect(page.getByText('3 players')).toBeVisible()
  await page.getByRole('searchbox').fill('nobody-is-called-this')
  await expect(page.getByText('No player matches.')).toBeVisible()
  await control(page, 'Clear search').click()
  await expect(page.getByText('1,203 players')).toBeVisible()
})

test('Translation: selecting, dialogs, forms and deleting work in a translated page', async ({ page }) => {
  await page.goto('/social-tasks')
  await settled(page)
  const count = await rows(page).count()
  await translate(page)
  await page.getByRole('button', { name: 'Select', exact: true }).click()
  for (const number of [1, 2, 3]) {
    await page.getByRole('checkbox', { name: `Select row ${number}`, exact: true }).check()
    await expect(page.getByText(`${number} selected`)).toBeVisible()
  }
  await page.getByRole('checkbox', { name: 'Select row 2', exact: true }).uncheck()
  await expect(page.getByText('2 selected')).toBeVisible()
  await page.getByRole('button', { name: 'Select', exact: true }).click()

  const dialog = page.getByRole('alertdialog')
  for (const [row, answer] of [
    [0, 'Cancel'],
    [1, 'Cancel'],
    [1, 'Confirm'],
  ] as const) {
    const title = (await rows(page).nth(row).locator('[data-column="Title"]').textContent()) ?? ''
    await control(rows(page).nth(row), 'Delete').click()
    await expect(dialog).toContainText(title.trim())
    await control(dialog, answer).click()
    await expect(dialog).toBeHidden()
  }
  await expect(toast(page, 'Task Deleted Succesfuly!')).toBeVisible()
  await expect(rows(page)).toHaveCount(count - 1)

  await control(page, 'Add Task').first().click()
  await control(page.getByRole('form'), 'Add Task').click()
  await expect(page.getByText('Title is required')).toBeVisible()
  await field(page, 'Title').fill('Follow')
  await field(page, 'Reward').focus()
  await expect(page.getByText('Title is required')).toHaveCount(0)
})

test('Translation: the dashboard goes on and other pages open', async ({ page }) => {
  await page.goto('/')
  await expect(page.getByRole('heading', { name: 'Top balances' })).toBeVisible()
  await translate(page)
  for (const name of ['24 h', 'All', '7 d']) {
    await page.getByRole('group', { name: 'Range of time' }).getByRole('link', { name }).click()
    await expect(page.locator('[data-stale]')).toHaveCount(0)
  }
  for (const name of ['History', 'Audit', 'Trash', 'Telegram Users', 'Dashboard']) {
    await page.getByRole('link', { name, exact: true }).click()
    await expect(page.getByRole('heading', { level: 1 })).toContainText(name)
  }
})
