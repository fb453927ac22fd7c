/** Addresses with invalid values show the closest valid page. */
import type { Page } from '@playwright/test'
import { expectStateAccessible } from '#src/axe.ts'
import { rows, settled } from '#src/lists.ts'
import { phone } from '#src/sizes.ts'
import { expect, test } from '#src/test.ts'

test.beforeEach(async ({ signIn, page: _page }) => {
  await signIn('admin')
})

for (const [path, shown] of [
  ['/manage-telegram-users?page=abc', 'Page 1 of 241'],
  ['/manage-telegram-users?page=-1', 'Page 1 of 241'],
  ['/manage-telegram-users?page=9999', 'Page 1 of 241'],
  ['/manage-telegram-users?sort=zzz&size=7&balanceMin=much&wallet=gold', 'Page 1 of 241'],
  ['/manage-users?page=abc&sort=zzz', 'Page 1 of 1'],
  ['/annoucements?page=-1&reversed=maybe', 'Page 1 of 1'],
  ['/social-tasks?page=9999', 'Page 1 of 1'],
  ['/social-tasks?page=1e300', 'Page 1 of 1'],
] as const) {
  test(`Lists: ${path} shows the closest valid list`, async ({ page }) => {
    await page.goto(path)
    await expect(page.getByText(shown)).toBeVisible()
    await settled(page)
    expect(await rows(page).count()).toBeGreaterThan(0)
    await expect(page).toHaveURL(path.replace(/[?].*/, ''))
    await expect(page.getByRole('alert')).toHaveCount(0)
  })
}

const leftOut = (page: Page) => page.getByRole('status').filter({ hasText: 'Left out of the address' })

for (const [address, parts] of [
  ['/social-tasks?state=zz', 'it could not be read: State'],
  ['/manage-telegram-users?balanceMin=1,000', 'it could not be read: Balance from'],
  ['/manage-telegram-users?q=%00', 'it could not be read: Search'],
  ['/manage-telegram-users?status=blocked&status=unblocked', 'it could not be read: Status'],
  [
    '/manage-telegram-users?balanceMax=9007199254740993&wallet=true&joinedUntil=2026-02-30&foo=1&has=email',
    'they could not be read: Balance to, Wallet, Joined until, foo',
  ],
] as const) {
  test(`Lists: ${address} says what was left out of it, until it changes`, async ({ page }) => {
    await page.goto(address)
    const notice = leftOut(page)
    await expect(notice).toHaveText(`Left out of the address, because ${parts}.`)
    await expect(page).toHaveURL(address.replace(/[?].*/, address.includes('has=email') ? '?has=email' : ''))
    await settled(page)
    await expectStateAccessible(page)
    await page.setViewportSize(phone)
    await expect(notice).toBeVisible()
    await expectStateAccessible(page)
    await page.reload()
    await expect(notice).toBeVisible()
    await page.getByRole('searchbox').fill('a')
    await expect(page).toHaveURL(/q=a/)
    await expect(notice).toHaveCount(0)
  })
}

test('Lists: a saved view with a part that cannot be read opens with a notice, and is not the one that is shown', async ({
  page,
  server,
}) => {
  await server.database.db
    .insertInto('saved_views')
    .values({ id: 'zq', list: 'telegramUsers', name: 'zq', address: 'balanceMin=abc' })
    .execute()
  await page.goto('/manage-telegram-users')
  await settled(page)
  await expect(page.getByRole('button', { name: /^Saved/ })).not.toContainText('zq')
  await page.getByRole('button', { name: /^Saved/ }).click()
  await page.getByRole('link', { name: /zq/ }).click()
  await expect(leftOut(page)).toContainText('Balance from')
  await expect(page).toHaveURL('/manage-telegram-users')
})

test('Lists: an address searches for up to 100 characters, counted as the server counts them', async ({ page }) => {
  const search = `a${'\u{1f600}'.repeat(60)}`
  await page.goto(`/manage-telegram-users?q=${encodeURIComponent(search)}`)
  await expect(page.getByRole('searchbox')).toHaveValue(search)
  await expect(page.getByText('No player matches.')).toBeVisible()
  await expect(leftOut(page)).toHaveCount(0)
})

test('Lists: a page number beyond the end, together with a cursor, shows the last page', async ({ page }) => {
  await page.goto('/manage-telegram-users')
  await page.getByRole('button', { name: 'Next Page' }).click()
  await expect(page.getByText('Page 2 of 241')).toBeVisible()
  await page.goto(page.url().replace('page=2', 'page=9999'))
  await expect(page.getByText('Page 241 of 241')).toBeVisible()
  await expect(rows(page)).toHaveCount(5)
})

test('Lists: Back skips an address with a page that does not exist', async ({ page }) => {
  await page.goto('/manage-users')
  await settled(page)
  await page.goto('/social-tasks?page=7')
  await expect(page.getByText('Page 1 of 1')).toBeVisible()
  await page.goBack()
  await expect(page.getByRole('heading', { name: 'Manage Users' })).toBeVisible()
})

for (const range of ['30d', 'zzz']) {
  test(`?range=${range} shows the dashboard’s default range, marks it and leaves the address`, async ({ page }) => {
    await page.goto(`/?range=${range}`)
    const ranges = page.getByRole('group', { name: 'Range of time' })
    await expect(ranges.getByRole('link', { name: '30 d' })).toHaveAttribute('aria-current', 'page')
    await expect(ranges.locator('[aria-current]')).toHaveCount(1)
    await expect(page).toHaveURL('/')
  })
}

test('an address with an invalid tab and page shows the first tab', async ({ page }) => {
  await page.goto('/history?tab=zzz&page=abc')
  await expect(page.getByRole('tab', { name: 'Annoucements' })).toHaveAttribute('aria-selected', 'true')
  await expect(page).toHaveURL('/history')
})
