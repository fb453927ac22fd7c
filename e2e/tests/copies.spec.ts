/** Copies of tasks and announcements (§2, §5): the add form starts with the original's values, and the copy gets its own files. */
import type { Page } from '@playwright/test'
import { badge, banner, expectShown, row as announcementRow, season, statusButton, stored, titles } from '#src/announcements.ts'
import { expectAccessible } from '#src/axe.ts'
import { sizes } from '#src/sizes.ts'
import { addTasks, column, daily, row, social, storedTasks } from '#src/tasks.ts'
import { control, expect, field, test, toast } from '#src/test.ts'

test.use({ sample: false })

test.beforeEach(async ({ signIn, page: _page }) => {
  await signIn('admin')
})

for (const facts of [social, daily] as const) {
  const { collection, title, path } = facts

  test(`§2 ${title}: Duplicate opens a filled form without a priority; a reload keeps it`, async ({ page, server }) => {
    await addTasks(
      server,
      facts,
      { image: 'youtube', title: 'Watch', link: 'https://youtube.com/1', reward: 400.5 },
      { priority: 7.5 },
    )
    await page.goto(path)
    await row(page, 'Watch').getByRole('button', { name: 'Duplicate', exact: true }).press('Enter')
    await expect(page).toHaveURL(`${path}-form?from=${collection}-1`)
    await page.reload()
    await expect(field(page, 'Title')).toHaveValue('Watch')
    await expect(field(page, 'Type')).toHaveValue('youtube')
    await expect(field(page, 'Link')).toHaveValue('https://youtube.com/1')
    await expect(field(page, 'Reward')).toHaveValue('400.5')
    await expect(field(page, 'Priority')).toHaveValue('')
    await page.getByRole('button', { name: 'Next free: 8' }).click()
    await expect(field(page, 'Priority')).toHaveValue('8')
    await expect(field(page, 'Priority')).toBeFocused()
    await field(page, 'Title').fill('Watch again')
    await page.getByRole('form').getByRole('button', { name: 'Add Task' }).click()
    await expect(page).toHaveURL(path)
    await expect(column(page, 3)).toHaveText(['Watch', 'Task 2', 'Watch again'])
    expect(await storedTasks(server, facts)).toMatchObject([
      { priority: 1, title: 'Watch' },
      { priority: 7.5 },
      { priority: 8, title: 'Watch again', image: 'youtube', link: 'https://youtube.com/1', reward: 400.5 },
    ])
  })

  test.describe(title, () => {
    test.use({ expectedNoise: { patterns: [/status of 404/] } })

    test(`§8 ${title}: duplicating a task that is gone shows an error without Retry`, async ({ page }) => {
      await page.goto(`${path}-form?from=gone`)
      await expect(page.getByText('This task does not exist any more.')).toBeVisible()
      await expect(page.getByRole('button', { name: 'Retry' })).toHaveCount(0) // it would not bring the task back
      await control(page, 'Back').click()
      await expect(page).toHaveURL(path)
    })
  })
}

const duplicateOf = (page: Page, title: string) =>
  announcementRow(page, title).getByRole('button', { name: 'Duplicate', exact: true })

/** Creates an announcement with both files through the form, and a copy of it. */
async function addWithCopy(page: Page): Promise<void> {
  await page.goto('/annoucement-form')
  await field(page, 'Type').selectOption('link')
  for (const [label, text] of Object.entries({
    Title: 'Season 3',
    Subtitle: 'Soon',
    Link: 'https://t.me/arcade',
    Reward: '12.5',
  }))
    await field(page, label).fill(text)
  await field(page, 'Input Text').fill('Your post')
  await field(page, 'Image').setInputFiles(banner)
  await field(page, 'Icon').setInputFiles(badge)
  await page.getByRole('form').getByRole('button', { name: 'Add Annoucement' }).click()
  await duplicateOf(page, 'Season 3').press('Enter')
  await expect(page).toHaveURL(/\/annoucement-form\?from=./)
  await page.reload()
  await expect(field(page, 'Subtitle')).toHaveValue('Soon')
  await expect(field(page, 'Link')).toHaveValue('https://t.me/arcade')
  await expect(field(page, 'Input Text')).toHaveValue('Your post')
  await expect(field(page, 'Reward')).toHaveValue('12.5')
  for (const label of ['Image', 'Icon']) await expectShown(page.getByAltText(`${label} preview`))
  await field(page, 'Title').fill('Season 4')
  await page.getByRole('form').getByRole('button', { name: 'Add Annoucement' }).click()
  await expect(page).toHaveURL('/annoucements')
  await expect(titles(page)).toHaveText(['Season 3', 'Season 4'])
}

for (const [removed, kept] of [
  ['Season 3', 'Season 4'],
  ['Season 4', 'Season 3'],
] as const) {
  test(`§7 Announcements: a copy has its own files; when ${removed} is deleted, those of ${kept} stay`, async ({
    page,
    server,
  }) => {
    await addWithCopy(page)
    const rows = await stored(server)
    const { image_name: imageName, icon_name: iconName } = rows[0] ?? {}
    expect(rows[1]).toMatchObject({
      title: 'Season 4',
      image_name: imageName,
      icon_name: iconName,
      input_text: 'Your post',
      status: false,
    })
    expect(rows[1]?.image_key).not.toBe(rows[0]?.image_key)
    const gone = rows.find(({ title }) => title === removed)
    await announcementRow(page, removed).getByRole('button', { name: 'Delete', exact: true }).click()
    await page.getByRole('alertdialog').getByRole('button', { name: 'Confirm' }).click()
    await expect(toast(page, 'Annoucement Deleted Succesfuly!')).toBeVisible()
    await expect.poll(async () => (await page.request.get(`/api/files/${gone?.image_key}`)).status()).toBe(404)
    await page.reload()
    for (const name of ['banner.png', 'badge.webp']) await expectShown(announcementRow(page, kept).getByRole('img', { name }))
    const left = rows.find(({ title }) => title === kept)
    for (const key of [left?.image_key, left?.icon_key]) expect((await page.request.get(`/api/files/${key}`)).status()).toBe(200)
  })
}

test('§4 Announcements: the copy of an active one is In Active', async ({ page, server }) => {
  await server.database.db
    .insertInto('announcements')
    .values({ ...season, status: true })
    .execute()
  await page.goto('/annoucements')
  await duplicateOf(page, 'Season 2').click()
  await expect(field(page, 'Description')).toHaveValue('Everything new')
  await expect(page.getByText('No file chosen', { exact: true })).toHaveCount(2)
  await field(page, 'Title').fill('Season 2 again')
  await page.getByRole('form').getByRole('button', { name: 'Add Annoucement' }).click()
  await expect(statusButton(page, 'Season 2 again', 'In Active')).toBeVisible()
  await expect(statusButton(page, 'Season 2', 'Active')).toBeVisible()
})

for (const viewport of sizes) {
  test(`§2 Copies: axe finds nothing at ${viewport.width} × ${viewport.height}`, async ({ page, server }) => {
    await page.setViewportSize(viewport)
    await addTasks(server, social, {})
    await page.goto('/social-tasks-form?from=social-1')
    await expect(field(page, 'Title')).toHaveValue('Task 1')
    await expectAccessible(page)
  })
}
