/** The page on which admins create, rotate and revoke bot tokens (design §8). */
import type { Page } from '@playwright/test'
import { expectAccessible } from '#src/axe.ts'
import { expect, field, test, toast } from '#src/test.ts'

test.use({ sample: false })

const confirm = (page: Page, name: string) => page.getByRole('alertdialog').getByRole('button', { name }).click()
const shownToken = (page: Page) => field(page, 'Token of game').inputValue()

/** Returns the status of a bot's call with this token. */
async function statusWith(url: string, token: string): Promise<number> {
  const answer = await fetch(`${url}/update-users-status`, { headers: { authorization: `Bearer ${token}` } })
  return answer.status
}

test('a new token does not hide the one before, which may not be copied yet', async ({ page, signIn }) => {
  await signIn('admin')
  await page.goto('/bot-tokens')
  for (const name of ['game', 'other']) {
    await field(page, 'Name').fill(name)
    await field(page, 'Name').press('Enter')
    await expect(field(page, `Token of ${name}`)).toBeFocused()
  }
  expect(await shownToken(page)).toMatch(/^arcade_/)
})

test('§8 a token is created with a scope and shown once; after a rotation both tokens work; it can be revoked', async ({
  page,
  server,
  signIn,
}) => {
  await signIn('admin')
  await page.goto('/bot-tokens')
  await expect(page.getByText('There is no bot token yet.')).toBeVisible()

  await field(page, 'Name').fill('game')
  await field(page, 'Scope').selectOption({ label: 'Admin' })
  await expect(page.getByText('Adjusts balances and reverses entries, too.')).toBeVisible()
  await field(page, 'Name').press('Enter')
  await expect(toast(page, 'Token made.')).toBeVisible()
  await expect(field(page, 'Token of game')).toBeFocused()
  await expect(field(page, 'Name')).toHaveValue('')
  await expect(page.getByText('A token needs a name')).toHaveCount(0)
  const first = await shownToken(page)
  expect(first).toMatch(/^arcade_[\w-]{43}$/)
  expect(await statusWith(server.url, first)).toBe(200)
  await expectAccessible(page)

  await page.reload()
  const row = page.getByRole('row').filter({ hasText: 'game' })
  await expect(row).toContainText('Admin')
  await expect(row).not.toContainText('Never')
  await expect(field(page, 'Token of game')).toHaveCount(0)
  expect(await page.content()).not.toContain(first)

  const question = page.getByRole('alertdialog')
  await page.getByRole('button', { name: 'Rotate game' }).click()
  await expect(question).toContainText('game gets a new token. The present one works until you end it or rotate again.')
  await confirm(page, 'Rotate token')
  await expect(toast(page, 'Token rotated.')).toBeVisible()
  const second = await shownToken(page)
  expect([await statusWith(server.url, first), await statusWith(server.url, second)]).toEqual([200, 200])
  await expect(row).toContainText('Old token, which still works')
  await page.getByRole('button', { name: 'Rotate game' }).click()
  await expect(question).toContainText(
    'game gets a new token. The old one stops working, and the present one works until you end it or rotate again.',
  )
  await question.getByRole('button', { name: 'Cancel' }).click()
  await page.getByRole('button', { name: 'End Old Token, game' }).click()
  await confirm(page, 'End old token')
  await expect(toast(page, 'Old token ended.')).toBeVisible()
  await expect(page.getByRole('button', { name: 'Rotate game' })).toBeFocused()
  expect([await statusWith(server.url, first), await statusWith(server.url, second)]).toEqual([401, 200])

  await page.getByRole('button', { name: 'Revoke game' }).click()
  await confirm(page, 'Revoke token')
  await expect(toast(page, 'Token revoked.')).toBeVisible()
  await expect(page.getByText('There is no bot token yet.')).toBeVisible()
  await expect(page.getByRole('heading', { name: 'Bot Tokens' })).toBeFocused()
  expect(await statusWith(server.url, second)).toBe(401)
})

test('design §8 a token may have a name in any language', async ({ page, signIn }) => {
  await signIn('admin')
  await page.goto('/bot-tokens')
  for (const name of ['Zoës Spiel', 'игра', 'لعبة']) {
    await field(page, 'Name').fill(name)
    await field(page, 'Name').press('Enter')
    await expect(page.getByRole('row').filter({ hasText: name })).toBeVisible()
    await expect(field(page, `Token of ${name}`)).toBeFocused()
  }
})

test.describe('a name that is taken', () => {
  test.use({ expectedNoise: { patterns: [/status of 409/] } })

  test('§8 shows its message at the name, and the form keeps its text', async ({ page, signIn }) => {
    await signIn('admin')
    await page.goto('/bot-tokens')
    await field(page, 'Name').fill('game')
    await page.getByRole('button', { name: 'Create' }).click()
    await expect(toast(page, 'Token made.')).toBeVisible()
    await field(page, 'Name').fill('game')
    await page.getByRole('button', { name: 'Create' }).click()
    await expect(toast(page, 'There is a bot token of this name already.')).toBeVisible()
    await expect(field(page, 'Name')).toHaveValue('game')
    await expect(field(page, 'Name')).toHaveAccessibleDescription('There is a bot token of this name already.')
    await expect(field(page, 'Name')).toBeFocused()
  })
})

test('§6 a user who is not an admin gets neither the link nor the page', async ({ page, signIn }) => {
  await signIn('user')
  await page.goto('/bot-tokens')
  await expect(page.getByRole('link', { name: 'Bot Tokens' })).toHaveCount(0)
  await expect(page.getByRole('heading', { name: 'Bot Tokens' })).toHaveCount(0)
})

test('Leaving the page with a half-typed token asks first, and the text is offered as a draft later', async ({
  page,
  signIn,
}) => {
  await signIn('admin')
  await page.goto('/bot-tokens')
  await field(page, 'Name').fill('game of')
  await page.getByRole('link', { name: 'History', exact: true }).click()
  await page.getByRole('alertdialog', { name: 'Leave without saving?' }).getByRole('button', { name: 'Leave' }).click()
  await expect(page).toHaveURL('/history')
  await page.goto('/bot-tokens')
  await page.getByRole('button', { name: 'Use Draft' }).click()
  await expect(field(page, 'Name')).toHaveValue('game of')
  await expectAccessible(page)
  await field(page, 'Name').press('Enter')
  await expect(toast(page, 'Token made.')).toBeVisible()
  await page.getByRole('link', { name: 'History', exact: true }).click()
  await expect(page).toHaveURL('/history')
})
