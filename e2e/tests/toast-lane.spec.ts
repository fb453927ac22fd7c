/** §9 A toast at the top right is neither over the buttons of rows nor over the row that was just changed. */
import type { Locator, Page } from '@playwright/test'
import { openSheet } from '#src/lists.ts'
import { expect, test, toast } from '#src/test.ts'

/** Returns how far down the header of a phone reaches, under which the page scrolls. Desktops have a sidebar instead. */
const bottomOfHeader = (page: Page): Promise<number> =>
  page.evaluate(() => {
    const { width, bottom } = document.querySelector('header')!.getBoundingClientRect()
    return width === innerWidth ? bottom : 0
  })

/**
 * Returns the texts of what the toast is over: the row, and links and buttons of all rows. It waits in the page until the toast has slid in
 * from the right, because the toast is there for five seconds only.
 */
async function coveredBy(page: Page, { message, row }: { message: Locator; row: Locator }): Promise<string[]> {
  const uppermost = await bottomOfHeader(page)
  await expect(message).toBeVisible()
  const changed = await row.elementHandle()
  return message.evaluate(
    async (element, [changedRow, from]) => {
      while (element.getBoundingClientRect().right >= innerWidth) await new Promise(requestAnimationFrame)
      if (!element.isConnected) return ['nothing: the toast has closed']
      const over = element.getBoundingClientRect()
      return [changedRow, ...document.querySelectorAll('main tbody :is(a, button)')]
        .filter((one) => {
          const { left, right, top, bottom, width } = one.getBoundingClientRect()
          const isBeside = width === 0 || left >= over.right || right <= over.left
          return !isBeside && bottom > from && Math.max(from, top) < over.bottom && bottom > over.top
        })
        .map((one) => one.textContent || one.ariaLabel || one.tagName)
    },
    [changed, uppermost] as const,
  )
}

/** Scrolls the window until the row is at its upper edge, or below the header of a phone. */
async function scrollToTop(page: Page, row: Locator): Promise<void> {
  const from = await bottomOfHeader(page)
  await row.evaluate((element, uppermost) => window.scrollBy(0, element.getBoundingClientRect().top - uppermost), from)
}

async function expectInItsLane(page: Page, { message, row }: { message: Locator; row: Locator }): Promise<void> {
  expect(await coveredBy(page, { message, row })).toEqual([])
}

for (const viewport of [
  { width: 1440, height: 900 },
  { width: 390, height: 844 },
]) {
  test.describe(`${viewport.width} × ${viewport.height}`, () => {
    test.use({ viewport })

    test.beforeEach(async ({ signIn }) => {
      await signIn('admin')
    })

    test('§9 after blocking the first player of the list', async ({ page }) => {
      await page.goto('/manage-telegram-users')
      const row = page.locator('main tbody tr').first()
      await expect(row).toBeVisible()
      const controls = viewport.width < 640 ? await openSheet(page) : page
      await controls.getByRole('button', { name: 'Select', exact: true }).click()
      await row.getByRole('checkbox').check()
      await page.getByRole('button', { name: 'Block', exact: true }).click()
      const reason = page.getByRole('dialog', { name: 'Block Players' })
      await reason.getByLabel('Reason').fill('Farm')
      await scrollToTop(page, row)
      await reason.getByRole('button', { name: 'Block 1 player' }).click()
      await expectInItsLane(page, { message: toast(page, '1 player blocked.'), row })
    })

    test('§9 after toggling the status of the first announcement', async ({ page }) => {
      await page.goto('/annoucements')
      const row = page.locator('main tbody tr').first()
      await row.getByRole('button', { name: 'Active', exact: true }).click()
      const confirm = page.getByRole('alertdialog').getByRole('button', { name: 'Confirm' })
      await expect(confirm).toBeVisible()
      await scrollToTop(page, row)
      await confirm.click()
      await expectInItsLane(page, { message: toast(page, 'Status Updated Successfuly!'), row })
    })
  })
}
