/** Social Tasks and Daily Tasks (§2, §4, §5, §7, §8, §9): the same tests for both, with their differences as data. */
import type { Locator, Page } from '@playwright/test'
import { addTasks, column, daily, row, social, storedTasks } from '#src/tasks.ts'
import { addCount } from '../../server/test/activity.ts'
import { control, expect, expectError, field, test, toast } from '#src/test.ts'

test.use({ sample: false })

test.beforeEach(async ({ signIn, page: _page }) => {
  await signIn('admin')
})

/** Fills in the form by its labels. Type takes the stored value of its option. */
async function fillIn(page: Page, values: Record<string, string>): Promise<void> {
  for (const [label, value] of Object.entries(values)) {
    if (label === 'Type') await field(page, label).selectOption(value)
    else await field(page, label).fill(value)
  }
}

function submitButton(page: Page, name: 'Add Task' | 'Update'): Locator {
  return page.getByRole('form').getByRole('button', { name, exact: true })
}

for (const facts of [social, daily] as const) {
  const { collection, title, path, types, labels, typesWithoutLink } = facts
  const other = facts === social ? daily : social
  const task = {
    Priority: '3',
    Type: 'moreLink',
    Title: 'Visit our site',
    Link: 'https://arcade.example.org/a?x=1',
    Reward: '12.5',
  }

  test.describe(title, () => {
    test(`§2 ${title}: the columns, and rows by priority`, async ({ page, server }) => {
      await addTasks(
        server,
        facts,
        { priority: 10, title: 'Last' },
        { priority: 2, title: 'Site', image: 'moreLink', link: 'https://arcade.example.org/a', reward: 12.5 },
        { priority: -1, title: 'First' },
        { priority: 1.5, title: 'Second' },
      )
      await addTasks(server, other, { title: 'Of the other collection' })
      await addCount(server.database, { of: 'participants', kind: collection, itemId: `${collection}-2` }, 7)
      await page.goto(path)
      await expect(page.getByRole('heading', { name: title, exact: true })).toBeVisible()
      const columns = ['Priority', 'Type', 'Title', 'Link', 'Reward', 'Participants', 'Edit', 'Delete']
      await expect(page.getByRole('columnheader')).toHaveText(columns)
      await expect(column(page, 1)).toHaveText(['-1', '1.5', '2', '10'])
      await expect(column(page, 3)).toHaveText(['First', 'Second', 'Site', 'Last'])
      const site = row(page, 'Site').getByRole('cell')
      await expect(site).toHaveText(['2', 'Website', 'Site', 'https://arcade.example.org/a', '12.5', '7', 'Edit', 'Delete'])
      await expect(site.getByRole('link', { name: 'https://arcade.example.org/a' })).toHaveAttribute('rel', /noopener/)
      await expect(row(page, 'First').getByRole('cell').nth(5)).toHaveText('0')
    })

    test(`§9 ${title}: 50 rows a page, the page in the address`, async ({ page, server }) => {
      await addTasks(server, facts, ...Array.from({ length: 51 }, () => ({})))
      await page.goto(path)
      await expect(page.getByText('Page 1 of 2', { exact: true })).toBeVisible()
      await expect(column(page, 1)).toHaveCount(50)
      await page.getByRole('button', { name: 'Page 2', exact: true }).click()
      await expect(page).toHaveURL(`${path}?page=2`)
      await expect(column(page, 1)).toHaveText(['51'])
      await page.reload()
      await expect(column(page, 1)).toHaveText(['51'])
    })

    test(`§8 ${title}: No tasks found!`, async ({ page }) => {
      await page.goto(path)
      await expect(page.getByRole('cell', { name: 'No tasks found!', exact: true })).toBeVisible()
    })

    test(`§5 ${title}: every message shows, but only after its field was touched`, async ({ page, server }) => {
      await page.goto(path)
      await control(page, 'Add Task').click()
      await expect(page).toHaveURL(`${path}-form`)
      await field(page, 'Priority').focus()
      await expect(page.getByText(/is required/)).toHaveCount(0)
      await field(page, 'Title').focus()
      await expectError(page, 'Priority', 'Priority is required')
      await expect(page.getByText('Title is required', { exact: true })).toHaveCount(0)
      await submitButton(page, 'Add Task').click()
      await expectError(page, 'Priority', 'Priority is required')
      await expectError(page, 'Type', 'Type is required')
      await expectError(page, 'Title', 'Title is required')
      await expectError(page, 'Reward', 'Reward is required')
      for (const label of ['Priority', 'Reward']) {
        await field(page, label).pressSequentially('many')
        await expectError(page, label, `${label} must be a number`)
      }
      await field(page, 'Reward').fill('-1')
      await expectError(page, 'Reward', 'Reward must be 0 or more') // design §7
      for (const link of ['nonsense', 'www.example.org', 'javascript:alert(1)']) {
        await fillIn(page, { ...task, Link: link })
        await submitButton(page, 'Add Task').click()
        await expectError(page, 'Link', 'Invalid URL format')
      }
      await expect(page).toHaveURL(`${path}-form`)
      expect(await storedTasks(server, facts)).toEqual([])
    })

    test(`§5 ${title}: the types, and the link field hidden for email and bsc`, async ({ page }) => {
      await page.goto(`${path}-form`)
      const options = field(page, 'Type').locator('option:enabled')
      await expect(options).toHaveCount(types.length)
      expect(await options.evaluateAll((all) => all.map((option) => option.getAttribute('value')))).toEqual([...types])
      for (const label of labels) await expect(options.filter({ hasText: label })).toHaveText([label])
      for (const type of types) {
        await field(page, 'Type').selectOption(type)
        await expect(field(page, 'Link')).toHaveCount((typesWithoutLink as readonly string[]).includes(type) ? 0 : 1)
      }
    })

    test(`§8 ${title}: Task Added Successfully!, back on the list, and the form is empty again`, async ({ page, server }) => {
      await page.goto(path)
      await control(page, 'Add Task').click()
      await fillIn(page, task)
      await submitButton(page, 'Add Task').click()
      await expect(page).toHaveURL(path)
      await expect(row(page, 'Visit our site').getByRole('cell').nth(1)).toHaveText('Website')
      await expect(toast(page, 'Task Added Successfully!')).toBeVisible()
      const { Link: link } = task
      expect(await storedTasks(server, facts)).toEqual([
        { priority: 3, image: 'moreLink', title: 'Visit our site', link, reward: 12.5 },
      ])
      await page.goBack() // must not lead to the form again
      await expect(page).toHaveURL(path)
      await control(page, 'Add Task').click()
      for (const label of ['Priority', 'Title', 'Link', 'Reward']) await expect(field(page, label)).toHaveValue('')
      await expect(field(page, 'Type').locator('option:checked')).toHaveText('Select a type')
    })

    test(`§5 ${title}: the form offers the next free priority, and a new one if another admin has taken it`, async ({
      page,
      server,
    }) => {
      await page.goto(`${path}-form`)
      await expect(page.getByRole('button', { name: 'Next free: 1', exact: true })).toBeVisible()
      await addTasks(server, facts, { priority: 7.5 }, { priority: 2 })
      await page.goto(`${path}-form`)
      const next = page.getByRole('button', { name: 'Next free: 8', exact: true })
      await field(page, 'Priority').fill('3')
      await next.click()
      await expect(field(page, 'Priority')).toHaveValue('8')
      await expect(field(page, 'Priority')).toBeFocused()
      await expect(next).toBeVisible()
      await page.goto(`${path}-form-update?id=${collection}-1`)
      await field(page, 'Priority').fill('')
      await field(page, 'Priority').blur()
      await expectError(page, 'Priority', 'Priority is required')
      await expect(page.getByRole('button', { name: /Next free/ })).toHaveCount(0)
    })

    test(`§5 ${title}: an empty link is saved without a link`, async ({ page, server }) => {
      await page.goto(`${path}-form`)
      await fillIn(page, { ...task, Link: '' })
      await submitButton(page, 'Add Task').click()
      await expect(page).toHaveURL(path)
      await expect(row(page, 'Visit our site').locator('[data-column=Link]').getByRole('link')).toHaveCount(0)
      expect(await storedTasks(server, facts)).toMatchObject([{ title: 'Visit our site', link: null }])
    })

    for (const type of typesWithoutLink) {
      test(`§5 ${title}: ${type} is saved without the link that was typed before`, async ({ page, server }) => {
        await page.goto(`${path}-form`)
        await fillIn(page, { ...task, Link: 'nonsense' })
        await field(page, 'Type').selectOption(type)
        await submitButton(page, 'Add Task').click()
        await expect(page).toHaveURL(path)
        await expect(row(page, 'Visit our site')).toBeVisible()
        expect(await storedTasks(server, facts)).toMatchObject([{ image: type, link: null }])
      })
    }

    test(`§4 ${title}: Enter submits, and a double submit is impossible`, async ({ page, server }) => {
      const held = Promise.withResolvers<void>()
      const sent: string[] = []
      await page.route(`**/api${path}`, async (route) => {
        if (route.request().method() === 'POST') {
          sent.push(route.request().url())
          await held.promise
        }
        await route.continue()
      })
      await page.goto(`${path}-form`)
      await fillIn(page, task)
      await field(page, 'Reward').press('Enter')
      await field(page, 'Reward').press('Enter')
      await expect(submitButton(page, 'Add Task')).toBeDisabled()
      await submitButton(page, 'Add Task').dblclick({ force: true })
      await field(page, 'Title').press('Enter')
      held.resolve()
      await expect(page).toHaveURL(path)
      await expect(row(page, 'Visit our site')).toBeVisible()
      expect(sent).toHaveLength(1)
      expect(await storedTasks(server, facts)).toHaveLength(1)
    })

    test(`§4 ${title}: Edit survives a reload; Task Updated Successfully!, back on the list`, async ({ page, server }) => {
      await addTasks(server, facts, {}, { image: 'youtube', title: 'Watch', link: 'https://youtube.com/1', reward: 400.5 })
      await page.goto(path)
      await control(row(page, 'Watch'), 'Edit').click()
      await expect(page).toHaveURL(`${path}-form-update?id=${collection}-2`)
      await page.reload()
      await expect(field(page, 'Title')).toHaveValue('Watch')
      await expect(field(page, 'Priority')).toHaveValue('2')
      await expect(field(page, 'Type')).toHaveValue('youtube')
      await expect(field(page, 'Link')).toHaveValue('https://youtube.com/1')
      await expect(field(page, 'Reward')).toHaveValue('400.5')
      await fillIn(page, { Title: '', Link: 'nonsense' })
      await submitButton(page, 'Update').click()
      await expectError(page, 'Title', 'Title is required')
      await expectError(page, 'Link', 'Invalid URL format')
      await fillIn(page, { Title: 'Watched', Link: '' }) // the same priority is allowed: it is the task's own (§5)
      await field(page, 'Title').press('Enter')
      await expect(page).toHaveURL(path)
      await expect(row(page, 'Watched')).toBeVisible()
      await expect(toast(page, 'Task Updated Successfully!')).toBeVisible()
      const [, updated] = await storedTasks(server, facts)
      expect(updated).toEqual({ priority: 2, image: 'youtube', title: 'Watched', link: null, reward: 400.5 })
    })

    test(`§5 ${title}: the checkbox for a task that the bot verifies is saved and kept by updates`, async ({ page, server }) => {
      await page.goto(path)
      await control(page, 'Add Task').click()
      await fillIn(page, task)
      const box = page.getByRole('checkbox', { name: 'Verified by the bot' })
      await expect(box).not.toBeChecked()
      await expect(page.getByText('Without this, a claim pays at once, even if the player never opened the link.')).toBeVisible()
      await expect(page.getByText(/^.*Recommended for/)).toHaveCount(0)
      const checked = path === '/social-tasks' ? 'Discord' : 'Telegram'
      await fillIn(page, { Type: checked })
      await expect(page.getByText(`Recommended for ${checked}: only the bot can check such a task.`)).toBeVisible()
      await fillIn(page, { Type: task.Type })
      await box.check()
      await submitButton(page, 'Add Task').click()
      await expect(page).toHaveURL(path)
      await row(page, 'Visit our site').getByRole('link', { name: 'Visit our site' }).click()
      await expect(box).toBeChecked()
      await fillIn(page, { Title: 'Visit our new site' })
      await submitButton(page, 'Update').click()
      await expect(row(page, 'Visit our new site').getByRole('img', { name: 'Verified by the bot' })).toBeVisible()
      const stored = await server.database.db.selectFrom('tasks').select('verified_by_bot').execute()
      expect(stored).toEqual([{ verified_by_bot: true }])
    })

    test(`§5 ${title}: Delete asks first; Task Deleted Succesfuly!`, async ({ page, server }) => {
      await addTasks(server, facts, {}, {})
      await page.goto(path)
      const remove = row(page, 'Task 1').getByRole('button', { name: 'Delete', exact: true })
      await remove.click()
      await expect(page.getByRole('alertdialog')).toContainText('Task 1')
      await page.getByRole('alertdialog').getByRole('button', { name: 'Cancel' }).click()
      await remove.click()
      await page.keyboard.press('Escape')
      await expect(page.getByRole('alertdialog')).toBeHidden()
      await expect(remove).toBeFocused()
      await expect(column(page, 3)).toHaveText(['Task 1', 'Task 2'])
      expect(await storedTasks(server, facts)).toHaveLength(2)
      await remove.click()
      await page.getByRole('alertdialog').getByRole('button', { name: 'Confirm' }).click()
      await expect(toast(page, 'Task Deleted Succesfuly!')).toBeVisible()
      await expect(column(page, 3)).toHaveText(['Task 2'])
      expect(await storedTasks(server, facts)).toMatchObject([{ title: 'Task 2' }])
    })

    test.describe('refusals', () => {
      test.use({ expectedNoise: { patterns: [/status of (404|409|500)/] } })

      test(`§5 ${title}: Priority is already taken! on create`, async ({ page, server }) => {
        await addTasks(server, facts, { priority: 3, title: 'Older' })
        await addTasks(server, other, { priority: 4 }) // unique within its collection only
        await page.goto(`${path}-form`)
        await fillIn(page, task)
        await submitButton(page, 'Add Task').click()
        await expect(toast(page, 'Priority is already taken!')).toBeVisible()
        await expectError(page, 'Priority', 'Priority is already taken!')
        await expect(page).toHaveURL(`${path}-form`)
        await expect(field(page, 'Title')).toHaveValue('Visit our site')
        expect(await storedTasks(server, facts)).toMatchObject([{ title: 'Older' }])
        await page.getByRole('button', { name: 'Next free: 4', exact: true }).click()
        await submitButton(page, 'Add Task').click()
        await expect(page).toHaveURL(path)
        await expect(column(page, 3)).toHaveText(['Older', 'Visit our site'])
      })

      test(`§5 ${title}: Priority is already taken! on update`, async ({ page, server }) => {
        await addTasks(server, facts, {}, {})
        await page.goto(`${path}-form-update?id=${collection}-2`)
        await fillIn(page, { Priority: '1', Title: 'Mine' })
        await submitButton(page, 'Update').click()
        await expect(toast(page, 'Priority is already taken!')).toBeVisible()
        await expect(page.getByRole('button', { name: 'Next free: 3', exact: true })).toBeVisible()
        await expect(field(page, 'Title')).toHaveValue('Mine')
        expect(await storedTasks(server, facts)).toMatchObject([
          { priority: 1, title: 'Task 1' },
          { priority: 2, title: 'Task 2' },
        ])
      })

      test(`§8 ${title}: the server’s message of a failed create and of a failed update`, async ({ page, server }) => {
        await addTasks(server, facts, {})
        const json = { success: false, code: 'INTERNAL', message: 'Internal Server Error!' }
        await page.route(`**/api${path}`, (route) =>
          route.request().method() === 'POST' ? route.fulfill({ status: 500, json }) : route.continue(),
        )
        await page.goto(`${path}-form`)
        await fillIn(page, task)
        await submitButton(page, 'Add Task').click()
        await expect(toast(page, 'Internal Server Error!')).toBeVisible()
        await expect(page).toHaveURL(`${path}-form`)
        await expect(field(page, 'Title')).toHaveValue('Visit our site')

        await page.goto(`${path}-form-update?id=${collection}-1`)
        await expect(field(page, 'Title')).toHaveValue('Task 1')
        await server.database.db.deleteFrom('tasks').execute()
        await fillIn(page, { Title: 'Mine' })
        await submitButton(page, 'Update').click()
        await expect(toast(page, 'This task does not exist any more.')).toBeVisible()
        await expect(field(page, 'Title')).toHaveValue('Mine')
      })

      test(`§4 ${title}: a stale save is refused and keeps the operator’s text`, async ({ page, server }) => {
        await addTasks(server, facts, {})
        await page.goto(`${path}-form-update?id=${collection}-1`)
        await expect(field(page, 'Title')).toHaveValue('Task 1')
        await server.database.db.updateTable('tasks').set({ title: 'Meanwhile', version: 2 }).execute()
        await fillIn(page, { Title: 'Mine' })
        await submitButton(page, 'Update').click()
        await expect(page.getByRole('form').getByText(/Somebody else has changed this meanwhile/)).toBeVisible()
        // No failure: nothing was lost, and the toast says what to do.
        await expect(page.getByRole('alert')).toHaveText([
          'This was changed meanwhile. Nothing is saved yet: compare both versions, then save.',
        ])
        await expect(field(page, 'Title')).toHaveValue('Mine')
        expect(await storedTasks(server, facts)).toMatchObject([{ title: 'Meanwhile' }])
        await page.evaluate(() => localStorage.clear()) // as when another tab saves this form and removes the draft
        await page.getByRole('button', { name: 'Load the new version' }).click()
        await expect(field(page, 'Title')).toHaveValue('Meanwhile')
        await page.getByRole('button', { name: 'Use Draft' }).click()
        await expect(field(page, 'Title')).toHaveValue('Mine')
        await fillIn(page, { Title: 'Mine after all' })
        await submitButton(page, 'Update').click()
        await expect(page).toHaveURL(path)
        await expect(row(page, 'Mine after all')).toBeVisible()
      })

      test(`§8 ${title}: Error Deleting Task!`, async ({ page, server }) => {
        await addTasks(server, facts, {}, {})
        const json = { success: false, code: 'INTERNAL', message: 'Internal Server Error!' }
        await page.route(`**/api${path}/${collection}-1`, (route) => route.fulfill({ status: 500, json }))
        await page.goto(path)
        await row(page, 'Task 1').getByRole('button', { name: 'Delete', exact: true }).click()
        await page.getByRole('alertdialog').getByRole('button', { name: 'Confirm' }).click()
        await expect(toast(page, 'Error Deleting Task!')).toContainText('Internal Server Error!')
        await expect(column(page, 3)).toHaveText(['Task 1', 'Task 2'])
      })
    })
  })
}
