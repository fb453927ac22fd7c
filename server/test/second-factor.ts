/** Second factors of tests: an authenticator app, and the two steps of a sign-in. */
import { sql } from 'kysely'
import { TOTP } from 'otpauth'
import { type Client, PASSWORD, testApp, type TestApp } from './test-app.ts'

/** The e-mail address of the owner in `withFactor`. */
export const ADA = 'ada@gmail.com'
/** The path of the calls about one's own second factor. */
export const FACTOR = '/api/account/second-factor'

/**
 * Returns the code that an app shows now, or `steps` of 30 seconds later. The server accepts the present and the next one for at least 30
 * seconds from now.
 */
export function totpCode(secret: string, steps = 0): string {
  return new TOTP({ secret }).generate({ timestamp: Date.now() + steps * 30_000 })
}

/** Sets up an authenticator app for a person. The client keeps its session, whose token changes. @returns secret and recovery codes */
export async function setUpTotp(app: TestApp, person: Client): Promise<{ secret: string; recoveryCodes: string[] }> {
  const begun = await person.call('POST', '/api/account/second-factor/totp')
  const { secret } = begun.body as { secret: string }
  const confirmed = await person.call('POST', '/api/account/second-factor/totp/confirm', { code: totpCode(secret) })
  if (confirmed.status !== 200) throw new Error(`The app was not confirmed: ${JSON.stringify(confirmed.body)}`)
  takeCookieOf(confirmed.headers, person)
  await forgetLastCode(app, person.id)
  return { secret, recoveryCodes: confirmed.body.recoveryCodes }
}

/** Lets the code of the present step count again, so that a test need not wait for the next one. */
export async function forgetLastCode({ database }: TestApp, userId: string): Promise<void> {
  await sql`update totp_secrets set last_step = null where user_id = ${userId}`.execute(database.db)
}

/** Makes the last proof of the second factor in all of a person's sessions older than step-up allows. */
export async function ageProof({ database }: TestApp, userId: string): Promise<void> {
  await sql`update sessions set second_factor_at = now() - interval '10 minutes' where user_id = ${userId}`.execute(database.db)
}

/** Takes the session cookie of an answer over to a client. */
export function takeCookieOf(headers: Headers, client: Client): void {
  const cookie = sessionCookie(headers)
  if (cookie !== undefined) client.headers['cookie'] = cookie
}

export function sessionCookie(headers: Headers): string | undefined {
  return headers
    .getSetCookie()
    .find((one) => one.startsWith('session='))
    ?.split(';')[0]
}

/** Takes the first step of a sign-in. @returns the answer, and the cookie for the second step */
export async function givePassword(app: TestApp, email: string, cookie?: string) {
  const { status, body, headers } = await app.guest.call(
    'POST',
    '/api/session',
    { email, password: PASSWORD },
    cookie === undefined ? {} : { cookie },
  )
  return { status, body, cookie: sessionCookie(headers) ?? '' }
}

/** Returns an app with an owner who has an authenticator app. */
export async function withFactor(options: Parameters<typeof testApp>[0] = {}) {
  const app = await testApp(options)
  const ada = await app.signUp('owner', ADA)
  return { app, ada, ...(await setUpTotp(app, ada)) }
}

/** Takes the second step of a sign-in. */
export const prove = (app: TestApp, cookie: string, code: string) =>
  app.guest.call('POST', '/api/session/second-factor', { code }, { cookie })
/** Proves the second factor again. */
export const stepUp = (person: Client, code: string) => person.call('POST', '/api/session/step-up', { code })
/** Whether a cookie is a session's. */
export const isSignedIn = async (app: TestApp, cookie: string) =>
  (await app.guest.call('GET', '/api/session', undefined, { cookie })).body.user !== null
