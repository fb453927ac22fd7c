/** The dashboard's charts, what happened since one looked last, and what needs an admin (§2 Dashboard). */
import { sql } from 'kysely'
import { expectAccessible } from '#src/axe.ts'
import { addPlayers, beginWithinHour, card } from '#src/dashboard.ts'
import { expect, test } from '#src/test.ts'

test.beforeEach(beginWithinHour)

test('Dashboard: a chart can be read by keyboard and pointer: one tab stop, and a crosshair in all charts', async ({
  page,
  server,
  signIn,
}) => {
  await addPlayers(server, 3)
  await addPlayers(server, 2, 1)
  await addPlayers(server, 7, 25)
  await signIn('admin')
  await page.goto('/?range=24h')
  const [players, taken] = [card(page, 'New players'), card(page, 'Participations')]
  const slider = page.getByRole('slider', { name: 'New players', exact: true })
  await expect(players.locator('header')).toContainText('57 in the 24 hours before')
  await slider.focus()
  await expect(slider).toHaveAttribute('aria-valuetext', /^\w{3} \d+, \d\d:00, so far: 3 new players, 0 before$/)
  await page.keyboard.press('ArrowLeft')
  await expect(slider).toHaveAttribute('aria-valuetext', /:00: 2 new players, 7 before$/)
  for (const panel of [players, taken]) await expect(panel.locator('header')).toContainText(/2\w{3} \d+, \d\d:00 · 7 before/)
  await page.keyboard.press('Escape')
  await expect(taken.locator('header')).toContainText('57 in the 24 hours before')
  await expect(slider).toBeFocused()

  const box = (await taken.getByRole('slider').boundingBox())!
  await page.mouse.move(box.x + box.width - 25, box.y + box.height / 2)
  for (const panel of [players, taken]) await expect(panel.locator('header')).toContainText('so far')
  await page.mouse.move(0, 0)
  for (const panel of [players, taken]) await expect(panel.locator('header')).toContainText('in the 24 hours before')
})

test.describe('Dashboard in the operator’s time zone', () => {
  test.use({ timezoneId: 'Asia/Kolkata' })
  test('Dashboard: hours and days are in UTC, which is said once', async ({ page, server, signIn }) => {
    await addPlayers(server, 3)
    await signIn('admin')
    const slider = page.getByRole('slider', { name: 'New players', exact: true })
    await page.goto('/?range=24h')
    await expect(slider).toHaveAttribute('aria-valuetext', /:00, so far: 3 new players/)
    await expect(page.getByRole('main').getByText('UTC')).toHaveText(['Times in UTC'])
    await page.goto('/?range=7d')
    await expect(slider).toHaveAttribute('aria-valuetext', /^\w{3} \d+, \d{4}, so far: \d+ new players?, \d+ before$/)
    await expect(page.getByRole('main').getByText('UTC')).toHaveText(['Times in UTC'])
  })
})

test('Dashboard: Today counts the last 24 hours, and what is new since the last look', async ({ page, server, signIn }) => {
  await addPlayers(server, 3)
  await addPlayers(server, 6, 20)
  await addPlayers(server, 4, 40)
  const { id } = await signIn('admin')
  await page.goto('/')
  const figure = (name: string) => card(page, 'Today').getByRole('term').filter({ hasText: name }).locator('xpath=..')
  await expect(card(page, 'Today').locator('header')).toHaveText('TodayThe last 24 hours, compared with the 24 hours before')
  await expect(figure('New players')).toContainText('9')
  await expect(figure('Participations')).toContainText(/125% more$/)
  await expect(figure('Claims')).toContainText('none before')
  await expect(figure('Points paid')).toContainText('0')
  const { db } = server.database
  const looks = () => sql`select from dashboard_looks where user_id = ${id}`.execute(db)
  await expect.poll(async () => (await looks()).rows.length, 'the look is noted').toBe(1)
  await sql`update dashboard_looks set seen_at = now() - interval '2 hours'`.execute(db)
  await page.reload()
  await expect(card(page, 'Today').locator('header')).toContainText(/you looked last at \d\d:\d\d$/)
  await expect(figure('New players')).toContainText(/3 since \d\d:00$/)
})

test.describe('What needs you', () => {
  test.use({ expectedNoise: { patterns: [/status of 500/] } })
  test('What needs you names what an admin has to do, is absent otherwise, and its failure stops nothing else', async ({
    page,
    server,
    signIn,
  }) => {
    await signIn('admin')
    await page.goto('/')
    await expect(card(page, 'Today')).toBeVisible()
    await expect(page.getByText('What needs you')).toHaveCount(0)
    await sql`insert into webhooks (id, url, events, secret, alert, switched_off_at) values
      ('w', 'https://bot.example.org/hooks', '{task.changed}', '', 'It has failed for a day.', now())`.execute(server.database.db)
    await page.reload()
    await expect(card(page, 'What needs you').getByRole('listitem')).toHaveText([
      'The webhook to bot.example.org: It has failed for a day. See all webhooks',
    ])
    await expectAccessible(page)
    await page.route('**/api/alerts', (route) => route.fulfill({ status: 500, json: { success: false, code: 'INTERNAL' } }))
    await page.reload()
    await expect(card(page, 'Today')).toBeVisible({ timeout: 20_000 }) // after the query's retries
    await expect(page.getByText('What needs you')).toHaveCount(0)
  })
})
