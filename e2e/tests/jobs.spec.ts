/**
 * The most common jobs of operators, starting from the dashboard, with the highest number of steps that each may take. A click, a filled
 * field, a pressed key or a chosen file is one step.
 */
import { readFile } from 'node:fs/promises'
import type { Page } from '@playwright/test'
import { sql } from 'kysely'
import { banner, statusButton } from '#src/announcements.ts'
import { control, expect, field, test, toast } from '#src/test.ts'

test.beforeEach(async ({ page, signIn }) => {
  await signIn('admin')
  await page.goto('/')
  await expect(page.getByRole('heading', { name: 'Top balances' })).toBeVisible()
})

/** Returns functions for each kind of step, which count the steps. */
function counting(page: Page) {
  let count = 0
  const act = async (done: Promise<unknown>): Promise<void> => {
    count += 1
    await done
  }
  const open = (name: string) => act(page.getByRole('navigation').getByRole('link', { name, exact: true }).click())
  const press = (name: string) => act(page.getByRole('button', { name, exact: true }).click())
  return { act, open, press, count: () => count }
}

test('Jobs: finding a player by a wallet and opening the player takes 3 steps', async ({ page, server }) => {
  const { rows } = await sql<{ user_id: number; wallet: string }>`
    select user_id, bsc_wallet as wallet from telegram_users where bsc_wallet is not null order by user_id limit 1`.execute(
    server.database.db,
  )
  const { act, count } = counting(page)
  await act(page.keyboard.press('Control+k'))
  await act(page.getByRole('combobox', { name: 'Search' }).fill(rows[0]!.wallet))
  await expect(page.getByRole('group', { name: 'Telegram Users' }).getByRole('option')).toHaveCount(3) // and two acts on the player
  await act(page.keyboard.press('Enter'))
  await expect(page).toHaveURL(`/manage-telegram-users/${rows[0]!.user_id}`)
  expect(count()).toBeLessThanOrEqual(3)
})

test('Jobs: exporting all players with a balance above 400,000 takes 6 steps', async ({ page }) => {
  const { act, open, count } = counting(page)
  await open('Telegram Users')
  await act(page.getByRole('button', { name: /^Filters/ }).click())
  await act(page.getByLabel('Balance from').fill('400000'))
  await act(page.getByLabel('Balance from').press('Enter'))
  await expect(page).toHaveURL(/400000/)
  await act(page.keyboard.press('Escape'))
  const downloading = page.waitForEvent('download')
  await act(page.getByRole('button', { name: /^Download User Data/ }).click())
  expect((await readFile(await (await downloading).path())).byteLength).toBeGreaterThan(0)
  expect(count()).toBeLessThanOrEqual(6)
})

test('Jobs: seeing who took part in a task takes 4 steps', async ({ page }) => {
  const { act, open, count } = counting(page)
  await open('Social Tasks')
  await act(page.getByRole('row').filter({ hasText: 'Follow us on X' }).getByRole('link', { name: '118', exact: true }).click())
  await expect(page.getByRole('heading', { name: 'Follow us on X' })).toBeVisible()
  await expect(page.getByRole('table').getByRole('row').nth(1)).toBeVisible()
  expect(count()).toBeLessThanOrEqual(4)
})

test('Jobs: creating and activating an announcement with an image takes 14 steps', async ({ page }) => {
  const { act, open, press, count } = counting(page)
  await open('Announcements')
  await act(control(page, 'Add Annoucement').click())
  await act(field(page, 'Type').selectOption('desc'))
  await act(field(page, 'Title').fill('Season 3'))
  await act(field(page, 'Subtitle').fill('Soon'))
  await act(field(page, 'Description').fill('It begins on Monday.'))
  await act(field(page, 'Reward').fill('10'))
  await act(field(page, 'Image').setInputFiles(banner))
  await act(page.getByRole('form').getByRole('button', { name: 'Add Annoucement', exact: true }).click())
  await act(statusButton(page, 'Season 3', 'In Active').click())
  await press('Confirm')
  await expect(statusButton(page, 'Season 3', 'Active')).toBeVisible()
  expect(count()).toBeLessThanOrEqual(14)
})

test('Jobs: changing a user’s role takes 5 steps', async ({ page, server }) => {
  await server.addPerson({ fname: 'Grace', lname: 'Hopper', email: 'grace@gmail.com', userType: 'user' })
  const { act, open, press, count } = counting(page)
  await open('Manage Users')
  await act(control(page.getByRole('row').filter({ hasText: 'grace@gmail.com' }), 'Update').click())
  await act(field(page, 'Role').selectOption('Editor'))
  await press('Make Admin')
  await act(page.getByRole('alertdialog').getByRole('button', { name: 'Make Admin' }).click())
  await expect(toast(page, 'Info Updated Successfully!')).toBeVisible()
  expect(count()).toBeLessThanOrEqual(5)
})
