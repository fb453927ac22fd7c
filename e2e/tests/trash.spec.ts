/** Restoring deleted records, from the toast of the deletion and from the trash, which asks for another priority or e-mail if taken. */
import type { Locator, Page } from '@playwright/test'
import { banner } from '#src/announcements.ts'
import { addTasks, social } from '#src/tasks.ts'
import { type ConsoleServer, expect, field, test, toast } from '#src/test.ts'

test.use({ sample: false })

test.beforeEach(async ({ signIn, page: _page }) => {
  await signIn('admin')
})

test('deleting many announcements can be undone from the toast, with their images', async ({ page, server }) => {
  for (const title of ['One', 'Two']) {
    const uploaded = await page.request.post('/api/files/announcements?name=banner.png', {
      data: banner.buffer,
      headers: { 'content-type': 'image/png', origin: server.url },
    })
    const { key } = (await uploaded.json()) as { key: string }
    const data = { type: 'desc', title, subtitle: 'Today', reward: 1, image: key, imageName: 'banner.png' }
    expect((await page.request.post('/api/announcements', { data, headers: { origin: server.url } })).status()).toBe(200)
  }
  await page.goto('/annoucements')
  const image = page.getByRole('img', { name: 'banner.png' }).first()
  const source = await image.getAttribute('src')
  await page.getByRole('button', { name: 'Select', exact: true }).click()
  await page.getByRole('button', { name: 'Select all 2 matching' }).click()
  await page.getByRole('button', { name: 'Delete Selected' }).click()
  await page.getByRole('alertdialog').getByRole('button', { name: 'Delete 2 announcements' }).click()
  await expect(toast(page, '2 announcements deleted.')).toBeVisible()
  expect((await page.request.get(source!)).status()).toBe(404)
  const undo = toast(page, '2 announcements deleted.').getByRole('button', { name: 'Undo' })
  await undo.focus()
  await undo.press('Enter')
  await expect(toast(page, '2 announcements are back.')).toBeVisible()
  await expect(toast(page, '2 announcements are back.')).toContainText('An announcement comes back inactive.')
  await expect(page.getByRole('link', { name: 'One' })).toBeVisible()
  expect((await page.request.get(source!)).status()).toBe(200)
})

/** Deletes Task 1 and Task 2, gives the priority of Task 2 to another task, and opens the trash. Returns the row of Task 2. */
async function openTrashWithTakenPriority(page: Page, server: ConsoleServer): Promise<Locator> {
  await addTasks(server, social, {}, { priority: 20 })
  await page.goto('/social-tasks')
  for (const name of ['Task 1', 'Task 2']) {
    await page.getByRole('row').filter({ hasText: name }).getByRole('button', { name: 'Delete' }).click()
    await page.getByRole('alertdialog').getByRole('button', { name: 'Confirm' }).click()
    await expect(page.getByRole('row').filter({ hasText: name })).toHaveCount(0)
  }
  await addTasks(server, social, { id: 'newer', title: 'Newer', priority: 20 })
  await page.goto('/trash')
  return page.getByRole('row').filter({ hasText: 'Task 2' })
}

test.describe('restoring with conflicts', () => {
  test.use({ expectedNoise: { patterns: [/status of 409/] } })

  test('a task whose priority is taken is restored with another one; the rest is purged after two confirmations', async ({
    page,
    server,
  }) => {
    const row = await openTrashWithTakenPriority(page, server)
    const restore = row.getByRole('button', { name: 'Restore', exact: true })
    await restore.click()
    const dialog = page.getByRole('dialog', { name: 'Restore Task 2' })
    await expect(dialog).toBeVisible()
    await page.keyboard.press('Escape')
    await expect(dialog).toBeHidden()
    await expect(restore).toBeFocused()
    await restore.press('Enter')
    await expect(field(dialog, 'Priority')).toHaveValue('21')
    await field(dialog, 'Priority').fill('')
    await dialog.getByRole('button', { name: 'Restore' }).click()
    await expect(field(dialog, 'Priority')).toHaveAccessibleDescription('Priority is required')
    await field(dialog, 'Priority').fill('30')
    await page.keyboard.press('Escape')
    await page.getByRole('alertdialog', { name: 'Close without saving?' }).getByRole('button', { name: 'Cancel' }).click()
    await expect(field(dialog, 'Priority')).toHaveValue('30')
    await dialog.getByRole('button', { name: 'Restore' }).click()
    await expect(toast(page, 'Task 2 is back.')).toBeVisible()
    const emptyTrash = page.getByRole('button', { name: 'Empty Trash' })
    await emptyTrash.click()
    const question = page.getByRole('alertdialog', { name: 'Empty Trash' })
    await expect(question).toContainText('Task 1')
    await expect(question).not.toContainText('not on this page')
    await page.getByRole('alertdialog').getByRole('button', { name: 'Purge 1 record' }).click()
    await expect(page.getByRole('alertdialog')).toContainText('Nothing brings this back')
    await page.getByRole('alertdialog').getByRole('button', { name: 'Purge 1 record' }).click()
    await expect(page.getByText('The trash is empty.')).toBeVisible()
    await expect(emptyTrash).toBeDisabled()
  })
})

test.describe('restoring what is gone', () => {
  test.use({ expectedNoise: { patterns: [/status of (404|409)/] } })

  test('when the record was purged meanwhile, the dialog closes, a toast says so and the row goes', async ({ page, server }) => {
    const row = await openTrashWithTakenPriority(page, server)
    await row.getByRole('button', { name: 'Restore', exact: true }).click()
    const dialog = page.getByRole('dialog', { name: 'Restore Task 2' })
    await expect(field(dialog, 'Priority')).toHaveValue('21')
    await server.database.db.deleteFrom('trash').where('name', '=', 'Task 2').execute()
    await dialog.getByRole('button', { name: 'Restore' }).click()
    await expect(toast(page, 'This is not in the trash any more.')).toBeVisible()
    await expect(dialog).toHaveCount(0)
    await expect(row).toHaveCount(0)
    await expect(page.getByRole('row').filter({ hasText: 'Task 1' })).toBeFocused()
  })
})

test('a task whose segment is gone comes back paused, and the toast says so', async ({ page, server }) => {
  const post = async (path: string, data: object) =>
    (await page.request.post(path, { data, headers: { origin: server.url } })).json() as Promise<{ id: string }>
  const view = { list: 'telegramUsers', name: 'With a wallet', address: 'wallet=ton', isShared: true }
  const { id: segmentId } = await post('/api/views', view)
  await addTasks(server, social, { title: 'Share' }, { title: 'Join' }, { title: 'Like' })
  await server.database.db.updateTable('tasks').set({ segment_id: segmentId }).execute()
  await page.goto('/social-tasks')
  for (const title of ['Share', 'Join', 'Like']) {
    await page.getByRole('row').filter({ hasText: title }).getByRole('button', { name: 'Delete' }).click()
    await page.getByRole('alertdialog').getByRole('button', { name: 'Confirm' }).click()
    await expect(page.getByRole('row').filter({ hasText: title })).toHaveCount(0)
  }
  await page.request.delete(`/api/views/${segmentId}`, { headers: { origin: server.url } })
  const paused = 'A task comes back paused, because its segment is gone.'
  await page.getByRole('button', { name: 'Undo' }).last().click()
  await expect(toast(page, 'Like is back.')).toContainText(paused)
  await page.goto('/trash')
  await page.getByRole('row').filter({ hasText: 'Join' }).getByRole('button', { name: 'Restore' }).click()
  await expect(toast(page, 'Join is back.')).toContainText(paused)
  await page.getByRole('button', { name: 'Select', exact: true }).click()
  await page.getByRole('checkbox', { name: 'Select all rows of this page' }).check()
  await page.getByRole('button', { name: 'Restore Selected' }).click()
  await page.getByRole('alertdialog').getByRole('button', { name: 'Restore 1 record' }).click()
  await expect(toast(page, '1 record restored.')).toContainText(paused)
})

test('for a record that an import has brought back, the toast says that it exists again and offers no restore from the trash', async ({
  page,
  server,
}) => {
  await addTasks(server, social, { title: 'Share' }, { title: 'Join' })
  await page.goto('/social-tasks')
  await page.getByRole('button', { name: 'Select', exact: true }).click()
  await page.getByRole('checkbox', { name: 'Select all rows of this page' }).check()
  await page.getByRole('button', { name: 'Delete Selected' }).click()
  await page.getByRole('alertdialog').getByRole('button', { name: 'Delete 2 tasks' }).click()
  await expect(page.getByRole('row')).toHaveCount(2)
  await addTasks(server, social, { title: 'Share', priority: 8 })
  await page.goto('/trash')
  const row = page.getByRole('row').filter({ hasText: 'Share' })
  await row.getByRole('button', { name: 'Restore All' }).click()
  await expect(toast(page, 'Join is back.')).toBeVisible()
  const conflict = toast(page, 'Share stays in the trash.')
  await expect(conflict).toContainText('It exists again: an import brought it back.')

  await page.goto('/social-tasks')
  await page.getByRole('row').filter({ hasText: 'Join' }).getByRole('button', { name: 'Delete' }).click()
  await page.getByRole('alertdialog').getByRole('button', { name: 'Confirm' }).click()
  await expect(page.getByRole('row').filter({ hasText: 'Join' })).toHaveCount(0)
  await server.database.db.updateTable('tasks').set({ priority: 2 }).where('id', '=', 'social-1').execute()
  await page.getByRole('button', { name: 'Undo' }).click()
  const taken = toast(page, 'Join stays in the trash, to be restored from there.')
  await expect(taken).toContainText('Priority is already taken!')
})

test.describe('on a narrow desktop', () => {
  test.use({ viewport: { width: 1024, height: 768 } })

  test('the name and Restore are in view; a row can be opened and restored by keyboard, and the focus stays in the list', async ({
    page,
    server,
  }) => {
    const title = 'A task with a name that is longer than what one sees of it'
    await addTasks(server, social, { title }, { title: 'Other' })
    await page.goto('/social-tasks')
    for (const name of [title, 'Other']) {
      await page.getByRole('row').filter({ hasText: name }).getByRole('button', { name: 'Delete' }).click()
      await page.getByRole('alertdialog').getByRole('button', { name: 'Confirm' }).click()
      await expect(page.getByRole('row').filter({ hasText: name })).toHaveCount(0)
    }
    await page.goto('/trash')
    const row = page.getByRole('row').filter({ hasText: title })
    await expect(row.getByRole('button', { name: title })).toBeInViewport({ ratio: 1 })
    await expect(row.getByRole('button', { name: 'Restore', exact: true })).toBeInViewport({ ratio: 1 })
    await expect(row.getByRole('button', { name: 'Restore All' })).toHaveCount(0) // each was deleted by its own act
    await row.focus()
    for (const inView of ['Name', 'Restore'])
      await expect(row.locator(`[data-column="${inView}"]`)).toHaveCSS('box-shadow', /inset/)
    await page.keyboard.press('Enter')
    await expect(page.getByRole('dialog', { name: 'View More' })).toContainText(title)
    await page.keyboard.press('Escape')
    await expect(page.getByRole('dialog')).toHaveCount(0)
    await row.getByRole('button', { name: 'Restore', exact: true }).press('Enter')
    await expect(row).toHaveCount(0)
    const other = page.getByRole('row').filter({ hasText: 'Other' })
    await expect(other).toBeFocused()
    await page.goto('/social-tasks')
    await page.getByRole('row').filter({ hasText: title }).getByRole('button', { name: 'Delete' }).press('Enter')
    await page.getByRole('alertdialog').getByRole('button', { name: 'Confirm' }).press('Enter')
    await expect(page.getByRole('button', { name: 'Undo' })).toBeVisible()
    await page.keyboard.press('u')
    await expect(toast(page, `${title} is back.`)).toBeVisible()
    await expect(page.getByRole('row').filter({ hasText: title })).toBeVisible()
    await expect(page.getByRole('button', { name: 'Undo' })).toHaveCount(0)
    await expect(page.locator('body')).not.toBeFocused()
    await page.goto('/trash?q=nothing')
    await page.getByRole('button', { name: 'Clear search' }).press('Enter')
    await expect(page.getByRole('searchbox')).toBeFocused()
    await expect(other).toBeVisible()
  })
})
