/** Lists: search, filters, orders, columns, density, the selection and acts on it (design §7). */
import { readFile } from 'node:fs/promises'
import type { Download, Page } from '@playwright/test'
import { expectAccessible } from '#src/axe.ts'
import { openSheet, rows, settled } from '#src/lists.ts'
import { phone, sizes } from '#src/sizes.ts'
import { expect, test, toast } from '#src/test.ts'
import { readSheets } from '../../server/test/read-sheets.ts'

test.beforeEach(async ({ signIn, page: _page }) => {
  await signIn('admin')
})

async function sheetOf(download: Download): Promise<unknown[][]> {
  const bytes = await readFile(await download.path())
  const sheets = readSheets(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.byteLength))
  return Object.values(sheets)[0]!
}

const rowsOf = async (download: Download): Promise<number> => (await sheetOf(download)).length

async function search(page: Page, text: string): Promise<void> {
  await page.getByRole('searchbox').first().fill(text)
}

test('Lists: typing a part of a name finds players; the address keeps the search, Escape ends it', async ({ page }) => {
  await page.goto('/manage-telegram-users')
  await expect(page.getByText('1,203 players')).toBeVisible()
  await search(page, 'MOON_80')
  await expect(page).toHaveURL(/q=MOON_80/)
  await settled(page)
  const names = await page.locator('[data-column=Username]').allTextContents()
  expect(names.length).toBeGreaterThan(1)
  for (const name of names.slice(1)) expect(name).toContain('moon_80')
  await page.reload()
  await expect(page.getByRole('searchbox')).toHaveValue('MOON_80')
  await page.getByRole('searchbox').press('Escape')
  await expect(page.getByText('1,203 players')).toBeVisible()
  expect(new URL(page.url()).search).toBe('')
})

test('Lists: one or two letters find beginnings of words, and the list says so', async ({ page }) => {
  await page.goto('/manage-telegram-users')
  const hint = page.getByText('three or more anywhere.')
  await search(page, 'oo')
  await expect(page.getByText('No player matches.')).toBeVisible()
  await expect(hint).toBeVisible()
  await search(page, 'oon')
  await expect(page.getByText('No player matches.')).toBeHidden()
  await expect(hint).toBeHidden()
  await page.goto('/social-tasks?q=oo')
  await expect(page.getByRole('table')).toBeVisible()
  await expect(hint).toBeHidden()
})

test('Lists: the browser’s Back, and Back on a player’s page, lead to the same rows at the same scroll position', async ({
  page,
}) => {
  await page.setViewportSize({ width: 1440, height: 600 })
  await page.goto('/manage-telegram-users?size=100')
  await settled(page)
  await page.getByRole('button', { name: 'Next Page' }).click()
  await expect(page.getByText('Page 2 of 13')).toBeVisible()
  await settled(page)
  const last = page.locator('td[data-column="User ID"] a').nth(80)
  const id = await last.innerText()
  await last.scrollIntoViewIfNeeded()
  const scroller = page.getByRole('region', { name: 'Telegram Users' })
  const before = await scroller.evaluate(({ scrollTop }) => scrollTop)
  expect(before).toBeGreaterThan(1000)
  await last.click()
  await expect(page.getByRole('region', { name: 'Identity' })).toContainText(id)
  const expectSameRows = async () => {
    await expect(page.getByText('Page 2 of 13')).toBeVisible()
    await expect.poll(() => scroller.evaluate(({ scrollTop }) => scrollTop)).toBeGreaterThan(before - 100)
    await expect(page.getByRole('link', { name: id, exact: true })).toBeInViewport()
  }
  await page.goBack()
  await expectSameRows()
  await last.click()
  await page.getByRole('button', { name: 'Next Player' }).click()
  await expect(page.getByRole('region', { name: 'Identity' })).not.toContainText(id)
  await page.getByRole('button', { name: 'Back', exact: true }).click()
  await expectSameRows()
  await last.click()
  await page.reload()
  await page.getByRole('button', { name: 'Back', exact: true }).click()
  await expect(page.getByText('Page 2 of 13')).toBeVisible()
  await expect(page.getByRole('link', { name: id, exact: true })).toBeAttached()
})

test('Lists: a search without results says so, and is not an error', async ({ page }) => {
  await page.goto('/manage-telegram-users?q=nobody-is-called-this')
  await expect(page.getByText('No player matches.')).toBeVisible()
  await expect(page.getByText('0 players')).toBeVisible()
})

test('Lists: filters show as chips, which can be removed one by one or all at once', async ({ page, server }) => {
  await page.goto('/manage-telegram-users?size=100')
  await page.getByRole('button', { name: /^Filters/ }).click()
  const pane = page.getByRole('dialog', { name: 'Filters' })
  await pane.getByLabel('Balance from').fill('400000')
  await pane.getByLabel('Balance from').press('Enter')
  await pane.getByRole('combobox', { name: 'Wallet' }).selectOption('Has a TON wallet')
  await page.keyboard.press('Escape')
  await expect(page.getByRole('button', { name: /^Filters/ })).toBeFocused()
  const chips = page.getByRole('list', { name: 'Active filters' })
  await expect(chips.getByRole('listitem')).toHaveCount(3)
  const { n } = await server.database.db
    .selectFrom('telegram_users')
    .innerJoin('balances', 'balances.user_id', 'telegram_users.user_id')
    .select(({ fn }) => fn.countAll<number>().as('n'))
    .where('balance', '>=', 400_000)
    .where('ton_wallet_address', 'is not', null)
    .executeTakeFirstOrThrow()
  await expect(page.getByText(`${n} players`)).toBeVisible()
  await page.reload()
  await expect(page.getByText(`${n} players`)).toBeVisible()
  await chips.getByRole('button', { name: 'Remove filter Wallet' }).click()
  await expect(page).not.toHaveURL(/wallet/)
  await page.getByRole('button', { name: 'Clear filters' }).click()
  await expect(page.getByText('1,203 players')).toBeVisible()
  await page.goBack()
  await expect(chips).toContainText('Balance from: 400,000')
})

test('Lists: a header sorts, a second press reverses the order, and further pages continue in that order', async ({ page }) => {
  await page.goto('/manage-telegram-users')
  const header = page.getByRole('columnheader', { name: 'User ID' })
  await header.getByRole('button').click()
  await expect(header).toHaveAttribute('aria-sort', 'ascending')
  await settled(page)
  const ids = async () => (await page.locator('td[data-column="User ID"]').allTextContents()).map(Number)
  const first = await ids()
  expect(first).toEqual(first.toSorted((a, b) => a - b))
  await page.getByRole('button', { name: 'Next Page' }).click()
  await expect(page.getByText('Page 2 of 241')).toBeVisible()
  await settled(page)
  expect((await ids())[0]).toBeGreaterThan(first.at(-1) ?? 0)
  await header.getByRole('button').press('Enter')
  await expect(header).toHaveAttribute('aria-sort', 'descending')
  await expect(page.getByText('Page 1 of 241')).toBeVisible()
  await settled(page)
  const last = await ids()
  expect(last).toEqual(last.toSorted((a, b) => b - a))
  // The selector offers the two orders of the specification first.
  await expect(page.getByLabel('Sort By').getByRole('option')).toHaveText(['Balance', 'A-Z', 'User ID'])
})

test('Lists: columns can be hidden and rows made compact, also after a reload', async ({ page }) => {
  await page.goto('/manage-telegram-users')
  await page.getByRole('button', { name: 'View' }).click()
  const pane = page.getByRole('dialog', { name: 'View' })
  await pane.getByLabel('Phone Number').uncheck()
  await pane.getByLabel('Compact rows').check()
  await page.keyboard.press('Escape')
  await page.reload()
  await expect(page.getByRole('columnheader')).toHaveCount(14)
  await expect(page.getByRole('columnheader', { name: 'Phone Number' })).toHaveCount(0)
  await expect(page.locator('[data-compact]')).toBeVisible()
  // In a browser without stored settings, the address alone has the same effect.
  await expect(page).toHaveURL(/rows=compact&columns=Phone/)
  await page.getByRole('link', { name: 'History' }).click()
  await page.getByRole('link', { name: 'Telegram Users' }).click()
  await expect(page).toHaveURL(/rows=compact&columns=Phone/)
  const copied = page.url()
  await page.evaluate(() => localStorage.clear())
  await page.goto(copied)
  await expect(page.getByRole('columnheader')).toHaveCount(14)
  await page.getByRole('button', { name: 'View' }).click()
  await pane.getByRole('button', { name: 'Reset' }).click()
  await expect(page.getByRole('columnheader')).toHaveCount(15)
})

test('Lists: rows selected on several pages are exported together', async ({ page }) => {
  await page.goto('/manage-telegram-users')
  await page.getByRole('button', { name: 'Select', exact: true }).click()
  await page.getByRole('checkbox', { name: 'Select row 2', exact: true }).check()
  await page.getByRole('button', { name: 'Next Page' }).click()
  await expect(page.getByText('Page 2 of 241')).toBeVisible()
  await settled(page)
  await page.getByRole('checkbox', { name: 'Select all rows of this page' }).check()
  await page.getByRole('checkbox', { name: 'Select row 6', exact: true }).uncheck()
  await expect(page.getByText('5 selected')).toBeVisible()
  // The selection survives a visit to another page.
  await page.getByRole('link', { name: 'History' }).click()
  await page.getByRole('link', { name: 'Telegram Users' }).click()
  await expect(page.getByText('5 selected')).toBeVisible()
  const downloading = page.waitForEvent('download')
  await page.getByRole('button', { name: 'Download Selection' }).click()
  const download = await downloading
  expect(download.suggestedFilename()).toMatch(/^TelegramUserdata-selected-\d{4}-\d\d-\d\d\.xlsx$/)
  expect(await rowsOf(download)).toBe(1 + 5)
  await expect(toast(page, 'Data Downloaded Successfuly!')).toBeVisible()
  await page.getByRole('button', { name: 'Clear', exact: true }).click()
  await expect(page.getByText('Nothing selected')).toBeVisible()
})

test('Lists: with a search the download has only the results; More exports offers everyone', async ({ page }) => {
  await page.goto('/manage-telegram-users?q=moon_80')
  await settled(page)
  const button = page.getByRole('button', { name: 'Download User Data', exact: true })
  await expect(button).toHaveAccessibleDescription(/^\d+ of 1,203$/)
  const shown = Number(/\d+/.exec(await page.getByText(/^\d+ players?$/).innerText())?.[0])
  await expect(button).toHaveAccessibleDescription(`${shown} of 1,203`)
  let downloading = page.waitForEvent('download')
  await button.click()
  expect(await rowsOf(await downloading)).toBe(1 + shown)
  await page.getByRole('button', { name: 'More exports' }).click()
  downloading = page.waitForEvent('download')
  await page.getByRole('button', { name: 'Everyone', exact: true }).click()
  expect(await rowsOf(await downloading)).toBe(1 + 1203)
  await page.getByRole('button', { name: 'More exports' }).click()
  downloading = page.waitForEvent('download')
  await page.getByRole('button', { name: 'These as CSV', exact: true }).click()
  expect((await downloading).suggestedFilename()).toMatch(/^TelegramUserdata-filtered-\d{4}-\d\d-\d\d\.csv$/)
})

test('Lists: a download has the order that is shown, and all columns', async ({ page }) => {
  await page.goto('/manage-telegram-users?q=moon_80&sort=username&reversed=true&size=100&rows=normal&columns=Balance')
  await settled(page)
  const shown = await page.locator('td[data-column=Username]').allTextContents()
  expect(shown.length).toBeGreaterThan(2)
  const downloading = page.waitForEvent('download')
  await page.getByRole('button', { name: 'Download User Data', exact: true }).click()
  const [head, ...downloaded] = await sheetOf(await downloading)
  expect(head).toContain('Balance')
  const column = head!.indexOf('Username')
  expect(downloaded.map((row) => row[column])).toEqual(shown)
})

test('Lists: Select all matching exports all rows that match, not only the page', async ({ page }) => {
  await page.goto('/manage-telegram-users?q=moon_80')
  await settled(page)
  await page.getByRole('button', { name: 'Select', exact: true }).click()
  const all = page.getByRole('button', { name: /Select all \d+ matching/ })
  const count = Number(/\d+/.exec(await all.innerText())?.[0])
  await all.click()
  await expect(page.getByText(`${count} selected`)).toBeVisible()
  const downloading = page.waitForEvent('download')
  await page.getByRole('button', { name: 'Download Selection' }).click()
  expect(await rowsOf(await downloading)).toBe(1 + count)
})

test('Lists: while a new search loads, Select all matching does not offer the previous results', async ({ page }) => {
  await page.goto('/manage-telegram-users')
  await settled(page)
  await page.getByRole('button', { name: 'Select', exact: true }).click()
  await expect(page.getByRole('button', { name: 'Select all 1,203 matching' })).toBeVisible()
  const { promise: released, resolve: release } = Promise.withResolvers<void>()
  await page.route('**/api/telegram-users?*', async (route) => {
    await released
    await route.continue()
  })
  const all = page.getByRole('button', { name: /^Select all .* matching/ })
  await page.getByRole('searchbox').fill('moon_80')
  await expect(all).toHaveCount(0)
  release()
  await expect(all).toBeVisible()
  await expect(all).not.toContainText('1,203')
})

test('Lists: selected tasks are deleted after one confirmation that says how many; Cancel deletes none', async ({ page }) => {
  await page.goto('/social-tasks')
  await page.getByRole('button', { name: 'Select', exact: true }).click()
  await page.getByRole('checkbox', { name: 'Select row 1', exact: true }).check()
  await page.getByRole('checkbox', { name: 'Select row 3', exact: true }).check()
  const dialog = page.getByRole('alertdialog')
  await page.getByRole('button', { name: 'Delete Selected' }).click()
  await expect(dialog).toContainText('Are you sure you want to delete 2 tasks?')
  await dialog.getByRole('button', { name: 'Cancel' }).click()
  await expect(rows(page)).toHaveCount(12)
  await page.getByRole('button', { name: 'Delete Selected' }).click()
  await dialog.getByRole('button', { name: 'Delete 2 tasks' }).click()
  await expect(toast(page, '2 tasks deleted.')).toBeVisible()
  await expect(rows(page)).toHaveCount(10)
  await expect(page.getByText('Nothing selected')).toBeVisible()
})

test('Lists: a bulk act whose number of rows has changed since the confirmation is refused', async ({
  page,
  server,
  expectedNoise,
}) => {
  expectedNoise.patterns = [/409/]
  await page.goto('/social-tasks')
  await page.getByRole('button', { name: 'Select', exact: true }).click()
  await page.getByRole('checkbox', { name: 'Select row 1', exact: true }).check()
  await page.getByRole('checkbox', { name: 'Select row 2', exact: true }).check()
  await page.getByRole('button', { name: 'Delete Selected' }).click()
  await expect(page.getByRole('alertdialog')).toContainText('2 tasks')
  await server.database.db.deleteFrom('tasks').where('collection', '=', 'social').where('priority', '=', 1).execute()
  await page.getByRole('alertdialog').getByRole('button', { name: 'Delete 2 tasks' }).click()
  await expect(page.getByRole('alert').first()).toBeVisible()
  await expect(rows(page)).toHaveCount(11)
})

test('Lists: selected tasks get new priorities, which the toast can undo; a priority of another task is refused', async ({
  page,
  expectedNoise,
}) => {
  expectedNoise.patterns = [/409/]
  await page.goto('/social-tasks')
  await page.getByRole('button', { name: 'Select', exact: true }).click()
  await page.getByRole('checkbox', { name: 'Select row 11', exact: true }).check()
  await page.getByRole('checkbox', { name: 'Select row 12', exact: true }).check()
  const priorities = await rows(page).locator('[data-column="Priority"]').allTextContents()
  const change = async (first: string, step: string) => {
    await page.getByRole('button', { name: 'Change Priorities' }).click()
    await page.getByLabel('First Priority').fill(first)
    await page.getByLabel('Step').fill(step)
    await page.getByRole('button', { name: 'Continue' }).click()
  }
  await change('1', '1')
  await expect(toast(page, 'Priority is already taken!')).toBeVisible()
  const first = page.getByLabel('First Priority')
  await expect(first).toHaveAccessibleDescription('Already taken: 1 by Follow us on X, 2 by Join our Discord')
  const free = page.getByRole('button', { name: /^Next free: \d+$/ })
  const number = /\d+/.exec(await free.innerText())![0]
  await free.click()
  await expect(first).toHaveValue(number)
  await page.keyboard.press('Escape')
  await page.getByRole('checkbox', { name: 'Select row 11', exact: true }).check()
  await page.getByRole('checkbox', { name: 'Select row 12', exact: true }).check()
  await change('200', '50')
  await expect(page.getByRole('alertdialog')).toContainText('number 2 tasks anew')
  await page.getByRole('alertdialog').getByRole('button', { name: 'Number 2 tasks anew' }).click()
  await expect(toast(page, '2 tasks numbered anew.')).toBeVisible()
  await expect(rows(page).nth(10)).toContainText('200')
  await expect(rows(page).nth(11)).toContainText('250')
  await toast(page, '2 tasks numbered anew.').getByRole('button', { name: 'Undo' }).press('Enter')
  await expect(toast(page, '2 tasks are as before.')).toBeVisible()
  await expect(rows(page).nth(10)).not.toContainText('200')
  expect(await rows(page).locator('[data-column="Priority"]').allTextContents()).toEqual(priorities)
})

test('Lists: several announcements are activated at once, which the toast can undo', async ({ page }) => {
  await page.goto('/annoucements')
  const inactive = page.getByRole('button', { name: 'In Active', exact: true })
  await settled(page)
  const before = await inactive.count()
  await page.getByRole('button', { name: 'Select', exact: true }).click()
  await page.getByRole('button', { name: 'Select all 9 matching' }).click()
  await page.getByRole('button', { name: 'Activate', exact: true }).click()
  await page.getByRole('alertdialog').getByRole('button', { name: 'Activate' }).click()
  await expect(page.getByRole('button', { name: 'Active', exact: true })).toHaveCount(9)
  await expect(inactive).toHaveCount(0)
  await toast(page, 'announcements activated.').getByRole('button', { name: 'Undo' }).press('Enter')
  await expect(toast(page, `${before} announcements are as before.`)).toBeVisible()
  await expect(inactive).toHaveCount(before)
})

test('Lists: users are found by type and name, and several are deleted at once', async ({ page, server }) => {
  await server.addPerson({ fname: 'Grace', lname: 'Hopper', email: 'grace@gmail.com', userType: 'user' })
  await page.goto('/manage-users')
  await page.getByRole('button', { name: /^Filters/ }).click()
  await page.getByRole('dialog', { name: 'Filters' }).getByLabel('User Type').selectOption('User')
  await page.keyboard.press('Escape')
  await settled(page)
  await search(page, 'hopper')
  await expect(rows(page)).toHaveCount(1)
  await page.getByRole('button', { name: 'Select', exact: true }).click()
  await page.getByRole('checkbox', { name: 'Select all rows of this page' }).check()
  await page.getByRole('button', { name: 'Delete Selected' }).click()
  await expect(page.getByRole('alertdialog')).toContainText('delete 1 user?')
  await page.getByRole('alertdialog').getByRole('button', { name: 'Delete 1 user' }).click()
  await expect(page.getByText('No user matches.')).toBeVisible()
})

for (const viewport of sizes) {
  test(`Lists: axe finds nothing in the panes and the selection bar, in light and dark, ${viewport.width} pixels wide`, async ({
    page,
  }) => {
    await page.setViewportSize(viewport)
    await page.goto('/manage-telegram-users?q=moon&wallet=ton&sort=username')
    await settled(page)
    const select = viewport === phone ? await openSheet(page) : page
    await select.getByRole('button', { name: 'Select', exact: true }).click()
    await page.getByRole('checkbox', { name: 'Select row 1', exact: true }).check()
    await expectAccessible(page)
    for (const pane of ['Filters', viewport === phone ? 'More' : 'View']) {
      await page.getByRole('button', { name: new RegExp(String.raw`^${pane} ?\d*$`) }).click()
      await expect(page.getByRole('dialog', { name: pane })).toBeVisible()
      await expectAccessible(page)
      await page.keyboard.press('Escape')
    }
  })
}
