/** The page on which admins add webhooks, look at deliveries and send them again. */
import type { Page } from '@playwright/test'
import { sql } from 'kysely'
import { expectAccessible } from '#src/axe.ts'
import { expect, field, test, toast } from '#src/test.ts'

test.use({ sample: false })

const confirm = (page: Page) => page.getByRole('alertdialog').getByRole('button', { name: 'Confirm' }).click()
const ADDRESS = 'https://bot.example.org/hooks'

test('a webhook is added with its secret shown once, tested, replayed, switched off and deleted', async ({
  page,
  server,
  signIn,
}) => {
  await signIn('admin')
  await page.goto('/bot-tokens')
  await page.getByRole('link', { name: 'webhooks' }).click()
  await expect(page.getByText('There is no webhook yet.')).toBeVisible()
  await field(page, 'Address').fill('bot.example.org')
  await page.getByRole('button', { name: 'Create' }).click()
  await expect(page.getByText('Address must be https://…, without a password or a fragment')).toBeVisible()
  await field(page, 'Address').fill(ADDRESS)
  await page.getByLabel('A task was added, changed, moved, deleted or restored').uncheck()
  await page.getByRole('button', { name: 'Create' }).click()
  await expect(toast(page, 'Webhook added.')).toBeVisible()
  const secret = await field(page, 'Signing Secret').inputValue()
  expect(secret).toMatch(/^whsec_/)
  await page.reload()
  const item = page.getByRole('listitem').filter({ hasText: ADDRESS })
  await expect(item).toContainText('An announcement was activated')
  await expect(item).not.toContainText('A task was added')
  expect(await page.content()).not.toContain(secret)

  await page.getByRole('button', { name: `Send Test to ${ADDRESS}` }).click()
  await expect(toast(page, 'Test queued.')).toBeVisible()
  await page.getByRole('button', { name: `Deliveries to ${ADDRESS}` }).click()
  const row = item.getByRole('row').nth(1)
  await expect(row).toContainText('test')
  await expect(row).toContainText('Waiting')
  const { db } = server.database
  await sql`update webhook_deliveries set next_at = null, attempts = 10, result = 'Answered 500'`.execute(db)
  await expect(row).toContainText('Failed: Answered 500')
  await expectAccessible(page)
  await row.getByRole('button', { name: /^Replay msg_/ }).click()
  await expect(toast(page, 'Queued again.')).toBeVisible()
  await expect(row).toContainText('Waiting')

  await page.getByRole('button', { name: `Switch Off ${ADDRESS}` }).click()
  await expect(item).toContainText('Switched off')
  await sql`update webhooks set alert = 'It has failed for a day, so it was switched off.'`.execute(db)
  await page.getByRole('link', { name: 'Dashboard' }).click()
  await expect(
    page.getByRole('alert').filter({ hasText: 'The webhook to bot.example.org: It has failed for a day' }),
  ).toBeVisible()
  await page.getByRole('link', { name: 'See all webhooks' }).click()
  await page.getByRole('button', { name: `Delete ${ADDRESS}` }).click()
  await confirm(page)
  await expect(page.getByText('There is no webhook yet.')).toBeVisible()
})
