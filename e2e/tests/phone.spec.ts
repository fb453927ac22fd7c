/** The console on a phone: two dashboard cards in a row, and the rows of every list as cards (§2, design §7). */
import type { Locator, Page, Request } from '@playwright/test'
import { openSheet, rows, settled } from '#src/lists.ts'
import { otherAdmin } from '#src/other-admin.ts'
import { screens } from '#src/screens.ts'
import { phone } from '#src/sizes.ts'
import { expect, forgetSession, loseConnection, test } from '#src/test.ts'
import { expectAccessible } from '#src/axe.ts'

test.use({ viewport: phone, hasTouch: true })

test.beforeEach(async ({ signIn, page: _page }) => {
  await signIn('admin')
})

test('§2 the dashboard has two cards in a row', async ({ page }) => {
  await page.goto('/')
  const titles = ['Total Users', 'User Type', 'Telegram Users', 'Active Announcements']
  const boxes = titles.map((name) => page.getByRole('region', { name, exact: true }).boundingBox())
  const [users, types, players, active] = await Promise.all(boxes)
  expect(types!.y).toBe(users!.y)
  expect(types!.x).toBeGreaterThan(users!.x + users!.width)
  expect(active!.y).toBe(players!.y)
  expect(active!.x + active!.width).toBeLessThanOrEqual(390)
})

test('§2 a card’s arrow is next to its title, and the brand next to the icons of the header', async ({ page }) => {
  await page.goto('/')
  const middle = async (locator: Locator) => {
    const { y, height } = (await locator.boundingBox())!
    return y + height / 2
  }
  const card = page.getByRole('region', { name: 'Total Users', exact: true })
  const arrow = await middle(card.getByRole('link', { name: 'See all users' }).locator('svg'))
  const range = await card.getByRole('heading').evaluate((heading) => {
    const text = document.createRange()
    text.selectNodeContents(heading)
    const { y, height } = text.getBoundingClientRect()
    return y + height / 2
  })
  expect(Math.abs(arrow - range)).toBeLessThanOrEqual(1)
  const brand = await middle(page.getByRole('banner').getByRole('link').locator('svg'))
  expect(Math.abs(brand - (await middle(page.getByRole('button', { name: 'Menu' }).locator('svg'))))).toBeLessThanOrEqual(1)
})

test('§2 Back closes the menu', async ({ page }) => {
  await page.goto('/history')
  const menu = page.getByRole('dialog', { name: 'Menu' })
  await page.getByRole('button', { name: 'Menu' }).tap()
  await menu.getByRole('link', { name: 'Calendar' }).tap()
  await expect(page.getByRole('heading', { level: 1, name: 'Calendar' })).toBeVisible()
  await expect(menu).toHaveCount(0)
  await page.getByRole('button', { name: 'Menu' }).tap()
  await expect(menu).toBeVisible()
  await page.goBack()
  await expect(page.getByRole('heading', { level: 1, name: 'History' })).toBeVisible()
  await expect(menu).toHaveCount(0)
})

test.describe('without a connection', () => {
  test.use({ ownContext: true, expectedNoise: { patterns: [/ERR_INTERNET_DISCONNECTED/] } })
  test('§2 the menu opens even if it was never opened before', async ({ page }) => {
    const onTheirWay = new Set<Request>()
    page.on('request', (request) => onTheirWay.add(request))
    page.on('requestfinished', (request) => onTheirWay.delete(request))
    const loaded = page.waitForResponse(/\/menu-drawer-.*\.js$/)
    await page.goto('/account') // which loads nothing else later, as the dashboard does with its charts
    await loaded
    // Waits until the menu's script, its imports and their style sheets are loaded.
    await expect.poll(() => [...onTheirWay].filter((one) => /\.(js|css)$/.test(one.url())).length).toBe(0)
    await loseConnection(page)
    await page.getByRole('button', { name: 'Menu' }).tap()
    await expect(page.getByRole('dialog').getByRole('link', { name: 'History' })).toBeVisible()
  })
})

test('Trash: on a phone a deletion is undone from its card, with the button on the first screen', async ({ page, server }) => {
  const { db } = server.database
  const tasks = db.selectFrom('tasks').selectAll().where('collection', '=', 'social').orderBy('priority')
  const task = await tasks.executeTakeFirstOrThrow()
  await (await otherAdmin(server)).call('DELETE', `/api/social-tasks/${task.id}`)
  await page.goto('/trash')
  await settled(page)
  const card = rows(page).first()
  for (const column of ['Name', 'Kind', 'Restore'])
    await expect(card.locator(`[data-column="${column}"]`)).toBeInViewport({ ratio: 1 })
  await card.getByRole('button', { name: 'Restore', exact: true }).tap()
  await expect(page.getByText('The trash is empty.')).toBeVisible()
  const restored = await db.selectFrom('tasks').select('title').where('id', '=', task.id).executeTakeFirst()
  expect(restored).toEqual({ title: task.title })
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(390)
})

test('Lists: on a phone a task’s priority is below its label', async ({ page }) => {
  await page.goto('/social-tasks')
  await settled(page)
  const cell = rows(page).first().locator('[data-column="Priority"]')
  const { label, figure } = await cell.evaluate((element) => {
    const text = document.createRange()
    text.selectNodeContents([...element.firstElementChild!.childNodes].find(({ nodeType }) => nodeType === Node.TEXT_NODE)!)
    return { label: element.getBoundingClientRect().left, figure: text.getBoundingClientRect().left }
  })
  expect(figure - label).toBeLessThan(12)
})

test('Lists: on a phone a player’s card shows name, username, balance and id; the other fields unfold', async ({ page }) => {
  await page.goto('/manage-telegram-users?q=100008077')
  await settled(page)
  const card = rows(page).first()
  const shown = () => card.getByRole('cell').evaluateAll((all) => all.filter((one) => one.checkVisibility()).length)
  expect(await shown()).toBe(4)
  expect((await card.boundingBox())!.height).toBeLessThan(120)
  const unfold = card.getByRole('button', { name: 'All fields of row 1' })
  await unfold.tap()
  await expect(unfold).toHaveAttribute('aria-expanded', 'true')
  expect(await shown()).toBe(15)
  const email = card.locator('[data-column="Email"]')
  await expect(email).toHaveText('undefined')
  expect((await email.boundingBox())!.width).toBeLessThan(160)
  await expectAccessible(page)
})

test('Lists: on a phone the first card begins in the first quarter of the screen, on every list', async ({ page, server }) => {
  await server.addPerson({ fname: 'Grace', lname: 'Hopper', email: 'grace@gmail.com', userType: 'user' })
  const tasks = server.database.db.selectFrom('tasks').select('id').where('collection', '=', 'social').orderBy('priority')
  const task = await tasks.executeTakeFirstOrThrow()
  await (await otherAdmin(server)).call('DELETE', `/api/social-tasks/${task.id}`)
  for (const [path] of [...lists, ['/audit'] as const, ['/trash'] as const]) {
    await page.goto(path)
    await settled(page)
    expect((await rows(page).first().boundingBox())!.y, path).toBeLessThanOrEqual(phone.height / 4)
  }
})

test('Lists: a phone’s sheet has the order, the page size, the saved views, the columns and Select', async ({ page }) => {
  await page.goto('/manage-telegram-users')
  await settled(page)
  const sheet = await openSheet(page)
  await expect(sheet.getByLabel('Page Size')).toHaveValue('5')
  await sheet.getByLabel('Sort By').selectOption('User ID')
  await expect(page).toHaveURL(/sort=user-id/)
  await sheet.getByRole('button', { name: 'Reverse Order' }).tap()
  await expect(page).toHaveURL(/reversed=true/)
  await sheet.getByRole('button', { name: 'Saved', exact: true }).tap()
  await expect(sheet.getByRole('region', { name: 'Saved views' }).getByLabel('Name', { exact: true })).toBeVisible()
  await sheet.getByRole('button', { name: 'View', exact: true }).tap()
  await sheet.getByRole('checkbox', { name: 'Username', exact: true }).uncheck()
  await expectAccessible(page)
  await page.keyboard.press('Escape')
  await expect(sheet).toBeHidden()
  await expect(page.getByRole('button', { name: 'More', exact: true })).toBeFocused()
  await expect(rows(page).first().locator('[data-column="Username"]')).toHaveCount(0)
})

test('Lists: on a phone the selection bar has two lines', async ({ page }) => {
  await page.goto('/manage-telegram-users')
  await settled(page)
  await (await openSheet(page)).getByRole('button', { name: 'Select', exact: true }).tap()
  await rows(page).first().getByRole('link').first().tap()
  await expect(page.getByRole('checkbox', { name: 'Select row 1', exact: true })).toBeChecked()
  const bar = page.getByRole('region', { name: 'Selection' })
  await expect(bar.getByRole('button', { name: 'Unblock' })).toBeInViewport({ ratio: 1 })
  expect((await bar.boundingBox())!.height).toBeLessThan(125)
})

test('Palette: on a touch screen it shows no keyboard hints', async ({ page }) => {
  await page.goto('/')
  const keys = page.getByRole('dialog', { name: 'Search', exact: true }).getByText('g u', { exact: true })
  await page.getByRole('banner').getByRole('button', { name: 'Search' }).tap()
  await expect(page.getByRole('option', { name: 'Manage Users' })).toBeVisible()
  expect(await page.evaluate(() => matchMedia('(pointer: coarse)').matches)).toBe(true)
  await expect(keys).toBeHidden()
})

const lists = [
  ['/annoucements', ['Title', 'Toggle Status', 'Update', 'Delete']],
  ['/social-tasks', ['Title', 'Edit', 'Delete']],
  ['/daily-tasks', ['Title', 'Edit', 'Delete']],
  ['/manage-users', ['First Name', 'Update', 'Delete']],
  ['/manage-telegram-users', ['First Name', 'Balance', 'User ID']],
] as const
for (const [path, columns] of lists) {
  test(`Lists: ${path} has cards whose title, state and buttons are on the first screen`, async ({ page, server }) => {
    await server.addPerson({ fname: 'Grace', lname: 'Hopper', email: 'grace@gmail.com', userType: 'user' })
    await page.goto(path)
    await settled(page)
    for (const column of columns)
      await expect(rows(page).first().locator(`[data-column="${column}"]`)).toBeInViewport({ ratio: 1 })
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(390)
  })
}

/** Returns the visible fields whose text is so small that iOS zooms into the page when they get the focus, with their size. */
function smallFields(page: Page): Promise<string[]> {
  return page.evaluate(() =>
    [...document.querySelectorAll<HTMLInputElement>('input, textarea, select, [contenteditable]')]
      .filter((field) => !['checkbox', 'radio', 'file', 'button', 'submit'].includes(field.type) && field.checkVisibility())
      .map(
        (field) =>
          [field.labels?.[0]?.textContent ?? field.ariaLabel, Number.parseFloat(getComputedStyle(field).fontSize)] as const,
      )
      .filter(([, size]) => size < 16)
      .map(([name, size]) => `${name}: ${size} px`),
  )
}

test('on a phone, upright or sideways, the text of every field on every screen has at least 16 pixels', async ({
  page,
  server,
  context,
  signIn,
}) => {
  await server.addPerson({ fname: 'Grace', lname: 'Hopper', email: 'grace@gmail.com', userType: 'user' })
  const cookies = await context.cookies()
  for (const { name, path, as, ready } of screens.filter((screen) => screen.as !== 'user')) {
    await test.step(name, async () => {
      await forgetSession(page)
      if (as === 'admin') await context.addCookies(cookies)
      else if (as !== 'guest' && as !== 'user') await signIn(as)
      await page.setViewportSize(phone)
      await page.goto(name === 'trash' ? '/trash' : await path(server)) // the step for the audit has already deleted tasks
      await expect(page.getByText(ready).first()).toBeVisible()
      expect(await smallFields(page), name).toEqual([])
      await page.setViewportSize({ width: phone.height, height: phone.width })
      expect(await smallFields(page), `${name}, sideways`).toEqual([])
    })
  }
})

test('Lists and palette: on a phone the fields of their panes have at least 16 pixels', async ({ page }) => {
  await page.goto('/manage-telegram-users')
  await settled(page)
  await page.getByRole('button', { name: /^Filters/ }).tap()
  await expect(page.getByLabel('Balance from')).toBeVisible()
  expect(await smallFields(page)).toEqual([])
  await page.keyboard.press('Escape')
  await expect(page.getByRole('dialog')).toHaveCount(0)
  const sheet = await openSheet(page)
  await sheet.getByRole('button', { name: /^Saved/ }).tap()
  await expect(sheet.getByLabel('Name', { exact: true })).toBeVisible()
  expect(await smallFields(page)).toEqual([])
  await page.keyboard.press('Escape')
  await page.getByRole('banner').getByRole('button', { name: 'Search' }).tap()
  await expect(page.getByRole('dialog', { name: 'Search', exact: true }).getByRole('combobox')).toBeVisible()
  expect(await smallFields(page)).toEqual([])
})
