/** What a person chose on a page comes back in the same visit, on every way that leads to the page. */
import type { Page } from '@playwright/test'
import { rows, settled } from '#src/lists.ts'
import { control, expect, field, PASSWORD, test, toast } from '#src/test.ts'

test.use({ contextOptions: { reducedMotion: 'no-preference' } })

const LIST = '/social-tasks?type=twitter&sort=title&reversed=true&q=follow'

async function openByPalette(page: Page, name: string): Promise<void> {
  await page.keyboard.press('Control+k')
  await expect(page.getByRole('combobox')).toBeFocused()
  await page.keyboard.type(name)
  await page.getByRole('group', { name: 'Pages' }).getByRole('option', { name }).click()
}

test('Visit: Back closes a question about the page before', async ({ page, signIn }) => {
  await signIn('admin')
  await page.goto('/daily-tasks')
  await page.getByRole('link', { name: 'Social Tasks', exact: true }).click()
  await page.getByRole('row').filter({ hasText: 'Follow us on X' }).getByRole('button', { name: 'Delete', exact: true }).click()
  await expect(page.getByRole('alertdialog')).toBeVisible()
  await page.goBack()
  await expect(page.getByRole('heading', { level: 1, name: 'Daily Tasks' })).toBeVisible()
  await expect(page.getByRole('alertdialog')).toHaveCount(0)
})

const ways: readonly { name: string; from: string; back: (page: Page) => Promise<void> }[] = [
  { name: 'the sidebar', from: 'History', back: (page) => page.getByRole('link', { name: 'Social Tasks', exact: true }).click() },
  {
    name: 'the keys g s',
    from: 'History',
    back: async (page) => {
      await page.keyboard.press('g')
      await page.keyboard.press('s')
    },
  },
  { name: 'the palette', from: 'History', back: (page) => openByPalette(page, 'Social Tasks') },
  { name: 'Back of the add form', from: 'Add Task', back: (page) => control(page, 'Back').click() },
  { name: 'Back of the edit form', from: 'Edit', back: (page) => control(page, 'Back').click() },
  {
    name: 'a task that was saved',
    from: 'Edit',
    back: async (page) => {
      await field(page, 'Reward').fill('77')
      await control(page, 'Update').click()
      await expect(toast(page, 'Task Updated Successfully!')).toBeVisible()
    },
  },
  {
    name: 'a task that was added',
    from: 'Add Task',
    back: async (page) => {
      await field(page, 'Priority').fill('901')
      await field(page, 'Type').selectOption('Youtube')
      await field(page, 'Title').fill('Watch this')
      await field(page, 'Reward').fill('1')
      await page.getByRole('form').getByRole('button', { name: 'Add Task' }).click()
      await expect(toast(page, 'Task Added Successfully!')).toBeVisible()
    },
  },
  { name: 'the browser’s Back', from: 'History', back: async (page) => void (await page.goBack()) },
]

test('Visit: a list comes back with its search, filters and order by every way, and its own link shows it from the start', async ({
  page,
  signIn,
}) => {
  await signIn('admin')
  await page.goto(LIST)
  await settled(page)
  const shown = await rows(page).count()
  expect(shown).toBeGreaterThan(0)
  for (const { name, from, back } of ways) {
    await test.step(name, async () => {
      await control(page, from).first().click()
      await expect(page).not.toHaveURL(/social-tasks\?/)
      await expect(page.getByRole('heading', { level: 1 })).not.toHaveText('Social Tasks')
      await back(page)
      await expect(page).toHaveURL(LIST)
      await expect(page.getByRole('searchbox')).toHaveValue('follow')
      await expect(rows(page)).toHaveCount(shown)
      await expect(page.getByRole('columnheader', { name: 'Title' })).toHaveAttribute('aria-sort', 'descending')
    })
  }
  await page.getByRole('link', { name: 'Social Tasks', exact: true }).click()
  await expect(page).toHaveURL('/social-tasks')
  await expect(page.getByRole('searchbox')).toHaveValue('')
})

test('Visit: page and page size of players, the item of History, and the range of the dashboard come back', async ({
  page,
  signIn,
}) => {
  await signIn('admin')
  await page.goto('/?range=24h')
  const ranges = page.getByRole('group', { name: 'Range of time' })
  await ranges.getByRole('link', { name: '7 d' }).click()
  const sidebar = (name: string) => page.getByRole('link', { name, exact: true })

  await sidebar('Telegram Users').click()
  await page.getByLabel('Page Size').selectOption('25')
  await expect(page.getByText('Page 1 of 49')).toBeVisible()
  await settled(page)
  await page.getByRole('button', { name: 'Next Page' }).click()
  await expect(page.getByText('Page 2 of 49')).toBeVisible()
  await settled(page)
  const players = page.url()

  await sidebar('History').click()
  await sidebar('Season 2 is live').click()
  await expect(page.getByRole('heading', { name: 'Season 2 is live' })).toBeVisible()

  for (const home of [
    () => sidebar('Dashboard').click(),
    () => page.getByRole('link', { name: 'Arcade Console' }).click(),
    () => openByPalette(page, 'Dashboard'),
  ]) {
    await home()
    await expect(page).toHaveURL('/?range=7d')
    await expect(ranges.getByRole('link', { name: '7 d' })).toHaveAttribute('aria-current', 'page')
    await sidebar('History').click()
    await expect(page.getByRole('heading', { name: 'Season 2 is live' })).toBeVisible()
  }
  await sidebar('Telegram Users').click()
  await expect(page).toHaveURL(players)
  await expect(page.getByText('Page 2 of 49')).toBeVisible()
})

test('Visit: ends with the log-out, so that nothing of it shows to another person', async ({ page, signIn, server }) => {
  await server.addPerson({ fname: 'Bo', lname: 'Boss', email: 'bo@gmail.com', userType: 'admin' })
  await signIn('admin')
  await page.goto(LIST)
  await settled(page)
  await page.getByRole('button', { name: 'Log Out' }).click()
  await expect(page.getByRole('heading', { name: 'Welcome', exact: true })).toBeVisible()
  await field(page, 'Email').fill('bo@gmail.com')
  await field(page, 'Password').fill(PASSWORD)
  await control(page, 'Sign In').click()
  await expect(page).toHaveURL('/admin')
  await page.getByRole('link', { name: 'Social Tasks', exact: true }).click()
  await expect(page).toHaveURL('/social-tasks')
})

test('Visit: the default view opens a list once; the whole list that was chosen instead comes back', async ({ page, signIn }) => {
  await signIn('admin')
  await page.goto('/social-tasks?type=youtube')
  await page.getByRole('button', { name: /^Saved/ }).click()
  const pane = page.getByRole('dialog', { name: 'Saved views' })
  await pane.getByLabel('Name', { exact: true }).fill('Videos')
  await pane.getByRole('button', { name: 'Save', exact: true }).click()
  await expect(page.getByRole('button', { name: 'Saved: Videos' })).toBeVisible()
  await page.goto('/')
  const open = (name: string) => page.getByRole('link', { name, exact: true }).click()
  await open('Social Tasks')
  await expect(page).toHaveURL('/social-tasks')
  await page.getByRole('button', { name: /^Saved/ }).click()
  await pane.getByRole('button', { name: 'See Videos first' }).click()
  await expect(pane.getByRole('button', { name: 'See Videos first' })).toHaveAttribute('aria-pressed', 'true')
  await page.keyboard.press('Escape')
  await open('History')
  await open('Social Tasks')
  await expect(page).toHaveURL(/type=youtube/)
  await page.getByRole('button', { name: 'Saved: Videos' }).click()
  await pane.getByRole('link', { name: 'Whole list' }).click()
  await expect(page).toHaveURL('/social-tasks')
  await open('History')
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('History')
  await open('Social Tasks')
  await expect(page.getByRole('heading', { level: 1 })).toHaveText('Social Tasks')
  await settled(page)
  await expect(page.getByRole('button', { name: /^Saved/ })).toHaveText('Saved')
  await expect(page).toHaveURL('/social-tasks')
})

test('Visit: a page size that was chosen is the person’s own, also after a reload; other people have the first size', async ({
  page,
  signIn,
  server,
}) => {
  await signIn('admin')
  await page.goto('/manage-telegram-users')
  await page.getByLabel('Page Size').selectOption('25')
  await expect(rows(page)).toHaveCount(25)
  await page.goto('/manage-telegram-users')
  await expect(page.getByLabel('Page Size')).toHaveValue('25')
  await expect(rows(page)).toHaveCount(25)
  await page.goto('/manage-telegram-users?size=50')
  await expect(rows(page), 'the size of a link').toHaveCount(50)
  const other = await server.addPerson({ fname: 'Bo', lname: 'Boss', email: 'bo@gmail.com', userType: 'admin' })
  await page.context().addCookies([{ name: 'session', value: other.token, url: server.url, httpOnly: true, sameSite: 'Strict' }])
  await page.goto('/manage-telegram-users')
  await expect(page.getByLabel('Page Size')).toHaveValue('5')
  await expect(rows(page)).toHaveCount(5)
})

test('Visit: Back of a form leads to the same list also after the form was reloaded', async ({ page, signIn }) => {
  await signIn('admin')
  await page.goto(LIST)
  await settled(page)
  await control(page, 'Edit').first().click()
  await expect(field(page, 'Title')).not.toHaveValue('')
  await page.reload()
  await expect(field(page, 'Title')).not.toHaveValue('')
  await control(page, 'Back').click()
  await expect(page).toHaveURL(LIST)
})
