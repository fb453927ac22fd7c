/** The shell and the dashboard (§2 Signed-in shell, Dashboard; §3 metrics). */
import type { Locator, Page } from '@playwright/test'
import { expect, test } from '#src/test.ts'

const links = {
  Dashboard: '/',
  'Manage Users': '/manage-users',
  'Telegram Users': '/manage-telegram-users',
  'Social Tasks': '/social-tasks',
  'Daily Tasks': '/daily-tasks',
  Announcements: '/annoucements',
  History: '/history',
}

function card(page: Page, name: string): Locator {
  return page.getByRole('region', { name, exact: true })
}

test('§2 the sidebar has every link of an admin', async ({ page, signIn }) => {
  await signIn('admin')
  await page.goto('/')
  const sidebar = page.getByRole('navigation').first()
  for (const [name, href] of Object.entries(links)) {
    await expect(sidebar.getByRole('link', { name, exact: true })).toHaveAttribute('href', href)
  }
})

for (const path of ['/', '/admin']) {
  test(`§2 ${path} shows the five cards with the figures of the sample`, async ({ page, signIn }) => {
    await signIn('admin')
    await page.goto(path)
    await expect(page.getByRole('heading', { name: 'Admin Dashboard' })).toBeVisible()
    await expect(card(page, 'Total Users')).toContainText('1')
    await expect(card(page, 'User Type')).toContainText(/Users\D*0/)
    await expect(card(page, 'User Type')).toContainText(/Admins\D*1/)
    await expect(card(page, 'Telegram Users')).toContainText('1,203')
    await expect(card(page, 'Active Announcements')).toContainText('5')
    for (const [type, count] of Object.entries({ Instagram: 3, Youtube: 2, Website: 2, Twitter: 4, Telegram: 2 })) {
      await expect(card(page, 'Task By Type')).toContainText(new RegExp(`${type}\\D*${count}`))
    }
  })
}

test.describe('§2 without data', () => {
  test.use({ sample: false })
  test('§2 a missing count shows 0', async ({ page, signIn }) => {
    await signIn('admin')
    await page.goto('/')
    await expect(card(page, 'Telegram Users')).toContainText('0')
    for (const type of ['Instagram', 'Youtube', 'Website', 'Twitter', 'Telegram']) {
      await expect(card(page, 'Task By Type')).toContainText(new RegExp(`${type}\\D*0`))
    }
  })
})

test('§2 while the metrics load it shows Loading...', async ({ page, signIn }) => {
  await signIn('admin')
  let release = () => {}
  const held = new Promise<void>((resolve) => {
    release = resolve
  })
  await page.route('**/api/metrics', async (route) => {
    await held
    await route.continue()
  })
  await page.goto('/')
  await expect(page.getByText('Loading...', { exact: true })).toBeVisible()
  release()
  await expect(card(page, 'Total Users')).toBeVisible()
})

test.describe('§8 failing metrics', () => {
  test.use({ expectedNoise: { patterns: [/status of 500/] } })
  test('§8 Error calculating metrics, with a way to try again', async ({ page, signIn }) => {
    await signIn('admin')
    await page.route('**/api/metrics', (route) =>
      route.fulfill({ status: 500, json: { success: false, code: 'METRICS_FAILED', message: 'Error calculating metrics' } }),
    )
    await page.goto('/')
    await expect(page.getByText('Error calculating metrics')).toBeVisible({ timeout: 15_000 })
    await page.unroute('**/api/metrics')
    await page.getByRole('button', { name: /retry|try again/i }).click()
    await expect(card(page, 'Total Users')).toBeVisible()
  })
})

test('§2 unknown paths show the fallback screen, within the shell', async ({ page, signIn }) => {
  await signIn('admin')
  await page.goto('/no/such/page')
  await expect(page.getByRole('heading', { level: 1 })).toBeVisible()
  await expect(page.getByRole('heading', { name: 'Admin Dashboard' })).toBeHidden()
  await expect(page.getByRole('navigation').first()).toBeVisible()
})

test.describe('§2 on a phone', () => {
  test.use({ viewport: { width: 390, height: 844 } })
  test('§2 the drawer opens from the brand header and closes when a link is clicked', async ({ page, signIn }) => {
    await signIn('admin')
    await page.goto('/')
    await expect(page.getByRole('link', { name: 'Manage Users' })).toBeHidden()
    await page.getByRole('button', { name: /menu|navigation/i }).click()
    await page.getByRole('link', { name: 'Manage Users' }).click()
    await expect(page).toHaveURL('/manage-users')
    await expect(page.getByRole('link', { name: 'Telegram Users' })).toBeHidden()
  })

  for (const path of Object.values(links)) {
    test(`${path} never scrolls sideways`, async ({ page, signIn }) => {
      await signIn('admin')
      await page.goto(path)
      await expect(page.getByRole('heading', { level: 1 })).toBeVisible()
      await expect(page.getByText('Loading...', { exact: true })).toHaveCount(0)
      const overflow = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth)
      expect(overflow).toBeLessThanOrEqual(0)
    })
  }
})
