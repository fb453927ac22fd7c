/** Saved views: a list's search, filters, order, columns and density under a name, private or shared, and the default view of a list. */
import type { Page } from '@playwright/test'
import { expectAccessible } from '#src/axe.ts'
import { openSheet } from '#src/lists.ts'
import { phone, sizes } from '#src/sizes.ts'
import { expect, test, toast } from '#src/test.ts'

const views = (page: Page) => page.getByRole('button', { name: /^Saved/ })
const pane = (page: Page) => page.getByRole('dialog', { name: 'Saved views' })

test('Views: a view keeps search, order, columns and density, can be shared, opened by link and palette, and made the default', async ({
  page,
  signIn,
  server,
}) => {
  await signIn('admin')
  await page.goto('/manage-telegram-users?q=moon&sort=newest')
  await page.getByRole('button', { name: 'View', exact: true }).click()
  await page.getByRole('checkbox', { name: 'Compact rows' }).check()
  await page.getByRole('checkbox', { name: 'Email' }).uncheck()
  await page.keyboard.press('Escape')

  // Saves the view by keyboard.
  await views(page).focus()
  await page.keyboard.press('Enter')
  await expect(pane(page).getByRole('link', { name: 'Whole list' }), 'the pane has taken the focus').toBeFocused()
  await pane(page).getByLabel('Name', { exact: true }).focus()
  await page.keyboard.type('Moon people')
  await page.keyboard.press('Tab')
  await page.keyboard.press('Space')
  await page.keyboard.press('Enter')
  await expect(toast(page, 'View saved.')).toBeVisible()
  await expect(views(page)).toHaveText('Saved: Moon people')
  await expect(views(page)).toBeFocused()

  // A colleague opens it, in a browser without stored settings.
  const colleague = await server.addPerson({ fname: 'Bo', lname: 'Boss', email: 'bo@gmail.com', userType: 'admin' })
  await page
    .context()
    .addCookies([{ name: 'session', value: colleague.token, url: server.url, httpOnly: true, sameSite: 'Strict' }])
  await page.evaluate(() => localStorage.clear())
  await page.goto('/manage-telegram-users')
  await views(page).click()
  const link = pane(page).getByRole('link', { name: /Moon people/ })
  await expect(link).toContainText('Shared by Ada Admin')
  const href = (await link.getAttribute('href')) ?? ''
  await page.goto(href)
  await expect(page.getByRole('searchbox')).toHaveValue('moon')
  await expect(page.getByRole('columnheader', { name: 'Email' })).toBeHidden()
  await expect(page.getByRole('columnheader', { name: 'Created At' })).toHaveAttribute('aria-sort', 'descending')
  await expect(views(page)).toHaveText('Saved: Moon people')

  await page.goto('/')
  await expect(page.getByRole('heading', { name: 'Dashboard' })).toBeVisible()
  await page.keyboard.press('Control+k')
  await expect(page.getByRole('combobox')).toBeFocused()
  await page.keyboard.type('moon peo')
  await page
    .getByRole('group', { name: 'Views' })
    .getByRole('option', { name: /Moon people/ })
    .click()
  await expect(page.getByRole('searchbox')).toHaveValue('moon')

  await views(page).click()
  await pane(page).getByRole('button', { name: 'See Moon people first' }).click()
  await expect(pane(page).getByRole('button', { name: 'See Moon people first' })).toHaveAttribute('aria-pressed', 'true')
  await page.goto('/')
  await page.getByRole('link', { name: 'Telegram Users' }).click()
  await expect(page.getByRole('searchbox')).toHaveValue('moon')
  await views(page).click()
  await pane(page).getByRole('link', { name: 'Whole list' }).click()
  await expect(page.getByText('1,203 players')).toBeVisible()
  await expect(page.getByRole('columnheader', { name: 'Email' })).toBeVisible()

  await views(page).click()
  await pane(page).getByRole('button', { name: 'Change Moon people' }).click()
  await pane(page).getByLabel('Name', { exact: true }).fill('Everyone')
  await pane(page).getByRole('checkbox', { name: 'Replace its content with what the list shows now' }).check()
  await pane(page).getByRole('button', { name: 'Update', exact: true }).click()
  await expect(views(page)).toHaveText('Saved: Everyone')
  await views(page).click()
  await pane(page).getByRole('button', { name: 'Delete Everyone' }).click()
  await page.getByRole('alertdialog').getByRole('button', { name: 'Delete view' }).click()
  await expect(toast(page, 'View deleted.')).toBeVisible()
  await expect(views(page)).toHaveText('Saved')
})

for (const viewport of sizes) {
  test(`Views: axe finds nothing at ${viewport.width} × ${viewport.height}`, async ({ page, signIn }) => {
    await page.setViewportSize(viewport)
    await signIn('admin')
    await page.goto('/social-tasks')
    const isPhone = viewport === phone
    if (isPhone) await openSheet(page)
    const opened = isPhone ? page.getByRole('region', { name: 'Saved views' }) : pane(page)
    await views(page).click()
    await opened.getByLabel('Name', { exact: true }).fill('All')
    await opened.getByRole('button', { name: 'Save', exact: true }).click()
    await expect(views(page)).toHaveText('Saved: All')
    await views(page).click()
    await opened.getByRole('button', { name: 'Change All' }).click()
    await expectAccessible(page)
  })
}
