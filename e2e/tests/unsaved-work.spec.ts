/** Unsaved text in forms: leaving the page asks first, the text is kept as a draft, and it survives the end of the session (§2, §4). */
import type { Page } from '@playwright/test'
import { banner, fillIn, newDesc, stored, submitButton } from '#src/announcements.ts'
import { expectAccessible } from '#src/axe.ts'
import { sizes } from '#src/sizes.ts'
import { addTasks, social, storedTasks } from '#src/tasks.ts'
import { control, expect, field, PASSWORD, test, toast } from '#src/test.ts'

test.use({ sample: false })

test.beforeEach(async ({ signIn, page: _page }) => {
  await signIn('admin')
})

const question = (page: Page) => page.getByRole('alertdialog', { name: 'Leave without saving?' })
const answer = (page: Page, name: 'Confirm' | 'Cancel' | 'Leave' | 'Log out' | 'Make Admin') =>
  page.getByRole('alertdialog').getByRole('button', { name, exact: true }).click()
const offer = (page: Page) => page.getByText(/^Unsaved draft, \d\d\/\d\d/)
const renewal = (page: Page) => page.getByRole('dialog', { name: 'Your session has ended' })

/** Sends the message that another tab of this browser sends after a sign-in or sign-out. */
async function sayThatTheSessionChanged(page: Page): Promise<void> {
  await page.evaluate(() => {
    const tabs = new BroadcastChannel('session')
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- BroadcastChannel.postMessage has no target origin
    tabs.postMessage('changed')
    tabs.close()
  })
}

/** Opens the add form from the list, so that Back leads to the list, and types half a title. */
async function beginTask(page: Page): Promise<void> {
  await page.goto('/social-tasks')
  await control(page, 'Add Task').click()
  await field(page, 'Title').fill('Half a title')
}

const ways: { way: string; leave: (page: Page) => Promise<unknown>; to: string }[] = [
  { way: 'the sidebar', leave: (page) => page.getByRole('link', { name: 'History', exact: true }).click(), to: '/history' },
  { way: 'the button Back', leave: (page) => control(page, 'Back').click(), to: '/social-tasks' },
  { way: 'Back of the browser', leave: (page) => page.goBack(), to: '/social-tasks' },
  {
    way: 'the palette',
    leave: async (page) => {
      await page.keyboard.press('Control+k')
      await expect(page.getByRole('dialog').getByRole('combobox')).toBeFocused()
      await page.keyboard.type('daily')
      await page.keyboard.press('Enter')
    },
    to: '/daily-tasks',
  },
  {
    way: 'a shortcut',
    leave: async (page) => {
      await page.getByRole('heading', { name: 'Add Social Task' }).click()
      await page.keyboard.press('g')
      await page.keyboard.press('u')
    },
    to: '/manage-users',
  },
]

for (const { way, leave, to } of ways) {
  test(`Leaving by ${way} asks first; Cancel keeps the text, Confirm keeps it as a draft`, async ({ page }) => {
    await beginTask(page)
    await leave(page)
    await expect(question(page)).toContainText('This browser keeps it as a draft')
    await answer(page, 'Cancel')
    await expect(question(page)).toHaveCount(0) // no shortcut works before
    await expect(page).toHaveURL('/social-tasks-form')
    await expect(field(page, 'Title')).toHaveValue('Half a title')
    await leave(page)
    await answer(page, 'Leave')
    await expect(page).toHaveURL(to)
    await page.goto('/social-tasks-form')
    await expect(offer(page)).toBeVisible()
    await expect(field(page, 'Title')).toHaveValue('')
  })
}

test('Leaving a form without text asks nothing, by a link and by Back', async ({ page }) => {
  await page.goto('/social-tasks')
  await control(page, 'Add Task').click()
  await field(page, 'Title').fill('x')
  await field(page, 'Title').fill('')
  await page.goBack()
  await expect(page).toHaveURL('/social-tasks')
  await control(page, 'Add Task').click()
  await control(page, 'Back').click()
  await expect(page).toHaveURL('/social-tasks')
})

test('Closing the tab makes the browser ask, but only if there is unsaved text', async ({ page }) => {
  const asked: string[] = []
  page.on('dialog', (dialog) => {
    asked.push(dialog.type())
    void dialog.dismiss()
  })
  await beginTask(page)
  await page.close({ runBeforeUnload: true })
  await expect.poll(() => asked).toEqual(['beforeunload'])
  await expect(field(page, 'Title')).toHaveValue('Half a title')
  await field(page, 'Title').fill('')
  const closed = page.waitForEvent('close')
  await page.close({ runBeforeUnload: true })
  await closed
  expect(asked).toHaveLength(1)
})

test('A draft survives a closed tab, is filled in on request, and is removed by saving', async ({ page, context, server }) => {
  await beginTask(page)
  await fillIn(page, { Priority: '3', Type: 'youtube', Link: 'https://youtube.com/1', Reward: '12.5' })
  const other = await context.newPage()
  await page.close()
  await other.goto('/social-tasks-form')
  await expect(field(other, 'Priority')).toHaveValue('')
  await other.getByRole('button', { name: 'Use Draft' }).click()
  await expect(field(other, 'Title')).toHaveValue('Half a title')
  await expect(field(other, 'Type')).toHaveValue('youtube')
  await field(other, 'Title').fill('A title')
  await other.getByRole('form').getByRole('button', { name: 'Add Task' }).click()
  await expect(other).toHaveURL('/social-tasks')
  const [task] = await storedTasks(server, social)
  expect(task).toEqual({ priority: 3, image: 'youtube', title: 'A title', link: 'https://youtube.com/1', reward: 12.5 })
  await control(other, 'Add Task').click()
  await expect(field(other, 'Title')).toHaveValue('')
  await expect(offer(other)).toHaveCount(0)
})

test('A draft belongs to one item: the form of another item does not offer it', async ({ page, server }) => {
  await addTasks(server, social, {}, {})
  await page.goto('/social-tasks-form-update?id=social-1')
  await field(page, 'Title').fill('Mine')
  await control(page, 'Back').click()
  await answer(page, 'Leave')
  await expect(page).toHaveURL('/social-tasks')
  for (const path of ['/social-tasks-form-update?id=social-2', '/social-tasks-form', '/daily-tasks-form']) {
    await page.goto(path)
    await expect(field(page, 'Title')).toBeVisible()
    await expect(offer(page)).toHaveCount(0)
  }
  await server.database.db.updateTable('tasks').set({ title: 'Meanwhile', version: 2 }).where('id', '=', 'social-1').execute()
  await page.goto('/social-tasks-form-update?id=social-1')
  await expect(field(page, 'Title')).toHaveValue('Meanwhile')
  await expect(offer(page)).toContainText('The saved version has changed since.')
  await page.getByRole('button', { name: 'Discard Draft' }).click()
  await expect(offer(page)).toHaveCount(0)
  await page.reload()
  await expect(field(page, 'Title')).toHaveValue('Meanwhile')
  await expect(offer(page)).toHaveCount(0)
})

test('§5 Make Admin keeps a half-typed name in the form, which can be saved afterwards', async ({ page, server }) => {
  const { id } = await server.addPerson({ fname: 'Uma', lname: 'User', email: 'uma@gmail.com', userType: 'user' })
  await page.goto(`/update-user/${id}/Uma/User/uma@gmail.com`)
  await field(page, 'First Name').fill('Ulrike')
  await field(page, 'Role').selectOption('Editor')
  await page.getByRole('button', { name: 'Make Admin' }).click()
  await answer(page, 'Make Admin')
  await expect(page.getByRole('button', { name: 'Make User' })).toBeVisible()
  await expect(field(page, 'First Name')).toHaveValue('Ulrike')
  await page.getByRole('button', { name: 'Update', exact: true }).click()
  await answer(page, 'Confirm')
  await expect(page).toHaveURL('/manage-users')
  const user = await server.database.db.selectFrom('users').selectAll().where('id', '=', id).executeTakeFirst()
  expect(user).toMatchObject({ fname: 'Ulrike', lname: 'User', user_type: 'admin' })
})

test('Log Out with unsaved text asks first and then keeps no draft', async ({ page }) => {
  await beginTask(page)
  const logOut = page.getByRole('button', { name: 'Log Out', exact: true })
  await logOut.click()
  await expect(page.getByRole('alertdialog')).toContainText('Logging out also deletes the drafts')
  await answer(page, 'Cancel')
  await expect(field(page, 'Title')).toHaveValue('Half a title')
  await logOut.click()
  await answer(page, 'Log out')
  await expect(page.getByRole('heading', { name: 'Welcome', exact: true })).toBeVisible()
  await field(page, 'Email').fill('admin@gmail.com')
  await field(page, 'Password').fill(PASSWORD)
  await page.keyboard.press('Enter')
  await expect(page.getByRole('heading', { name: 'Admin Dashboard', exact: true })).toBeVisible()
  await page.getByRole('link', { name: 'Social Tasks' }).click()
  await control(page, 'Add Task').click()
  await expect(field(page, 'Title')).toBeVisible()
  await expect(offer(page)).toHaveCount(0)
})

test.describe('a session that has ended', () => {
  test.use({ expectedNoise: { patterns: [/status of 401/] } })

  test('§4 … with unsaved text is renewed in a dialog above the form, which is then submitted by itself', async ({
    page,
    context,
    server,
  }) => {
    await page.goto('/annoucement-form')
    await fillIn(page, newDesc)
    await field(page, 'Image').setInputFiles(banner)
    await expect(page.getByAltText('Image preview')).toBeVisible()
    await context.clearCookies()
    await submitButton(page, 'Add Annoucement').click()
    await expect(renewal(page)).toContainText('Sign in again as admin@gmail.com')
    await expect(field(renewal(page), 'Password')).toBeFocused()
    await page.keyboard.press('Escape')
    await field(renewal(page), 'Password').fill('wrong password')
    await page.keyboard.press('Enter')
    await expect(renewal(page).getByText('Invalid Credentials!')).toBeVisible()
    await field(renewal(page), 'Password').fill(PASSWORD)
    await renewal(page).getByRole('button', { name: 'Sign In' }).click()
    await expect(page).toHaveURL('/annoucements')
    await expect(toast(page, 'Announcement Created Successfully!')).toBeVisible()
    expect(await stored(server)).toMatchObject([{ title: 'Season 3', image_name: 'banner.png' }])
  })

  test('§4 … because of another tab opens the dialog too; Cancel leads to Login, and the draft stays', async ({
    page,
    context,
  }) => {
    await beginTask(page)
    await context.clearCookies()
    await sayThatTheSessionChanged(page)
    await expect(renewal(page)).toBeVisible()
    await renewal(page).getByRole('button', { name: 'Cancel' }).click()
    await expect(page.getByRole('heading', { name: 'Welcome', exact: true })).toBeVisible()
    await field(page, 'Email').fill('admin@gmail.com')
    await field(page, 'Password').fill(PASSWORD)
    await page.keyboard.press('Enter')
    await page.getByRole('button', { name: 'Use Draft' }).click() // signing in led back to the form
    await expect(page).toHaveURL('/social-tasks-form')
    await expect(field(page, 'Title')).toHaveValue('Half a title')
  })

  test('§4 … and is renewed in another tab is renewed in this one too', async ({ page, context, server }) => {
    await beginTask(page)
    const cookies = await context.cookies()
    await context.clearCookies()
    await sayThatTheSessionChanged(page)
    await expect(renewal(page)).toBeVisible()
    await context.addCookies(cookies)
    await sayThatTheSessionChanged(page)
    await expect(renewal(page)).toBeHidden()
    await fillIn(page, { Priority: '1', Type: 'twitter', Reward: '5' })
    await page.getByRole('form').getByRole('button', { name: 'Add Task' }).click()
    await expect(page).toHaveURL('/social-tasks')
    expect(await storedTasks(server, social)).toMatchObject([{ title: 'Half a title' }])
  })

  test('§4 … without unsaved text leads to Login', async ({ page, context, server }) => {
    await addTasks(server, social, {})
    await page.goto('/social-tasks-form-update?id=social-1')
    await expect(field(page, 'Title')).toHaveValue('Task 1')
    await context.clearCookies()
    await page.getByRole('form').getByRole('button', { name: 'Update' }).click()
    await expect(page.getByRole('heading', { name: 'Welcome', exact: true })).toBeVisible()
  })

  for (const viewport of sizes) {
    test(`axe finds nothing in the draft’s offer and the dialog at ${viewport.width} × ${viewport.height}`, async ({
      page,
      context,
    }) => {
      await page.setViewportSize(viewport)
      await page.goto('/social-tasks-form')
      await field(page, 'Title').fill('Half a title')
      await page.reload()
      await expect(offer(page)).toBeVisible()
      await expectAccessible(page)
      await page.getByRole('button', { name: 'Use Draft' }).click()
      await context.clearCookies()
      await fillIn(page, { Priority: '1', Type: 'twitter', Reward: '5' })
      await page.getByRole('form').getByRole('button', { name: 'Add Task' }).click()
      await expect(renewal(page)).toBeVisible()
      await expectAccessible(page)
    })
  }
})
