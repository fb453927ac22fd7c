/** The frame of all pages: the sidebar, the rail of a small desktop and the phone's drawer (§2 Signed-in shell, Fallback). */
import { control, expect, test } from '#src/test.ts'

const links = {
  Dashboard: '/',
  'Manage Users': '/manage-users',
  'Telegram Users': '/manage-telegram-users',
  'Social Tasks': '/social-tasks',
  'Daily Tasks': '/daily-tasks',
  Announcements: '/annoucements',
  History: '/history',
}

test.beforeEach(async ({ signIn, page: _page }) => {
  await signIn('admin')
})

test('§2 the sidebar has every link of an admin', async ({ page }) => {
  await page.goto('/')
  const sidebar = page.getByRole('navigation').first()
  for (const [name, href] of Object.entries(links)) {
    await expect(sidebar.getByRole('link', { name, exact: true })).toHaveAttribute('href', href)
  }
})

test('§2 on a small desktop the sidebar is a rail of icons, whose names are those of the links', async ({ page }) => {
  await page.setViewportSize({ width: 1024, height: 768 })
  await page.goto('/')
  const rail = page.getByRole('navigation', { name: 'Main' })
  for (const name of Object.keys(links)) {
    const link = rail.getByRole('link', { name, exact: true })
    await expect(link).toBeInViewport({ ratio: 1 })
    await expect(link).toHaveAttribute('title', name)
  }
  expect((await rail.boundingBox())!.width).toBeLessThan(64)
  for (const name of ['Search', 'Log Out'])
    await expect(page.getByRole('button', { name, exact: true })).toBeInViewport({ ratio: 1 })
  await expect(page.getByRole('link', { name: 'Your Account', exact: true })).toBeInViewport({ ratio: 1 })
})

test.describe('§2 on a phone', () => {
  test.use({ viewport: { width: 390, height: 844 } })
  test('§2 the drawer opens from the brand header and closes when a link is clicked', async ({ page }) => {
    await page.goto('/')
    await expect(page.getByRole('link', { name: 'Manage Users' })).toBeHidden()
    await page.getByRole('button', { name: /menu|navigation/i }).click()
    await page.getByRole('link', { name: 'Manage Users' }).click()
    await expect(page).toHaveURL('/manage-users')
    await expect(page.getByRole('link', { name: 'Telegram Users' })).toBeHidden()
  })
})

test('§2 unknown paths show the fallback screen, within the shell', async ({ page }) => {
  await page.goto('/no/such/page')
  await expect(page.getByRole('heading', { level: 1 })).toBeVisible()
  await expect(page.getByRole('heading', { name: 'Admin Dashboard' })).toBeHidden()
  await expect(page.getByRole('navigation').first()).toBeVisible()
})

for (const path of ['/%', '/nope/%ff', '/manage-users/%E0%A4%A?page=2'])
  test(`§2 ${path}, which cannot be decoded, is an unknown path like any other`, async ({ page }) => {
    await page.goto(path)
    await expect(page.getByRole('heading', { level: 1, name: 'Page not found' })).toBeVisible()
    await expect(page.getByRole('navigation').first()).toBeVisible()
    await control(page, 'Back to the dashboard').click()
    await expect(page.getByRole('heading', { name: 'Admin Dashboard' })).toBeVisible()
    await page.goBack()
    await expect(page.getByRole('heading', { level: 1, name: 'Page not found' })).toBeVisible()
  })
