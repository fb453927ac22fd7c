/** Addresses with invalid values show the closest valid page. */
import { rows, settled } from '#src/lists.ts'
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
