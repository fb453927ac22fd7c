/** The first admin (design §7): what a fresh installation shows, and set-up links that work, have expired or are used. */
import type { Page } from '@playwright/test'
import { sql } from 'kysely'
import { expectAccessible } from '#src/axe.ts'
import { resize, sizes } from '#src/sizes.ts'
import { control, expect, field, forgetSession, PASSWORD, test, toast } from '#src/test.ts'

test.use({ sample: false })

const COMMAND = 'npm run arcade -- setup-link'

async function register(page: Page, email: string): Promise<void> {
  const values = { 'First Name': 'Ada', 'Last Name': 'Admin', Email: email, Password: PASSWORD, 'Confirm Password': PASSWORD }
  for (const [label, value] of Object.entries(values)) await field(page, label).fill(value)
  await page.getByRole('button', { name: 'Create Account' }).click()
}

test('a fresh installation says that a new account can do nothing, and where the set-up link is', async ({ page }) => {
  await page.goto('/')
  await page.getByRole('link', { name: 'Create an account' }).click()
  await expect(page.getByText('There is no admin yet.')).toBeVisible()
  await expect(page.getByText('The link that makes the first one stands in the server’s log.')).toBeVisible()
  await expect(page.getByText(COMMAND, { exact: true })).toBeVisible()
  for (const viewport of sizes) {
    await resize(page, viewport)
    await expectAccessible(page)
  }
  await register(page, 'uma@gmail.com')
  await expect(page.getByRole('heading', { name: 'User Dashboard' })).toBeVisible()
})

test('once there is an admin, Create an account shows no hint about it', async ({ page, server }) => {
  await server.addPerson({ fname: 'Ada', lname: 'Admin', email: 'ada@gmail.com', userType: 'admin' })
  await page.goto('/register')
  await expect(page.getByRole('button', { name: 'Create Account' })).toBeVisible()
  await expect(page.getByText('There is no admin yet.')).toHaveCount(0)
})

test('a set-up link makes the first admin, once; after that it says that it is used', async ({ page, server }) => {
  const link = await server.newSetupLink()
  await page.goto(link)
  await expect(page.getByText('This link makes the first admin')).toBeVisible()
  await expectAccessible(page)
  await register(page, 'ada@gmail.com')
  await expect(toast(page, 'Account Created Successfully!')).toBeVisible()
  await expect(page.getByRole('heading', { name: 'Admin Dashboard' })).toBeVisible()
  await page.goto(link)
  await expect(page.getByText('This set-up link was used already: there is an admin.')).toBeVisible()
  await expect(page.getByText('You are signed in as ada@gmail.com')).toBeVisible()
  await page.getByRole('link', { name: 'Back to the dashboard' }).click()
  await expect(page.getByRole('heading', { name: 'Admin Dashboard' })).toBeVisible()
  await forgetSession(page)
  await page.goto(link)
  await expect(page.getByText('This set-up link was used already')).toBeVisible()
  await register(page, 'uma@gmail.com')
  await expect(page.getByRole('heading', { name: 'User Dashboard' })).toBeVisible()
})

test('an expired set-up link and one that was replaced by a newer one say so', async ({ page, server }) => {
  const older = await server.newSetupLink()
  const newer = await server.newSetupLink()
  await page.goto(older)
  await expect(
    page.getByText('This set-up link is not valid. It may be incomplete, or a newer one may have taken its place.'),
  ).toBeVisible()
  await sql`update setup_links set expires_at = now() - interval '1 second'`.execute(server.database.db)
  await page.goto(newer)
  await expect(page.getByText('This set-up link has expired.')).toBeVisible()
  await expect(page.getByText(COMMAND, { exact: true })).toBeVisible()
})

test('to a signed-in user, the link says which account the new one replaces in this browser', async ({
  page,
  server,
  signIn,
}) => {
  await signIn('user')
  await page.goto(await server.newSetupLink())
  await expect(page.getByText('This link makes the first admin')).toBeVisible()
  await expect(page.getByText('You are signed in as user@gmail.com')).toBeVisible()
  await register(page, 'ada@gmail.com')
  await expect(page.getByRole('heading', { name: 'Admin Dashboard' })).toBeVisible()
  await expect(page.getByText('Ada Admin').first()).toBeVisible()
})

test.describe('refusals', () => {
  test.use({ expectedNoise: { patterns: [/status of (403|409)/] } })

  test('an e-mail that is taken: the form says what to do instead, and the link still works', async ({ page, server }) => {
    await server.addPerson({ fname: 'Ada', lname: 'Admin', email: 'ada@gmail.com', userType: 'user' })
    await page.goto(await server.newSetupLink())
    await register(page, 'ada@gmail.com')
    await expect(toast(page, 'Registration Failed')).toBeVisible()
    await expect(page.getByText('There is an account with this e-mail already.')).toBeVisible()
    await expect(page.getByText('npm run arcade -- admin create ada@gmail.com', { exact: true })).toBeVisible()
    await expect(field(page, 'Email')).toHaveAccessibleDescription('This email is in use already')
    await field(page, 'Email').fill('lovelace@gmail.com')
    await page.getByRole('button', { name: 'Create Account' }).click()
    await expect(page.getByRole('heading', { name: 'Admin Dashboard' })).toBeVisible()
  })

  test('a link that expires during typing: the form says so and becomes the ordinary registration form', async ({
    page,
    server,
  }) => {
    await page.goto(await server.newSetupLink())
    await expect(page.getByText('This link makes the first admin')).toBeVisible()
    await sql`update setup_links set expires_at = now() - interval '1 second'`.execute(server.database.db)
    await register(page, 'ada@gmail.com')
    await expect(toast(page, 'Registration Failed')).toBeVisible()
    await expect(page.getByText('This set-up link has expired.')).toBeVisible()
    await expect(field(page, 'Email')).toHaveValue('ada@gmail.com')
    await expect(control(page, 'Create Account')).toBeVisible()
  })
})
