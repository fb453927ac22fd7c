/** A player's page: identity, handles, wallets, participations, blocking, erasing, and moving to the neighbours in the list. */
import { sql } from 'kysely'
import { addPlayers } from '../../server/test/players.ts'
import { expectAccessible } from '#src/axe.ts'
import { settled } from '#src/lists.ts'
import { otherAdmin } from '#src/other-admin.ts'
import { screens } from '#src/screens.ts'
import { phone, resize } from '#src/sizes.ts'
import type { Locator, Page } from '@playwright/test'
import { expect, expectError, test, toast } from '#src/test.ts'

const pathOf = screens.find(({ name }) => name === 'player')!.path

const menu = (page: Page) => page.getByRole('button', { name: /^(Block|Unblock) or Erase$/ })

/** Opens the menu and presses one of its buttons. */
async function choose(page: Page, name: 'Block Player' | 'Unblock Player' | 'Erase Player'): Promise<void> {
  await menu(page).click()
  await page.getByRole('button', { name, exact: true }).click()
}

test.beforeEach(async ({ signIn, page: _page }) => {
  await signIn('admin')
})

test('Player: all fields of §3 are shown and can be copied; missing ones are undefined', async ({ page, context }) => {
  await context.grantPermissions(['clipboard-read', 'clipboard-write'])
  await page.goto('/manage-telegram-users/100008077')
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('😀Sky d’Angelo')
  const identity = page.getByRole('region', { name: 'Identity' })
  await expect(identity).toContainText('moon_8077')
  await expect(identity).toContainText('09/18/2026')
  // CSS separates the thousands, so that a plain number is copied.
  await expect(page.getByRole('region', { name: 'Balance' })).toContainText('57334')
  await expect(page.getByRole('region', { name: 'Wallets' }).getByText('undefined')).toHaveCount(2)
  await page.getByRole('button', { name: 'Copy Username', exact: true }).click()
  await expect(toast(page, 'Copied!')).toBeVisible()
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe('moon_8077')
})

test('Player: summary, ledger, identity and what cannot be undone, in this order; on a wide desktop the identity is beside the ledger', async ({
  page,
}) => {
  const boxOf = async (locator: Locator) => (await locator.boundingBox())!
  const region = (name: string) => page.getByRole('region', { name, exact: true })
  await page.setViewportSize({ width: 390, height: 844 })
  await page.goto('/manage-telegram-users/100008077')
  await expect(menu(page)).toHaveText('Block or Erase')
  await expect(page.getByRole('button', { name: 'Adjust Balance' })).toBeInViewport({ ratio: 1 })
  const parts = [...['Balance', 'Ledger', 'Identity', 'Handles', 'Wallets'].map(region), menu(page)]
  const tops = await Promise.all(parts.map(async (part) => (await boxOf(part)).y))
  expect(tops).toEqual(tops.toSorted((one, other) => one - other))

  await resize(page, { width: 1536, height: 900 })
  const [ledger, identity] = [await boxOf(region('Ledger')), await boxOf(region('Identity'))]
  expect(identity.x).toBeGreaterThan(ledger.x + ledger.width)
  await expect(menu(page)).toBeInViewport({ ratio: 1 })
  const entries = page.getByRole('table', { name: 'Entries' })
  expect(await entries.evaluate((table) => table.scrollWidth - table.parentElement!.clientWidth)).toBeLessThanOrEqual(0)
})

test('Player: the summary has the rank that the game sees, the first and last time, and whether the player is blocked', async ({
  page,
  server,
}) => {
  const { db } = server.database
  await sql`update telegram_users set created_at = '2026-01-02T03:04:00Z' where user_id = 100008077`.execute(db)
  await sql`update participations set at = '2026-02-03T04:05:00Z' where user_id = 100008077`.execute(db)
  await sql`delete from player_visits where user_id = 100008077`.execute(db)
  const { rows } = await sql<{ ahead: number }>`select count(*)::int as ahead from balances where balance > 57334`.execute(db)
  const fact = (name: string) =>
    page.getByRole('definition').filter({ has: page.locator(`xpath=preceding-sibling::dt[.="${name}"]`) })
  await page.goto('/manage-telegram-users/100008077')
  await expect(fact('Rank')).toHaveText((rows[0]!.ahead + 1).toLocaleString('en-US'))
  await expect(fact('First seen')).toHaveText('01/02/2026 03:04 AM')
  await expect(fact('Last seen')).toHaveText('02/03/2026 04:05 AM')
  await expect(fact('Status')).toHaveText('Not blocked')
  await (await otherAdmin(server)).call('POST', '/api/telegram-users/block', { target: { ids: ['100008077'] }, reason: 'Farm' })
  await page.reload()
  await expect(fact('Status')).toHaveText('Blocked')
  await expect(fact('Rank')).toHaveText('None')
})

test('Player: opening a dialog moves neither the scrolled page nor the sidebar', async ({ page }) => {
  await page.setViewportSize({ width: 1440, height: 400 })
  await page.goto('/manage-telegram-users/100008077')
  await menu(page).scrollIntoViewIfNeeded()
  const places = () =>
    page.evaluate(() => [window.scrollY, document.querySelector('[aria-label=Main]')!.getBoundingClientRect().top])
  const before = await places()
  expect(before[0]).toBeGreaterThan(0)
  await choose(page, 'Block Player')
  await expect(page.getByRole('dialog', { name: 'Block Player' })).toBeVisible()
  expect(await places()).toEqual(before)
  await page.keyboard.press('Escape')
  await expect(page.getByRole('dialog')).toHaveCount(0)
  expect(await places()).toEqual(before)
})

test('Player: participations are listed newest first, with their value at the present rewards', async ({ page, server }) => {
  const path = await pathOf(server)
  const { db } = server.database
  const taken = await db
    .selectFrom('participations')
    .innerJoin('history_items', (join) =>
      join.onRef('history_items.kind', '=', 'participations.kind').onRef('history_items.item_id', '=', 'participations.item_id'),
    )
    .select(['title', 'reward', 'at'])
    .where('user_id', '=', Number(path.split('/').at(-1)))
    .orderBy('at', 'desc')
    .execute()
  expect(taken.length).toBeGreaterThan(0)
  await page.goto(path)
  const timeLine = page.getByRole('region', { name: 'Took part in' })
  await expect(timeLine.getByRole('listitem')).toHaveCount(taken.length)
  await expect(timeLine.getByRole('listitem').first()).toContainText(taken[0]!.title)
  const worth = taken.reduce((sum, { reward }) => sum + reward, 0)
  await expect(page.getByRole('region', { name: 'Balance' })).toHaveText(
    new RegExp(`${taken.length} participations, worth ${worth} at today’s rewards`),
  )
  await expect(timeLine.getByRole('listitem').first()).toContainText(`worth ${taken[0]!.reward} at today’s reward`)
  await timeLine.getByRole('link').first().click()
  await expect(page).toHaveURL(/\/history\?/)
  await expect(page.getByRole('heading', { level: 2, name: taken[0]!.title })).toBeVisible()
})

test('Player: Previous and Next follow the list that the player was opened from, and Back leads to it', async ({ page }) => {
  await page.goto('/manage-telegram-users?q=moon_8&sort=user-id')
  await expect(page.locator('td[data-column="User ID"]').nth(2)).toBeVisible()
  await expect(page.locator('[aria-busy=true]')).toHaveCount(0)
  const ids = await page.locator('td[data-column="User ID"]').allTextContents()
  expect(ids.length).toBeGreaterThan(2)
  await page.getByRole('link', { name: ids[0]!, exact: true }).click()
  const here = (id: string) => expect(page).toHaveURL(new RegExp(`/manage-telegram-users/${id}\\?`))
  await here(ids[0]!)
  await expect(page.getByRole('button', { name: 'Previous Player' })).toBeDisabled()
  // Until the new player's neighbours are loaded, the buttons still have the links of the previous player.
  const go = async (name: string, id: string) => {
    const button = page.getByRole('button', { name })
    await expect(button).toHaveAttribute('href', new RegExp(`/${id}\\?`))
    await button.click()
    await here(id)
  }
  await go('Next Player', ids[1]!)
  await go('Next Player', ids[2]!)
  await go('Previous Player', ids[1]!)
  const back = page.getByRole('button', { name: 'Back', exact: true })
  await expect(back).not.toHaveAttribute('aria-current')
  await back.click()
  await expect(page).toHaveURL(/\/manage-telegram-users\?q=moon_8&sort=user-id/)
})

test('Player: opened from participants in History, the page has Back but no Previous and Next: participants have another order', async ({
  page,
}) => {
  await page.goto('/history')
  await page.getByRole('link', { name: 'Season 2 is live' }).click()
  await page.getByRole('table', { name: 'Participants' }).getByRole('link').first().click()
  await expect(page.getByRole('region', { name: 'Identity' })).toBeVisible()
  const players = page.getByRole('navigation', { name: 'Players' })
  await expect(players.getByRole('button')).toHaveText(['Back'])
  await players.getByRole('button', { name: 'Back' }).click()
  await expect(page.getByRole('table', { name: 'Participants' })).toBeVisible()
})

test('Player: pressing Next twice quickly moves by two players, although the second neighbours are still loading', async ({
  page,
}) => {
  await page.goto('/manage-telegram-users?q=moon_8&sort=user-id')
  await settled(page)
  const ids = await page.locator('td[data-column="User ID"]').allTextContents()
  expect(ids.length).toBeGreaterThan(2)
  await page.getByRole('link', { name: ids[0]!, exact: true }).click()
  const next = page.getByRole('button', { name: 'Next Player' })
  await expect(next).toHaveAttribute('href', new RegExp(`/${ids[1]}\\?`))
  await next.dblclick()
  await expect(page).toHaveURL(new RegExp(`/manage-telegram-users/${ids[2]}\\?`))
  await expect(page.getByRole('region', { name: 'Identity' })).toContainText(ids[2]!)
  await page.getByRole('button', { name: 'Back', exact: true }).click()
  await expect(page).toHaveURL(/\/manage-telegram-users\?q=moon_8&sort=user-id/)
})

test('Player: the page of a player who does not exist says so', async ({ page, expectedNoise }) => {
  expectedNoise.patterns = [/404/, /400/]
  for (const id of ['1', 'nobody', '1e99']) {
    await page.goto(`/manage-telegram-users/${id}`)
    await expect(page.getByRole('alert')).toBeVisible()
    await expect(page.getByText('userId')).toHaveCount(0)
    await expect(page.getByRole('button', { name: 'Back to Telegram Users' })).toBeVisible()
  }
})

test('Player: an admin blocks a player with a reason, undoes it, and blocks selected players in the list', async ({ page }) => {
  await page.goto('/manage-telegram-users/100008077')
  await choose(page, 'Block Player')
  const dialog = page.getByRole('dialog', { name: 'Block Player' })
  await expect(dialog.getByLabel('Reason')).toBeFocused()
  await expect(dialog).toContainText('😀Sky d’Angelo can claim nothing')
  await dialog.getByRole('button', { name: 'Cancel' }).click()
  await expect(dialog).toBeHidden()
  await expect(menu(page)).toBeFocused()
  await page.keyboard.press('Enter')
  await expect(page.getByRole('button', { name: 'Block Player', exact: true })).toBeFocused()
  await page.keyboard.press('Enter')
  await dialog.getByRole('button', { name: 'Block player' }).click()
  await expect(dialog).toContainText('Reason is required')
  await dialog.getByLabel('Reason').fill('Plays by a script')
  await dialog.getByRole('button', { name: 'Block player' }).click()
  const notice = page.getByRole('status').filter({ hasText: 'Plays by a script' })
  await expect(notice).toContainText(/^Blocked by .+ on \d\d\/\d\d\/\d{4}/)
  await expect(menu(page)).toBeFocused()
  await expect(toast(page, '😀Sky d’Angelo blocked.')).toBeVisible()
  await page.goto('/manage-telegram-users?status=blocked')
  await expect(page.locator('td[data-column="User ID"]')).toHaveText(['100008077'])
  await expect(page.getByRole('row').filter({ hasText: '100008077' }).getByRole('img', { name: 'Blocked' })).toBeVisible()
  await page.getByRole('link', { name: '100008077' }).click()
  await choose(page, 'Unblock Player')
  await expect(page.getByRole('alertdialog')).toContainText('Are you sure you want to unblock 😀Sky d’Angelo?')
  await page.getByRole('alertdialog').getByRole('button', { name: 'Unblock player' }).click()
  await expect(toast(page, '😀Sky d’Angelo unblocked.')).toBeVisible()
  await expect(notice).toHaveCount(0)
  await expect(menu(page)).toBeFocused()

  await page.goto('/manage-telegram-users')
  await page.getByRole('button', { name: 'Select', exact: true }).click()
  for (const row of [1, 2]) await page.getByRole('checkbox', { name: `Select row ${row}`, exact: true }).check()
  await page.getByRole('button', { name: 'Block', exact: true }).click()
  const question = page.getByRole('dialog', { name: 'Block Players' })
  await expect(question).toContainText('Are you sure you want to block 2 players?')
  await expect(question.getByRole('listitem')).toHaveCount(2)
  await expect(question.getByLabel(/^To confirm, type/)).toHaveCount(0)
  await question.getByLabel('Reason').fill('Farm')
  await question.getByRole('button', { name: 'Block 2 players' }).click()
  await expect(question, 'it asks only once').toBeHidden()
  await expect(page.getByRole('alertdialog')).toHaveCount(0)
  await expect(page.getByRole('img', { name: 'Blocked' })).toHaveCount(2)
  await toast(page, '2 players blocked.').getByRole('button', { name: 'Undo' }).click()
  await expect(toast(page, '2 players are as before.')).toBeVisible()
  await expect(page.getByRole('img', { name: 'Blocked' })).toHaveCount(0)
  await page.getByRole('checkbox', { name: 'Select row 1', exact: true }).check()
  await page.getByRole('button', { name: 'Block', exact: true }).click()
  await expect(question).toContainText('Are you sure you want to block 1 player? This player can claim nothing,')
  await expect(question).toContainText('until somebody unblocks them; the balance stays.')
})

test('Player: on a phone the menu to block and erase is a sheet', async ({ page }) => {
  await resize(page, phone)
  await page.goto('/manage-telegram-users/100008077')
  await menu(page).click()
  await page.evaluate(() => scrollTo(0, 0)) // a button half under the header would count as too small
  await expectAccessible(page)
  await page.getByRole('button', { name: 'Block Player', exact: true }).click()
  const dialog = page.getByRole('dialog', { name: 'Block Player' })
  await expect(dialog.getByLabel('Reason')).toBeFocused()
  await expect(page.getByRole('dialog')).toHaveCount(1)
  await page.keyboard.press('Escape')
  await expect(page.getByRole('dialog')).toHaveCount(0)
  await expect(menu(page)).toBeFocused()
})

test('Players: blocking more than a hundred asks for their number, and says how many are blocked already', async ({
  page,
  server,
}) => {
  const crowd = Array.from({ length: 120 }, (_, n) => ({ user_id: 5_000_000 + n, first_name: `Crowd${n}`, balance: 1 }))
  await addPlayers(server.database.db, crowd)
  await sql`update balances set blocked_at = now(), block_reason = 'Farm' where user_id between 5000000 and 5000004`.execute(
    server.database.db,
  )
  await page.goto('/manage-telegram-users?q=crowd')
  await page.getByRole('button', { name: 'Select', exact: true }).click()
  await page.getByRole('button', { name: 'Select all 120 matching' }).click()
  await page.getByRole('button', { name: 'Block', exact: true }).click()
  const question = page.getByRole('dialog', { name: 'Block Players' })
  await question.getByLabel('Reason').fill('Farm')
  await expect(question).toContainText('Are you sure you want to block 115 players?')
  await expect(question).toContainText('Of 120 selected, 5 are blocked already or erased.')
  await expect(question).not.toContainText('not on this page')
  const block = question.getByRole('button', { name: 'Block 115 players' })
  await block.click()
  await expectError(page, 'To confirm, type 115', 'Please type 115')
  await question.getByLabel('To confirm, type 115').fill('120')
  await block.click()
  await expectError(page, 'To confirm, type 115', 'Please type 115')
  await question.getByLabel('To confirm, type 115').fill('115')
  await block.click()
  await expect(toast(page, '115 players blocked.')).toBeVisible()
})

test('Player: the toasts about a block and its undo name the player, also on another player’s page', async ({ page }) => {
  await page.goto('/manage-telegram-users?q=moon_8&sort=user-id')
  await settled(page)
  const ids = await page.locator('td[data-column="User ID"]').allTextContents()
  await page.getByRole('link', { name: ids[0]!, exact: true }).click()
  const title = page.getByRole('heading', { level: 1 })
  await expect(page.getByRole('region', { name: 'Identity' })).toContainText(ids[0]!)
  const name = (await title.textContent())!
  await choose(page, 'Block Player')
  await page.getByLabel('Reason').fill('Plays by a script')
  await page.getByRole('dialog').getByRole('button', { name: 'Block player' }).click()
  await expect(toast(page, `${name} blocked.`)).toBeVisible()
  await page.getByRole('button', { name: 'Next Player' }).click()
  await expect(title).not.toHaveText(name)
  await toast(page, `${name} blocked.`).getByRole('button', { name: 'Undo' }).click()
  await expect(toast(page, `${name} is as before.`)).toBeVisible()
})

test('Player: another admin’s block shows without a reload, and a second block neither replaces it nor offers Undo', async ({
  page,
  server,
}) => {
  const { call } = await otherAdmin(server, 'Mary Jackson')
  const target = { target: { ids: ['100008077'] } }
  const notice = page.getByRole('status').filter({ hasText: 'Blocked' })
  const streamed = page.waitForResponse((response) => response.url().includes('/api/events?player=100008077'))
  await page.goto('/manage-telegram-users/100008077')
  await streamed
  await expect(menu(page)).toBeVisible()
  await call('POST', '/api/telegram-users/block', { ...target, reason: 'Farm' })
  await expect(notice).toContainText(/^Blocked by Mary Jackson on .+: Farm$/)
  await call('POST', '/api/telegram-users/unblock', target)
  await expect(notice).toHaveCount(0)

  await choose(page, 'Block Player')
  const dialog = page.getByRole('dialog', { name: 'Block Player' })
  await dialog.getByLabel('Reason').fill('Too fast')
  await call('POST', '/api/telegram-users/block', { ...target, reason: 'Farm' })
  await dialog.getByRole('button', { name: 'Block player' }).click()
  const notBlocked = toast(page, '😀Sky d’Angelo: Blocked already by Mary Jackson: Farm')
  await expect(notBlocked).toBeVisible()
  await expect(notBlocked.getByRole('button', { name: 'Undo' })).toHaveCount(0)
  await expect(toast(page, '😀Sky d’Angelo blocked.')).toHaveCount(0)
  await expect(notice).toContainText(/^Blocked by Mary Jackson on .+: Farm$/)
})

test('Player: erasing needs the player’s id and a confirmation, and the ledger entries stay without a person', async ({
  page,
  server,
}) => {
  await page.goto('/manage-telegram-users/100008077')
  await expect(page.getByRole('region', { name: 'Balance' })).toContainText('57334')
  await choose(page, 'Erase Player')
  const dialog = page.getByRole('dialog', { name: 'Erase Player' })
  await expect(dialog.getByLabel('Type the user id 100008077')).toBeFocused()
  await expect(dialog.getByRole('button', { name: 'Cancel' })).toBeVisible()
  await expect(dialog).toContainText('wallets and inputs of 😀Sky d’Angelo go for ever')
  await expectAccessible(page)
  await dialog.getByLabel('Type the user id 100008077').fill('100008078')
  await dialog.getByRole('button', { name: 'Erase player' }).click()
  await expect(dialog).toContainText('This is not the player’s user id')
  await dialog.getByLabel('Type the user id 100008077').fill('100008077')
  await dialog.getByRole('button', { name: 'Erase player' }).click()
  await expect(page.getByRole('alertdialog')).toContainText('Are you sure you want to erase 😀Sky d’Angelo?')
  await page.getByRole('alertdialog').getByRole('button', { name: 'Erase for ever' }).click()
  await expect(toast(page, '😀Sky d’Angelo erased.')).toBeVisible()
  await expect(page).toHaveURL(/\/manage-telegram-users\/-\d+/)
  await expect(page.getByRole('heading', { level: 1 })).toHaveText(/^-\d+$/)
  await expect(page.getByRole('status').filter({ hasText: 'Erased.' })).toBeVisible()
  await expect(page.getByRole('region', { name: 'Balance' })).toContainText('57334')
  const ledger = page.getByRole('region', { name: 'Ledger' })
  await expect(ledger.getByRole('cell', { name: 'Opening balance' })).toBeVisible()
  await expect(ledger.getByRole('columnheader', { name: 'Actions' })).toHaveCount(0)
  await expect(menu(page)).toHaveCount(0)
  await expect(page.getByRole('button', { name: 'Adjust Balance' })).toHaveCount(0)
  await expect(page.getByText('userId')).toHaveCount(0)
  const { db } = server.database
  expect(await db.selectFrom('telegram_users').select('user_id').where('user_id', '=', 100_008_077).execute()).toEqual([])
  await page.goto('/manage-telegram-users?status=erased')
  await expect(page.getByRole('img', { name: 'Erased' })).toBeVisible()
})

test('Dashboard: Top balances marks blocked players, because the game’s leaderboard leaves them out', async ({
  page,
  server,
}) => {
  const order = server.database.db.selectFrom('balances').select('user_id').orderBy('balance', 'desc').orderBy('user_id')
  const { user_id: richest } = await order.limit(1).executeTakeFirstOrThrow()
  const { call } = await otherAdmin(server)
  await call('POST', '/api/telegram-users/block', { target: { ids: [String(richest)] }, reason: 'Plays by a script' })
  await page.goto('/')
  const first = page.getByRole('list', { name: 'Top balances' }).getByRole('listitem').first()
  await expect(first.getByRole('link')).toHaveAttribute('href', `/manage-telegram-users/${richest}`)
  await expect(first.getByRole('img', { name: 'Blocked' })).toBeVisible()
  await expect(page.getByRole('img', { name: 'Blocked' })).toHaveCount(1)
})
