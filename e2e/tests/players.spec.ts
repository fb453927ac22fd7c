/** Telegram Users (§2, §3, §4, §7, §8, §9). */
import { readFile } from 'node:fs/promises'
import { sql } from 'kysely'
import { compareAToZ } from '../../server/test/a-to-z.ts'
import { expect, test, toast } from '#src/test.ts'

const PATH = '/manage-telegram-users'

test.beforeEach(async ({ signIn, page: _page }) => {
  await signIn('admin')
})

test('§3 the table has all 15 fields; a date is MM/dd/yyyy and hh:mm a, a missing value is undefined', async ({ page }) => {
  await page.goto(PATH)
  const headers = [
    'First Name',
    'Last Name',
    'Username',
    'Balance',
    'User ID',
    'Created At',
    'Email',
    'Phone Number',
    'Twitter Username',
  ]
  const more = [
    'Instagram Username',
    'LinkedIn Username',
    'Discord Username',
    'Youtube Username',
    'TON Wallet Address',
    'BSC Wallet',
  ]
  await expect(page.getByRole('columnheader')).toHaveText([...headers, ...more])
  await expect(page.getByRole('row')).toHaveCount(6)
  await expect(page.getByRole('row').nth(1)).toContainText(/\d\d\/\d\d\/\d{4} \d\d:\d\d [AP]M/)
  await expect(page.getByRole('cell', { name: 'undefined', exact: true }).first()).toBeVisible()
})

test('§4 Next Page and Prev Page change the page by one, in the address too', async ({ page }) => {
  await page.goto(PATH)
  const [previous, next] = [page.getByRole('button', { name: 'Prev Page' }), page.getByRole('button', { name: 'Next Page' })]
  const ids = () => page.getByRole('row').locator('td:nth-child(5)').allTextContents()
  await expect(page.getByText('Page 1 of 241')).toBeVisible() // 1,203 / 5, rounded up
  const first = await ids()
  await next.click()
  await expect(page.getByText('Page 2 of 241')).toBeVisible()
  await expect(page.locator('[aria-busy=true]')).toHaveCount(0)
  const second = await ids()
  expect(second.some((id) => first.includes(id))).toBe(false)
  await next.click()
  await expect(page.getByText('Page 3 of 241')).toBeVisible()
  await page.reload()
  await expect(page.getByText('Page 3 of 241')).toBeVisible()
  await previous.click()
  await expect(page.getByText('Page 2 of 241')).toBeVisible()
  await expect.poll(ids).toEqual(second)
  await previous.click()
  await expect(page.getByText('Page 1 of 241')).toBeVisible()
  await expect.poll(ids).toEqual(first)
  await page.goBack()
  await expect(page.getByText('Page 2 of 241')).toBeVisible()
})

test('§4 Prev Page does nothing on page 1, Next Page nothing without a last-document cursor', async ({ page, server }) => {
  await sql`delete from telegram_users where user_id not in (select user_id from telegram_users order by user_id limit 7)`.execute(
    server.database.db,
  )
  await page.goto(PATH)
  await expect(page.getByRole('row')).toHaveCount(6)
  const start = page.url()
  await page.getByRole('button', { name: 'Prev Page' }).click()
  expect(page.url()).toBe(start)
  await page.getByRole('button', { name: 'Next Page' }).click()
  await expect(page.getByRole('row')).toHaveCount(3)
  const last = page.url()
  await page.getByRole('button', { name: 'Next Page' }).click()
  expect(page.url()).toBe(last)
  await expect(page.getByText('Page 2 of 241')).toBeVisible()
  await expect(page.getByRole('row')).toHaveCount(3)
})

test('§9 sorted by Balance descending or A-Z; choosing an order goes to page 1', async ({ page }) => {
  await page.goto(`${PATH}?size=25`)
  const balances = async () => (await page.getByRole('row').locator('td:nth-child(4)').allTextContents()).map(Number)
  await expect(page.getByRole('row')).toHaveCount(26)
  expect(await balances()).toEqual((await balances()).toSorted((a, b) => b - a))
  await page.getByRole('button', { name: 'Next Page' }).click()
  await expect(page.getByText('Page 2 of 49')).toBeVisible()
  await page.getByLabel('Sort By').selectOption({ label: 'A-Z' })
  await expect(page.getByText('Page 1 of 49')).toBeVisible()
  await expect(page.locator('[aria-busy=true]')).toHaveCount(0)
  const names = await page.getByRole('row').locator('td:nth-child(1)').allTextContents()
  expect(names).toEqual(names.toSorted(compareAToZ))
  await page.getByLabel('Page Size').selectOption('50')
  await expect(page.getByText('Page 1 of 25')).toBeVisible()
  await expect(page.getByRole('row')).toHaveCount(51)
  expect(page.url()).toContain('sort=a-z')
})

test('§9 Download User Data saves TelegramUserdata.xlsx and says so; a failure says so too', async ({ page, expectedNoise }) => {
  await page.goto(PATH)
  const downloading = page.waitForEvent('download')
  await page.getByRole('button', { name: 'Download User Data' }).click()
  const download = await downloading
  expect(download.suggestedFilename()).toBe('TelegramUserdata.xlsx')
  expect((await readFile(await download.path())).subarray(0, 2).toString()).toBe('PK')
  await expect(toast(page, 'Data Downloaded Successfuly!')).toBeVisible()
  await page.getByRole('button', { name: 'Dismiss' }).click() // the toast covers the button

  expectedNoise.patterns = [/Failed to load resource/]
  await page.route('**/downloadTelegramUsersData*', (route) => route.abort())
  await page.getByRole('button', { name: 'Download User Data' }).click()
  await expect(toast(page, 'Error Downloading Data!')).toBeVisible()
})

test('§4 a download shows its progress, and Cancel stops it without a toast', async ({ page, expectedNoise }) => {
  expectedNoise.patterns = [/404/]
  await page.goto(PATH)
  await page.route('**/downloadTelegramUsersData*', () => {}) // never answers
  await page.route('**/api/exports/*', (route) => route.fulfill({ json: { rows: 400, total: 1203 } }))
  await page.getByRole('button', { name: 'Download User Data' }).click()
  await expect(page.getByText('400 of 1,203 rows')).toBeVisible()
  await page.getByRole('button', { name: 'Cancel' }).click()
  await expect(page.getByRole('button', { name: 'Download User Data' })).toBeVisible()
  await expect(page.getByRole('alert')).toHaveCount(0)
})

test('an address with an old cursor says so and leads to the first page', async ({ page, expectedNoise }) => {
  expectedNoise.patterns = [/400/]
  await page.goto(`${PATH}?page=7&after=gone`)
  await page.getByRole('button', { name: 'Retry' }).click()
  await expect(page.getByText('Page 1 of 241')).toBeVisible()
})

test('on a phone the page never scrolls sideways', async ({ page }) => {
  await page.setViewportSize({ width: 390, height: 844 })
  await page.goto(`${PATH}?size=25`)
  await expect(page.getByRole('row')).toHaveCount(26)
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(390)
})
