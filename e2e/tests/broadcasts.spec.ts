/** The pages of broadcasts: planning one for a segment, following it, the answers that were lost, and what it brought (design §7). */
import type { Page } from '@playwright/test'
import { sql } from 'kysely'
import { startConsoleServer } from '../../server/test/console-server.ts'
import { expectStateAccessible } from '#src/axe.ts'
import { type StandIn, startStandIn, TELEGRAM_BOT_TOKEN } from '#src/reference-game.ts'
import { phone } from '#src/sizes.ts'
import { expect, field, test as base, toast, type WorkerFixtures } from '#src/test.ts'

/** Each worker's console sends through a stand-in for Telegram. */
const test = base.extend<object, Pick<WorkerFixtures, 'server'> & { standIn: StandIn }>({
  standIn: [
    // oxlint-disable-next-line no-empty-pattern -- Playwright reads the fixtures' names from the pattern
    async ({}, use) => {
      const standIn = await startStandIn()
      await use(standIn)
      await standIn.stop()
    },
    { scope: 'worker' },
  ],
  server: [
    async ({ sampleDirectory, standIn }, use) => {
      const env = { TELEGRAM_BOT_TOKEN, TELEGRAM_API_ROOT: standIn.address, TELEGRAM_RATE: '200' }
      const server = await startConsoleServer(env, { sample: sampleDirectory })
      await use(server)
      await server.stop()
    },
    { scope: 'worker', timeout: 300_000 },
  ],
})

/** Timeout for a broadcast of the sample's players, in ms: far longer than it takes. */
const SENT_WITHIN_MS = 90_000

test.beforeEach(async ({ signIn, page: _page }) => {
  await signIn('admin')
})

const announcement = (page: Page) => page.getByRole('combobox', { name: 'Announcement to send' })
const confirm = (page: Page, name: string | RegExp) => page.getByRole('alertdialog').getByRole('button', { name }).click()
const figure = (page: Page, name: string) =>
  page
    .locator('dl > div')
    .filter({ has: page.getByText(name, { exact: true }) })
    .first()

async function chooseSeason(page: Page): Promise<void> {
  await announcement(page).click()
  await page.keyboard.type('season 2')
  await page.keyboard.press('Enter')
  await expect(announcement(page)).toHaveValue('Season 2 is live')
}

/** Makes the next calls of Telegram fail. */
async function injectFaults({ address }: StandIn, faults: { kind: string; times?: number; seconds?: number }[]): Promise<void> {
  const body = JSON.stringify(faults.map((fault) => ({ ...fault, method: 'sendMessage' })))
  expect((await fetch(`${address}/faults`, { method: 'PUT', body })).status).toBeLessThan(300)
}

test('design §7 an announcement is sent to a segment, with a control group; lost answers are listed and sent again; the report counts', async ({
  page,
  server,
  standIn,
}) => {
  // A name of one long word, as some have: it must not push the times of the recipients out of the page.
  await sql`update telegram_users set last_name = repeat('W', 64)`.execute(server.database.db)
  // The segment is a shared view of Telegram Users.
  await page.goto('/manage-telegram-users?has=email,wallet')
  await page.getByRole('button', { name: /^Saved/ }).click()
  const views = page.getByRole('dialog', { name: 'Saved views' })
  await views.getByLabel('Name', { exact: true }).fill('Reachable wallets')
  await views.getByRole('checkbox', { name: 'Share with all admins' }).check()
  await expect(views.getByText('A shared view is a segment')).toBeVisible()
  await views.getByRole('button', { name: 'Save', exact: true }).click()
  await expect(toast(page, 'View saved.')).toBeVisible()

  await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Broadcasts' }).click()
  await expect(page.getByText('No announcement has been sent through Telegram yet.')).toBeVisible()
  await page.getByRole('button', { name: 'New Broadcast' }).click()
  await page.getByRole('button', { name: 'Send now' }).click()
  await expect(page.getByText('Choose an announcement')).toBeVisible()
  await expect(announcement(page)).toBeFocused()
  await chooseSeason(page)
  const preview = page.getByRole('group').filter({ hasText: 'Preview in Telegram' })
  await expect(preview.getByRole('list', { name: 'Buttons of the message' }).getByRole('listitem')).toHaveText([
    'Claim',
    'Stop messages',
  ])
  await expect(page.getByRole('status').filter({ hasText: '1,2' })).toBeVisible() // all players
  await field(page, 'Send to').selectOption('Segment: Reachable wallets')
  await expect(page.getByRole('list', { name: 'Active filters' })).toContainText('Has: Email, Wallet')
  await page.getByLabel('Hold back some players at random').check()
  await field(page, 'Percent held back (1 to 20)').fill('20')
  await expect(page.getByText(/get no message\. If one in ten claims anyway, the report can show a difference of/)).toBeVisible()
  // A reload keeps the announcement and the recipients.
  await page.reload()
  await expect(announcement(page)).toHaveValue('Season 2 is live')
  await expect(field(page, 'Send to').locator('option:checked')).toHaveText('Segment: Reachable wallets')
  await page.getByLabel('Hold back some players at random').check()
  await field(page, 'Percent held back (1 to 20)').fill('20')
  await expect(page.getByText(/^About \d+ players get no message/)).toBeVisible()
  await expect(page.getByText(/^About \d+ players$/)).toBeVisible()

  await injectFaults(standIn, [
    { kind: '403', times: 4 },
    { kind: 'drop', times: 2 },
  ])
  // The report of many players takes seconds: until it is there, the page keeps its places and says what it does.
  const report = Promise.withResolvers<void>()
  await page.route('**/api/broadcasts/*/report', async (route) => {
    await report.promise
    await route.continue()
  })
  await page.getByRole('button', { name: 'Send now' }).click()
  await expect(page.getByRole('alertdialog')).toContainText(
    /Are you sure you want to send Season 2 is live to about \d+ players\?/,
  )
  await confirm(page, /^Send to about/)
  await expect(page.getByRole('heading', { name: 'Season 2 is live' })).toBeVisible()
  await expect(page.getByText('Segment: Reachable wallets · Has: Email, Wallet', { exact: true })).toBeVisible()
  await expect(page.getByText('Counting who has seen and claimed it.')).toBeVisible()
  await expect(figure(page, 'Claimed')).toBeVisible()
  report.resolve()
  await expect(page.getByText(/^It was done on/)).toBeVisible({ timeout: SENT_WITHIN_MS })
  const recipients = Number(/^(\d+) of/.exec(await page.getByText(/^\d+ of \d+ recipients$/).innerText())?.[1])
  await expect(figure(page, 'Refused')).toContainText('4 · The player has blocked the bot')
  await expect(figure(page, 'Unknown')).toContainText('2')
  await expect(figure(page, 'Sent')).toContainText(String(recipients - 6))
  await expect(figure(page, 'Reached')).toContainText(String(recipients - 6))
  await expect(page.getByText('2 answers were lost.')).toBeVisible()
  await expect(page.getByRole('table', { name: 'Recipients: Unknown' }).getByRole('row')).toHaveCount(3)
  await expect.poll(() => page.evaluate(() => document.documentElement.scrollWidth <= innerWidth)).toBe(true)
  await expectStateAccessible(page)

  // A refused player's page says why no message arrives. On the way back, the chosen outcome is still there.
  await field(page, 'Outcome').selectOption('Refused (4)')
  const refused = page.getByRole('table', { name: 'Recipients: Refused' })
  await expect(refused.getByRole('row')).toHaveCount(5)
  await refused.getByRole('link').first().click()
  await expect(page.getByText(/^The player has blocked the bot, since \d\d\//)).toBeVisible()
  await page.goBack()
  await expect(refused.getByRole('row')).toHaveCount(5)

  await page.getByRole('button', { name: 'Send again to 2 players' }).click()
  await confirm(page, 'Send again to 2 players')
  await expect(toast(page, 'The message is sent again to 2 players.')).toBeVisible()
  await expect(figure(page, 'Sent')).toContainText(String(recipients - 4), { timeout: SENT_WITHIN_MS })
  await expect(page.getByText('answers were lost')).toHaveCount(0)

  await page.getByRole('button', { name: 'Back' }).click()
  const row = page.getByRole('table', { name: 'Broadcasts' }).getByRole('row').nth(1)
  await expect(row).toContainText('Has: Email, Wallet · by Ada Admin')
  await expect(row).toContainText(`${recipients} of ${recipients}`)
  await expectStateAccessible(page)
})

test('design §7 Telegram’s request to wait is shown with its time; a broadcast is paused, resumed and cancelled', async ({
  page,
  standIn,
}) => {
  await page.goto('/broadcasts/new')
  await chooseSeason(page)
  await injectFaults(standIn, [{ kind: '429', seconds: 30 }])
  await page.getByRole('button', { name: 'Send now' }).click()
  await confirm(page, /^Send to/)
  await expect(page.getByText(/^Telegram asks to wait until \d\d:\d\d [AP]M\. It goes on by itself\./)).toBeVisible({
    timeout: SENT_WITHIN_MS,
  })
  await page.getByRole('button', { name: 'Pause' }).click()
  await expect(page.getByText('Nobody gets a message until it is resumed.')).toBeVisible()
  await page.getByRole('button', { name: 'Resume' }).click()
  await expect(page.getByRole('button', { name: 'Pause' })).toBeVisible()
  await page.getByRole('button', { name: 'Cancel Broadcast' }).click()
  await expect(page.getByRole('alertdialog')).toContainText('It cannot be resumed.')
  await confirm(page, 'Cancel broadcast')
  await expect(page.getByText(/^It was cancelled/)).toBeVisible({ timeout: SENT_WITHIN_MS })
  await expect(figure(page, 'Skipped')).toContainText('The broadcast was cancelled before it was the player’s turn')
  await expect(page.getByRole('button', { name: 'Resume' })).toHaveCount(0)
  await injectFaults(standIn, [])
})

test('design §7 a broadcast is scheduled in the operator’s time zone; its end must be after its beginning', async ({ page }) => {
  await page.goto('/broadcasts/new')
  await chooseSeason(page)
  await page.getByLabel('At a time').check()
  await field(page, 'Begins').fill('2020-11-27T18:00')
  await page.getByRole('button', { name: 'Send now' }).click()
  await expect(page.getByRole('alertdialog')).toContainText('It begins at once')
  await expect(page.getByRole('alertdialog').getByRole('button', { name: /^Send to/ })).toBeVisible()
  await page.keyboard.press('Escape')
  await field(page, 'Begins').fill('2099-11-27T18:00')
  await field(page, 'Ends at the latest (optional)').fill('2099-11-27T17:00')
  await page.getByRole('button', { name: 'Schedule' }).click()
  await expect(page.getByText('It must end after it begins').first()).toBeVisible()
  await field(page, 'Ends at the latest (optional)').fill('2099-11-27T20:00')
  await page.getByRole('button', { name: 'Schedule' }).click()
  await expect(page.getByRole('alertdialog')).toContainText('It begins on 11/27/2099 06:00 PM')
  await confirm(page, 'Schedule')
  await expect(page.getByText('It begins on 11/27/2099 06:00 PM. The recipients are chosen then.')).toBeVisible()
  await expect(page.getByText('Preview in Telegram')).toBeVisible()
  await expectStateAccessible(page)
  await page.getByRole('button', { name: 'Change Time' }).click()
  const dialog = page.getByRole('dialog', { name: 'Change Time' })
  await expect(field(dialog, 'Begins')).toHaveValue('2099-11-27T18:00')
  await field(dialog, 'Begins').fill('2099-11-27T21:00')
  await dialog.getByRole('button', { name: 'Change time' }).click()
  await expect(dialog.getByText('It must end after it begins').first()).toBeVisible()
  await field(dialog, 'Ends at the latest (optional)').fill('')
  await expectStateAccessible(page)
  await dialog.getByRole('button', { name: 'Change time' }).click()
  await expect(page.getByText('It begins on 11/27/2099 09:00 PM. The recipients are chosen then.')).toBeVisible()
  await page.getByRole('button', { name: 'Cancel Broadcast' }).click()
  await expect(page.getByRole('alertdialog')).toContainText('Nobody gets the message.')
  await confirm(page, 'Cancel broadcast')
  await expect(page.getByText(/^It was cancelled/)).toBeVisible()
})

test('design §7 leaving the form of a broadcast asks, and its draft brings back announcement, recipients and all options', async ({
  page,
}) => {
  await page.goto('/broadcasts')
  await page
    .getByRole('button', { name: 'New Broadcast' })
    .or(page.getByRole('link', { name: 'New Broadcast' }))
    .click()
  await chooseSeason(page)
  await page.getByRole('button', { name: /^Filters/ }).click()
  const pane = page.getByRole('dialog', { name: 'Filters' })
  await pane.getByRole('checkbox', { name: 'Email' }).check()
  await expect(pane.getByRole('status')).toHaveText(/^\d+ players$/) // the pane lies over the page's own count
  await page.keyboard.press('Escape')
  await page.getByLabel('At a time').check()
  await field(page, 'Begins').fill('2099-11-27T18:00')
  await page.getByLabel('Hold back some players at random').check()
  await field(page, 'Percent held back (1 to 20)').fill('15')
  await page.getByRole('link', { name: 'History', exact: true }).click()
  await expect(page.getByRole('alertdialog')).toContainText('This browser keeps it as a draft')
  await confirm(page, 'Leave')
  await expect(page).toHaveURL('/history')

  await page.goto('/broadcasts/new')
  await expect(announcement(page)).toHaveValue('')
  await page.getByRole('button', { name: 'Use Draft' }).click()
  await expect(announcement(page)).toHaveValue('Season 2 is live')
  await expect(page.getByRole('list', { name: 'Active filters' })).toContainText('Has: Email')
  await expect(page.getByLabel('At a time')).toBeChecked()
  await expect(field(page, 'Begins')).toHaveValue('2099-11-27T18:00')
  await expect(field(page, 'Percent held back (1 to 20)')).toHaveValue('15')
  await page.getByRole('button', { name: 'Schedule' }).click()
  await expect(page.getByRole('alertdialog')).toContainText('It begins on 11/27/2099 06:00 PM, UTC')
  await confirm(page, 'Schedule')
  await expect(page.getByRole('heading', { name: 'Season 2 is live' })).toBeVisible()
  await page.goto('/broadcasts/new')
  await expect(announcement(page)).toHaveValue('')
  await expect(page.getByText(/^Unsaved draft/)).toHaveCount(0)
})

test('design §7 an announcement for a segment warns while others are among the recipients, and offers the segment', async ({
  page,
  server,
}) => {
  const { db } = server.database
  await sql`insert into saved_views (id, list, name, address) values ('wallets', 'telegramUsers', 'Wallets', 'has=wallet')`.execute(
    db,
  )
  await sql`update announcements set segment_id = 'wallets' where title = 'Season 2 is live'`.execute(db)
  await page.goto('/broadcasts/new')
  await chooseSeason(page)
  const note = page.getByText('It is only for the players of Wallets: others get the message, but cannot claim it.')
  await expect(note).toBeVisible()
  await page.getByRole('button', { name: 'Send to Wallets' }).click()
  await expect(note).toHaveCount(0)
  await expect(announcement(page)).toHaveValue('Season 2 is live')
  await expect(field(page, 'Send to').locator('option:checked')).toHaveText('Segment: Wallets')
  await sql`update announcements set segment_id = null where title = 'Season 2 is live'`.execute(db)
})

test('design §7 a segment that cannot be read has no recipients: it cannot be chosen, and others get no broadcast in its place', async ({
  page,
  server,
}) => {
  const { db } = server.database
  await sql`insert into saved_views (id, list, name, address) values
    ('zq', 'telegramUsers', 'Zq', 'balanceMin=abc'), ('all', 'telegramUsers', 'Everyone', '')`.execute(db)
  await sql`update announcements set segment_id = 'zq' where title = 'Season 2 is live'`.execute(db)
  await page.goto('/broadcasts/new')
  const sendTo = field(page, 'Send to')
  await expect(sendTo.locator('option:checked')).toHaveText('All players')
  await expect(sendTo.getByRole('option', { name: 'Segment: Zq (a part of this view cannot be read)' })).toBeDisabled()
  await chooseSeason(page)
  await expect(page.getByText('Nobody can claim it: it is for the players of Zq')).toBeVisible()
  await expect(page.getByRole('button', { name: 'Send to Zq' })).toHaveCount(0)
  await sendTo.selectOption('Segment: Everyone')
  await expect(sendTo.locator('option:checked')).toHaveText('All players')
  await page.getByRole('button', { name: 'Send now' }).click()
  await expect(page.getByRole('alertdialog')).toContainText('Nobody can claim it')
  await page.keyboard.press('Escape')
  await sql`update announcements set segment_id = null where title = 'Season 2 is live'`.execute(db)

  // An address of recipients that cannot be read says so, also after the announcement is chosen.
  await page.goto('/broadcasts/new?balanceMin=abc')
  const notice = page.getByText('Left out of the address, because it could not be read: Balance from.')
  await expect(notice).toBeVisible()
  await chooseSeason(page)
  await expect(notice).toBeVisible()
  await expectStateAccessible(page)
})

test('design §7 the pane of filters stays within the window, however low its button is', async ({ page }) => {
  await page.setViewportSize({ width: 1440, height: 640 })
  await page.goto('/broadcasts/new')
  await page.getByRole('button', { name: /^Filters/ }).click()
  const pane = page.getByRole('dialog', { name: 'Filters' })
  await expect(pane).toBeVisible()
  await expect
    .poll(async () => {
      const { y, height } = (await pane.boundingBox())!
      return y >= 0 && y + height <= 640
    })
    .toBe(true)
})

test('design §7 the form of a broadcast: axe finds nothing; without a linked account it leads to where one is linked', async ({
  page,
}) => {
  await page.goto('/broadcasts/new?seenDays=30')
  await chooseSeason(page)
  await page.getByLabel('Paid sending').check()
  await field(page, 'Stars a message').fill('1')
  await expect(page.getByText(/^All messages together cost [\d,]+ Stars\./)).toBeVisible()
  await expectStateAccessible(page)
  await page.setViewportSize(phone)
  await page.getByRole('button', { name: 'Link Telegram to test' }).click()
  await confirm(page, 'Leave') // the form is kept as a draft
  await expect(page.getByRole('heading', { name: 'Your Account' })).toBeVisible()
})

test('design §7 an address without a broadcast says so', async ({ page, expectedNoise }) => {
  expectedNoise.patterns = [/404/]
  await page.goto('/broadcasts/gone')
  await expect(page.getByText('This broadcast does not exist.')).toBeVisible()
})
