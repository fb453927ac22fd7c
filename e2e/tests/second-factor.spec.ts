/** The second factor in the browser: setting it up, the second step of Login, step-up, and a console that requires it. */
import { readFile } from 'node:fs/promises'
import type { Page } from '@playwright/test'
import { sql } from 'kysely'
import { TOTP } from 'otpauth'
import { decodeQR } from 'qr/decode.js'
import { expectAccessible } from '#src/axe.ts'
import { resize, sizes } from '#src/sizes.ts'
import { type ConsoleServer, control, expect, field, forgetSession, PASSWORD, test, toast } from '#src/test.ts'

// The browser notes each answer of 403, with which the server asks for the second factor.
test.use({ sample: false, expectedNoise: { patterns: [/status of 403/] } })

const EMAIL = 'admin@gmail.com'
const codeOf = (secret: string): string => new TOTP({ secret }).generate()
/** Lets the present code count again, so that a test need not wait for the next one. */
const forgetCode = ({ database }: ConsoleServer) => sql`update totp_secrets set last_step = null`.execute(database.db)
const ageProof = ({ database }: ConsoleServer) =>
  sql`update sessions set second_factor_at = now() - interval '10 minutes'`.execute(database.db)

/** Sets up an authenticator app by the page. @returns its secret and the recovery codes */
async function setUp(page: Page, server: ConsoleServer): Promise<{ secret: string; codes: string[] }> {
  await page.getByRole('button', { name: 'Set Up Authenticator App' }).click()
  const secret = await field(page, 'Secret').inputValue()
  await field(page, 'Code').fill(codeOf(secret))
  await page.getByRole('button', { name: 'Switch On' }).click()
  const list = page.getByRole('list', { name: 'Recovery codes' })
  await expect(list.getByRole('listitem')).toHaveCount(10)
  await forgetCode(server)
  return { secret, codes: await list.getByRole('listitem').allTextContents() }
}

async function givePassword(page: Page): Promise<void> {
  await page.goto('/auth/log-in')
  await field(page, 'Email').fill(EMAIL)
  await field(page, 'Password').fill(PASSWORD)
  await page.keyboard.press('Enter')
}

test('an authenticator app is set up from its QR code, and recovery codes are shown once', async ({ page, server, signIn }) => {
  await signIn('admin')
  await page.goto('/account')
  await page.getByRole('button', { name: 'Set Up Authenticator App' }).click()
  const qr = page.getByRole('img', { name: 'QR code for your authenticator app' })
  const uri = new URL(decoded((await qr.locator('path').getAttribute('d')) ?? '', (await qr.getAttribute('viewBox')) ?? ''))
  const secret = await field(page, 'Secret').inputValue()
  expect(uri.searchParams.get('secret')).toBe(secret)
  expect(decodeURIComponent(uri.pathname)).toContain(EMAIL)
  for (const viewport of sizes) {
    await resize(page, viewport)
    await expectAccessible(page)
  }
  await field(page, 'Code').fill('abc')
  await page.getByRole('button', { name: 'Switch On' }).click()
  await expect(field(page, 'Code')).toHaveAccessibleDescription('This code is wrong or was used already.')
  await field(page, 'Code').fill(codeOf(secret).replace(/^.../, '$& ')) // as apps show it
  await page.getByRole('button', { name: 'Switch On' }).click()
  await expect(page.getByText('They are not shown again')).toBeVisible()
  const codes = await page.getByRole('list', { name: 'Recovery codes' }).getByRole('listitem').allTextContents()
  expect(new Set(codes).size).toBe(10)
  const downloading = page.waitForEvent('download')
  await page.getByRole('button', { name: 'Download' }).click()
  expect(await readFile(await (await downloading).path(), 'utf8')).toBe(`${codes.join('\n')}\n`)
  for (const viewport of sizes) {
    await resize(page, viewport)
    await expectAccessible(page)
  }
  await page.getByRole('banner').getByRole('link').click() // the logo, at the size of a phone
  const question = page.getByRole('alertdialog', { name: 'Leave without saving?' })
  await expect(question).toContainText('What is not saved here is lost if you leave.')
  await question.getByRole('button', { name: 'Cancel' }).click()
  await page.getByRole('button', { name: 'I Have Kept Them' }).click()
  await expect(page.getByText('10 recovery codes left')).toBeVisible()
  await expectAccessible(page)
  await page.reload()
  await expect(page.getByText('10 recovery codes left'), 'the session goes on with its new token').toBeVisible()
  await expect(page.getByText(codes[0]!)).toHaveCount(0)

  await page.getByRole('button', { name: 'Make New Recovery Codes' }).click()
  await page.getByRole('alertdialog').getByRole('button', { name: 'Make new recovery codes' }).click()
  await expect(page.getByRole('list', { name: 'Recovery codes' }).getByRole('listitem')).toHaveCount(10)
  await expect(page.getByText(codes[0]!)).toHaveCount(0)
  await page.getByRole('button', { name: 'I Have Kept Them' }).click()
  await page.getByRole('button', { name: 'Remove', exact: true }).click()
  await page.getByRole('alertdialog').getByRole('button', { name: 'Remove authenticator app' }).click()
  await expect(page.getByRole('button', { name: 'Set Up Authenticator App' })).toBeVisible()
  expect(await server.database.db.selectFrom('totp_secrets').selectAll().execute()).toEqual([])
})

test('Login asks for the code of the app, or for a recovery code', async ({ page, server, signIn }) => {
  await signIn('admin')
  await page.goto('/account')
  const { secret, codes } = await setUp(page, server)
  await forgetSession(page)

  await givePassword(page)
  await expect(page.getByRole('heading', { name: 'Second Step' })).toBeVisible()
  await expect(field(page, 'Code')).toBeFocused()
  await expect(field(page, 'Code')).toHaveAttribute('autocomplete', 'one-time-code')
  for (const viewport of sizes) {
    await resize(page, viewport)
    await expectAccessible(page)
  }
  await field(page, 'Code').fill('000')
  await page.keyboard.press('Enter')
  await expect(field(page, 'Code')).toHaveAccessibleDescription('This code is wrong or was used already.')
  await page.goto('/manage-users')
  await expect(page.getByRole('heading', { name: 'Welcome', exact: true }), 'the cookie opens no page').toBeVisible()

  await givePassword(page)
  await field(page, 'Code').fill(codeOf(secret))
  await page.keyboard.press('Enter')
  await expect(toast(page, 'Logged In Successfuly!')).toBeVisible()
  await expect(page.getByRole('heading', { name: 'Admin Dashboard' })).toBeVisible()

  await forgetSession(page)
  await givePassword(page)
  await page.getByRole('button', { name: 'Use a recovery code' }).click()
  await expect(field(page, 'Recovery Code')).toBeFocused()
  await expect(page.getByText('ask an owner of the console to remove your second factor')).toBeVisible()
  await field(page, 'Recovery Code').fill(codes[0]!)
  await page.getByRole('button', { name: 'Sign In', exact: true }).click()
  await expect(page.getByRole('heading', { name: 'Admin Dashboard' })).toBeVisible()

  await forgetSession(page)
  await givePassword(page)
  await expect(field(page, 'Code')).toBeVisible()
  await sql`update pending_sign_ins set expires_at = now()`.execute(server.database.db)
  await field(page, 'Code').fill(codeOf(secret))
  await page.keyboard.press('Enter')
  await expect(toast(page, 'This sign-in has expired. Please enter your password again.')).toBeVisible()
  await expect(field(page, 'Email')).toBeVisible()
})

test('a weighty act asks for the second factor again, goes on after the proof, and is left by Cancel', async ({
  page,
  server,
  signIn,
}) => {
  await signIn('admin')
  await page.goto('/account')
  const { secret } = await setUp(page, server)
  await ageProof(server)
  await page.goto('/bot-tokens')
  const make = async () => {
    await field(page, 'Name').fill('game')
    await page.getByRole('button', { name: /^(Make|Create)/ }).click()
  }
  await make()
  const dialog = page.getByRole('dialog', { name: 'Is it you?' })
  await expect(field(dialog, 'Code')).toBeFocused()
  for (const viewport of sizes) {
    await resize(page, viewport)
    await expectAccessible(page)
  }
  await dialog.getByRole('button', { name: 'Cancel' }).click()
  await expect(dialog).toHaveCount(0)
  await expect(page.getByText('Nothing was done, because you did not prove your second factor.').first()).toBeVisible()
  expect(await server.database.db.selectFrom('bot_tokens').selectAll().execute()).toEqual([])

  await make()
  await field(dialog, 'Code').fill('12')
  await dialog.getByRole('button', { name: 'Continue' }).click()
  await expect(field(dialog, 'Code')).toHaveAccessibleDescription('This code is wrong or was used already.')
  await field(dialog, 'Code').fill(codeOf(secret))
  await page.keyboard.press('Enter')
  await expect(dialog).toHaveCount(0)
  await expect.poll(() => server.database.db.selectFrom('bot_tokens').select('name').execute()).toEqual([{ name: 'game' }])
})

test('an owner is offered to remove the second factor of people who have one, and a new webhook asks for the own one', async ({
  page,
  server,
  signIn,
}) => {
  await signIn('admin')
  const { id } = await server.addPerson({ fname: 'Olga', lname: 'Owner', email: 'olga@gmail.com', userType: 'admin' })
  const remove = page.getByRole('button', { name: 'Remove Second Factor' })
  await page.goto(`/update-user/${id}/Olga/Owner/olga@gmail.com`)
  await expect(field(page, 'Role')).toBeVisible()
  await expect(remove).toHaveCount(0)
  await sql`insert into totp_secrets (user_id, secret, confirmed_at) values (${id}, '\\x01', now())`.execute(server.database.db)
  await page.reload()
  await remove.click()
  await page
    .getByRole('alertdialog')
    .getByRole('button', { name: /Confirm|Remove/ })
    .click()
  await expect(toast(page, 'Second factor removed.')).toBeVisible()
  await expect(remove).toHaveCount(0)

  await page.goto('/account')
  const { secret } = await setUp(page, server)
  await ageProof(server)
  await page.goto('/webhooks')
  await field(page, 'Address').fill('https://bot.example.org/hook')
  await field(page, 'Address').press('Enter')
  await field(page.getByRole('dialog', { name: 'Is it you?' }), 'Code').fill(codeOf(secret))
  await page.keyboard.press('Enter')
  await expect(toast(page, 'Webhook added.')).toBeVisible()
})

test.describe('a console that requires a second factor', () => {
  test.use({ ownContext: true })

  test('leads an admin without one to the set-up, and lets nothing else be done', async ({ page, server, signIn }) => {
    const strict = await server.startAnother({ SECOND_FACTOR: 'admins' })
    await signIn('admin')
    await page.goto(`${strict.url}/manage-users`)
    await expect(page).toHaveURL(/\/account$/)
    await expect(page.getByText('This console requires a second factor. Set one up here; then you can go on.')).toBeVisible()
    await expect(control(page, 'Manage Users')).toHaveCount(0)
    await expectAccessible(page)
    await setUp(page, server)
    await page.getByRole('button', { name: 'I Have Kept Them' }).click()
    await control(page, 'Manage Users').click()
    await expect(page.getByRole('heading', { name: 'Manage Users' })).toBeVisible()
    await page.goto('about:blank') // so that no request is under way when its server ends
    await strict.kill()
  })
})

/** Reads a QR code that is drawn as a path of squares. */
function decoded(path: string, viewBox: string): string {
  const size = Number(viewBox.split(' ')[2])
  const scale = 4
  const width = size * scale
  const data = new Uint8Array(width * width * 4).fill(255)
  for (const [, x, y] of path.matchAll(/M(\d+) (\d+)/g))
    for (let row = 0; row < scale; row += 1)
      for (let column = 0; column < scale; column += 1) {
        const at = ((Number(y) * scale + row) * width + Number(x) * scale + column) * 4
        data.set([0, 0, 0], at)
      }
  return decodeQR({ width, height: width, data })
}
