/** A record's versions: its history below the form, restoring an earlier version, and merging a stale save with another admin's save. */
import type { Page } from '@playwright/test'
import { add, fillIn, newDesc, season, statusButton, stored } from '#src/announcements.ts'
import { expectStateAccessible } from '#src/axe.ts'
import { otherAdmin } from '#src/other-admin.ts'
import { addTasks, social, storedTasks } from '#src/tasks.ts'
import { control, expect, field, hold, test, toast } from '#src/test.ts'

test.use({ sample: false })

const history = (page: Page) => page.getByRole('region', { name: 'History of changes' })
const entries = (page: Page) => page.getByRole('list', { name: 'Changes, newest first' }).locator('> li')
const update = (page: Page) => page.getByRole('form').getByRole('button', { name: 'Update', exact: true }).click()
const form = '/social-tasks-form-update?id=social-1'

async function saveTask(page: Page, values: Record<string, string>): Promise<void> {
  await page.goto(form)
  for (const [label, value] of Object.entries(values)) await field(page, label).fill(value)
  await update(page)
  await expect(page).toHaveURL('/social-tasks')
}

test('Versions: the history below a form says who changed what; restoring an earlier version is a new change', async ({
  page,
  signIn,
  server,
}) => {
  await signIn('admin')
  await addTasks(server, social, { title: 'First', reward: 5 })
  await saveTask(page, { Title: 'Second', Reward: '7' })
  await saveTask(page, { Title: 'Third' })
  await page.goto(form)
  const toggle = history(page).getByRole('button', { name: 'History of changes' })
  await expect(toggle).toHaveAttribute('aria-expanded', 'false')
  await toggle.press('Enter')
  await expect(entries(page)).toHaveCount(2)
  await expect(entries(page).first()).toContainText('Ada Admin · Changed a task')
  await expect(entries(page).first()).toContainText(/Title\s*Second→Third/)
  await expect(entries(page).first().getByRole('button')).toHaveCount(0)
  await expect(entries(page).nth(1)).toContainText(/Reward\s*5→7/)
  await expect(entries(page).nth(1).getByRole('button')).toHaveCount(2)

  await entries(page).nth(1).getByRole('button', { name: 'Restore this version' }).click()
  const question = page.getByRole('alertdialog', { name: 'Restore this version' })
  await expect(question).toContainText(/Title\s*Third→Second/)
  await question.getByRole('button', { name: 'Cancel' }).click()
  expect(await storedTasks(server, social)).toMatchObject([{ title: 'Third' }])
  await entries(page).nth(1).getByRole('button', { name: 'Restore this version' }).click()
  await question.getByRole('button', { name: 'Restore this version' }).click()
  await expect(toast(page, 'Version restored.')).toBeVisible()
  await expect(field(page, 'Title')).toHaveValue('Second')
  expect(await storedTasks(server, social)).toMatchObject([{ title: 'Second', reward: 7 }])
  await expect(entries(page)).toHaveCount(3)
  await expect(entries(page).first()).toContainText('an earlier version came back')
  await expectStateAccessible(page)
})

test('Versions: the version before the first change can be restored too, unless the record was created in the console', async ({
  page,
  signIn,
  server,
}) => {
  await signIn('admin')
  await addTasks(server, social, { title: 'Imported', reward: 5 })
  await saveTask(page, { Title: 'Changed', Reward: '7' })
  await page.goto(form)
  await history(page).getByRole('button', { name: 'History of changes' }).click()
  const before = entries(page).first().getByRole('button', { name: 'Restore the version before this' })
  await before.click()
  const question = page.getByRole('alertdialog', { name: 'Restore this version' })
  await expect(question).toContainText('as it was before the change of')
  await expect(question).toContainText(/Title\s*Changed→Imported/)
  await question.getByRole('button', { name: 'Restore this version' }).click()
  await expect(toast(page, 'Version restored.')).toBeVisible()
  expect(await storedTasks(server, social)).toMatchObject([{ title: 'Imported', reward: 5 }])
  await expect(entries(page).last().getByRole('button')).toHaveText([/^Restore this version/, /^Restore the version before this/])

  await page.goto('/daily-tasks-form')
  await field(page, 'Priority').fill('1')
  await field(page, 'Type').selectOption('Twitter')
  await field(page, 'Title').fill('Made here')
  await field(page, 'Reward').fill('1')
  await page.getByRole('form').getByRole('button', { name: 'Add Task' }).click()
  await page.getByRole('link', { name: 'Made here' }).click()
  await history(page).getByRole('button', { name: 'History of changes' }).click()
  await expect(entries(page)).toHaveCount(1)
  await expect(entries(page).getByRole('button')).toHaveCount(0)
})

test('Versions: the history keeps its place beside the form while notes are loaded', async ({ page, signIn, server }) => {
  await signIn('admin')
  await addTasks(server, social, { title: 'First' })
  const loadNotes = await hold(page, '**/api/notes?*')
  await page.goto(form)
  const toggle = history(page).getByRole('button', { name: 'History of changes' })
  await expect(page.getByText('Message text')).toBeVisible()
  const before = await toggle.boundingBox()
  loadNotes()
  await expect(page.getByRole('region', { name: 'Notes' })).not.toContainText('Loading')
  expect(await toggle.boundingBox()).toEqual(before)
})

test.describe('refusals', () => {
  test.use({ expectedNoise: { patterns: [/status of 409/] } })

  test('Versions: restoring a version whose priority is taken by now is refused with the reason', async ({
    page,
    signIn,
    server,
  }) => {
    await signIn('admin')
    await addTasks(server, social, { title: 'First' }, { priority: 9 })
    await saveTask(page, { Title: 'Second' })
    await saveTask(page, { Priority: '5' })
    await server.database.db.updateTable('tasks').set({ priority: 1 }).where('id', '=', 'social-2').execute()
    await page.goto(form)
    await history(page).getByRole('button', { name: 'History of changes' }).click()
    await entries(page).nth(1).getByRole('button', { name: 'Restore this version' }).click()
    await expect(toast(page, 'Priority is already taken!')).toBeVisible()
  })

  test('Versions: a stale save shows both versions field by field, and the merged one is saved as the next version', async ({
    page,
    browser,
    signIn,
    server,
  }) => {
    await signIn('admin')
    await addTasks(server, social, { title: 'First', reward: 5 })
    await page.goto(form)
    await field(page, 'Title').fill('Mine')
    const other = await (await otherAdmin(server)).open(browser, form)
    await field(other, 'Title').fill('Theirs')
    await field(other, 'Reward').fill('8')
    await update(other)
    await expect(other).toHaveURL('/social-tasks')

    await update(page)
    await expect(page.getByRole('heading', { name: 'Two versions' })).toBeFocused()
    const merge = page.getByRole('region', { name: 'Two versions' })
    await expect(merge).toContainText('Bo Boss saved the other one')
    await expect(merge.getByRole('group'), 'a field that only one has changed needs no choice').toHaveCount(1)
    await expect(merge.getByRole('region', { name: 'Bo Boss changed' })).toHaveText(/Reward\s*5→8$/)
    const title = merge.getByRole('group', { name: 'Title' })
    await expect(title.getByRole('radio', { name: 'Mine Mine' })).toBeChecked()
    await expectStateAccessible(page)

    await title.getByRole('radio', { name: 'Mine Mine' }).press('ArrowRight')
    await expect(title.getByRole('radio', { name: 'Theirs Theirs' })).toBeChecked()
    const preview = page.getByRole('group').filter({ hasText: 'Preview in Telegram' })
    await expect(preview, 'what is chosen is what one sees').toContainText('Theirs')
    await expect(field(page, 'Reward')).toHaveValue('8')
    await title.getByRole('radio', { name: 'Theirs Theirs' }).press('ArrowLeft')
    await expect(preview).toContainText('Mine')
    await expect(page.getByRole('form').getByRole('button', { name: 'Update', exact: true })).toHaveCount(0)
    await page.getByRole('button', { name: 'Save merged' }).press('Enter')
    await expect(page).toHaveURL('/social-tasks')
    expect(await storedTasks(server, social)).toMatchObject([{ title: 'Mine', reward: 8 }])
    await other.context().close()
  })

  test('Versions: a stale save of an announcement that was activated meanwhile says so, and can be saved and activated again', async ({
    page,
    signIn,
    server,
  }) => {
    await signIn('admin')
    await add(server, season)
    const other = await otherAdmin(server)
    await page.goto('/annoucement-form-update?id=season')
    await field(page, 'Subtitle').fill('Fresh rewards')
    await other.call('POST', '/api/announcements/season/status', { status: false })
    await update(page)

    const merge = page.getByRole('region', { name: 'Two versions' })
    await expect(merge.getByRole('region', { name: 'Bo Boss changed' })).toHaveText(/Status\s*In Active→Active$/)
    await expect(merge.getByRole('region', { name: 'You changed' })).toHaveText(/Subtitle\s*Fresh levels→Fresh rewards$/)
    await expect(merge.getByRole('radio'), 'nobody else has touched the subtitle').toHaveCount(0)
    await expect(page.getByText('This announcement is Active. Update makes it In Active')).toBeVisible()
    await expectStateAccessible(page)
    await page.getByRole('button', { name: 'Update and activate' }).click()
    await page.getByRole('alertdialog').getByRole('button', { name: 'Update and activate' }).click()
    await expect(statusButton(page, 'Season 2', 'Active')).toBeVisible()
    expect(await stored(server)).toMatchObject([{ subtitle: 'Fresh rewards', status: true }])
  })

  test('Versions: stale saves of an announcement and of a user can be merged too', async ({ page, browser, signIn, server }) => {
    await signIn('admin')
    await page.goto('/annoucement-form')
    await fillIn(page, newDesc)
    await page.getByRole('form').getByRole('button', { name: 'Add Annoucement' }).click()
    await expect(page).toHaveURL('/annoucements')
    const [{ id }] = (await server.database.db.selectFrom('announcements').select('id').execute()) as [{ id: string }]
    const path = `/annoucement-form-update?id=${id}`
    await page.goto(path)
    await field(page, 'Subtitle').fill('My subtitle')
    const other = await (await otherAdmin(server)).open(browser, path)
    await field(other, 'Title').fill('Their title')
    await update(other)
    await expect(other).toHaveURL('/annoucements')
    await update(page)
    await page.getByRole('button', { name: 'Save merged' }).click()
    await expect(page).toHaveURL('/annoucements')
    expect(await stored(server)).toMatchObject([{ title: 'Their title', subtitle: 'My subtitle' }])

    const uma = await server.addPerson({ fname: 'Uma', lname: 'User', email: 'uma@gmail.com', userType: 'user' })
    const address = `/update-user/${uma.id}/Uma/User/uma@gmail.com`
    await page.goto(address)
    await field(page, 'First Name').fill('Ulrike')
    await other.goto(address)
    await field(other, 'Last Name').fill('Usher')
    await control(other, 'Update').click()
    await other.getByRole('alertdialog').getByRole('button', { name: 'Confirm' }).click()
    await expect(other).toHaveURL('/manage-users')
    await other.goto(address)
    await field(other, 'Role').selectOption('Editor')
    await control(other, 'Make Admin').click()
    await other.getByRole('alertdialog').getByRole('button', { name: 'Make Admin' }).click()
    await expect(control(other, 'Make User')).toBeVisible()
    await control(page, 'Update').click()
    await page.getByRole('alertdialog').getByRole('button', { name: 'Confirm' }).click()
    await expect(page.getByRole('region', { name: 'Bo Boss changed' })).toHaveText(
      /Last Name\s*User→Usher\s*User Type\s*User→Admin\s*Role\s*Editor$/,
    )
    await page.getByRole('button', { name: 'Save merged' }).click()
    await page.getByRole('alertdialog').getByRole('button', { name: 'Confirm' }).click()
    await expect(page).toHaveURL('/manage-users')
    const user = await server.database.db.selectFrom('users').selectAll().where('id', '=', uma.id).executeTakeFirst()
    expect(user).toMatchObject({ fname: 'Ulrike', lname: 'Usher' })
    await other.context().close()
  })
})
