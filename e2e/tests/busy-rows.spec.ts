/** A row with a pending act shows this and allows no other act, on every kind of list. */
import type { Locator, Page } from '@playwright/test'
import { row as announcement } from '#src/announcements.ts'
import { rows, settled } from '#src/lists.ts'
import { expect, test, toast } from '#src/test.ts'

test.beforeEach(async ({ signIn, page: _page }) => {
  await signIn('admin')
})

/** Holds calls of the method until the returned function is called. */
async function hold(page: Page, method: 'GET' | 'POST' | 'DELETE', path: string): Promise<() => void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  await page.route(path, async (route) => {
    if (route.request().method() !== method) return route.fallback()
    await promise
    return route.fallback()
  })
  return resolve
}

async function expectBusy(row: Locator): Promise<void> {
  await expect(row).toHaveAttribute('aria-busy', 'true')
  const parts = await row.evaluate((node) =>
    [...node.children].map((part) => ({ isInert: (part as HTMLElement).inert, opacity: getComputedStyle(part).opacity })),
  )
  expect(parts.length).toBeGreaterThan(0)
  for (const part of parts) expect(part).toEqual({ isInert: true, opacity: '0.5' })
}

const confirm = (page: Page, name = 'Confirm') => page.getByRole('alertdialog').getByRole('button', { name }).click()

test('Rows: a row that is being deleted is dimmed and inert until the list is loaded without it', async ({ page }) => {
  await page.goto('/daily-tasks')
  await settled(page)
  const count = await rows(page).count()
  const [first, second] = [rows(page).first(), rows(page).nth(1)]
  const next = (await second.textContent())!
  const releaseDeletion = await hold(page, 'DELETE', '**/api/daily-tasks/*')
  await first.getByRole('button', { name: 'Delete', exact: true }).click()
  await confirm(page)
  await expectBusy(first)
  await expect(first).toBeFocused()
  await expect(second).not.toHaveAttribute('aria-busy')
  const releaseList = await hold(page, 'GET', '**/api/daily-tasks?*')
  releaseDeletion()
  await expect(toast(page, 'Task Deleted Succesfuly!')).toBeVisible()
  await expectBusy(first)
  await expect(rows(page)).toHaveCount(count)
  releaseList()
  await expect(rows(page)).toHaveCount(count - 1)
  await expect(page.locator('tr[aria-busy]')).toHaveCount(0)
  await expect(first).toHaveText(next)
  await expect(first).toBeFocused()
})

test('Rows: if a row could not be deleted, it is as before and its button has the focus again', async ({
  page,
  expectedNoise,
}) => {
  expectedNoise.patterns = [/status of 500/]
  await page.goto('/daily-tasks')
  await settled(page)
  const json = { success: false, code: 'INTERNAL', message: 'Internal Server Error!' }
  await page.route('**/api/daily-tasks/*', (route) => route.fulfill({ status: 500, json }))
  const releaseList = await hold(page, 'GET', '**/api/daily-tasks?*')
  const button = rows(page).first().getByRole('button', { name: 'Delete', exact: true })
  await button.click()
  await confirm(page)
  await expect(toast(page, 'Error Deleting Task!')).toBeVisible()
  await expect(page.locator('tr[aria-busy], td[inert]')).toHaveCount(0)
  await expect(button).toBeFocused()
  releaseList()
})

test('Rows: selected rows are dimmed and inert during an act on them, other rows are not', async ({ page }) => {
  await page.goto('/daily-tasks')
  await settled(page)
  const count = await rows(page).count()
  await page.getByRole('button', { name: 'Select', exact: true }).click()
  for (const number of [1, 3]) await page.getByRole('checkbox', { name: `Select row ${number}`, exact: true }).check()
  await page.getByRole('button', { name: 'Delete Selected' }).click()
  await expect(page.getByRole('alertdialog')).toContainText('2 tasks')
  const release = await hold(page, 'POST', '**/api/daily-tasks/**')
  await confirm(page, 'Delete 2 tasks')
  for (const index of [0, 2]) await expectBusy(rows(page).nth(index))
  await expect(page.locator('tr[aria-busy]')).toHaveCount(2)
  release()
  await expect(rows(page)).toHaveCount(count - 2)
  await expect(page.locator('tr[aria-busy]')).toHaveCount(0)
})

test('Rows: an announcement during a change of status and a record during its restore are busy too', async ({ page }) => {
  await page.goto('/annoucements')
  await settled(page)
  const toggled = announcement(page, 'Season 2 is live')
  const releaseStatus = await hold(page, 'POST', '**/api/announcements/*/status')
  const status = toggled.getByRole('button', { name: 'Active', exact: true })
  await status.click()
  await confirm(page)
  await expectBusy(toggled)
  releaseStatus()
  await expect(toggled.getByRole('button', { name: 'In Active', exact: true })).toBeFocused()
  await expect(page.locator('tr[aria-busy]')).toHaveCount(0)

  await toggled.getByRole('button', { name: 'Delete', exact: true }).click()
  await confirm(page)
  await expect(toggled).toHaveCount(0)
  await page.goto('/trash')
  const restored = rows(page).filter({ hasText: 'Season 2 is live' })
  const releaseRestore = await hold(page, 'POST', '**/api/trash/**')
  await restored.getByRole('button', { name: 'Restore', exact: true }).click()
  await expectBusy(restored)
  releaseRestore()
  await expect(restored).toHaveCount(0)
})

test('Rows: an item of a list without a table is busy after its confirmation', async ({ page }) => {
  await page.goto('/bot-tokens')
  await page.getByLabel('Name').fill('The game')
  await page.getByRole('button', { name: 'Create' }).click()
  const item = page.getByRole('row').filter({ hasText: 'The game' })
  const release = await hold(page, 'DELETE', '**/api/bot-tokens/*')
  await item.getByRole('button', { name: 'Revoke' }).click()
  await confirm(page, 'Revoke token')
  await expectBusy(item)
  release()
  await expect(item).toHaveCount(0)
})
