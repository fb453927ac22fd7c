/** Helpers for tests of passkeys: a console with an admin, who adds passkeys and signs in with them. */
import { auditTrail } from './audit-trail.ts'
import { createCredential, type Deviations, type TestPasskey, answerWith } from './authenticator.ts'
import { takeCookieOf } from './second-factor.ts'
import { type Client, testApp, type TestApp } from './test-app.ts'

export const PATH = '/api/account/passkeys'
export const optionsOf = async (client: Client) => (await client.call('POST', `${PATH}/options`)).body.options
export const listOf = async (client: Client) => (await client.call('GET', PATH)).body.passkeys
export const signInOptions = async ({ guest }: TestApp) => (await guest.call('POST', '/api/session/passkey-options')).body.options
export const trailOf = async ({ database }: TestApp, action: string) => auditTrail(database.db, action)

export async function addPasskey(client: Client, { name = 'Laptop', ...deviations }: Deviations & { name?: string } = {}) {
  const { passkey, response } = createCredential(await optionsOf(client), deviations)
  const answer = await client.call('POST', PATH, { name, response })
  takeCookieOf(answer.headers, client)
  return { passkey, answer }
}

export async function signIn(
  app: TestApp,
  passkey: TestPasskey,
  deviations: Deviations = {},
  headers: Record<string, string> = {},
) {
  const response = answerWith(passkey, await signInOptions(app), deviations)
  return app.guest.call('POST', '/api/session/passkey', { response }, headers)
}

export async function opening(options: Parameters<typeof testApp>[0] = {}) {
  const app = await testApp(options)
  const admin = await app.signUp('admin', 'ada@gmail.com')
  return { app, admin }
}

export const refused = { status: 403, body: { code: 'PASSKEY_REFUSED' } }
