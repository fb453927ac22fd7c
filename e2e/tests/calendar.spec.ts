/** The calendar (/calendar): a week or a month as a timeline, moves by mouse and keyboard with undo, and the agenda of a phone. */
import type { Locator, Page } from '@playwright/test'
import { sql } from 'kysely'
import { expectAccessible } from '#src/axe.ts'
import { otherAdmin } from '#src/other-admin.ts'
import { desktop, phone, resize } from '#src/sizes.ts'
import { type ConsoleServer, expect, field, test, toast } from '#src/test.ts'

// A day before and after a clock change in Berlin would do as well: the moments are those of the zone.
test.use({ sample: false, timezoneId: 'Europe/Berlin' })

test.beforeEach(async ({ signIn, page: _page }) => {
  await signIn('admin')
})

interface Item {
  id: string
  title: string
  starts: string | null
  ends: string | null
}

const JUNE = '/calendar?day=2040-06-15'
const WEEK = '/calendar?view=week&day=2040-06-15' // from Sunday the 10th

const season: Item = { id: 'season', title: 'Season 9', starts: '2040-06-11T16:00Z', ends: '2040-06-14T18:00Z' }
const weekend: Item = { id: 'weekend', title: 'Weekend bonus', starts: '2040-06-16T06:00Z', ends: '2040-06-17T20:00Z' }

async function addAnnouncement({ database }: ConsoleServer, { id, title, starts, ends }: Item, status = false): Promise<void> {
  await sql`insert into announcements (id, type, title, subtitle, description, reward, status, starts_at, ends_at, start_pending, end_pending)
    values (${id}, 'desc', ${title}, 'Soon', 'More of it', 5, ${status}, ${starts}::timestamptz, ${ends}::timestamptz,
            coalesce(${starts}::timestamptz > now(), false), true)`.execute(database.db)
}

async function addTask({ database }: ConsoleServer, { id, title, starts, ends }: Item): Promise<void> {
  await sql`insert into tasks (collection, id, image, priority, title, link, reward, starts_at, ends_at)
    values ('daily', ${id}, 'twitter', (select 1 + count(*) from tasks), ${title}, 'https://x.com/1', 5, ${starts}::timestamptz, ${ends}::timestamptz)`.execute(
    database.db,
  )
}

interface Sent {
  id: string
  title: string
  state: 'scheduled' | 'sending' | 'done'
  begins: string
  ends?: string
}

async function addBroadcast({ database }: ConsoleServer, { id, title, state, begins, ends }: Sent): Promise<void> {
  await sql`insert into broadcasts (id, number, announcement_id, title, filter, state, made_at, send_at, started_at, planned_at, done_at, ends_at)
    values (${id}, (select 1 + count(*) from broadcasts), 'season', ${title}, '{}', ${state}, '2026-01-01', ${begins}::timestamptz,
            ${state === 'scheduled' ? null : begins}::timestamptz, ${state === 'scheduled' ? null : begins}::timestamptz,
            ${state === 'done' ? (ends ?? begins) : null}::timestamptz, ${state === 'done' ? null : (ends ?? null)}::timestamptz)`.execute(
    database.db,
  )
}

async function datesOf({ database }: ConsoleServer, id: string): Promise<string> {
  const { rows } = await sql<{ starts: Date | null; ends: Date | null; status: boolean | null }>`
    select starts_at as starts, ends_at as ends, status from announcements where id = ${id}
    union all select starts_at, ends_at, null from tasks where id = ${id}`.execute(database.db)
  const { starts, ends, status } = rows[0]!
  const text = (at: Date | null) => at?.toISOString().slice(5, 16) ?? 'none'
  return `${text(starts)} – ${text(ends)}${status ? ', active' : ''}`
}

function barOf(page: Page, title: string): Locator {
  return page.getByRole('button', { name: new RegExp(`^${title}: `) })
}

/** Drags the middle of a bar, or one of its ends, by days. */
async function drag(page: Page, bar: Locator, days: number, place: 'start' | 'middle' | 'end' = 'middle'): Promise<void> {
  const [box, track] = [await bar.boundingBox(), await bar.locator('..').boundingBox()]
  if (!box || !track) throw new Error('the bar is not to be seen')
  const x = { start: box.x + 3, middle: box.x + box.width / 2, end: box.x + box.width - 3 }[place]
  const columns = page.url().includes('view=week') ? 7 : 30
  await page.mouse.move(x, box.y + box.height / 2)
  await page.mouse.down()
  await page.mouse.move(x + (days * track.width) / columns, box.y + box.height / 2, { steps: 6 })
  await page.mouse.up()
}

test('Calendar: the navigation opens this month, the timeline shows what is scheduled in a month or week, by kind', async ({
  page,
  server,
}) => {
  await addAnnouncement(server, season)
  await addTask(server, weekend)
  await addTask(server, { id: 'always', title: 'Undated', starts: null, ends: null })
  await page.goto('/')
  await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Calendar' }).click()
  await expect(page.getByRole('heading', { name: 'Calendar', level: 1 })).toBeVisible()
  await expect(page.getByText(/has a start or an end in/)).toBeVisible()

  await page.goto(JUNE)
  await expect(page.getByRole('heading', { name: 'June 2040' })).toBeVisible()
  await expect(page.getByText('Europe/Berlin (UTC+2)')).toBeVisible()
  await expect(barOf(page, 'Season 9')).toHaveAccessibleName(
    'Season 9: Mon, Jun 11, 06:00 PM – Thu, Jun 14, 08:00 PM, Scheduled, Jun 11 – Jun 14',
  )
  await expect(barOf(page, 'Weekend bonus')).toBeVisible()
  await page.getByLabel('Show').selectOption('Daily Tasks')
  await expect(barOf(page, 'Season 9')).toHaveCount(0)
  await expect(page).toHaveURL(/kind=daily/)
  await page.getByRole('button', { name: 'Week', exact: true }).click()
  await expect(page.getByRole('heading', { name: 'Jun 10 – 16, 2040' })).toBeVisible()
  await expect(barOf(page, 'Weekend bonus')).toBeVisible()
  await page.getByRole('button', { name: 'Previous week' }).click()
  await expect(page.getByText('No daily task has a start or an end in Jun 3 – 9, 2040.')).toBeVisible()
  await page.goBack()
  await expect(barOf(page, 'Weekend bonus')).toBeVisible()
  await page.getByRole('link', { name: 'Weekend bonus' }).click()
  await expect(page).toHaveURL('/daily-tasks-form-update?id=weekend')
})

test('Calendar: a drag moves the dates by days or half hours, of one end only if that is dragged; Undo puts them back', async ({
  page,
  server,
}) => {
  await addAnnouncement(server, season)
  await addTask(server, weekend)
  await page.goto(JUNE)
  await drag(page, barOf(page, 'Season 9'), 2)
  await expect(toast(page, 'Season 9 moved: Wed, Jun 13, 06:00 PM – Sat, Jun 16, 08:00 PM.')).toBeVisible()
  expect(await datesOf(server, 'season')).toBe('06-13T16:00 – 06-16T18:00')
  await toast(page, 'Season 9 moved').getByRole('button', { name: 'Undo' }).click()
  await expect(toast(page, 'Season 9 is back.')).toBeVisible()
  expect(await datesOf(server, 'season')).toBe('06-11T16:00 – 06-14T18:00')
  await expect(barOf(page, 'Season 9')).toHaveAccessibleName(/Mon, Jun 11, 06:00 PM – Thu, Jun 14/)

  await page.goto(WEEK)
  await drag(page, barOf(page, 'Weekend bonus'), -0.5)
  await expect(toast(page, 'Weekend bonus moved: Fri, Jun 15, 08:00 PM – Sun, Jun 17, 10:00 AM.')).toBeVisible()
  await drag(page, barOf(page, 'Weekend bonus'), 0.25, 'start')
  await expect(toast(page, 'Weekend bonus moved: Sat, Jun 16, 02:00 AM – Sun, Jun 17, 10:00 AM.')).toBeVisible()
  expect(await datesOf(server, 'weekend')).toBe('06-16T00:00 – 06-17T08:00')
  await drag(page, barOf(page, 'Season 9'), -5, 'end')
  await expect(toast(page, 'Season 9 would end before it starts.')).toBeVisible()
  expect(await datesOf(server, 'season')).toBe('06-11T16:00 – 06-14T18:00')
})

test('Calendar: keys move a bar, which is announced, and the focus stays; Escape puts it back', async ({ page, server }) => {
  await addAnnouncement(server, season)
  await addTask(server, weekend)
  await page.goto(JUNE)
  const bar = barOf(page, 'Season 9')
  await bar.press('Space')
  await expect(page.getByText('Season 9 picked up: Mon, Jun 11, 06:00 PM')).toBeAttached()
  await page.keyboard.press('ArrowRight')
  await page.keyboard.press('ArrowDown')
  await expect(page.getByText('Tue, Jun 19, 06:00 PM – Fri, Jun 22, 08:00 PM', { exact: true }).first()).toBeAttached()
  await page.keyboard.press('Escape')
  await expect(bar).toHaveAccessibleName(/Mon, Jun 11/)
  await bar.press('Space')
  await page.keyboard.press('ArrowLeft')
  await page.keyboard.press('Space')
  await expect(toast(page, 'Season 9 moved: Sun, Jun 10, 06:00 PM – Wed, Jun 13, 08:00 PM.')).toBeVisible()
  await expect(bar).toBeFocused()
  expect(await datesOf(server, 'season')).toBe('06-10T16:00 – 06-13T18:00')
  await page.keyboard.press('ArrowDown')
  await expect(barOf(page, 'Weekend bonus')).toBeFocused()
  await page.keyboard.press('u')
  await expect(toast(page, 'Season 9 is back.')).toBeVisible()
  expect(await datesOf(server, 'season')).toBe('06-11T16:00 – 06-14T18:00')
})

test('Calendar: an active announcement stays active when its end is moved, and its start stays', async ({ page, server }) => {
  await addAnnouncement(server, { ...season, starts: '2026-01-01T00:00Z' }, true)
  await page.goto(JUNE)
  await drag(page, barOf(page, 'Season 9'), 3)
  await expect(toast(page, 'Season 9 moved')).toBeVisible()
  expect(await datesOf(server, 'season')).toBe('01-01T00:00 – 06-17T18:00, active')
})

test('Calendar: the dialog of a bar sets dates to the minute and leads to the form', async ({ page, server }) => {
  await addAnnouncement(server, season)
  await page.goto(JUNE)
  await barOf(page, 'Season 9').click()
  const dialog = page.getByRole('dialog', { name: 'Season 9' })
  await expect(field(dialog, 'Starts At')).toHaveValue('2040-06-11T18:00')
  await field(dialog, 'Starts At').fill('2040-06-15T00:00')
  await dialog.getByRole('button', { name: 'Save Dates' }).click()
  await expect(dialog.getByText('Ends At must be after Starts At')).toBeVisible()
  await field(dialog, 'Ends At').fill('')
  await dialog.getByRole('button', { name: 'Save Dates' }).click()
  await expect(toast(page, 'Season 9 moved: from Fri, Jun 15, 12:00 AM.')).toBeVisible()
  expect(await datesOf(server, 'season')).toBe('06-14T22:00 – none')
  await barOf(page, 'Season 9').press('Enter')
  await dialog.getByRole('link', { name: 'Open its form' }).click()
  await expect(page).toHaveURL('/annoucement-form-update?id=season')
})

test.describe('refused by the server', () => {
  test.use({ expectedNoise: { patterns: [/status of (409|500)/] } })

  test('Calendar: a move of what somebody else has changed meanwhile is refused, and the bar shows what is saved', async ({
    page,
    server,
  }) => {
    await addTask(server, weekend)
    await page.goto(JUNE)
    await expect(barOf(page, 'Weekend bonus')).toBeVisible()
    const { call } = await otherAdmin(server)
    const task = { priority: 1, type: 'twitter', title: 'Weekend bonus', link: 'https://x.com/1', reward: 5 }
    await call('PUT', '/api/daily-tasks/weekend', { ...task, endsAt: '2040-06-20T20:00:00Z' })
    await drag(page, barOf(page, 'Weekend bonus'), -2)
    await expect(toast(page, 'Weekend bonus was not moved.')).toContainText('the calendar shows what is saved')
    await expect(barOf(page, 'Weekend bonus')).toHaveAccessibleName(/Sat, Jun 16, 08:00 AM – Wed, Jun 20, 10:00 PM/)
  })

  test('Calendar: a calendar that cannot be loaded says so', async ({ page }) => {
    await page.route('**/api/calendar?*', (route) => route.fulfill({ status: 500, json: { success: false, message: 'No.' } }))
    await page.goto(JUNE)
    await expect(page.getByRole('button', { name: 'Retry' })).toBeVisible()
  })
})

test('Calendar: a phone shows an agenda, whose entries open the same dialog; axe finds nothing at both sizes', async ({
  page,
  server,
}) => {
  await addAnnouncement(server, season)
  await addTask(server, weekend)
  await addAnnouncement(server, { id: 'open', title: 'Without an end', starts: '2040-01-01T00:00Z', ends: null })
  await page.goto(WEEK)
  await resize(page, desktop)
  await expect(barOf(page, 'Season 9')).toBeVisible()
  await expectAccessible(page)
  await resize(page, phone)
  await expect(page.getByRole('heading', { level: 2 })).toHaveText([
    'Jun 10 – 16, 2040',
    'All the time',
    'Mon, Jun 11',
    'Thu, Jun 14',
    'Sat, Jun 16',
  ])
  await expectAccessible(page)
  const entry = page.getByRole('button', { name: /06:00 PM starts.*Season 9/ })
  await entry.click()
  await field(page, 'Starts At').fill('2040-06-12T09:30')
  await page.getByRole('button', { name: 'Save Dates' }).click()
  await expect(toast(page, 'Season 9 moved: Tue, Jun 12, 09:30 AM')).toBeVisible()
  expect(await datesOf(server, 'season')).toBe('06-12T07:30 – 06-14T18:00')
})

test('Calendar: broadcasts have marks in the month and the week, which lead to their pages, also by keyboard', async ({
  page,
  server,
}) => {
  await addAnnouncement(server, season)
  await addBroadcast(server, { id: 'news', title: 'Season 9 begins', state: 'scheduled', begins: '2040-06-11T16:00Z' })
  await addBroadcast(server, {
    id: 'sale',
    title: 'Sale',
    state: 'scheduled',
    begins: '2040-06-13T16:00Z',
    ends: '2040-06-13T19:00Z',
  })
  await page.goto(JUNE)
  const mark = page.getByRole('link', { name: 'Season 9 begins: Mon, Jun 11, 06:00 PM, Scheduled' })
  await expect(mark).toBeVisible()
  await expect(page.getByRole('link', { name: 'Sale: Wed, Jun 13, 06:00 PM – 09:00 PM, Scheduled' })).toBeVisible()
  await expectAccessible(page)
  await page.getByLabel('Show').selectOption('Broadcasts')
  await expect(page).toHaveURL(/kind=broadcast/)
  await expect(barOf(page, 'Season 9')).toHaveCount(0)
  await page.getByLabel('Show').selectOption('Announcements')
  await expect(mark).toHaveCount(0)
  await expect(barOf(page, 'Season 9')).toBeVisible()

  await page.goto(WEEK)
  await barOf(page, 'Season 9').focus()
  await page.keyboard.press('ArrowDown')
  await expect(mark).toBeFocused()
  await page.keyboard.press('Enter')
  await expect(page).toHaveURL('/broadcasts/news')
  await page.goBack()
  await page.getByRole('link', { name: 'Sale', exact: true }).click()
  await expect(page).toHaveURL('/broadcasts/sale')
  await page.goto('/calendar?view=week&day=2040-07-15&kind=broadcast')
  await expect(page.getByText('No broadcast is sent in Jul 15 – 21, 2040.')).toBeVisible()
})

test('Calendar: the agenda of a phone has when a broadcast begins and ends, its long title is shown whole, and leads to its page', async ({
  page,
  server,
}) => {
  const title = 'A long announcement of the ninth season that does not fit into one line of a phone, with all its words'
  await addAnnouncement(server, season) // the one that is sent: the broadcast's page shows it
  await addBroadcast(server, { id: 'long', title, state: 'scheduled', begins: '2040-06-13T16:00Z', ends: '2040-06-14T06:30Z' })
  await resize(page, phone)
  await page.goto(WEEK)
  const begins = page.getByRole('link', { name: new RegExp(`^06:00 PM begins ?${title} ?Broadcast Scheduled`) })
  await expect(begins).toBeVisible()
  await expect(page.getByRole('link', { name: /^08:30 AM ends/ })).toBeVisible()
  const text = begins.getByText(title)
  const size = await text.evaluate((element) => [element.scrollWidth <= element.clientWidth, element.clientHeight > 30])
  expect(size).toEqual([true, true])
  await expectAccessible(page)
  await begins.click()
  await expect(page).toHaveURL('/broadcasts/long')
})
