/** An admin's own account page, and links with which users set a new password. */
import type { Browser, Page } from '@playwright/test'
import { sql } from 'kysely'
import { expectAccessible } from '#src/axe.ts'
import { sizes } from '#src/sizes.ts'
import { control, expect, field, forgetSession, PASSWORD, test, toast } from '#src/test.ts'

test.use({ sample: false })

const confirm = (page: Page, name = 'Confirm') => page.getByRole('alertdialog').getByRole('button', { name }).click()
const session = (page: Page, device: string) => page.getByRole('row').filter({ hasText: device })

async function logIn(page: Page, email: string, password: string): Promise<void> {
  await page.goto('/auth/log-in')
  await field(page, 'Email').fill(email)
  await field(page, 'Password').fill(password)
  await page.keyboard.press('Enter')
}

/** Opens another browser with the user agent of Firefox. */
async function firefox(browser: Browser, url: string): Promise<Page> {
  const userAgent = 'Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:145.0) Gecko/20100101 Firefox/145.0'
  const context = await browser.newContext({ userAgent, baseURL: url })
  return context.newPage()
}

test.describe('an admin’s own account', () => {
  test.beforeEach(async ({ signIn, page: _page }) => {
    await signIn('admin')
  })

  test('is one click away, and changes the name after a confirmation', async ({ page, server }) => {
    await page.goto('/social-tasks')
    await page.getByRole('link', { name: 'Your Account' }).click()
    await expect(page).toHaveURL('/account')
    await expect(page.getByRole('heading', { name: 'Your Account' })).toBeVisible()
    await expect(page.getByText('admin@gmail.com')).toBeVisible()
    await field(page, 'First Name').fill('')
    await page.getByRole('button', { name: 'Update', exact: true }).click()
    await expect(page.getByText('First Name is required')).toBeVisible()
    await field(page, 'First Name').fill('Grace')
    await page.getByRole('button', { name: 'Update', exact: true }).click()
    await confirm(page)
    await expect(toast(page, 'Info Updated Successfully!')).toBeVisible()
    await expect(page.getByText('Grace Admin')).toBeVisible()
    await expect(field(page, 'First Name')).toHaveValue('Grace')
    expect(await server.database.db.selectFrom('users').select('fname').execute()).toEqual([{ fname: 'Grace' }])
    await page.keyboard.press('Control+k')
    await expect(page.getByRole('combobox')).toBeFocused()
    await page.keyboard.type('your account')
    await expect(page.getByRole('option', { name: 'Your Account' })).toBeVisible()
  })

  test.describe('the password', () => {
    test.use({ expectedNoise: { patterns: [/status of 40[01]/] } })

    test('can be changed by giving the current one, which ends all other sessions', async ({ page, server, browser }) => {
      const elsewhere = await firefox(browser, server.url)
      await logIn(elsewhere, 'admin@gmail.com', PASSWORD)
      await expect(elsewhere.getByRole('heading', { name: 'Admin Dashboard' })).toBeVisible()
      await page.goto('/account')
      await field(page, 'Current Password').fill('wrong')
      await field(page, 'New Password').fill('a new secret')
      await field(page, 'Confirm Password').fill('a new secre')
      await page.getByRole('button', { name: 'Change Password' }).click()
      await expect(page.getByText('Passwords must match')).toBeVisible()
      await field(page, 'Confirm Password').fill('a new secret')
      await page.getByRole('button', { name: 'Change Password' }).click()
      await expect(field(page, 'Current Password')).toHaveAccessibleDescription('This is not your current password')
      await expect(session(page, 'Firefox on Windows')).toBeVisible()
      await field(page, 'Current Password').fill(PASSWORD)
      await page.getByRole('button', { name: 'Change Password' }).click()
      await expect(toast(page, 'Password changed.')).toBeVisible()
      await expect(session(page, 'Firefox on Windows')).toHaveCount(0)
      await elsewhere.getByRole('link', { name: 'Manage Users' }).click()
      await expect(elsewhere.getByRole('heading', { name: 'Welcome', exact: true })).toBeVisible()
      await logIn(elsewhere, 'admin@gmail.com', 'a new secret')
      await expect(elsewhere.getByRole('heading', { name: 'Admin Dashboard' })).toBeVisible()
      await elsewhere.context().close()
      await page.reload()
      await expect(page.getByRole('heading', { name: 'Your Account' })).toBeVisible()
    })
  })

  test('sessions are listed, and a session on another device can be ended', async ({ page, server, browser }) => {
    const elsewhere = await firefox(browser, server.url)
    await logIn(elsewhere, 'admin@gmail.com', PASSWORD)
    await expect(elsewhere.getByRole('heading', { name: 'Admin Dashboard' })).toBeVisible()
    await page.goto('/account')
    const other = session(page, 'Firefox on Windows')
    const used = other.getByRole('cell').filter({ hasText: /^\d\d\/\d\d\/\d{4} \d\d:\d\d [AP]M from 127\.0\.0\.1$/ })
    await expect(used).toHaveCount(2) // Last seen, Begun
    await expect(page.getByRole('row').filter({ hasText: 'This session' })).toHaveCount(1)
    await other.getByRole('button', { name: 'End Session' }).click()
    await expect(page.getByRole('alertdialog')).toContainText('Firefox on Windows')
    await confirm(page, 'End session')
    await expect(toast(page, 'Session ended.')).toBeVisible()
    await expect(other).toHaveCount(0)
    await elsewhere.reload()
    await expect(elsewhere.getByRole('heading', { name: 'Welcome', exact: true })).toBeVisible()
    await elsewhere.context().close()
  })

  test('all other sessions can be ended at once', async ({ page, server, browser }) => {
    for (let n = 0; n < 2; n += 1) {
      const elsewhere = await firefox(browser, server.url)
      await logIn(elsewhere, 'admin@gmail.com', PASSWORD)
      await expect(elsewhere.getByRole('heading', { name: 'Admin Dashboard' })).toBeVisible()
      await elsewhere.context().close()
    }
    await page.goto('/account')
    await expect(session(page, 'Firefox on Windows')).toHaveCount(2)
    await page.getByRole('button', { name: 'End All Others' }).click()
    await confirm(page, 'End session')
    await expect(session(page, 'Firefox on Windows')).toHaveCount(0)
    await expect(page.getByText('This session')).toBeVisible()
  })

  for (const viewport of sizes) {
    test(`axe finds nothing at ${viewport.width} × ${viewport.height}`, async ({ page, server }) => {
      const { id } = await server.addPerson({ fname: 'Uma', lname: 'User', email: 'uma@gmail.com', userType: 'user' })
      await page.setViewportSize(viewport)
      await page.goto('/account')
      await expect(page.getByText('This session')).toBeVisible()
      await expectAccessible(page)
      await page.goto(`/update-user/${id}/Uma/User/uma@gmail.com`)
      await page.getByRole('button', { name: 'Make Password Link' }).click()
      await expect(field(page, 'Password Link')).toBeVisible()
      await expectAccessible(page)
    })
  }
})

test('§6 a user who is not an admin has no account page', async ({ page, signIn }) => {
  await signIn('user')
  await page.goto('/account')
  await expect(page).toHaveURL('/')
  await expect(page.getByRole('heading', { name: 'User Dashboard' })).toBeVisible()
  await expect(page.getByRole('link', { name: 'Your Account' })).toHaveCount(0)
})

test('an admin makes a link with which an imported user sets a first password', async ({ page, server, signIn, browser }) => {
  await signIn('admin')
  const user = { id: 'imported', fname: 'Ida', lname: 'Import', email: 'ida@gmail.com', user_type: 'user' as const }
  await server.database.db.insertInto('users').values(user).execute()
  await page.goto('/manage-users')
  await control(page.getByRole('row').nth(1), /Update/).click()
  await page.getByRole('button', { name: 'Make Password Link' }).click()
  const link = await field(page, 'Password Link').inputValue()
  expect(link).toMatch(/\/set-password\?link=[\w-]{43}$/)
  await expect(page.getByText(/Good until \d\d\/\d\d\/\d{4}/)).toBeVisible()

  const theirs = await firefox(browser, server.url)
  await theirs.goto(link)
  await expect(theirs.getByRole('heading', { name: 'Set a New Password' })).toBeVisible()
  await expect(theirs.getByText('For ida@gmail.com')).toBeVisible()
  await expectAccessible(theirs)
  await field(theirs, 'New Password').fill('12345')
  await field(theirs, 'Confirm Password').fill('123456')
  await theirs.getByRole('button', { name: 'Set Password' }).click()
  await expect(theirs.getByText('Password must be at least 6 characters')).toBeVisible()
  await field(theirs, 'New Password').fill('a first one')
  await field(theirs, 'Confirm Password').fill('a first one')
  await theirs.getByRole('button', { name: 'Set Password' }).click()
  await expect(toast(theirs, 'Password set. Sign in with it.')).toBeVisible()
  await expect(theirs).toHaveURL('/auth/log-in')
  await logIn(theirs, 'ida@gmail.com', 'a first one')
  await expect(theirs.getByRole('heading', { name: 'User Dashboard' })).toBeVisible()
  await theirs.context().close()

  await page.goto(link) // signed in as another person
  await expect(page.getByText('This link was used already: the password was set with it.')).toBeVisible()
  await expect(field(page, 'New Password')).toHaveCount(0)
})

test('a link that has expired or was replaced says so', async ({ page, server, signIn }) => {
  await signIn('admin')
  const { id } = await server.addPerson({ fname: 'Uma', lname: 'User', email: 'uma@gmail.com', userType: 'user' })
  await page.goto(`/update-user/${id}/Uma/User/uma@gmail.com`)
  await page.getByRole('button', { name: 'Make Password Link' }).click()
  const older = await field(page, 'Password Link').inputValue()
  await page.getByRole('button', { name: 'Make Another Link' }).click()
  await expect(field(page, 'Password Link')).not.toHaveValue(older)
  const newer = await field(page, 'Password Link').inputValue()
  await forgetSession(page)
  await page.goto(older)
  await expect(
    page.getByText('This link is not valid. It may be incomplete, a newer one may have taken its place, or it was ended.'),
  ).toBeVisible()
  await page.goto('/set-password?link=zzz')
  await expect(
    page.getByText('This link is not valid. It may be incomplete, a newer one may have taken its place, or it was ended.'),
  ).toBeVisible()
  await sql`update password_links set expires_at = now() - interval '1 second'`.execute(server.database.db)
  await page.goto(newer)
  await expect(page.getByText('This link has expired: it was good for a day.')).toBeVisible()
  await page.getByRole('link', { name: 'Log In' }).click()
  await expect(page).toHaveURL('/auth/log-in')
})

test('open password links are shown to admins, who can end them', async ({ page, server, signIn }) => {
  const { id } = await server.addPerson({ fname: 'Uma', lname: 'User', email: 'uma@gmail.com', userType: 'user' })
  const link = await server.newPasswordLink(id) // by Mae Maker
  await signIn('admin')
  await page.goto('/manage-users')
  const open = page.getByRole('region', { name: 'Open Password Links' })
  await expect(open.getByRole('listitem')).toHaveText(
    /^Uma User \(uma@gmail\.com\) ?Made by Mae Maker, good until \d\d\/\d\d\/\d{4} \d\d:\d\d [AP]M.*End Link$/,
  )
  await expectAccessible(page)
  await open.getByRole('button', { name: 'End Link, Uma User' }).click()
  await expect(page.getByRole('alertdialog')).toContainText('the password link for Uma User')
  await confirm(page, 'End link')
  await expect(toast(page, 'Password link ended.')).toBeVisible()
  await expect(open).toHaveCount(0)

  // On the page where it is made, the link disappears together with its end, and with a change of the role.
  await page.goto(`/update-user/${id}/Uma/User/uma@gmail.com`)
  await page.getByRole('button', { name: 'Make Password Link' }).click()
  await expect(field(page, 'Password Link')).toBeVisible()
  await open.getByRole('button', { name: 'End Link, Uma User' }).click()
  await confirm(page, 'End link')
  await expect(open).toHaveCount(0)
  await expect(field(page, 'Password Link')).toHaveCount(0)
  await page.getByRole('button', { name: 'Make Password Link' }).click()
  await expect(open).toBeVisible()
  await field(page, 'Role').selectOption('Manager')
  await page.getByRole('button', { name: 'Make Admin' }).click()
  await confirm(page, 'Make Admin')
  await expect(open).toHaveCount(0)
  await expect(field(page, 'Password Link')).toHaveCount(0)

  await page.goto('/audit')
  await expect(page.getByRole('cell', { name: 'Ended a password link' })).toHaveCount(2)
  await forgetSession(page)
  await page.goto(link)
  await expect(page.getByText('This link is not valid.')).toBeVisible()
})
