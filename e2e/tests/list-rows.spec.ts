/** The rows of lists: columns that fit, keyboard, opening a row, and the focus after an act (§2, design §7). */
import type { Page } from '@playwright/test'
import { rows, settled } from '#src/lists.ts'
import { otherAdmin } from '#src/other-admin.ts'
import { resize } from '#src/sizes.ts'
import { type ConsoleServer, expect, test } from '#src/test.ts'

test.beforeEach(async ({ signIn, page: _page }) => {
  await signIn('admin')
})

const wide = [
  ['/annoucements', 14],
  ['/social-tasks', 8],
  ['/daily-tasks', 8],
  ['/manage-users', 6],
] as const
for (const [path, columnCount] of wide) {
  test(`§2 ${path} shows all its columns without sideways scrolling, also on a small desktop and while rows are selected`, async ({
    page,
  }) => {
    await expectAllColumns(page, path, columnCount)
  })
}

async function expectAllColumns(page: Page, path: string, columnCount: number): Promise<void> {
  for (const width of [1440, 1280, 1024]) {
    await page.setViewportSize({ width, height: 900 })
    await page.goto(path)
    await settled(page)
    await expect(page.getByRole('columnheader')).toHaveCount(columnCount)
    expect(await clippedParts(page), `at ${width}`).toEqual([])
    const select = page.getByRole('button', { name: 'Select', exact: true })
    if ((await select.getAttribute('aria-pressed')) === 'false') await select.click()
    await expect(page.getByRole('columnheader')).toHaveCount(columnCount + 1)
    expect(await clippedParts(page), `at ${width}, picking`).toEqual([])
    await select.click()
  }
}

/** Deletes a user with a long address, a task with a long title, and two tasks in one act. */
async function deleteSome(server: ConsoleServer): Promise<void> {
  const { db } = server.database
  const names = { fname: 'Maximiliana-Konstantina', lname: 'Papadopoulou-Wolkenstein' }
  const { id } = await server.addPerson({ ...names, email: `${'long'.repeat(12)}@gmail.com`, userType: 'user' })
  const tasks = await db
    .selectFrom('tasks')
    .select('id')
    .where('collection', '=', 'social')
    .orderBy('priority')
    .limit(3)
    .execute()
  const [alone, ...together] = tasks.map((task) => task.id)
  await db
    .updateTable('tasks')
    .set({ title: 'A task with a title that is far longer than what one can see of it in any list of this console' })
    .where('id', '=', alone!)
    .execute()
  const { call } = await otherAdmin(server, 'Mary Jackson-Papadopoulou')
  await call('DELETE', `/removeUser/${id}`)
  await call('DELETE', `/api/social-tasks/${alone}`)
  await call('POST', '/api/social-tasks/remove', { target: { ids: together } })
}

test('Trash: all columns fit without sideways scrolling; only records that were deleted together have Restore All', async ({
  page,
  server,
}) => {
  await deleteSome(server)
  await expectAllColumns(page, '/trash', 7)
  await expect(page.getByRole('button', { name: 'Restore', exact: true })).toHaveCount(4)
  await expect(page.getByRole('button', { name: 'Restore All' })).toHaveCount(2)
  await page.setViewportSize({ width: 1440, height: 900 })
  await page.getByRole('button', { name: 'Restore All' }).first().click()
  await expect(page.getByRole('alert')).toContainText('2 deleted records are back.')
  await expect(page.getByRole('button', { name: 'Restore', exact: true })).toHaveCount(2)
})

test('Audit: all columns fit without sideways scrolling, and each action is on one line', async ({ page, server }) => {
  await deleteSome(server)
  const players = server.database.db.selectFrom('telegram_users').select('user_id').orderBy('user_id')
  const { user_id: id } = await players.executeTakeFirstOrThrow()
  const { call } = await otherAdmin(server, 'Grace Hopper-Papadopoulou')
  await call('POST', '/api/telegram-users/block', { target: { ids: [String(id)] }, reason: 'Plays with many accounts at once' })
  await call('POST', '/api/bot-tokens', { name: 'the token of the reference game', scope: 'play' })
  await expectAllColumns(page, '/audit', 5)
  for (const width of [1440, 1280, 1024]) {
    await resize(page, { width, height: 900 })
    for (const text of ['Blocked a player', 'Made a bot token']) {
      const { height } = (await page.getByRole('button', { name: text }).first().boundingBox())!
      expect(height, `${text} at ${width}`).toBeLessThan(30)
    }
  }
})

test('History: at 1440 and 1280 an item’s number of participants and its day are on one line', async ({ page }) => {
  for (const width of [1440, 1280]) {
    await page.setViewportSize({ width, height: 900 })
    await page.goto('/history')
    const titles = page.getByRole('navigation', { name: 'Annoucements' }).getByRole('listitem')
    await expect(titles.first()).toBeVisible()
    const lines = await titles.locator('p').evaluateAll((all) => all.map((one) => one.getBoundingClientRect().height))
    expect(new Set(lines).size, lines.join()).toBe(1)
  }
})

test('Lists: long names and addresses of users leave room for all columns, optional ones too', async ({ page, server }) => {
  const long = { fname: 'Maximiliana-Konstantina', lname: 'Papadopoulou-Wolkenstein' }
  await server.addPerson({ ...long, email: `${'long'.repeat(12)}@gmail.com`, userType: 'admin' })
  for (const width of [1280, 1024]) {
    await page.setViewportSize({ width, height: 768 })
    await page.goto('/manage-users?rows=normal&columns=Created+At,Last+Seen')
    await settled(page)
    await expect(page.getByRole('columnheader')).toHaveCount(8)
    expect(await clippedParts(page), `at ${width}`).toEqual([])
  }
})

test('Lists: a list that continues below its frame is cut in the middle of a row, and says how many rows it has', async ({
  page,
}) => {
  for (const height of [700, 716, 732, 748]) {
    await page.setViewportSize({ width: 1280, height })
    await page.goto('/social-tasks')
    await settled(page)
    await expect(page.getByRole('navigation', { name: 'Pages' })).toContainText('12 tasks')
    const end = await page.getByRole('table').evaluate((table) => table.parentElement!.getBoundingClientRect().bottom)
    const boxes = await Promise.all((await rows(page).all()).map((row) => row.boundingBox()))
    const cut = boxes.find((box) => box!.y < end && box!.y + box!.height > end)
    const share = (end - cut!.y) / cut!.height
    expect(share, `at ${height}`).toBeGreaterThan(0.25)
    expect(share, `at ${height}`).toBeLessThan(0.75)
  }
})

test('Lists: a long list fills the window, so that no room for another row is left', async ({ page }) => {
  for (const [width, height] of [
    [1440, 900],
    [1024, 768],
  ] as const) {
    await page.setViewportSize({ width, height })
    for (const path of ['/manage-telegram-users?size=25', '/manage-telegram-users?size=25&balanceMin=1']) {
      await page.goto(path)
      await settled(page)
      const list = (await page.getByRole('region', { name: 'Telegram Users' }).locator('..').boundingBox())!
      const room = (await page.locator('main').evaluate((main) => parseFloat(getComputedStyle(main).paddingBottom))) + 48
      expect(height - list.y - list.height, `${path} at ${width}`).toBeLessThan(room)
      expect(await page.evaluate(() => document.documentElement.scrollHeight), `${path} at ${width}`).toBe(height)
    }
  }
})

test('Lists: the list scrolls to the column in which the search was found', async ({ page, server }) => {
  const { wallet } = await server.database.db
    .selectFrom('telegram_users')
    .select('ton_wallet_address as wallet')
    .where('ton_wallet_address', 'is not', null)
    .orderBy('user_id')
    .executeTakeFirstOrThrow()
  await page.setViewportSize({ width: 1280, height: 800 })
  await page.goto('/manage-telegram-users')
  await settled(page)
  const cell = rows(page).first().locator('[data-column="TON Wallet Address"]')
  await expect(cell).not.toBeInViewport({ ratio: 1 })
  await page.getByRole('searchbox').fill(wallet!)
  await expect(rows(page)).toHaveCount(1)
  await expect(cell).toBeInViewport({ ratio: 1 })
  await expect(rows(page).first().locator('[data-column="First Name"]'), 'whom it is about').toBeInViewport({ ratio: 1 })
})

test('Lists: on a small desktop titles have two lines, and longer ones a tooltip with the whole title', async ({ page }) => {
  await page.setViewportSize({ width: 1024, height: 768 })
  await page.goto('/social-tasks')
  await settled(page)
  const title = page.getByRole('link', { name: 'Retweet the pinned post' })
  expect(await title.evaluate((link) => [link.scrollHeight - link.clientHeight, link.scrollWidth - link.clientWidth])).toEqual([
    0, 0,
  ])
  const long = page.getByRole('link', { name: /^Watch the trailer/ })
  await expect(long).toHaveAttribute('title', (await long.textContent())!)
})

test('Lists: the selection bar is in view with all its buttons, also below a long list', async ({ page }) => {
  for (const [width, height] of [
    [1280, 800],
    [1024, 768],
  ] as const) {
    await page.setViewportSize({ width, height })
    await page.goto('/manage-telegram-users?size=25')
    await settled(page)
    await page.getByRole('button', { name: 'Select', exact: true }).click()
    await page.getByRole('checkbox', { name: 'Select row 2', exact: true }).click()
    await expect(page.getByRole('region', { name: 'Selection' })).toBeInViewport({ ratio: 1 })
    expect(await page.evaluate(() => document.documentElement.scrollHeight)).toBe(height)
    await page.getByRole('button', { name: 'Select', exact: true }).click()
  }
})

/** Returns the headers and buttons of the table that do not fit their cell or the list, and the list itself if it scrolls sideways. */
function clippedParts(page: Page): Promise<string[]> {
  return page.getByRole('table').evaluate((table) => {
    const list = table.parentElement!
    const frame = list.getBoundingClientRect()
    const clipped = [...table.querySelectorAll('th, td button:not([aria-haspopup]), td a[role=button]')].filter((part) => {
      const cell = part.closest('th, td')!.getBoundingClientRect()
      const { left, right } = part.getBoundingClientRect()
      return part.scrollWidth > part.clientWidth + 1 || left < cell.left - 1 || right > cell.right + 1 || right > frame.right + 1
    })
    const names = clipped.map((part) => part.textContent || part.outerHTML.slice(0, 80))
    return list.scrollWidth > list.clientWidth ? [`the list, by ${list.scrollWidth - list.clientWidth}`, ...names] : names
  })
}

test('Lists: if nothing matches, the text is centred in the visible list and has a button that clears the search', async ({
  page,
}) => {
  await page.goto('/manage-telegram-users?q=nobody-has-this-name&wallet=any')
  const text = page.getByText('No player matches.')
  for (const width of [1440, 390]) {
    await resize(page, { width, height: 844 })
    await expect(text).toBeVisible()
    const [box, list] = [await text.boundingBox(), await page.getByRole('table').locator('..').boundingBox()]
    expect(Math.abs(box!.x + box!.width / 2 - list!.x - list!.width / 2)).toBeLessThan(20)
  }
  await page.getByRole('button', { name: 'Clear search' }).click()
  await expect(page.getByRole('searchbox')).toHaveValue('')
  await expect(page).not.toHaveURL(/q=/)
  await expect(text).toHaveCount(0)
})

test('Lists: ↓ from the search enters the rows, J and K move, Enter opens; Shift picks a range', async ({ page }) => {
  await page.goto('/social-tasks')
  await settled(page)
  await page.getByRole('searchbox').press('ArrowDown')
  await expect(rows(page).nth(0)).toBeFocused()
  for (const key of ['j', 'j', 'k']) await page.keyboard.press(key)
  await expect(rows(page).nth(1)).toBeFocused()
  await page.getByRole('button', { name: 'Select', exact: true }).click()
  await page.getByRole('checkbox', { name: 'Select row 2', exact: true }).click()
  await page.getByRole('checkbox', { name: 'Select row 5', exact: true }).click({ modifiers: ['Shift'] })
  await expect(page.getByText('4 selected')).toBeVisible()
  const title = await rows(page).nth(3).locator('[data-column=Title]').innerText()
  await rows(page).nth(3).focus()
  await page.keyboard.press('Enter')
  await expect(page).toHaveURL(/social-tasks-form-update/)
  await expect(page.getByLabel('Title')).toHaveValue(title)
})

test('Lists: going back from the page that a row opened puts the focus on that row', async ({ page }) => {
  await page.goto('/manage-telegram-users?size=25')
  await settled(page)
  const row = rows(page).nth(14)
  const opened = page.getByRole('region', { name: 'Identity' })
  await rows(page).nth(13).focus()
  await page.keyboard.press('j')
  await page.keyboard.press('Enter')
  await expect(opened).toBeVisible()
  await page.getByRole('button', { name: 'Back', exact: true }).click()
  await expect(row).toBeFocused()
  await page.keyboard.press('Enter')
  await expect(opened).toBeVisible()
  await page.goBack()
  await expect(row).toBeFocused()
  for (const name of ['History', 'Telegram Users']) {
    await page.getByRole('link', { name, exact: true }).click()
    await expect(page.getByRole('heading', { level: 1, name })).toBeFocused()
  }
  await settled(page)
  await expect(page.getByRole('heading', { level: 1 })).toBeFocused()
})

test('Lists: clicking a row’s name opens its page, except for users: their names open View More (§2)', async ({
  page,
  server,
}) => {
  await server.addPerson({ fname: 'Grace', lname: 'Hopper', email: 'grace@gmail.com', userType: 'user' })
  const opensAt = async (path: string, column: string, opened: RegExp) => {
    await page.goto(path)
    await settled(page)
    const name = rows(page).nth(1).locator(`[data-column="${column}"] a`)
    const text = await name.innerText()
    await name.click()
    await expect(page).toHaveURL(opened)
    return text
  }
  const label = page.getByLabel('Title', { exact: true })
  await expect(label).toHaveCount(0)
  let title = await opensAt('/daily-tasks', 'Title', /daily-tasks-form-update\?id=/)
  await expect(label).toHaveValue(title)
  title = await opensAt('/annoucements', 'Title', /annoucement-form-update\?id=/)
  await expect(label).toHaveValue(title)
  const name = await opensAt('/manage-telegram-users', 'First Name', /manage-telegram-users\/\d+/)
  await expect(page.getByRole('heading', { level: 1 })).toContainText(name)
  await page.goto('/manage-users')
  await page.getByRole('button', { name: 'Grace', exact: true }).click()
  await expect(page.getByRole('dialog', { name: 'View More' })).toBeVisible()
})

test('Lists: the number of participants links to the list of participants', async ({ page }) => {
  await page.goto('/social-tasks')
  const row = rows(page).filter({ hasText: 'Follow us on X' })
  const figure = row.getByRole('link', { name: '118', exact: true })
  await figure.click()
  await expect(page).toHaveURL(/\/history\?tab=social&item=/)
  await expect(page.getByRole('heading', { name: 'Follow us on X' })).toBeVisible()
})

test('Lists: after a deletion the focus is on the row that took its place, and after Undo on the restored row', async ({
  page,
}) => {
  await page.goto('/social-tasks')
  await settled(page)
  const next = await rows(page).nth(2).locator('[data-column=Title]').innerText()
  await rows(page).nth(1).getByRole('button', { name: 'Delete', exact: true }).click()
  await page.getByRole('alertdialog').getByRole('button', { name: 'Confirm' }).click()
  await expect(rows(page)).toHaveCount(11)
  await expect(rows(page).nth(1)).toContainText(next)
  await expect(rows(page).nth(1)).toBeFocused()
  await page.getByRole('button', { name: 'Undo' }).press('Enter')
  await expect(rows(page)).toHaveCount(12)
  await expect(rows(page).nth(2)).toContainText(next)
  await expect(rows(page).nth(1)).toBeFocused()
})

test('Lists: after a toggle the focus stays on its button, or is on the next row if the row leaves the list', async ({
  page,
}) => {
  await page.goto('/annoucements?status=inactive')
  await settled(page)
  await expect(rows(page)).toHaveCount(4)
  const toggle = rows(page).first().getByRole('button', { name: 'In Active' })
  const next = await rows(page).nth(1).locator('[data-column=Title]').innerText()
  await toggle.click()
  await page.getByRole('alertdialog').getByRole('button', { name: 'Confirm' }).click()
  await expect(rows(page)).toHaveCount(3)
  await expect(rows(page).first()).toContainText(next)
  await expect(rows(page).first()).toBeFocused()
  await page.goto('/annoucements')
  await settled(page)
  const button = rows(page).first().locator('[data-column="Toggle Status"] button')
  const status = await button.innerText()
  await button.click()
  await page.getByRole('alertdialog').getByRole('button', { name: 'Confirm' }).click()
  await expect(button).not.toHaveText(status)
  await expect(button).toBeFocused()
})

test('Lists: a focused control is never covered by the header or the fixed column of names', async ({ page }) => {
  await page.setViewportSize({ width: 1280, height: 600 })
  await page.goto('/manage-telegram-users?size=25')
  await settled(page)
  const scroller = page.getByRole('region', { name: 'Telegram Users' })
  const cell = rows(page).nth(3)
  await cell.locator('[data-column="BSC Wallet"] :is(button, span)').first().scrollIntoViewIfNeeded()
  for (const column of ['Username', 'User ID']) {
    const control = cell.locator(`[data-column="${column}"] :is(a, button)`)
    await scroller.evaluate((element) => element.scrollTo(element.scrollWidth, 400))
    await control.focus()
    const isOnTop = () =>
      control.evaluate((element) => {
        const { left, right, top, bottom } = element.getBoundingClientRect()
        const points = [left + 2, right - 2].map((x) => document.elementFromPoint(x, (top + bottom) / 2))
        return points.every((point) => point === element)
      })
    await expect.poll(isOnTop).toBe(true)
  }
})
