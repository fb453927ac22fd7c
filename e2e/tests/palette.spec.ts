/** The command palette, the keyboard map and the single-key shortcuts (§2 shell, §6; WCAG 2.1.4), used by keyboard. */
import type { Page } from '@playwright/test'
import { expectAccessible } from '#src/axe.ts'
import { sizes } from '#src/sizes.ts'
import { expect, field, PASSWORD, test, toast } from '#src/test.ts'

test.use({ contextOptions: { reducedMotion: 'no-preference' } })

const palette = (page: Page) => page.getByRole('dialog', { name: 'Search', exact: true })
const box = (page: Page) => palette(page).getByRole('combobox')
const option = (page: Page, name: string | RegExp) => palette(page).getByRole('option', { name })
const chosen = (page: Page) => palette(page).getByRole('option', { selected: true })
const keyboardMap = (page: Page) => page.getByRole('dialog', { name: 'Keyboard shortcuts' })

async function openPalette(page: Page): Promise<void> {
  await page.keyboard.press('Control+k')
  await expect(box(page)).toBeFocused()
}

test.describe('as an admin', () => {
  test.beforeEach(async ({ page, signIn }) => {
    await signIn('admin')
    await page.goto('/manage-users')
    await expect(page.getByRole('heading', { name: 'Manage Users' })).toBeVisible()
  })

  test('Palette: with a Cyrillic layout Ctrl K opens and closes it, too', async ({ page }) => {
    const pressCtrlK = () =>
      page.evaluate(() => {
        const keys = { key: 'л', code: 'KeyK', ctrlKey: true, bubbles: true, cancelable: true }
        document.activeElement!.dispatchEvent(new KeyboardEvent('keydown', keys))
      })
    await pressCtrlK()
    await expect(box(page)).toBeFocused()
    await pressCtrlK()
    await expect(palette(page)).toBeHidden()
  })

  test('Palette: pages and actions by a few letters, arrow keys and Enter', async ({ page }) => {
    await openPalette(page)
    for (const name of ['Dashboard', 'Manage Users', 'Telegram Users', 'Social Tasks', 'Daily Tasks', 'Announcements', 'History'])
      await expect(palette(page).getByRole('group', { name: 'Pages' }).getByRole('option', { name })).toHaveCount(1)
    await expect(chosen(page)).toHaveText(/^Dashboard/)
    await page.keyboard.press('ArrowUp')
    await expect(chosen(page)).toHaveText(/^Log Out/)
    await page.keyboard.press('ArrowDown')
    await expect(chosen(page)).toHaveText(/^Dashboard/)
    await page.keyboard.type('add task')
    await expect(palette(page).getByRole('group', { name: 'Actions' }).getByRole('option')).toHaveText([
      'Add TaskSocial Tasks',
      'Add TaskDaily Tasks',
    ])
    await page.keyboard.press('ArrowDown')
    await expect(box(page)).toHaveAttribute('aria-activedescendant', (await chosen(page).getAttribute('id')) ?? '')
    await page.keyboard.press('Enter')
    await expect(page).toHaveURL('/daily-tasks-form')
    await expect(page.getByRole('heading', { name: 'Add Daily Task' })).toBeFocused()
    await expect(palette(page)).toBeHidden()
    for (const [words, address] of [
      ['add user', '/add-user'],
      ['add ann', '/annoucement-form'],
      ['history', '/history'],
    ] as const) {
      await openPalette(page)
      await page.keyboard.type(words)
      await page.keyboard.press('Enter')
      await expect(page).toHaveURL(address)
    }
  })

  test('Palette: the button opens it, Escape returns the focus to the button', async ({ page }) => {
    const button = page.getByRole('button', { name: 'Search', exact: true })
    await expect(button).toContainText('K')
    await button.focus()
    await page.keyboard.press('Enter')
    await expect(box(page)).toBeFocused()
    await page.keyboard.press('Escape')
    await expect(palette(page)).toBeHidden()
    await expect(button).toBeFocused()
    await openPalette(page)
    await page.keyboard.press('Control+k')
    await expect(palette(page)).toBeHidden()
    await expect(button).toBeFocused()
  })

  test('Palette: finds players, tasks and announcements', async ({ page, server }) => {
    const player = await server.database.db
      .selectFrom('telegram_users')
      .select(['user_id', 'username'])
      .where('username', 'is not', null)
      .orderBy('user_id')
      .executeTakeFirstOrThrow()
    const find = async (words: string, group: string, name: string | RegExp) => {
      await openPalette(page)
      await page.keyboard.type(words)
      const found = palette(page).getByRole('group', { name: group }).getByRole('option', { name }).first()
      await expect(found).toBeVisible()
      for (let step = 0; (await found.getAttribute('aria-selected')) !== 'true' && step < 30; step++)
        await page.keyboard.press('ArrowDown')
      await page.keyboard.press('Enter')
    }
    await find(player.username ?? '', 'Telegram Users', new RegExp(`@${player.username}`))
    await expect(page).toHaveURL(`/manage-telegram-users/${player.user_id}`)
    await find('Follow us on X', 'Social Tasks', /Follow us on X/)
    await expect(page).toHaveURL(/\/social-tasks-form-update\?id=./)
    await expect(page.getByLabel('Title', { exact: true })).toHaveValue('Follow us on X')
    await find('Spin the wheel', 'Daily Tasks', /Spin the wheel/)
    await expect(page).toHaveURL(/\/daily-tasks-form-update\?id=./)
    await find('Season 2', 'Announcements', /Season 2/)
    await expect(page).toHaveURL(/\/annoucement-form-update\?id=./)
  })

  test('Palette: acts on a found player lead to the dialogs of the player’s page, which do not open again', async ({ page }) => {
    await openPalette(page)
    await page.keyboard.type('100008077')
    const players = palette(page).getByRole('group', { name: 'Telegram Users' })
    await expect(players.getByRole('option')).toHaveText([
      /^😀Sky d’Angelo/,
      /^Block 😀Sky d’Angelo/,
      /^Adjust Balance of 😀Sky d’Angelo/,
    ])
    await expectAccessible(page)
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Enter')
    await expect(page).toHaveURL('/manage-telegram-users/100008077')
    const block = page.getByRole('dialog', { name: 'Block Player' })
    await expect(block.getByLabel('Reason')).toBeFocused()
    await page.keyboard.press('Escape')
    await expect(block).toBeHidden()
    await page.reload()
    await expect(page.getByRole('button', { name: 'Block or Erase' })).toBeVisible()
    await expect(block).toBeHidden()

    await openPalette(page)
    await page.keyboard.type('moon_8')
    await expect(players.getByRole('option').first()).toBeVisible()
    await page.keyboard.press('ArrowRight')
    await expect(palette(page).getByRole('option')).toHaveText([/^Open /, /^Block /, /^Adjust Balance of /])
    await page.keyboard.press('Escape')
    await expect(players.getByRole('option').first(), 'Escape leaves the acts first').toBeVisible()
    await page.keyboard.press('ArrowRight')
    await page.keyboard.press('PageDown')
    await page.keyboard.press('Enter')
    await expect(page.getByRole('dialog', { name: 'Adjust Balance' }).getByLabel('Amount')).toBeFocused()
  })

  test('Palette: offers what was opened last, until the person logs out', async ({ page }) => {
    const recent = palette(page).getByRole('group', { name: 'Recent' })
    await openPalette(page)
    await expect(recent).toHaveCount(0)
    await page.keyboard.type('100008077')
    await expect(option(page, /^😀Sky d’Angelo/)).toBeVisible()
    await page.keyboard.press('Enter')
    await expect(page).toHaveURL('/manage-telegram-users/100008077')
    for (const [words, address] of [
      ['history', '/history'],
      ['add user', '/add-user'],
    ] as const) {
      await openPalette(page)
      await page.keyboard.type(words)
      await page.keyboard.press('Enter')
      await expect(page).toHaveURL(address)
    }
    await openPalette(page)
    await expect(recent.getByRole('option')).toHaveText([/^Add User/, /^History/, /^😀Sky d’Angelo/])
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Enter')
    await expect(page).toHaveURL('/history')
    await openPalette(page)
    await page.keyboard.type('log out')
    await page.keyboard.press('Enter')
    await field(page, 'Email').fill('admin@gmail.com')
    await field(page, 'Password').fill(PASSWORD)
    await page.getByRole('button', { name: 'Sign In' }).click()
    await expect(page.getByRole('heading', { name: 'Admin Dashboard' })).toBeVisible()
    await openPalette(page)
    await expect(palette(page).getByRole('group').first()).toHaveAccessibleName('Pages')
    await expect(recent).toHaveCount(0)
  })

  test('Palette: Enter pressed before the results arrive opens the first one when it arrives', async ({ page }) => {
    await openPalette(page)
    const held = Promise.withResolvers<void>()
    await page.route('**/api/telegram-users?*', async (route) => {
      await held.promise
      await route.continue()
    })
    await box(page).fill('100008077')
    await box(page).press('Enter')
    await expect(palette(page).getByText('Searching…')).toBeVisible()
    held.resolve()
    await expect(page).toHaveURL(/manage-telegram-users\/100008077/)
    await expect(palette(page)).toHaveCount(0)
  })

  test('Palette: shows the total number of results in each group, and finds users', async ({ page, server }) => {
    await server.database.db
      .insertInto('users')
      .values(
        Array.from({ length: 7 }, (_, index) => ({
          id: `paletted-${index}`,
          fname: 'Paletted',
          lname: `Zoë ${index}`,
          email: `paletted${index}@gmail.com`,
          user_type: 'user' as const,
        })),
      )
      .execute()
    await openPalette(page)
    await page.keyboard.type('paletted zoe')
    const users = palette(page).getByRole('group', { name: 'Manage Users' })
    await expect(users.getByRole('option')).toHaveCount(5)
    await expect(palette(page).getByRole('status')).toHaveText('5 of 7 results')
    await users.getByRole('option', { name: /Paletted Zoë 0/ }).click()
    await expect(page.getByLabel('Last Name', { exact: true })).toHaveValue('Zoë 0')
    await openPalette(page)
    await page.keyboard.type('paletted zoe 3')
    await expect(palette(page).getByRole('status')).toHaveText('1 result')
  })

  test('Palette: results for earlier letters are never shown', async ({ page }) => {
    const held = Promise.withResolvers<void>()
    await page.route('**/api/social-tasks?*search=Follow', async (route) => {
      await held.promise
      await route.continue().catch(() => {}) // the request may be cancelled by then
    })
    await openPalette(page)
    const cancelled = page.waitForEvent('requestfailed', (request) => request.url().includes('search=Follow'))
    const asked = page.waitForRequest('**/api/social-tasks?*search=Follow')
    await page.keyboard.type('Follow')
    await asked
    await expect(palette(page).getByRole('status')).toHaveText('Searching…')
    await box(page).fill('no such thing')
    await cancelled
    await expect(palette(page).getByRole('status')).toHaveText('Nothing found for “no such thing”.')
    held.resolve()
    await expect(palette(page).getByRole('option')).toHaveCount(0)
  })

  test.describe('failures', () => {
    test.use({ expectedNoise: { patterns: [/status of 500/] } })

    test('Palette: says which groups could not be searched, and Retry searches them again', async ({ page }) => {
      const json = { success: false, code: 'INTERNAL', message: 'Internal Server Error!' }
      await page.route('**/api/announcements?*', (route) => route.fulfill({ status: 500, json }))
      await openPalette(page)
      await page.keyboard.type('Season 2')
      await expect(palette(page).getByRole('alert')).toContainText('Announcements could not be searched.')
      await page.unroute('**/api/announcements?*')
      await palette(page).getByRole('button', { name: 'Retry' }).click()
      await expect(option(page, /Season 2/).first()).toBeVisible()
      await expect(palette(page).getByRole('alert')).toHaveCount(0)
    })
  })

  test('Palette: Log Out', async ({ page }) => {
    await openPalette(page)
    await page.keyboard.type('log out')
    await page.keyboard.press('Enter')
    await expect(toast(page, 'Logged Out Succesfully!')).toBeVisible()
    await expect(page.getByText('Sign into your account')).toBeVisible()
  })

  test('Keyboard map: opens from the palette; single keys open pages, and can be switched off permanently', async ({ page }) => {
    await openPalette(page)
    await page.keyboard.type('shortcuts')
    await page.keyboard.press('Enter')
    await expect(keyboardMap(page)).toBeVisible()
    await page.keyboard.press('Escape')
    await expect(keyboardMap(page)).toBeHidden()
    for (const [key, address] of [
      ['d', '/'],
      ['u', '/manage-users'],
      ['p', '/manage-telegram-users'],
      ['s', '/social-tasks'],
      ['t', '/daily-tasks'],
      ['a', '/annoucements'],
      ['h', '/history'],
    ] as const) {
      await page.keyboard.press('g')
      await page.keyboard.press(key)
      await expect(page).toHaveURL(address)
    }
    await page.keyboard.press('?')
    await expect(keyboardMap(page)).toBeVisible()
    await keyboardMap(page).getByRole('checkbox', { name: 'Single-key shortcuts' }).press('Space')
    await page.keyboard.press('Escape')
    await page.reload()
    await expect(page.getByRole('heading', { name: 'History' })).toBeVisible()
    await page.keyboard.press('g')
    await page.keyboard.press('d')
    await page.keyboard.press('?')
    await openPalette(page) // its shortcut has a modifier, so it still works
    await expect(keyboardMap(page)).toBeHidden()
    await expect(page).toHaveURL('/history')
  })

  test('Keyboard map: keys in a text field are not shortcuts', async ({ page }) => {
    await page.goto('/add-user')
    const firstName = field(page, 'First Name')
    await firstName.focus()
    await page.keyboard.type('g d?/g h')
    await expect(firstName).toHaveValue('g d?/g h')
    await expect(page).toHaveURL('/add-user')
    await expect(keyboardMap(page)).toBeHidden()
  })

  for (const viewport of sizes) {
    test(`Palette and keyboard map: axe finds nothing at ${viewport.width} × ${viewport.height}`, async ({ page }) => {
      await page.setViewportSize(viewport)
      await page.goto('/social-tasks')
      await page.getByRole('button', { name: 'Search', exact: true }).click()
      await expect(option(page, /^Dashboard/)).toBeVisible()
      await expectAccessible(page)
      await page.keyboard.type('Follow us on X')
      await expect(option(page, /Follow us on X/).first()).toBeVisible()
      await expectAccessible(page)
      await box(page).fill('no such thing')
      await expect(palette(page).getByRole('status')).toContainText('Nothing found')
      await expectAccessible(page)
      await page.keyboard.press('Escape')
      await page.keyboard.press('?')
      await expect(keyboardMap(page)).toBeVisible()
      await expectAccessible(page)
    })
  }
})

test('§6 Palette: users who are not admins find their own page and no admin pages', async ({ page, signIn }) => {
  await signIn('user')
  const searches: string[] = []
  page.on('request', (request) => request.url().includes('search=') && searches.push(request.url()))
  await page.goto('/')
  await expect(page.getByRole('heading', { name: 'User Dashboard' })).toBeVisible()
  await openPalette(page)
  await expect(palette(page).getByRole('option')).toHaveText([
    /^Dashboard/,
    'Theme: Light',
    'Theme: Dark',
    'Theme: System',
    /^Keyboard shortcuts/,
    /^Log Out/,
  ])
  await page.keyboard.type('Season')
  await expect(palette(page).getByRole('status')).toContainText('Nothing found')
  expect(searches).toEqual([])
  await page.keyboard.press('Escape')
  await expect(page.locator('[aria-modal]'), 'keys rest while it closes').toHaveCount(0)
  await page.keyboard.press('g')
  await page.keyboard.press('u')
  await page.keyboard.press('?')
  await expect(keyboardMap(page)).not.toContainText('Manage Users')
  await expect(page).toHaveURL('/')
})

test('Palette: a saved view comes first if its name begins with the text, else after the results of the lists', async ({
  page,
  signIn,
}) => {
  await signIn('admin')
  await page.goto('/')
  const view = { list: 'telegramUsers', name: 'Friends of the moon', isShared: false, address: 'q=moon' }
  const status = await page.evaluate(async (body) => {
    const headers = { 'content-type': 'application/json' }
    return (await fetch('/api/views', { method: 'POST', headers, body: JSON.stringify(body) })).status
  }, view)
  expect(status).toBe(200)
  await page.goto('/')
  await expect(page.getByRole('heading', { name: 'Admin Dashboard' })).toBeVisible()
  await openPalette(page)
  const groups = () =>
    palette(page)
      .getByRole('group')
      .evaluateAll((all) => all.map((group) => group.getAttribute('aria-label')))
  await page.keyboard.type('moon')
  await expect.poll(groups).toEqual(['Views', 'Telegram Users'])
  await box(page).fill('telegram')
  await expect.poll(groups).toEqual(['Pages', 'Telegram Users', 'Views'])
  await expect(chosen(page)).toHaveText(/^Telegram Users/)
})

test('Palette: it can change the theme', async ({ page, signIn }) => {
  await signIn('user')
  await page.goto('/')
  await expect(page.getByRole('heading', { name: 'User Dashboard' })).toBeVisible()
  await openPalette(page)
  await page.keyboard.type('theme dark')
  await page.keyboard.press('Enter')
  await expect(page.locator('html')).toHaveAttribute('data-mantine-color-scheme', 'dark')
})
