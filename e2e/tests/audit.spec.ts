/** The page of the audit trail: entries with old and new values, filters and exports. */
import { readFile } from 'node:fs/promises'
import type { Page } from '@playwright/test'
import { sql } from 'kysely'
import { expectAccessible } from '#src/axe.ts'
import { rows, settled } from '#src/lists.ts'
import { otherAdmin } from '#src/other-admin.ts'
import { sizes } from '#src/sizes.ts'
import { addTasks, social } from '#src/tasks.ts'
import { type ConsoleServer, control, expect, field, test, toast } from '#src/test.ts'

test.use({ sample: false, ownContext: true }) // some set the clock

const chips = (page: Page) => page.getByRole('list', { name: 'Active filters' }).getByRole('listitem')

/** Changes title and reward of the first task, through the form. */
async function changeATask(page: Page, server: ConsoleServer): Promise<void> {
  await addTasks(server, social, { title: 'Follow us', reward: 5 })
  await page.goto('/social-tasks-form-update?id=social-1')
  await field(page, 'Title').fill('Follow the moon')
  await field(page, 'Reward').fill('7')
  await page.getByRole('form').getByRole('button', { name: 'Update' }).click()
  await expect(page).toHaveURL('/social-tasks')
}

/** Adds a task as another admin, so that there are acts of two people. */
async function actAsBo(server: ConsoleServer): Promise<void> {
  const task = { priority: 1, type: 'twitter', title: 'A task of Bo', link: 'https://x.com/bo', reward: 1 }
  await (await otherAdmin(server)).call('POST', '/api/daily-tasks', task)
}

test('Audit: an operator’s act is listed first, with before → after, the exact time and the request', async ({
  page,
  signIn,
  server,
}) => {
  await signIn('admin')
  await changeATask(page, server)
  await page.getByRole('link', { name: 'Audit', exact: true }).click()
  await settled(page)
  const first = rows(page).first()
  await expect(first).toContainText('Ada Admin')
  await expect(first).toContainText('Changed a task')
  await expect(first).toContainText('Social Task')
  await expect(first).toContainText('Title: Follow us → Follow the moon')
  await expect(first).toContainText('Reward: 5 → 7')

  await first.getByRole('button', { name: 'Changed a task' }).press('Enter')
  const dialog = page.getByRole('dialog', { name: 'View More' })
  await expect(dialog.getByRole('listitem').filter({ hasText: 'Title' })).toHaveText(/Title\s*Follow us→Follow the moon/)
  await expect(dialog.getByRole('time')).toContainText(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3,6}Z/)
  await expect(dialog).toContainText(/Request[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/)
  await expect(dialog.getByRole('button', { name: 'Copy Request' })).toBeVisible()
  await page.keyboard.press('Escape')
  await expect(first.getByRole('button', { name: 'Changed a task' })).toBeFocused()
})

test('Audit: entries are filtered by person, action and record; chips show names, also if nothing matches', async ({
  page,
  signIn,
  server,
}) => {
  await signIn('admin')
  await changeATask(page, server)
  await actAsBo(server)
  await page.goto('/audit?actorKind=user')
  await settled(page)
  await expect(rows(page)).toHaveCount(2)
  await page.getByRole('link', { name: 'Bo Boss' }).first().click()
  await expect(rows(page)).toHaveCount(1)
  await expect(rows(page)).toContainText('A task of Bo')
  await expect(chips(page).first()).toHaveText('Who: Bo Boss')

  await page.getByRole('button', { name: /^Filters/ }).click()
  await page.getByLabel('What', { exact: true }).selectOption('Deleted a task')
  await page.keyboard.press('Escape')
  await expect(page.getByText('No entry matches.')).toBeVisible()
  await expect(chips(page).filter({ hasText: 'Who' })).toHaveText('Who: Bo Boss')
  await page.getByRole('button', { name: 'Clear filters' }).last().click()
  await expect(rows(page).filter({ hasText: 'task' })).toHaveCount(2)

  await page.getByRole('button', { name: /^Filters/ }).click()
  await page.getByLabel('Who', { exact: true }).selectOption('Ada Admin')
  await page.keyboard.press('Escape')
  await expect(rows(page)).toHaveCount(1)
  await page.goto('/audit?recordId=social-1&action=user.role')
  await expect(page.getByText('No entry matches.')).toBeVisible()
  await expect(chips(page).filter({ hasText: 'Record' })).toHaveText('Record: Follow the moon')
})

test('Audit: entries are filtered by time, including the last minute; a date in the address means the whole day', async ({
  page,
  signIn,
  server,
}) => {
  await page.clock.setFixedTime(new Date('2026-05-05T12:00:00Z'))
  await signIn('admin')
  await actAsBo(server)
  const { rows: done } = await sql<{ at: Date }>`select at from audit_trail where actor_kind = 'user'`.execute(server.database.db)
  const local = await page.evaluate((moment) => {
    const minutes = (offset: number) => {
      const date = new Date(Date.parse(moment) + offset * 60_000)
      return new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 16)
    }
    const [, year, month, day, hour, minute] = /(\d+)-(\d+)-(\d+)T(\d+):(\d+)/.exec(minutes(0))!
    const ofTwelve = String(Number(hour) % 12 || 12).padStart(2, '0')
    const shown = `${month}/${day}/${year} ${ofTwelve}:${minute} ${Number(hour) < 12 ? 'AM' : 'PM'}`
    return { now: minutes(0), shown, next: minutes(1), before: minutes(-1) }
  }, done[0]!.at.toISOString())
  await page.goto('/audit?actorKind=user')
  await expect(rows(page)).toHaveCount(1)
  await page.getByRole('button', { name: /^Filters/ }).click()
  await field(page, 'From').fill(local.now)
  await field(page, 'Until').fill(local.now)
  await page.keyboard.press('Escape')
  await expect(chips(page).filter({ hasText: 'Until' })).toHaveText(`Until: ${local.shown}`)
  await expect(rows(page)).toContainText('A task of Bo')
  await page.goto(`/audit?actorKind=user&doneFrom=${local.next}`)
  await expect(page.getByText('No entry matches.')).toBeVisible()
  await page.goto(`/audit?actorKind=user&doneUntil=${local.before}`)
  await expect(page.getByText('No entry matches.')).toBeVisible()
  const day = local.now.slice(0, 10)
  await page.goto(`/audit?actorKind=user&doneFrom=${day}&doneUntil=${day}`)
  await expect(rows(page)).toContainText('A task of Bo')
  await expect(chips(page).filter({ hasText: 'Until' })).toHaveText(`Until: ${local.shown.split(' ')[0]} 11:59 PM`)
})

test('Audit: newer entries are announced by a button, which shows them', async ({ page, signIn, server }) => {
  await page.clock.install()
  await signIn('admin')
  await page.goto('/audit?actorKind=user')
  await expect(page.getByText('No entry matches.')).toBeVisible()
  let polls = 0
  page.on('response', (response) => void (polls += Number(response.url().includes('/api/audit?'))))
  // More than a quarter of an hour, in which the operator uses the page.
  while (polls < 92) {
    await page.keyboard.press('Shift')
    await page.clock.runFor(10_000)
  }
  await actAsBo(server)
  await page.clock.runFor(11_000)
  const newer = page.getByRole('button', { name: '1 newer entry' })
  await newer.click()
  await expect(rows(page)).toContainText('A task of Bo')
  await expect(newer).toBeHidden()
})

test('Audit: the export has the rows that are shown, and is itself an act in the trail', async ({ page, signIn, server }) => {
  await signIn('admin')
  await changeATask(page, server)
  await actAsBo(server)
  await page.goto('/audit?q=follow')
  await settled(page)
  await page.getByRole('button', { name: 'More exports' }).click()
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'These as CSV' }).click(),
  ])
  const csv = await readFile(await download.path(), 'utf8')
  expect(csv).toContain('Follow the moon')
  expect(csv).not.toContain('A task of Bo')
  await expect(toast(page, 'Data Downloaded Successfuly!')).toBeVisible()
  await page.goto('/audit?action=export')
  await expect(rows(page)).toHaveCount(1)
  await expect(rows(page)).toContainText('List')
})

test('Audit: §6 a user cannot open it', async ({ page, signIn }) => {
  await signIn('user')
  await page.goto('/audit')
  await expect(control(page, 'Audit')).toHaveCount(0)
  await expect(page.getByRole('table', { name: 'Audit' })).toHaveCount(0)
})

for (const viewport of sizes) {
  test(`axe finds nothing on the audit trail and in an entry at ${viewport.width} × ${viewport.height}`, async ({
    page,
    signIn,
    server,
  }) => {
    await page.setViewportSize(viewport)
    await signIn('admin')
    await changeATask(page, server)
    await page.goto('/audit?actorKind=user')
    await settled(page)
    await expectAccessible(page)
    await page.getByRole('button', { name: 'Changed a task' }).click()
    await expect(page.getByRole('dialog', { name: 'View More' })).toBeVisible()
    await expectAccessible(page)
  })
}
