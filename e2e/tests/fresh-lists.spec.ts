/** An open list is reloaded by itself when the data changes, and this does not disturb the operator's work. */
import type { Page } from '@playwright/test'
import { add, retweet, season, row, statusButton } from '#src/announcements.ts'
import { settled } from '#src/lists.ts'
import { otherAdmin } from '#src/other-admin.ts'
import { addTasks, column, social } from '#src/tasks.ts'
import { expect, hold, test } from '#src/test.ts'

test.use({ ownContext: true }) // for the clock

test.beforeEach(async ({ signIn, page }) => {
  await signIn('admin')
  await page.clock.install()
})

/** Lets more than half a minute pass, after which lists are reloaded. */
const wait = (page: Page) => page.clock.runFor(31_000)
const comeBack = (page: Page) => page.evaluate(() => window.dispatchEvent(new Event('focus')))

const titlesOfTasks = (page: Page) => column(page, 3)

function countRequests(page: Page, path: string): () => number {
  let count = 0
  page.on('request', (request) => {
    if (request.method() === 'GET' && request.url().includes(path)) count += 1
  })
  return () => count
}

test.describe('with two announcements', () => {
  test.use({ sample: false })

  test.beforeEach(async ({ page, server }) => {
    await add(server, season, retweet)
    await page.goto('/annoucements')
    await expect(statusButton(page, 'Retweet', 'Active')).toBeVisible()
  })

  test('Audit: an open audit trail does not change by itself, and a button says how many entries are newer', async ({
    page,
    server,
  }) => {
    const other = await otherAdmin(server)
    await page.goto('/audit')
    const what = column(page, 3)
    await settled(page)
    const before = await what.allTextContents()
    await other.call('POST', '/api/announcements/retweet/status', { status: true })
    await wait(page)
    await comeBack(page)
    await expect(page.getByRole('button', { name: '1 newer entry' })).toBeVisible()
    expect(await what.allTextContents()).toEqual(before)
  })

  test('Lists: changes by another admin show when the window gets the focus again', async ({ page, server }) => {
    const other = await otherAdmin(server)
    await page.clock.runFor(2000)
    await other.call('POST', '/api/announcements/retweet/status', { status: true })
    await comeBack(page)
    await expect(statusButton(page, 'Retweet', 'In Active')).toBeVisible()
    await statusButton(page, 'Retweet', 'In Active').click()
    await expect(page.getByRole('alertdialog')).toContainText('It becomes Active.')
  })

  test('Lists: an open list is reloaded every half minute, and the focused row keeps its element and focus', async ({
    page,
    server,
  }) => {
    const other = await otherAdmin(server)
    const focused = row(page, 'Retweet').getByRole('link', { name: 'Retweet', exact: true })
    await focused.focus()
    const drawn = await focused.elementHandle()
    await other.call('POST', '/api/announcements/season/status', { status: false })
    await wait(page)
    await expect(statusButton(page, 'Season 2', 'Active')).toBeVisible()
    await expect(focused).toBeFocused()
    expect(await drawn.evaluate((element) => element.isConnected), 'the row was not drawn anew').toBe(true)

    await other.call('DELETE', '/api/announcements/retweet')
    await wait(page)
    await expect(focused).toHaveCount(0)
    await expect(page.getByRole('row').filter({ hasText: 'Season 2' }), 'the row that stands there now').toBeFocused()
  })

  test('Lists: a list is not reloaded during a confirmation or while rows are selected', async ({ page, server }) => {
    const requests = countRequests(page, '/api/announcements?')
    const other = await otherAdmin(server)
    await statusButton(page, 'Retweet', 'Active').click()
    await other.call('POST', '/api/announcements/retweet/status', { status: true })
    await wait(page)
    await comeBack(page)
    await page.getByRole('alertdialog').getByRole('button', { name: 'Cancel' }).click()
    await page.getByRole('button', { name: 'Select', exact: true }).click()
    await wait(page)
    await comeBack(page)
    await expect(statusButton(page, 'Retweet', 'Active')).toBeVisible()
    expect(requests()).toBe(0)
    await page.getByRole('button', { name: 'Select', exact: true }).click()
    await wait(page)
    await expect(statusButton(page, 'Retweet', 'In Active')).toBeVisible()
    expect(requests()).toBeGreaterThan(0)
  })

  test('Lists: after an hour without input a list is no longer reloaded, until there is input again', async ({ page }) => {
    const requests = countRequests(page, '/api/announcements?')
    await page.clock.fastForward('01:01:00')
    await page.clock.runFor(1000)
    const before = requests()
    for (let n = 0; n < 3; n += 1) await page.clock.fastForward(31_000)
    expect(requests()).toBe(before)
    await page.mouse.move(400, 400)
    await wait(page)
    await expect.poll(requests).toBeGreaterThan(before)
  })

  test('Lists: a list is not reloaded while a row is being moved and until the move is saved', async ({ page, server }) => {
    await addTasks(server, social, { title: 'First' }, { title: 'Second' })
    // Before the page is loaded: Chromium may let a request pass that follows at once.
    const release = await hold(page, '**/api/social-tasks/order')
    await page.goto('/social-tasks')
    await settled(page)
    const requests = countRequests(page, '/api/social-tasks?')
    await page
      .getByRole('button', { name: /^Move / })
      .first()
      .press('Enter')
    await expect(page.locator('[data-lifted]')).toHaveCount(1)
    await wait(page)
    await comeBack(page)
    expect(requests()).toBe(0)

    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Enter')
    await expect(titlesOfTasks(page)).toHaveText(['Second', 'First'])
    await wait(page)
    await comeBack(page)
    expect(requests(), 'the move is still being saved').toBe(0)
    release()
    await expect.poll(requests).toBeGreaterThan(0)
    await expect(titlesOfTasks(page)).toHaveText(['Second', 'First'])
  })
})

test('Lists: Telegram Users shows a changed balance by itself and keeps its scroll position', async ({ page, server }) => {
  await page.setViewportSize({ width: 1024, height: 500 })
  await page.goto('/manage-telegram-users?size=25')
  await settled(page)
  const list = page.getByRole('region', { name: 'Telegram Users' })
  const [id] = await page.locator('td[data-column="User ID"]').allTextContents()
  await list.evaluate((element) => element.scrollTo(300, 400))
  const places = () => list.evaluate((element) => [element.scrollLeft, element.scrollTop])
  const before = await places()
  expect(Math.min(...before)).toBeGreaterThan(0)
  const other = await otherAdmin(server)
  await other.call('POST', `/api/telegram-users/${id}/adjustments`, { amount: 0.25, reason: 'A test' })
  await wait(page)
  await expect(page.locator('td[data-column="Balance"]').first()).toContainText('.25')
  expect(await places()).toEqual(before)
})
