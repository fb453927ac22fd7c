/** History (§2, §3, §4, §8, §9). */
import { sql } from 'kysely'
import { addCount } from '../../server/test/activity.ts'
import { addPlayers } from '../../server/test/players.ts'
import { settled } from '#src/lists.ts'
import { type ConsoleServer, expect, test, toast } from '#src/test.ts'

test.beforeEach(async ({ signIn, page: _page }) => {
  await signIn('admin')
})

async function addParticipants({ database }: ConsoleServer, title: string, count: number): Promise<void> {
  const { db } = database
  await sql`insert into history_items (kind, item_id, title, type, link, reward) values ('social', 'crowded', ${title}, 'moreLink', 'https://x.com/a', 5)`.execute(
    db,
  )
  await sql`insert into participations (user_id, kind, item_id, username, at)
    select n, 'social', 'crowded', 'player' || n, timestamptz '2026-05-05' - n * interval '1 minute' from generate_series(1, ${sql.lit(count)}) n`.execute(
    db,
  )
  await addCount(database, { of: 'participants', kind: 'social', itemId: 'crowded' }, count)
}

test('§2 three tabs of numbered titles; a title shows its details and participants, and is in the address', async ({ page }) => {
  await page.goto('/history')
  await expect(page.getByRole('tab')).toHaveText(['Annoucements', 'Social Tasks', 'Daily Tasks'])
  await expect(page.getByRole('tab', { name: 'Annoucements' })).toHaveAttribute('aria-selected', 'true')
  await expect(page.getByRole('listitem').filter({ hasText: 'Season 2 is live' })).toBeVisible()
  await page.getByRole('link', { name: 'Season 2 is live' }).click()
  await expect(page.getByRole('heading', { name: 'Season 2 is live' })).toBeVisible()
  const details = page.getByRole('region', { name: 'Season 2 is live' })
  for (const name of ['Type', 'Link Type', 'Description', 'Input Text', 'Reward'])
    await expect(details.getByText(name, { exact: true })).toBeVisible()
  await expect(details.getByText('not available')).toHaveCount(2)
  for (const name of ['ID', 'Username', 'First Name', 'Last Name', 'User Input']) {
    await expect(page.getByRole('columnheader', { name, exact: true })).toBeVisible()
  }
  await expect(page.getByRole('cell', { name: 'not available' }).first()).toBeVisible()
  const room = await page.getByRole('table').evaluate((table) => table.parentElement!.clientWidth - table.scrollWidth)
  expect(room, 'nothing is cut off at 1440').toBeGreaterThanOrEqual(0)
  await page.reload()
  await expect(page.getByRole('heading', { name: 'Season 2 is live' })).toBeVisible()
})

test('History: the details are one line, and ten participants and all columns are in view; unfolded, the details show in full', async ({
  page,
}) => {
  for (const viewport of [
    { width: 1440, height: 900 },
    { width: 1024, height: 768 },
  ]) {
    await page.setViewportSize(viewport)
    await page.goto('/history')
    await page.getByRole('link', { name: 'Season 2 is live' }).click()
    const table = page.getByRole('table', { name: 'Participants' })
    await expect(table.getByRole('row').nth(10)).toBeInViewport({ ratio: 1 })
    const pager = (await page.getByRole('button', { name: 'Next Page' }).boundingBox())!
    const tenth = (await table.getByRole('row').nth(10).boundingBox())!
    expect(tenth.y + tenth.height).toBeLessThanOrEqual(pager.y)
    expect(await table.evaluate((one) => one.scrollWidth - one.parentElement!.clientWidth)).toBeLessThanOrEqual(0)
  }
  const description = page.getByText('• double points until Sunday')
  const lines = async () => Math.round((await description.boundingBox())!.height / 20)
  expect(await lines()).toBe(1)
  await page.getByRole('button', { name: 'Details in full' }).click()
  await expect(page.getByRole('button', { name: 'Details in full' })).toHaveAttribute('aria-expanded', 'true')
  expect(await lines()).toBeGreaterThan(3)
})

test('§9 titles are searched like all lists, without the case and accents of their letters', async ({ page, server }) => {
  await addParticipants(server, 'Fête d’Été', 1)
  await page.goto('/history?tab=social')
  const titles = page.getByRole('navigation', { name: 'Social Tasks' })
  await titles.getByRole('searchbox', { name: 'Search titles' }).fill('DETE')
  await expect(titles.getByRole('link')).toHaveText([/Fête d’Été/])
  await page.keyboard.press('Escape')
  await expect(titles.getByRole('link').nth(8)).toBeVisible()
})

test('Lists: a selected title far down is scrolled into view, and all columns of its participants fit, also with long texts', async ({
  page,
  server,
}) => {
  await addParticipants(server, 'Crowded', 3)
  const long = { user_input: 'https://x.com/somebody/status/1234567890', first_name: 'Maximiliana', last_name: 'Papadopoulou' }
  await server.database.db.updateTable('participations').set(long).where('item_id', '=', 'crowded').execute()
  await server.database.db
    .updateTable('history_items')
    .set({ created_at: new Date(0) })
    .where('item_id', '=', 'crowded')
    .execute()
  for (const width of [1280, 1024]) {
    await page.setViewportSize({ width, height: 700 })
    await page.goto('/history?tab=social&item=crowded')
    await expect(page.getByRole('heading', { name: 'Participants 3' })).toBeVisible()
    await expect(page.getByRole('navigation', { name: 'Social Tasks' }).getByRole('link', { name: 'Crowded' })).toBeInViewport()
    const table = page.getByRole('table', { name: 'Participants' })
    expect(
      await table.evaluate((element) => element.scrollWidth - element.parentElement!.clientWidth),
      `at ${width}`,
    ).toBeLessThanOrEqual(0)
  }
})

test('§4 switching tabs resets the selection', async ({ page }) => {
  await page.goto('/history')
  await page.getByRole('link', { name: 'Season 2 is live' }).click()
  await expect(page.getByRole('heading', { name: 'Season 2 is live' })).toBeVisible()
  await page.getByRole('tab', { name: 'Daily Tasks' }).click()
  await expect(page.getByRole('link', { name: 'Spin the wheel' })).toBeVisible()
  await expect(page.getByRole('heading', { level: 2 })).toHaveCount(0)
  expect(page.url()).toContain('tab=daily')
  await page.getByRole('tab', { name: 'Annoucements' }).click()
  await expect(page.getByRole('link', { name: 'Season 2 is live' })).toBeVisible()
  await expect(page.getByRole('heading', { level: 2 })).toHaveCount(0)
})

test('§9 50 participants a page, newest first, all of them reachable, with their count', async ({ page, server }) => {
  await addParticipants(server, 'Crowded', 120)
  await page.goto('/history?tab=social&item=crowded')
  await expect(page.getByRole('heading', { name: 'Participants 120' })).toBeVisible()
  await expect(page.getByText('Website')).toBeVisible() // moreLink, §3
  await expect(page.getByRole('row')).toHaveCount(51)
  await expect(page.getByRole('row').nth(1)).toContainText('player1')
  await page.getByRole('button', { name: 'Next Page' }).click()
  await expect(page.getByText('Page 2 of 3')).toBeVisible()
  await expect(page.getByRole('row').nth(1)).toContainText('player51')
  await page.reload()
  await expect(page.getByRole('row').nth(1)).toContainText('player51')
  await page.getByRole('button', { name: 'Next Page' }).click()
  await expect(page.getByText('Page 3 of 3')).toBeVisible()
  await expect(page.getByRole('row')).toHaveCount(21)
  await page.getByRole('button', { name: 'Prev Page' }).click()
  await expect(page.getByRole('row').nth(1)).toContainText('player51')
})

test('§2 with no participants it shows No users found...', async ({ page, server }) => {
  await addParticipants(server, 'Lonely', 0)
  await page.goto('/history?tab=social&item=crowded')
  await expect(page.getByText('No users found...')).toBeVisible()
})

test('§2 a spinner shows while loading', async ({ page }) => {
  const shown = Promise.withResolvers<void>()
  await page.route('**/api/history/announcement', async (route) => {
    await shown.promise
    await route.continue()
  })
  await page.goto('/history')
  await expect(page.getByRole('status', { name: 'Loading' })).toBeVisible()
  shown.resolve()
  await expect(page.getByRole('link', { name: 'Season 2 is live' })).toBeVisible()
})

test('§8 Download saves data.xlsx and says so; a failure shows the server’s message', async ({ page, expectedNoise }) => {
  await page.goto('/history')
  await page.getByRole('link', { name: 'Season 2 is live' }).click()
  const downloading = page.waitForEvent('download')
  await page.getByRole('button', { name: 'Download', exact: true }).click()
  expect((await downloading).suggestedFilename()).toBe('data.xlsx')
  await expect(toast(page, 'Data Downloaded Successfully!')).toBeVisible()

  expectedNoise.patterns = [/Failed to load resource/]
  await page.route('**/download-history', (route) => route.fulfill({ json: { status: 'failed', message: 'No history for you' } }))
  await page.getByRole('button', { name: 'Download', exact: true }).click()
  await expect(toast(page, 'No history for you')).toBeVisible()
  await page.route('**/download-history', (route) => route.abort())
  await page.getByRole('button', { name: 'Download', exact: true }).click()
  await expect(toast(page, 'Error Downloading Data!')).toBeVisible()
})

test('Lists: with a search the download has only the results; More exports offers everyone', async ({ page, server }) => {
  await addParticipants(server, 'Crowded', 60)
  await page.goto('/history?tab=social&item=crowded&q=player5')
  const button = page.getByRole('button', { name: 'Download', exact: true })
  await expect(button).toHaveAccessibleDescription('11 of 60')
  let downloading = page.waitForEvent('download')
  await button.click()
  expect((await downloading).suggestedFilename()).toMatch(/^history-Crowded-filtered-\d{4}-\d\d-\d\d\.xlsx$/)
  await expect(toast(page, 'Data Downloaded Successfully!')).toBeVisible()
  await page.getByRole('button', { name: 'More exports' }).click()
  downloading = page.waitForEvent('download')
  await page.getByRole('button', { name: 'Everyone', exact: true }).click()
  expect((await downloading).suggestedFilename()).toBe('data.xlsx')
})

test('History: Back on a player’s page leads to the item and page that the player was opened from', async ({ page, server }) => {
  await addParticipants(server, 'Crowded', 60)
  await addPlayers(server.database.db, [{ user_id: 51, first_name: 'Fifty-one', username: 'player51', balance: 1 }])
  await page.goto('/history?tab=social&item=crowded')
  await page.getByRole('button', { name: 'Next Page' }).click()
  await page.getByRole('link', { name: 'player51', exact: true }).click()
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('Fifty-one')
  await page.getByRole('button', { name: 'Back', exact: true }).click()
  await expect(page.getByText('Page 2 of 2')).toBeVisible()
  await expect(page.getByRole('heading', { name: 'Crowded' })).toBeVisible()
})

test('on a phone the page never scrolls sideways', async ({ page }) => {
  await page.setViewportSize({ width: 390, height: 844 })
  await page.goto('/history')
  await page.getByRole('link', { name: 'Season 2 is live' }).click()
  await expect(page.getByRole('heading', { name: 'Season 2 is live' })).toBeInViewport()
  await expect(page.getByRole('table')).toBeVisible()
  expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(390)
})

test('Lists: participants of an item are found by name', async ({ page }) => {
  await page.goto('/history')
  await page.getByRole('link', { name: 'Season 2 is live' }).click()
  await expect(page.getByRole('heading', { name: 'Season 2 is live' })).toBeVisible()
  await settled(page)
  const name = await page.locator('td[data-column=Username] a').first().innerText()
  await page.getByRole('searchbox', { name: 'Search participants' }).fill(name)
  await expect(page).toHaveURL(/q=/)
  await settled(page)
  await expect(page.locator('td[data-column=Username]').first()).toHaveText(name)
})
