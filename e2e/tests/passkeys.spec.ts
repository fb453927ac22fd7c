/** Passkeys on the account page and on Login, with Chromium's virtual authenticator. */
import type { Page } from '@playwright/test'
import { sql } from 'kysely'
import { addAuthenticator } from '#src/authenticator.ts'
import { type ConsoleServer, control, expect, field, forgetSession, PASSWORD, test, toast } from '#src/test.ts'

test.use({ ownContext: true, expectedNoise: { patterns: [/status of 403/] } })

/** Browsers make passkeys for host names only. */
function named({ url }: ConsoleServer): string {
  return url.replace('127.0.0.1', 'localhost')
}

async function signInAtName(page: Page, server: ConsoleServer) {
  const names = { fname: 'Ada', lname: 'Admin' }
  const person = await server.addPerson({ ...names, email: 'admin@gmail.com', userType: 'admin' })
  const cookie = { name: 'session', value: person.token, url: named(server), httpOnly: true, sameSite: 'Strict' } as const
  await page.context().addCookies([cookie])
  await page.goto(`${named(server)}/account`)
}

async function addPasskey(page: Page, name: string) {
  await control(page, 'Add a Passkey').click()
  const dialog = page.getByRole('dialog')
  await field(dialog, 'Name').fill(name)
  await control(dialog, 'Add').click()
}

/** Adds one's first passkey, and keeps the recovery codes that come with it. @returns the codes */
async function addFirstPasskey(page: Page, name: string): Promise<string[]> {
  await addPasskey(page, name)
  await expect(toast(page, 'Passkey added.')).toBeVisible()
  const codes = page.getByRole('list', { name: 'Recovery codes' }).getByRole('listitem')
  await expect(codes).toHaveCount(10)
  const kept = await codes.allTextContents()
  await control(page, 'I Have Kept Them').click()
  return kept
}

async function givePassword(page: Page, server: ConsoleServer): Promise<void> {
  await page.goto(named(server))
  await field(page, 'Email').fill('admin@gmail.com')
  await field(page, 'Password').fill(PASSWORD)
  await control(page, 'Sign In').click()
}

test('a passkey is added on the account page, signs in without a password, and is renamed and removed', async ({
  page,
  server,
}) => {
  await addAuthenticator(page)
  await signInAtName(page, server)
  await addFirstPasskey(page, 'Work laptop')
  const row = page.getByRole('table', { name: 'Passkeys' }).getByRole('row', { name: 'Work laptop' })
  await expect(row).toContainText('Never')

  await forgetSession(page)
  await page.goto(named(server))
  await control(page, 'Use a Passkey').click()
  await expect(toast(page, 'Logged In Successfuly!')).toBeVisible() // sic, §8
  await expect(page.getByRole('heading', { name: 'Dashboard' })).toBeVisible()

  await page.goto(`${named(server)}/account`)
  await expect(row).not.toContainText('Never')
  await control(row, 'Rename Work laptop').click()
  await field(page.getByRole('dialog'), 'Name').fill('Old laptop')
  await control(page.getByRole('dialog'), 'Rename').click()
  await control(page, 'Remove Old laptop').click()
  await control(page.getByRole('alertdialog'), 'Remove passkey').click()
  await expect(toast(page, 'Passkey removed.')).toBeVisible()

  await forgetSession(page)
  await page.goto(named(server))
  await control(page, 'Use a Passkey').click()
  await expect(page.getByText('This passkey was not accepted. Please try again, or sign in another way.')).toBeVisible()
  await givePassword(page, server)
  await expect(toast(page, 'Logged In Successfuly!')).toBeVisible() // sic, §8
})

test('after the password a passkey or a recovery code is asked for, and a passkey before weighty acts', async ({
  page,
  server,
}) => {
  await addAuthenticator(page)
  await signInAtName(page, server)
  const [code = ''] = await addFirstPasskey(page, 'Phone')
  await expect(page.getByText('10 recovery codes')).toBeVisible()

  await forgetSession(page)
  await givePassword(page, server)
  await expect(page.getByRole('heading', { name: 'Second Step' })).toBeVisible()
  await control(page, 'Use a Passkey').click()
  await expect(toast(page, 'Logged In Successfuly!')).toBeVisible() // sic, §8

  await sql`update sessions set second_factor_at = now() - interval '10 minutes'`.execute(server.database.db)
  await page.goto(`${named(server)}/account`)
  await control(page, 'Remove Phone').click()
  await control(page.getByRole('alertdialog'), 'Remove passkey').click()
  const question = page.getByRole('dialog', { name: 'Is it you?' })
  await control(question, 'Use a Passkey').click()
  await expect(toast(page, 'Passkey removed.')).toBeVisible()

  await addFirstPasskey(page, 'Phone')
  await forgetSession(page)
  await givePassword(page, server)
  await field(page, 'Recovery Code').fill(code)
  await control(page, 'Sign In').click()
  await expect(page.getByText('This code is wrong or was used already.').first()).toBeVisible()
})

test('a device that has one already, that does not know its user, or whose dialog is cancelled says so', async ({
  page,
  server,
}) => {
  const authenticator = await addAuthenticator(page)
  await signInAtName(page, server)
  await addFirstPasskey(page, 'Phone')
  await addPasskey(page, 'Again')
  await expect(page.getByRole('dialog').getByText('This device has a passkey for you already.')).toBeVisible()
  await control(page.getByRole('dialog'), 'Cancel').click()

  await forgetSession(page)
  await authenticator.setUserVerified(false)
  await page.goto(named(server))
  await control(page, 'Use a Passkey').click()
  await expect(page.getByText('No passkey was used')).toBeVisible()
})

test('at an IP address there are no passkeys, and the account page says why', async ({ page, server }) => {
  await addAuthenticator(page)
  await page.goto(server.url)
  await expect(control(page, 'Sign In')).toBeVisible()
  await expect(control(page, 'Use a Passkey')).toHaveCount(0)
  const person = await server.addPerson({ fname: 'Ada', lname: 'Admin', email: 'admin@gmail.com', userType: 'admin' })
  await page.context().addCookies([{ name: 'session', value: person.token, url: server.url, httpOnly: true, sameSite: 'Strict' }])
  await page.goto(`${server.url}/account`)
  const section = page.getByRole('region', { name: 'Passkeys' })
  await expect(section).toContainText('passkeys need a host name and https')
  await expect(control(section, 'Add a Passkey')).toHaveCount(0)
})
