/** Helpers for tests of the sign-in service: consoles that use one, and the ways there and back. */
import { onTestFinished } from 'vitest'
import { sessionCookie, takeCookieOf } from './second-factor.ts'
import { startSignInService, type TestService, visit } from './sign-in-service.ts'
import { type Client, testApp, type TestApp } from './test-app.ts'
import { twoServers } from './two-servers.ts'

export const LINK = '/api/account/oidc'
export const SIGN_IN = '/api/session/oidc'
/** The page to which the services of tests send browsers back. */
const RETURN = 'http://console.localhost/auth/oidc'

type Options = Parameters<typeof startSignInService>[1] & Parameters<typeof testApp>[0]

async function startService(options: Options = {}): Promise<TestService> {
  const service = await startSignInService([RETURN], options)
  onTestFinished(() => service.stop())
  return service
}

/** Returns a console with a sign-in service and an owner, ada@gmail.com. */
export async function withService(options: Options = {}) {
  const service = await startService(options)
  const app = await testApp({ ...options, oidc: service.settings })
  return { app, service, ada: await app.signUp('owner', 'ada@gmail.com') }
}

/** Returns two servers of one console with a sign-in service. */
export async function twoWithService(): Promise<[TestApp, TestApp]> {
  return twoServers({ oidc: (await startService()).settings })
}

/** A browser that was sent to the service. */
export interface Sent {
  address: string
  /** The cookie that only this browser has. */
  cookie: string
}

/** Sends a browser to the service. @param path LINK or SIGN_IN */
export async function send(client: Client, path: string): Promise<Sent> {
  const { status, body, headers } = await client.call('POST', `${path}/begin`)
  if (status !== 200) throw new Error(`Not sent: ${JSON.stringify(body)}`)
  return { address: body.address, cookie: flowCookie(headers) }
}

export function flowCookie(headers: Headers): string {
  return (
    headers
      .getSetCookie()
      .find((one) => one.startsWith('flow='))
      ?.split(';')[0] ?? ''
  )
}

/** Makes the call of the page to which the service has sent a browser back. @param path LINK or SIGN_IN */
export async function comeBack(client: Client, path: string, answer: Record<string, string>, cookie: string) {
  const cookies = [client.headers['cookie'], cookie].filter(Boolean).join('; ')
  return client.call('POST', path, answer, { cookie: cookies })
}

/** Links an account of the service. The client keeps its session, whose token changes. */
export async function linkAccount(client: Client, account: string) {
  const { address, cookie } = await send(client, LINK)
  const answer = await comeBack(client, LINK, await visit(address, account), cookie)
  takeCookieOf(answer.headers, client)
  return answer
}

/** Signs in with an account of the service. @returns the answer, and the cookie of the session or of the second step */
export async function signInWith({ guest }: TestApp, account: string) {
  const { address, cookie } = await send(guest, SIGN_IN)
  const { status, body, headers } = await comeBack(guest, SIGN_IN, await visit(address, account), cookie)
  return { status, body, cookie: sessionCookie(headers) ?? '' }
}
