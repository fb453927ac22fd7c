/**
 * Linking an account of the sign-in service on the account page and signing in with it on Login, with a real OpenID Connect provider. The
 * console is at localhost and the provider at 127.0.0.1, so that the browser takes them for two sites and withholds cookies.
 */
import type { Page } from '@playwright/test'
import { TOTP } from 'otpauth'
import { sql } from 'kysely'
import { type ConsoleServer, startConsoleServer } from '../../server/test/console-server.ts'
import { startSignInService } from '../../server/test/sign-in-service.ts'
import { expectStateAccessible } from '#src/axe.ts'
import { control, expect, field, forgetSession, test as base, toast, type WorkerFixtures } from '#src/test.ts'

/** Each worker's console has a sign-in service. */
const test = base.extend<object, Pick<WorkerFixtures, 'server'>>({
  server: [
    async ({ sampleDirectory }, use) => {
      const service = await startSignInService([])
      const { issuer, clientId, clientSecret = '' } = service.settings
      const env = { OIDC_ISSUER: issuer, OIDC_CLIENT_ID: clientId, OIDC_CLIENT_SECRET: clientSecret, OIDC_NAME: 'Telegram' }
      const server = await startConsoleServer(env, { sample: sampleDirectory })
      service.allow([`${named(server)}/auth/oidc`])
      await use(server)
      await server.stop()
      await service.stop()
    },
    { scope: 'worker', timeout: 300_000 },
  ],
})

test.use({ sample: false, ownContext: true, expectedNoise: { patterns: [/status of 403/] } })

function named({ url }: Pick<ConsoleServer, 'url'>): string {
  return url.replace('127.0.0.1', 'localhost')
}

async function signInAtName(page: Page, server: ConsoleServer) {
  const person = await server.addPerson({ fname: 'Ada', lname: 'Admin', email: 'admin@gmail.com', userType: 'admin' })
  const cookie = { name: 'session', value: person.token, url: named(server), httpOnly: true, sameSite: 'Strict' } as const
  await page.context().addCookies([cookie])
  await page.goto(`${named(server)}/account`)
  return person
}

const section = (page: Page) => page.getByRole('region', { name: 'Sign-in with Telegram' })

async function linkAda(page: Page) {
  await control(section(page), 'Link Account').click()
  await control(page, 'Ada').click()
  await expect(toast(page, 'Telegram account linked.')).toBeVisible()
}

test('an account is linked on the account page, signs in, and is unlinked', async ({ page, server }) => {
  await signInAtName(page, server)
  await expectStateAccessible(page)
  await linkAda(page)
  await expect(section(page)).toContainText('@ada, linked')
  await expectStateAccessible(page)

  await forgetSession(page)
  await page.goto(`${named(server)}/manage-users`)
  await expect(control(page, 'Continue with Telegram')).toBeVisible()
  await expectStateAccessible(page)
  await control(page, 'Continue with Telegram').click()
  await control(page, 'Ada').click()
  await expect(toast(page, 'Logged In Successfuly!')).toBeVisible() // sic, §8
  await expect(page.getByRole('heading', { name: 'Manage Users' }), 'the page that was asked for').toBeVisible()
  expect(page.url()).toBe(`${named(server)}/manage-users`)

  await page.goto(`${named(server)}/account`)
  await control(section(page), 'Unlink Account').click()
  await control(page.getByRole('alertdialog'), 'Unlink account').click()
  await expect(toast(page, 'Telegram account unlinked.')).toBeVisible()
  await expect(control(section(page), 'Link Account')).toBeVisible()
})

test('an unknown account and one who cancels come back to Login, which says why', async ({ page, server }) => {
  await signInAtName(page, server)
  await forgetSession(page)
  await page.goto(named(server))
  await control(page, 'Continue with Telegram').click()
  await control(page, 'Grace').click()
  await expect(page.getByText('This Telegram account is not linked to an account here.')).toBeVisible()
  expect(page.url(), 'no code stays in the address').toBe(`${named(server)}/auth/log-in`)
  await expectStateAccessible(page)

  await forgetSession(page)
  await page.goto(named(server))
  await control(page, 'Continue with Telegram').click()
  await control(page, 'Cancel').click()
  await expect(page.getByText('You cancelled at Telegram. Nothing has changed.')).toBeVisible()
  await control(page, 'Continue with Telegram').click()
  await expect(page.getByRole('heading', { name: 'Who are you?' })).toBeVisible()
  await page.goBack()
  await expect(control(page, 'Continue with Telegram'), 'not busy any more').toBeEnabled()
})

test('security: the second factor is asked for after the service, and a link that somebody sends works in no other browser', async ({
  page,
  server,
}) => {
  await signInAtName(page, server)
  await control(page, 'Set Up Authenticator App').click()
  const secret = await field(page, 'Secret').inputValue()
  await field(page, 'Code').fill(new TOTP({ secret }).generate())
  await control(page, 'Switch On').click()
  await control(page, 'I Have Kept Them').click()
  await sql`update totp_secrets set last_step = null`.execute(server.database.db)
  await linkAda(page)

  await forgetSession(page)
  await page.goto(named(server))
  await control(page, 'Continue with Telegram').click()
  await control(page, 'Ada').click()
  await expect(page.getByText('Telegram knows you. Now prove that it is you')).toBeVisible()
  await expectStateAccessible(page)
  await field(page, 'Code').fill(new TOTP({ secret }).generate())
  await control(page, 'Sign In').click()
  await expect(toast(page, 'Logged In Successfuly!')).toBeVisible() // sic, §8

  await forgetSession(page)
  await page.goto(`${named(server)}/auth/oidc?code=stolen&state=sign-in.stolen`)
  await expect(page.getByText('was begun in another browser')).toBeVisible()
  await page.goto(`${named(server)}/auth/oidc?state=link.x&error=access_denied`)
  await expect(page.getByText('You cancelled at Telegram. Nothing has changed.')).toBeVisible()
})
