/** Helpers for tests of lists: the rows of the page's table, and waiting until they are loaded. */
import { expect, type Locator, type Page } from '@playwright/test'

export function rows(page: Page): Locator {
  return page.locator('tbody tr:not([aria-hidden])')
}

/** Opens the sheet with what a phone's toolbar has no room for. Returns the sheet. */
export async function openSheet(page: Page): Promise<Locator> {
  await page.getByRole('button', { name: 'More', exact: true }).click()
  const sheet = page.getByRole('dialog', { name: 'More' })
  await expect(sheet).toBeVisible()
  return sheet
}

/** Waits until the rows are loaded, or the row that says that there are none. */
export async function settled(page: Page): Promise<void> {
  await expect(rows(page).first()).toBeVisible()
  await expect(page.locator('[aria-busy=true]')).toHaveCount(0)
}
