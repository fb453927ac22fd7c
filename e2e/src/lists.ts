/** What the tests of lists share: the rows of the page's table, and waiting until they have come. */
import { expect, type Locator, type Page } from '@playwright/test'

export function rows(page: Page): Locator {
  return page.locator('tbody tr:not([aria-hidden])')
}

/** The rows that the address asks for are there, or the text that there are none. */
export async function settled(page: Page): Promise<void> {
  await expect(rows(page).first()).toBeVisible()
  await expect(page.locator('[aria-busy=true]')).toHaveCount(0)
}
