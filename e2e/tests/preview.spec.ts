/** The preview of the bot's message next to the forms of announcements and tasks (§2, §5). */
import type { Page } from '@playwright/test'
import { badge, banner, expectShown } from '#src/announcements.ts'
import { expectAccessible } from '#src/axe.ts'
import { sizes } from '#src/sizes.ts'
import { expect, test } from '#src/test.ts'

test.use({ sample: false })

test.beforeEach(async ({ signIn, page: _page }) => {
  await signIn('admin')
})

const field = (page: Page, label: string) => page.getByLabel(label, { exact: true })
const preview = (page: Page) => page.getByRole('group').filter({ hasText: 'Preview in Telegram' }).first()
const buttons = (page: Page) => preview(page).getByRole('list', { name: 'Buttons of the message' }).getByRole('listitem')
const measure = (page: Page, name: string) => preview(page).locator('dl > div').filter({ hasText: name })

test('§5 Preview: follows an announcement during typing, and shows image and icon before they are uploaded', async ({ page }) => {
  await page.goto('/annoucement-form')
  await field(page, 'Type').selectOption('desc')
  await field(page, 'Title').fill('Season 3')
  await field(page, 'Title').press('End')
  await page.keyboard.type(' is here')
  await expect(field(page, 'Title')).toBeFocused()
  await field(page, 'Subtitle').fill('Soon')
  await field(page, 'Description').fill('Line one\nline two')
  await field(page, 'Reward').fill('1250.5')
  for (const text of ['Season 3 is here', 'Soon', 'Line one\nline two', 'Reward: 1,250.5'])
    await expect(preview(page).getByText(text, { exact: true })).toBeVisible()
  await expect(buttons(page)).toHaveText(['Claim'])
  await expect(measure(page, 'Message text')).toContainText('/ 4,096')
  await field(page, 'Image').setInputFiles(banner)
  await field(page, 'Icon').setInputFiles(badge)
  await expect(preview(page).locator('img')).toHaveCount(2)
  for (const image of await preview(page).locator('img').all()) await expectShown(image)
  await expect(measure(page, 'Photo caption')).toContainText('/ 1,024')

  await field(page, 'Type').selectOption('link')
  await field(page, 'Link').fill('https://x.com/arcade')
  await field(page, 'Input Text').fill('Your post')
  await expect(buttons(page)).toHaveText(['Open link', 'Your post'])
  await expect(preview(page).getByText('Line one')).toHaveCount(0)
})

test('§5 Preview: for an empty form it shows placeholders, which do not count towards lengths', async ({ page }) => {
  await page.goto('/annoucement-form')
  await field(page, 'Type').selectOption('link')
  for (const text of ['Your title', 'Your subtitle', 'Reward: …']) await expect(preview(page).getByText(text)).toBeVisible()
  await expect(buttons(page)).toHaveText(['Open link', 'Send your answer'])
  await expect(measure(page, 'Message text')).toContainText('0 / 4,096')
  await field(page, 'Type').selectOption('desc')
  await expect(preview(page).getByText('Your description')).toBeVisible()
  await field(page, 'Title').fill('Season 3')
  await expect(preview(page).getByText('Your title')).toHaveCount(0)
  await expect(measure(page, 'Message text')).toContainText('8 / 4,096')
  for (const look of ['Light', 'Dark']) {
    await preview(page).getByRole('radio', { name: look }).check()
    await expectAccessible(page)
  }
})

test('§5 Preview: warns about texts that are too long for Telegram, but they can be saved', async ({ page, server }) => {
  await page.goto('/annoucement-form')
  await field(page, 'Type').selectOption('desc')
  await field(page, 'Title').fill('Long')
  await field(page, 'Subtitle').fill('Text')
  await field(page, 'Description').fill('a'.repeat(1100))
  await field(page, 'Reward').fill('1')
  await expect(measure(page, 'Message text')).toContainText('1,120 / 4,096')
  await expect(page.getByText(/Telegram takes/)).toHaveCount(0)
  await field(page, 'Image').setInputFiles(banner)
  await expect(preview(page).getByText('Photo caption: Telegram takes 1,024 characters', { exact: false })).toBeVisible()
  const warning = 'The text has 1,120 characters. Telegram takes 1,024 below an image'
  await expect(page.getByRole('form').getByText(warning)).toBeVisible()
  await page.getByRole('form').getByRole('button', { name: 'Add Annoucement' }).click()
  await expect(page).toHaveURL('/annoucements')
  expect(await server.database.db.selectFrom('announcements').select('title').execute()).toEqual([{ title: 'Long' }])
  await page.getByRole('button', { name: 'In Active', exact: true }).click()
  await expect(page.getByRole('alertdialog')).toContainText(warning)
  await page.getByRole('alertdialog').getByRole('button', { name: 'Confirm' }).click()
  await expect(page.getByRole('button', { name: 'Active', exact: true })).toBeVisible()
})

test('§5 Preview: for a task, it shows where its type leads and what the player must enter', async ({ page }) => {
  await page.goto('/social-tasks-form')
  await field(page, 'Title').fill('Follow us')
  await field(page, 'Type').selectOption('twitter')
  await field(page, 'Link').fill('https://x.com/arcade')
  await field(page, 'Reward').fill('5')
  await expect(preview(page).getByText('Follow us', { exact: true })).toBeVisible()
  await expect(buttons(page)).toHaveText(['Open Twitter', 'Done'])
  await field(page, 'Type').selectOption('bsc')
  await expect(buttons(page)).toHaveText(['Send your wallet address'])
})

test('§5 Preview: its light and dark themes are independent of the console’s', async ({ page }) => {
  await page.goto('/social-tasks-form')
  const chat = preview(page).locator('[data-look]')
  await expect(chat).toHaveAttribute('data-look', 'light')
  await preview(page).getByRole('radio', { name: 'Dark' }).check()
  await expect(chat).toHaveAttribute('data-look', 'dark')
  await expect(page.locator('html')).toHaveAttribute('data-mantine-color-scheme', 'light')
})

test('§2 Preview: on a phone it is below the form and can be collapsed', async ({ page }) => {
  await page.setViewportSize({ width: 390, height: 844 })
  await page.goto('/social-tasks-form')
  const submit = page.getByRole('form').getByRole('button', { name: 'Add Task' })
  await expect(buttons(page).first()).toBeVisible()
  expect((await preview(page).boundingBox())?.y).toBeGreaterThan((await submit.boundingBox())?.y ?? Infinity)
  await page.getByText('Preview in Telegram').focus()
  await page.keyboard.press('Enter')
  await expect(buttons(page).first()).toBeHidden()
})

for (const viewport of sizes) {
  test(`§2 Preview: axe finds nothing at ${viewport.width} × ${viewport.height}`, async ({ page }) => {
    await page.setViewportSize(viewport)
    await page.goto('/annoucement-form')
    await field(page, 'Type').selectOption('desc')
    await field(page, 'Title').fill('Season 3')
    await field(page, 'Description').fill('a'.repeat(1100))
    await field(page, 'Image').setInputFiles(banner)
    await expect(preview(page).getByText(/Telegram takes/)).toBeVisible()
    for (const look of ['Light', 'Dark']) {
      await preview(page).getByRole('radio', { name: look }).check()
      await expectAccessible(page)
    }
  })
}
