/** The ledger on a player's page (design §7): its entries, adjusting the balance, reversing an entry, live updates. */
import type { Page } from '@playwright/test'
import { sql } from 'kysely'
import { expectAccessible } from '#src/axe.ts'
import { otherAdmin } from '#src/other-admin.ts'
import { resize } from '#src/sizes.ts'
import { type ConsoleServer, expect, expectError, field, PASSWORD, test, toast } from '#src/test.ts'

const PLAYER = 100_008_077
const PATH = `/manage-telegram-users/${PLAYER}`
const LIST = `/manage-telegram-users?q=${PLAYER}`

const ledger = (page: Page) => page.getByRole('region', { name: 'Ledger' })
/** The rows of the ledger, without the header. */
const entries = (page: Page) =>
  ledger(page)
    .getByRole('row')
    .filter({ has: page.getByRole('cell') })
const balance = (page: Page) => page.getByRole('region', { name: 'Balance', exact: true })

/** Adds rounds of the game, one ledger entry each. */
async function playRounds({ database: { db } }: ConsoleServer, count: number): Promise<void> {
  await sql`insert into ledger_entries (user_id, seq, amount, cause, reference, by_kind, by_name, balance)
    select user_id, entries + n, 1, 'round', 'r-' || entries - 1 + n, 'bot', 'my game', balance + n from balances, generate_series(1, ${count}::int) n
     where user_id = ${PLAYER}`.execute(db)
  await sql`update balances set balance = balance + ${count}::int, entries = entries + ${count}::int where user_id = ${PLAYER}`.execute(
    db,
  )
}

test.beforeEach(async ({ signIn, page: _page }) => {
  await signIn('admin')
})

test('Ledger: on every desktop Reverse is in view without scrolling sideways', async ({ page, server }) => {
  const { db } = server.database
  await sql`insert into ledger_entries (user_id, seq, amount, cause, reference, by_kind, by_name, balance)
    select user_id, entries + 1, 123456, 'round', 'round-1795599541566-784558c6', 'bot', 'the game of the arcade', balance + 123456
      from balances where user_id = ${PLAYER}`.execute(db)
  await sql`update balances set balance = balance + 123456, entries = entries + 1 where user_id = ${PLAYER}`.execute(db)
  await page.goto(PATH)
  const reverse = entries(page).first().getByRole('button', { name: 'Reverse' })
  await expect(reverse).toBeVisible()
  for (const width of [1024, 1280, 1366, 1440, 1536, 1920]) {
    await resize(page, { width, height: 900 })
    await expect(reverse, `${width} px`).toBeInViewport({ ratio: 1 })
    const scroller = ledger(page).getByRole('table').locator('..')
    expect(await scroller.evaluate(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth), `${width} px`).toBe(0)
  }
})

test('Ledger: an adjustment needs an amount and a reason, an entry can be reversed once, and the audit trail has both', async ({
  page,
}) => {
  await page.goto(PATH)
  await expect(entries(page)).toHaveCount(1)
  await expect(entries(page).first()).toContainText('Opening balance')
  await expect(entries(page).first().getByRole('button')).toHaveCount(0)

  const adjust = page.getByRole('button', { name: 'Adjust Balance' })
  await adjust.click()
  const dialog = page.getByRole('dialog')
  await expect(field(dialog, 'Amount')).toBeFocused()
  await expect(dialog).toContainText(`😀Sky d’Angelo (${PLAYER})`)
  await expect(dialog).toContainText('57334')
  await dialog.getByRole('button', { name: 'Adjust balance' }).click()
  await expect(field(dialog, 'Amount')).toHaveAccessibleDescription(/^Amount is required /)
  await expectError(page, 'Reason', 'Reason is required')
  await expectAccessible(page)
  const newBalance = dialog.getByText('New balance').locator('..')
  await expect(newBalance).toHaveText('New balance–')
  await field(dialog, 'Amount').fill('-57334.1')
  await expect(newBalance).toHaveText('New balance-0.1')
  await expect(field(dialog, 'Amount')).toHaveAccessibleDescription(/^The balance would go below 0 /)
  await expect(field(dialog, 'Amount')).toHaveAttribute('aria-invalid', 'true')
  const confirm = dialog.getByRole('button', { name: 'Adjust balance' })
  await expect(confirm).toBeDisabled()
  await field(dialog, 'Amount').fill('0.123456789')
  await expect(newBalance, 'more decimals than an amount has').toHaveText('New balance–')
  await field(dialog, 'Amount').fill('0.2')
  await expect(newBalance).toHaveText('New balance57334.2')
  await expect(field(dialog, 'Amount')).not.toHaveAttribute('aria-invalid')
  await expect(confirm).toBeEnabled()
  await field(dialog, 'Reason').fill('Bought with a stolen card')
  const sent: string[] = []
  page.on('request', (request) => request.method() === 'POST' && sent.push(request.url()))
  await field(dialog, 'Amount').fill('-60000')
  await field(dialog, 'Amount').press('Enter')
  await confirm.click({ force: true })
  await expect(confirm).toBeDisabled()
  await expect(page.getByText(/below 0$/), 'the error is shown once').toHaveText(['The balance would go below 0'])
  await expect(field(dialog, 'Amount')).toHaveAccessibleDescription(/^The balance would go below 0 /)
  await expect(page.getByRole('alert')).toHaveCount(0)
  await expectAccessible(page)
  expect(sent, 'nothing is sent before it is mended').toEqual([])
  await field(dialog, 'Amount').fill('-334.5')
  await confirm.click()
  await expect(toast(page, 'Balance of 😀Sky d’Angelo adjusted.')).toBeVisible()
  await expect(dialog).toBeHidden()
  await expect(adjust).toBeFocused()
  await expect(balance(page)).toContainText('56999.5')
  const newest = entries(page).first()
  await expect(newest).toContainText('Adjustment: Bought with a stolen card')
  await expect(newest).toContainText('-334.5')
  await expect(newest).toContainText('Ada Admin')

  await newest.getByRole('button', { name: 'Reverse entry 2' }).press('Enter')
  await expect(dialog.getByText('334.5 is given back by an entry of its own')).toBeVisible()
  await expect(field(dialog, 'Reason')).toBeFocused()
  await expect(dialog).toContainText('Adjustment: Bought with a stolen card (-334.5)')
  await expect(dialog).toContainText('56999.5')
  await dialog.press('Escape')
  await expect(dialog).toBeHidden()
  await newest.getByRole('button', { name: 'Reverse entry 2' }).click()
  await field(dialog, 'Reason').fill('It was her own card')
  await dialog.getByRole('button', { name: 'Reverse entry 2' }).click()
  await expect(toast(page, 'Entry 2 of 😀Sky d’Angelo reversed.')).toBeVisible()
  await expect(entries(page).first()).toContainText('Reversal of entry 2: It was her own card')
  await expect(entries(page).first()).toContainText('+334.5')
  await expect(entries(page).nth(1)).toContainText('Reversed by entry 3')
  await expect(entries(page).nth(1)).toBeFocused()
  await expect(ledger(page).getByRole('button')).toHaveCount(0)
  await expect(balance(page)).toContainText('57334')
  await expectAccessible(page)

  await page.goto('/audit')
  const acts = page.getByRole('table', { name: 'Audit' }).getByRole('row')
  await expect(acts.nth(1)).toContainText('Reversed an entry of a balance')
  await expect(acts.nth(2)).toContainText('Adjusted a balance')
  await expect(acts.nth(2)).toContainText(`${PLAYER}`)
  await expect(acts.nth(2)).toContainText('Balance: 57,334 → 56,999.5')
})

test('Ledger: a balance that falls while an adjustment is sent is shown, and the error is shown once', async ({
  page,
  server,
  expectedNoise,
}) => {
  expectedNoise.patterns = [/409/] // of the debit that became too large meanwhile
  await page.goto(PATH)
  await page.getByRole('button', { name: 'Adjust Balance' }).click()
  const dialog = page.getByRole('dialog')
  const confirm = dialog.getByRole('button', { name: 'Adjust balance' })
  const newBalance = dialog.getByText('New balance').locator('..')
  await field(dialog, 'Reason').fill('Bought with a stolen card')
  const other = await otherAdmin(server)
  const change = (amount: number) =>
    other.call('POST', `/api/telegram-users/${PLAYER}/adjustments`, { amount, reason: 'Meanwhile' })
  await page.route(
    '**/adjustments',
    async (route) => {
      await change(-1000)
      await route.continue()
    },
    { times: 1 },
  )
  await field(dialog, 'Amount').fill('-57000')
  // The page may hear of the lower balance before its own request is answered.
  const answered = page.waitForResponse((response) => response.url().endsWith('/adjustments'))
  await confirm.click()
  expect((await answered).status()).toBe(409)
  await expect(newBalance).toHaveText('New balance-666')
  await expect(page.getByText(/below 0\.?$/), 'the error is shown once').toHaveText(['The balance would go below 0'])
  await expect(field(dialog, 'Amount')).toHaveAccessibleDescription(/^The balance would go below 0 /)
  await expect(page.getByRole('alert')).toHaveCount(0)
  await expect(confirm).toBeDisabled()
  await change(1000)
  await expect(newBalance, 'the balance has risen again').toHaveText('New balance334')
  await confirm.click()
  await expect(toast(page, 'Balance of 😀Sky d’Angelo adjusted.')).toBeVisible()
  await expect(balance(page)).toContainText('334')
})

test('Ledger: entries are listed newest first, ten and then more, the game’s own causes in words, their references a click away', async ({
  page,
  server,
}) => {
  await playRounds(server, 120)
  await page.goto(PATH)
  await expect(entries(page)).toHaveCount(10)
  await expect(entries(page).first()).toContainText('Game · Round')
  await entries(page).first().getByRole('button', { name: 'Round' }).click()
  const viewMore = page.getByRole('dialog', { name: 'View More' })
  await expect(viewMore).toContainText('Referencer-120')
  await expectAccessible(page)
  await viewMore.getByRole('button', { name: 'Close' }).click()
  await expect(entries(page).first()).toContainText('my game (bot)')
  await expect(ledger(page).getByRole('button', { name: 'Reverse entry 121' })).toBeVisible()
  for (const count of [50, 100, 121]) {
    await ledger(page).getByRole('button', { name: 'Show more' }).click()
    await expect(entries(page)).toHaveCount(count)
  }
  await expect(ledger(page).getByRole('button', { name: 'Show more' })).toHaveCount(0)
  await expect(entries(page).nth(100)).toBeFocused()
  await expect(entries(page).last()).toContainText('Opening balance')

  // New entries are inserted above, and the entries that are already loaded stay.
  const loads: string[] = []
  page.on('request', (request) => request.url().includes(`/${PLAYER}/entries`) && loads.push(request.url()))
  await playRounds(server, 1)
  await expect(entries(page)).toHaveCount(122)
  await expect(entries(page).last()).toContainText('Opening balance')
  expect(loads).toHaveLength(1)
})

test('Ledger: if entries could not be loaded, the ledger says so and Retry loads them', async ({ page, expectedNoise }) => {
  expectedNoise.patterns = [/500/]
  let isBroken = true
  await page.route(`**/api/telegram-users/${PLAYER}/entries*`, (route) =>
    isBroken
      ? route.fulfill({ status: 500, json: { success: false, code: 'INTERNAL', message: 'Internal Server Error!' } })
      : route.fallback(),
  )
  await page.goto(PATH)
  await expect(ledger(page).getByRole('alert')).toContainText('Internal Server Error!')
  isBroken = false
  await ledger(page).getByRole('button', { name: 'Retry' }).click()
  await expect(entries(page)).toHaveCount(1)
})

test('Ledger: an adjustment whose entry cannot be shown at once is shown as soon as it can be', async ({
  page,
  expectedNoise,
}) => {
  expectedNoise.patterns = [/500/]
  await page.goto(PATH)
  await expect(entries(page)).toHaveCount(1)
  let isBroken = true
  await page.route(`**/api/telegram-users/${PLAYER}/entries*`, (route) =>
    isBroken
      ? route.fulfill({ status: 500, json: { success: false, code: 'INTERNAL', message: 'Internal Server Error!' } })
      : route.continue(),
  )
  await page.getByRole('button', { name: 'Adjust Balance' }).click()
  await field(page, 'Amount').fill('5')
  await field(page, 'Reason').fill('A gift')
  await page.getByRole('dialog').getByRole('button', { name: 'Adjust balance' }).click()
  await expect(toast(page, 'adjusted.')).toBeVisible()
  isBroken = false
  await expect(entries(page)).toHaveCount(2)
})

test.describe('a dialog with typed text', () => {
  test.use({ expectedNoise: { patterns: [/status of 401/] } })

  test.beforeEach(async ({ page }) => {
    await page.goto(LIST)
    await expect(page.getByRole('row')).toHaveCount(2)
    await page.getByRole('row').nth(1).getByRole('link').first().click() // navigates within the app, so that Back does too
    await page.getByRole('button', { name: 'Adjust Balance' }).click()
    await field(page, 'Amount').fill('42')
    await field(page, 'Reason').fill('A prize')
  })

  test('§4 … stays when the session has ended, and is submitted by itself once the session is renewed', async ({
    page,
    context,
  }) => {
    await context.clearCookies()
    await page.getByRole('dialog').getByRole('button', { name: 'Adjust balance' }).click()
    const renewal = page.getByRole('dialog', { name: 'Your session has ended' })
    await expect(renewal).toContainText('The text is lost then.')
    await expectAccessible(page)
    await field(renewal, 'Password').fill(PASSWORD)
    await renewal.getByRole('button', { name: 'Sign In' }).click()
    await expect(toast(page, 'Balance of 😀Sky d’Angelo adjusted.')).toBeVisible()
    await expect(balance(page)).toContainText('57376')
  })

  test('… asks before the browser’s Back leaves it', async ({ page }) => {
    await page.goBack()
    const question = page.getByRole('alertdialog', { name: 'Leave without saving?' })
    await expect(question).toContainText('lost if you leave')
    await question.getByRole('button', { name: 'Cancel' }).click()
    // Back has changed the address to the list, and Cancel changes it back. Wait, or the second Back would only undo that.
    await expect(page).toHaveURL(new RegExp(PATH))
    await expect(field(page, 'Reason')).toHaveValue('A prize')
    await page.goBack()
    await question.getByRole('button', { name: 'Leave' }).click()
    await expect(page).toHaveURL(/manage-telegram-users\?q=/)
  })

  test('… no longer asks once it was confirmed or cancelled', async ({ page }) => {
    await page.getByRole('dialog').getByRole('button', { name: 'Cancel' }).click()
    await page.goBack()
    await expect(page).toHaveURL(/manage-telegram-users\?q=/)
  })
})

test('Ledger: on a phone the whole ledger fits without scrolling sideways', async ({ page, server }) => {
  await sql`update balances set balance = 12345678.25 where user_id = ${PLAYER}`.execute(server.database.db)
  await playRounds(server, 3)
  await page.setViewportSize({ width: 390, height: 844 })
  await page.goto(PATH)
  await expect(entries(page)).toHaveCount(4)
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(390)
  const newest = entries(page).first()
  const [figure, time] = [(await newest.getByText('12345681.25').boundingBox())!, (await newest.locator('time').boundingBox())!]
  const isBeside = figure.x + figure.width < time.x
  expect(isBeside || figure.y + figure.height <= time.y, 'the balance does not reach into the time').toBe(true)
  await page.getByRole('button', { name: 'Adjust Balance' }).click()
  await expect(field(page, 'Amount')).toBeVisible()
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(390)
  await expectAccessible(page)
})

test('Ledger: another admin’s adjustments show without a reload, and many of them cause few requests', async ({
  page,
  server,
}) => {
  const { call } = await otherAdmin(server, 'Mary Jackson')
  const streamed = page.waitForResponse((response) => response.url().includes(`/api/events?player=${PLAYER}`))
  await page.goto(PATH)
  await expect(entries(page)).toHaveCount(1)
  await streamed
  const path = `/api/telegram-users/${PLAYER}/adjustments`
  const adjustment = { amount: 10, reason: 'A prize' }
  await call('POST', path, adjustment)
  await expect(entries(page).first()).toContainText('Adjustment: A prize')
  await expect(balance(page)).toContainText('57344')
  const requests: number[] = []
  page.on('request', (request) => request.url().endsWith(`/${PLAYER}/entries`) && requests.push(Date.now()))
  const begun = Date.now()
  for (let n = 0; n < 40; n += 1) await call('POST', path, adjustment)
  await expect(entries(page).first().getByRole('cell').first()).toHaveText('42')
  expect(requests.length).toBeLessThanOrEqual(Math.ceil((Date.now() - begun) / 1000) + 1)
})
