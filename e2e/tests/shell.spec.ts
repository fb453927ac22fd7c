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

test('§2 on a small desktop the sidebar is a rail of icons with the names of the links', async ({ page }) => {
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

for (const height of [768, 700, 480])
  test(`§2 in a window of ${height} pixels the rail’s buttons keep their height`, async ({ page }) => {
    await page.setViewportSize({ width: 1024, height })
    await page.goto('/')
    for (const name of ['Search', 'Log Out']) {
      const box = (await page.getByRole('button', { name, exact: true }).boundingBox())!
      expect(box, name).toMatchObject({ width: 44, height: 28 })
    }
  })

for (const [width, height] of [
  [1440, 900],
  [1440, 800],
  [1440, 720],
  [1024, 768],
] as const)
  test(`§2 at ${width} × ${height} the whole sidebar is visible`, async ({ page }) => {
    await page.setViewportSize({ width, height })
    await page.goto('/')
    const sidebar = page.getByRole('banner')
    const foot = sidebar.getByRole('button', { name: 'Log Out' }).locator('..')
    expect(await sidebar.evaluate(({ scrollHeight, clientHeight }) => scrollHeight - clientHeight)).toBe(0)
    expect(await foot.evaluate((element) => getComputedStyle(element, '::after').opacity)).toBe('0')
    const entries = sidebar.getByRole('navigation').getByRole('link')
    await expect(entries).toHaveCount(15)
    const { y: end } = (await foot.boundingBox())!
    await entries.first().focus()
    for (let index = 0; index < 15; index += 1) {
      const link = entries.nth(index)
      await expect(link).toBeFocused()
      await expect(link).toBeInViewport({ ratio: 1 })
      const { y, height: high } = (await link.boundingBox())!
      expect(y + high, 'above the foot').toBeLessThanOrEqual(end)
      expect(high, 'WCAG 2.5.8').toBeGreaterThanOrEqual(24)
      await page.keyboard.press('Tab')
    }
    await expect(sidebar.getByRole('button', { name: 'Log Out' })).toBeInViewport({ ratio: 1 })
  })

for (const viewport of [
  { width: 1280, height: 600 },
  { width: 1280, height: 500 },
  { width: 1024, height: 480 },
  { width: 390, height: 600 },
])
  test(`§2 at ${viewport.width} × ${viewport.height} the theme and Log Out stay in view while the links scroll`, async ({
    page,
  }) => {
    await page.setViewportSize(viewport)
    await page.goto('/')
    if (viewport.width < 500) await page.getByRole('button', { name: 'Menu' }).click()
    const logOut = page.getByRole('button', { name: 'Log Out' })
    const last = page.getByRole('link', { name: 'Webhooks' })
    await expect(logOut).toBeInViewport({ ratio: 1 })
    await expect(page.getByRole('group', { name: 'Theme' })).toBeInViewport({ ratio: 1 })
    const foot = (await page.getByRole('group', { name: 'Theme' }).boundingBox())!.y
    const bottom = async () => last.boundingBox().then((box) => box!.y + box!.height)
    /** Returns the opacity of the arrow that hints at more links below. */
    const hint = () => logOut.evaluate(({ parentElement }) => Number(getComputedStyle(parentElement!, '::after').opacity))
    expect(await bottom()).toBeGreaterThan(foot)
    expect(await hint()).toBe(1)
    await last.focus()
    expect(await bottom()).toBeLessThanOrEqual(foot)
    await page.mouse.move(30, foot - 40)
    await page.mouse.wheel(0, 2000)
    await expect.poll(hint).toBe(0)
    await expect(logOut).toBeInViewport({ ratio: 1 })
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

test('Shell: the buttons next to a page’s heading have the same height', async ({ page }) => {
  for (const path of [...Object.values(links), '/audit', '/trash', '/backups', '/manage-telegram-users/100008077']) {
    await page.goto(path)
    await expect(page.getByRole('heading', { level: 1 })).toBeVisible()
    await expect(page.locator('[aria-busy=true]')).toHaveCount(0)
    if (path === '/trash') await expect(page.getByRole('button', { name: 'Empty Trash' })).toBeVisible()
    const buttons = page.locator('main header:has(h1) :is(button, a):visible')
    const heights = (): Promise<number[]> =>
      buttons.evaluateAll((all) => [...new Set(all.map((button) => button.getBoundingClientRect().height))])
    await expect.poll(async () => (await heights()).length, { message: path }).toBeLessThanOrEqual(1)
    if (path === '/trash' || path.startsWith('/manage-telegram-users/'))
      await expect.poll(heights, { message: path }).toEqual([36])
  }
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
