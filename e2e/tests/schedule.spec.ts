/** When and for whom: the section of the forms, the states in lists, their filter and the acts on a selection (issue of campaigns). */
import type { Locator, Page } from '@playwright/test'
import { add, fillIn, newDesc, row as announcementRow, season, statusButton, stored, submitButton } from '#src/announcements.ts'
import { expectStateAccessible } from '#src/axe.ts'
import { addTasks, row, social } from '#src/tasks.ts'
import { control, expect, field, test, toast } from '#src/test.ts'

test.use({ sample: false, timezoneId: 'Europe/Berlin', expectedNoise: { patterns: [/status of 400/] } })

test.beforeEach(async ({ signIn, page: _page }) => {
  await signIn('admin')
})

/** The section's heading, which opens and closes it. */
function section(page: Page): Locator {
  return page.locator('summary').filter({ hasText: 'When and for whom' })
}

const iso = (at: Date | null | undefined) => at?.toISOString() ?? null

test('When and for whom: dates and limits of a new announcement; it is Scheduled in the list; what is cleared is gone', async ({
  page,
  server,
}) => {
  await page.goto('/annoucement-form')
  await fillIn(page, newDesc)
  await expect(field(page, 'Starts At')).toBeHidden()
  await expect(section(page)).toContainText('No dates or limits')
  await section(page).click()
  await field(page, 'Starts At').fill('2040-07-06T18:00')
  await expect(field(page, 'Starts At')).toHaveAccessibleDescription(/Europe\/Berlin \(UTC\+2\) · 07\/06\/2040 04:00 PM UTC/)
  await field(page, 'Ends At').fill('2040-07-08T18:00')
  await field(page, 'Most Participants').fill('5,000')
  await field(page, 'Daily Budget').fill('20000')
  await expect(section(page)).toContainText(
    'from 07/06/2040 06:00 PM · until 07/08/2040 06:00 PM · the first 5,000 · 20,000 points a day',
  )
  await expectStateAccessible(page)
  await submitButton(page, 'Add Annoucement').click()
  await expect(page).toHaveURL('/annoucements')
  await expect(statusButton(page, 'Season 3', 'In Active')).toBeVisible()
  await expect(announcementRow(page, 'Season 3').getByText('Scheduled', { exact: true })).toBeVisible()
  const [saved] = await stored(server)
  expect([iso(saved?.starts_at), iso(saved?.ends_at), saved?.max_participants, saved?.daily_budget]).toEqual([
    '2040-07-06T16:00:00.000Z',
    '2040-07-08T16:00:00.000Z',
    5000,
    20_000,
  ])

  await page.getByRole('link', { name: 'Season 3' }).click()
  await expect(field(page, 'Starts At')).toHaveValue('2040-07-06T18:00')
  await field(page, 'Starts At').fill('')
  await field(page, 'Most Participants').fill('')
  await submitButton(page, 'Update').click()
  await expect(page).toHaveURL('/annoucements')
  const [changed] = await stored(server)
  expect([iso(changed?.starts_at), iso(changed?.ends_at), changed?.max_participants, changed?.daily_budget]).toEqual([
    null,
    '2040-07-08T16:00:00.000Z',
    null,
    20_000,
  ])
})

test('When and for whom: errors open the section; a time that the clock leaves out is said', async ({ page, server }) => {
  await page.goto('/annoucement-form')
  await fillIn(page, { ...newDesc, Reward: '10' })
  await section(page).click()
  await field(page, 'Starts At').fill('2040-07-06T18:00')
  await field(page, 'Ends At').fill('2040-07-06T17:00')
  await field(page, 'Daily Budget').fill('9')
  await field(page, 'Most Participants').fill('0')
  await submitButton(page, 'Add Annoucement').click()
  await expect(field(page, 'Ends At')).toHaveAccessibleDescription(/Ends At must be after Starts At/)
  await expect(field(page, 'Daily Budget')).toHaveAccessibleDescription(/Daily Budget must be at least the reward/)
  await expect(field(page, 'Most Participants')).toHaveAccessibleDescription(/must be a whole number/)
  await fillIn(page, { 'Most Participants': '', 'Daily Budget': '', 'Starts At': '', 'Ends At': '2020-01-01T00:00' })
  await section(page).click()
  await expect(field(page, 'Ends At')).toBeHidden()
  await submitButton(page, 'Add Annoucement').click()
  await expect(field(page, 'Ends At')).toHaveAccessibleDescription(/must be in the future/)

  await fillIn(page, { 'Ends At': '', 'Starts At': '2040-03-25T02:30' })
  await expect(page.getByText('There is no such time')).toBeVisible()
  await expect(field(page, 'Starts At')).toHaveAccessibleDescription(
    /On this day the clock goes from 02:00 AM to 03:00 AM, so there is no 02:30 AM\./,
  )
  await submitButton(page, 'Add Annoucement').click()
  await expect(field(page, 'Starts At')).toBeFocused()
  expect(await stored(server)).toEqual([])
  await field(page, 'Starts At').fill('2040-10-28T02:30')
  await page.getByRole('radio', { name: 'The second (UTC+1)' }).check()
  await submitButton(page, 'Add Annoucement').click()
  await expect(page).toHaveURL('/annoucements')
  expect(iso((await stored(server))[0]?.starts_at)).toBe('2040-10-28T01:30:00.000Z')
})

test('When and for whom: a paused task is marked in its list, and the filter finds it; its copy has no dates', async ({
  page,
  server,
}) => {
  await addTasks(server, social, { title: 'Follow', link: 'https://x.com/1' }, { title: 'Retweet', link: 'https://x.com/2' })
  await page.goto('/social-tasks-form-update?id=social-1')
  await section(page).click()
  await field(page, 'Ends At').fill('2040-07-06T18:00')
  await page.getByLabel('Paused').check()
  await page.getByRole('form').getByRole('button', { name: 'Update' }).click()
  await expect(page).toHaveURL('/social-tasks')
  await expect(row(page, 'Follow').getByText('Paused', { exact: true })).toBeVisible()
  await page.goto('/social-tasks?state=paused')
  await expect(row(page, 'Follow')).toBeVisible()
  await expect(row(page, 'Retweet')).toHaveCount(0)
  await control(row(page, 'Follow'), 'Duplicate').click()
  await expect(section(page)).toContainText('the dates of the original are not copied')
  await section(page).click()
  await expect(field(page, 'Ends At')).toHaveValue('')
  await expect(page.getByLabel('Paused')).not.toBeChecked()
  await field(page, 'Ends At').fill('2040-08-06T18:00')
  await expect(section(page)).toContainText('until 08/06/2040')
  await expect(section(page)).not.toContainText('not copied')
})

test('When and for whom: the list and the form name the segment that a task is for', async ({ page, server }) => {
  const name = 'Wallets of the first season'
  const view = { id: 'wallets', list: 'telegramUsers', name, address: 'has=wallet' } as const
  await server.database.db.insertInto('saved_views').values(view).execute()
  await addTasks(server, social, { title: 'Follow', link: 'https://x.com/1' }, { title: 'Retweet', link: 'https://x.com/2' })
  await server.database.db.updateTable('tasks').set({ segment_id: 'wallets' }).where('title', '=', 'Follow').execute()
  await page.goto('/social-tasks')
  await expect(row(page, 'Follow').getByTitle(`for ${name}`)).toHaveText(`for ${name}`)
  await expect(row(page, 'Retweet').getByText('for ')).toHaveCount(0)
  await page.getByRole('link', { name: 'Follow' }).click()
  await expect(section(page)).toContainText(`for ${name}`)
})

test('When and for whom: a segment that cannot be read counts no players', async ({ page, server }) => {
  const view = { id: 'zq', list: 'telegramUsers', name: 'Zq', address: 'balanceMin=abc' } as const
  await server.database.db.insertInto('saved_views').values(view).execute()
  await page.goto('/social-tasks-form')
  await section(page).click()
  await field(page, 'For').selectOption('Zq')
  await expect(page.getByText('0 players now: a part of this view cannot be read')).toBeVisible()
  await expect(page.getByRole('link', { name: 'See the view' })).toHaveAttribute('href', /balanceMin=abc$/)
})

test('When and for whom: the switch by hand says what it does to the schedule, and can be undone', async ({ page, server }) => {
  await add(server, season)
  await server.database.db
    .updateTable('announcements')
    .set({ starts_at: new Date('2040-07-06T16:00:00Z'), start_pending: true })
    .execute()
  await page.goto('/annoucements')
  await statusButton(page, 'Season 2', 'In Active').click()
  const question = page.getByRole('alertdialog')
  await expect(question).toContainText(/Its start on 07\/0[67]\/2040 \d\d:00 [AP]M no longer applies then\./)
  await question.getByRole('button', { name: 'Confirm' }).click()
  await expect(toast(page, 'no longer applies')).toBeVisible()
  await expect(statusButton(page, 'Season 2', 'Active')).toBeVisible()
  await expect(announcementRow(page, 'Season 2').getByText('Scheduled', { exact: true })).toHaveCount(0)
  await toast(page, 'no longer applies').getByRole('button', { name: 'Undo' }).click()
  await expect(toast(page, 'Season 2 is as before.')).toBeVisible()
  await expect(statusButton(page, 'Season 2', 'In Active')).toBeVisible()
  await expect(announcementRow(page, 'Season 2').getByText('Scheduled', { exact: true })).toBeVisible()
})

test('When and for whom: selected tasks are shifted, paused and ended, each with Undo', async ({ page, server }) => {
  await addTasks(server, social, { title: 'Follow', link: 'https://x.com/1' }, { title: 'Retweet', link: 'https://x.com/2' })
  await server.database.db
    .updateTable('tasks')
    .set({ starts_at: new Date('2040-03-24T17:00:00Z'), start_pending: true })
    .execute()
  const starts = async () => {
    const rows = await server.database.db.selectFrom('tasks').select('starts_at').orderBy('id').execute()
    return rows.map((one) => iso(one.starts_at)?.slice(5, 16))
  }
  const selectBoth = async () => {
    for (const number of [1, 2]) await page.getByRole('checkbox', { name: `Select row ${number}`, exact: true }).check()
  }
  const confirm = (name: string) => page.getByRole('alertdialog').getByRole('button', { name, exact: true }).click()
  await page.goto('/social-tasks')
  await page.getByRole('button', { name: 'Select', exact: true }).click()
  await selectBoth()
  await page.getByRole('button', { name: 'Shift Dates' }).click()
  await page.getByRole('button', { name: 'Continue' }).click()
  await expect(page.getByText('Say by how many days or hours')).toBeVisible()
  await field(page, 'Days').fill('1')
  await page.keyboard.press('Escape')
  await expect(page.getByRole('alertdialog', { name: 'Close without saving?' })).toBeVisible()
  await page.keyboard.press('Escape')
  await expect(field(page, 'Days')).toBeFocused()
  await field(page, 'Hours').fill('2')
  await page.getByRole('button', { name: 'Continue' }).click()
  await expect(page.getByRole('alertdialog')).toContainText('move the dates of 2 tasks 1 day and 2 hours later?')
  await confirm('Shift 2 tasks')
  await expect(toast(page, 'The dates of 2 tasks moved 1 day and 2 hours later.')).toBeVisible()
  expect(await starts()).toEqual(['03-25T18:00', '03-25T18:00']) // the clock went forward: 18:00, a day and 2 hours later 20:00
  await toast(page, 'The dates of 2 tasks').getByRole('button', { name: 'Undo' }).click()
  await expect(toast(page, '2 tasks are as before.')).toBeVisible()
  expect(await starts()).toEqual(['03-24T17:00', '03-24T17:00'])

  await selectBoth()
  await page.getByRole('button', { name: 'Pause', exact: true }).click()
  await confirm('Pause 2 tasks')
  await expect(row(page, 'Follow').getByText('Paused', { exact: true })).toBeVisible()
  await selectBoth()
  await page.getByRole('button', { name: 'Resume', exact: true }).click()
  await confirm('Resume 2 tasks')
  await expect(row(page, 'Follow').getByText('Scheduled', { exact: true })).toBeVisible()
  await selectBoth()
  await page.getByRole('button', { name: 'End Now' }).click()
  await expect(page.getByRole('alertdialog')).toContainText('Are you sure you want to end 2 tasks now?')
  await confirm('End 2 tasks')
  await expect(row(page, 'Retweet').getByText('Ended', { exact: true })).toBeVisible()
  await toast(page, '2 tasks ended.').getByRole('button', { name: 'Undo' }).click()
  await expect(row(page, 'Retweet').getByText('Scheduled', { exact: true })).toBeVisible()
})
