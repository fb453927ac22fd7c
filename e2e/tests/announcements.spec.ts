/** The list of announcements (§2, §4, §5, §8, §9): columns, status, deleting. The form's tests are in announcement-form.spec.ts. */
import type { Page } from '@playwright/test'
import { add, retweet, rgbOf, row, season, statusButton, stored, titles } from '#src/announcements.ts'
import { settled } from '#src/lists.ts'
import { addCount } from '../../server/test/activity.ts'
import { expect, test, toast } from '#src/test.ts'

test.use({ sample: false })

test.beforeEach(async ({ signIn, page: _page }) => {
  await signIn('admin')
})

const confirmation = (page: Page) => page.getByRole('alertdialog')
const confirm = (page: Page) => confirmation(page).getByRole('button', { name: 'Confirm' }).click()

test('§2 all columns; description or link; default for a missing image or icon', async ({ page, server }) => {
  await add(server, season, retweet)
  await addCount(server.database, { of: 'participants', kind: 'announcement', itemId: 'retweet' }, 3)
  await page.goto('/annoucements')
  const columns = ['Sr.No', 'Title', 'Subtitle', 'Type', 'Desc/Link', 'Reward', 'Participants', 'Toggle Status']
  const files = ['Image Name', 'Image Thumb', 'Icon Name', 'Icon Thumb']
  await expect(page.getByRole('columnheader')).toHaveText([...columns, ...files, 'Update', 'Delete'])
  const end = ['default', 'default', 'default', 'default', 'Update', 'Delete']
  const first = ['1', 'Season 2', 'Fresh levels', /^desc$/i, 'Everything new', '250.5', '0', 'In Active', ...end]
  const second = ['2', 'Retweet', 'And earn', /^link$/i, 'https://x.com/arcade/1', '5', '3', 'Active', ...end]
  await expect(row(page, 'Season 2').getByRole('cell')).toHaveText(first)
  await expect(row(page, 'Retweet').getByRole('cell')).toHaveText(second)
})

test('§2 In Active in red, Active in green', async ({ page, server }) => {
  await add(server, season, retweet)
  await page.goto('/annoucements')
  const [red = 0, ...notRed] = await rgbOf(statusButton(page, 'Season 2', 'In Active'))
  expect(red).toBeGreaterThan(1.5 * Math.max(...notRed))
  const [r = 0, green = 0, b = 0] = await rgbOf(statusButton(page, 'Retweet', 'Active'))
  expect(green).toBeGreaterThan(1.5 * Math.max(r, b))
})

test('§9 50 rows a page with continuous numbers; the page in the address', async ({ page, server }) => {
  await add(server, ...Array.from({ length: 51 }, (_, n) => ({ ...season, id: `n${n}`, title: `Announcement ${n + 1}` })))
  await page.goto('/annoucements')
  await expect(page.getByText('Page 1 of 2', { exact: true })).toBeVisible()
  await expect(titles(page)).toHaveCount(50)
  await page.goto('/annoucements?page=2')
  await expect(row(page, 'Announcement 51').getByRole('cell').first()).toHaveText('51')
  await expect(titles(page)).toHaveCount(1)
})

test('§8 No annoucements found!', async ({ page }) => {
  await page.goto('/annoucements')
  await expect(page.getByRole('cell', { name: 'No annoucements found!', exact: true })).toBeVisible()
})

test('§4 the status is toggled after its confirmation, both ways; Status Updated Successfuly!', async ({ page, server }) => {
  await add(server, season)
  await page.goto('/annoucements')
  await statusButton(page, 'Season 2', 'In Active').click()
  const question = confirmation(page).getByText('Are you sure you want toggle status of Season 2.', { exact: true })
  await expect(question).toBeVisible()
  await confirmation(page).getByRole('button', { name: 'Cancel' }).click()
  await expect(confirmation(page)).toBeHidden()
  expect(await stored(server)).toMatchObject([{ status: false }])
  await statusButton(page, 'Season 2', 'In Active').click()
  await confirm(page)
  await expect(toast(page, 'Status Updated Successfuly!')).toBeVisible()
  await expect(statusButton(page, 'Season 2', 'Active')).toBeVisible()
  expect(await stored(server)).toMatchObject([{ status: true }])
  await page.reload()
  await statusButton(page, 'Season 2', 'Active').click()
  await expect(question).toBeVisible()
  await confirm(page)
  await expect(statusButton(page, 'Season 2', 'In Active')).toBeVisible()
  expect(await stored(server)).toMatchObject([{ status: false }])
})

test('§4 the confirmation says the new status and how many players get the news', async ({ page, server }) => {
  await add(server, season, retweet)
  await page.goto('/annoucements')
  await statusButton(page, 'Season 2', 'In Active').click()
  await expect(confirmation(page)).toContainText('It becomes Active. 0 players will have something new.')
  await confirmation(page).getByRole('button', { name: 'Cancel' }).click()
  await statusButton(page, 'Retweet', 'Active').click()
  await expect(confirmation(page)).toContainText('It becomes In Active. No player is told.')
  await confirmation(page).getByRole('button', { name: 'Cancel' }).click()
  expect(await stored(server)).toMatchObject([{ status: false }, { status: true }])
})

test.describe('with players', () => {
  test.use({ sample: true })
  test('§4 … all of them', async ({ page }) => {
    await page.goto('/annoucements')
    await page.getByRole('button', { name: 'In Active', exact: true }).first().click()
    await expect(confirmation(page)).toContainText('It becomes Active. 1,203 players will have something new.')
  })
})

test('§5 Delete asks first; Annoucement Deleted Succesfuly!', async ({ page, server }) => {
  await add(server, season, retweet)
  await page.goto('/annoucements')
  const remove = row(page, 'Season 2').getByRole('button', { name: 'Delete', exact: true })
  await remove.click()
  await expect(confirmation(page)).toContainText('Season 2')
  await confirmation(page).getByRole('button', { name: 'Cancel' }).click()
  await remove.click()
  await page.keyboard.press('Escape')
  await expect(confirmation(page)).toBeHidden()
  await expect(titles(page)).toHaveText(['Season 2', 'Retweet'])
  await remove.click()
  await confirm(page)
  await expect(toast(page, 'Annoucement Deleted Succesfuly!')).toBeVisible()
  await expect(titles(page)).toHaveText(['Retweet'])
  expect(await stored(server)).toMatchObject([{ title: 'Retweet' }])
})

test.describe('refusals', () => {
  test.use({ expectedNoise: { patterns: [/status of (409|500)/] } })
  const broken = (message: string) => ({ status: 500, json: { success: false, code: 'INTERNAL', message, error: message } })

  test('§8 Error Deleting Annoucement!', async ({ page, server }) => {
    await add(server, season)
    await page.route('**/api/announcements/season', (route) => route.fulfill(broken('Internal Server Error!')))
    await page.goto('/annoucements')
    await row(page, 'Season 2').getByRole('button', { name: 'Delete', exact: true }).click()
    await confirm(page)
    await expect(toast(page, 'Error Deleting Annoucement!')).toBeVisible()
    await expect(titles(page)).toHaveText(['Season 2'])
  })

  test('§8 the server’s message of a failed toggle', async ({ page, server }) => {
    await add(server, season)
    await page.route('**/api/announcements/season/status', (route) => route.fulfill(broken('The users could not be told')), {
      times: 1,
    })
    await page.goto('/annoucements')
    await statusButton(page, 'Season 2', 'In Active').click()
    const reloaded = page.waitForResponse('**/api/announcements?*')
    await confirm(page)
    await expect(toast(page, 'The users could not be told')).toBeVisible()
    await reloaded
    await settled(page)
    // From here on the list waits, so that it does not show the change below before the button is pressed.
    const pressed = Promise.withResolvers<void>()
    await page.route('**/api/announcements?*', (route) => pressed.promise.then(() => route.continue()))
    await expect(statusButton(page, 'Season 2', 'In Active')).toBeVisible()
    await server.database.db.updateTable('announcements').set({ status: true, version: 2 }).execute()
    await statusButton(page, 'Season 2', 'In Active').click()
    await confirm(page)
    await expect(toast(page, 'Somebody else has changed the status meanwhile.')).toBeVisible()
    pressed.resolve()
    await expect(statusButton(page, 'Season 2', 'Active')).toBeVisible() // the present status
    expect(await stored(server)).toMatchObject([{ status: true }])
  })
})
