/** A real OpenID Connect provider, on a loopback address. Its page asks with which account to sign in: there are no passwords. */
import { generateKeyPairSync } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { Provider, type ProviderContext } from 'oidc-provider'
import MemoryAdapter from 'oidc-provider/lib/adapters/memory_adapter.js'
import type { SignInServiceSettings } from '#src/issuer.ts'

export interface TestService {
  settings: SignInServiceSettings
  /** Sets the addresses to which it sends browsers back. */
  allow(redirectUris: string[]): void
  stop(): Promise<void>
}

const CLIENT = { clientId: 'console', clientSecret: 'the-secret-of-the-console' }

/**
 * Starts a provider on a free port. The name of an account `ada` there is `@ada`.
 * @param secretIn how the console must prove that it is the client; `none` for a public client
 */
export async function startSignInService(
  redirectUris: string[],
  { secretIn = 'client_secret_basic' }: { secretIn?: 'client_secret_basic' | 'client_secret_post' | 'none' } = {},
): Promise<TestService> {
  const server = createServer()
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const create = (uris: string[]): Provider => new Provider(issuer, configuration(uris, secretIn))
  let provider = create(redirectUris)
  server.on('request', (request, response) => {
    if (!request.url?.startsWith('/interaction/')) void provider.callback()(request, response)
    else if (request.method === 'GET') response.setHeader('content-type', 'text/html').end(PAGE)
    else
      void text(request)
        .then(async (body) => provider.interactionFinished(request, response, choice(body)))
        .catch((error: unknown) => response.writeHead(500).end(String(error)))
  })
  return {
    settings: {
      issuer: `${issuer}/`,
      clientId: CLIENT.clientId,
      clientSecret: secretIn === 'none' ? undefined : CLIENT.clientSecret,
      name: 'Telegram',
    },
    allow: (uris) => void (provider = create(uris)),
    async stop() {
      server.close()
      server.closeAllConnections()
      await once(server, 'close')
    },
  }
}

const PAGE = `<!doctype html><html lang="en"><title>Sign-in service</title><main><h1>Who are you?</h1><form method="post">
<button name="account" value="ada">Ada</button> <button name="account" value="grace">Grace</button>
<button name="account" value="">Cancel</button></form></main></html>`

function choice(body: string): Record<string, unknown> {
  const accountId = new URLSearchParams(body).get('account')
  return accountId ? { login: { accountId } } : { error: 'access_denied', error_description: 'The person cancelled' }
}

/** Keeps everything in memory, as the default does, which warns of it. */
class TestAdapter extends MemoryAdapter {}

/** Making it takes a tenth of a second, so all services share it. */
const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })

function configuration(redirectUris: string[], secretIn: string): Record<string, unknown> {
  return {
    clients: [
      {
        client_id: CLIENT.clientId,
        ...(secretIn !== 'none' && { client_secret: CLIENT.clientSecret }),
        redirect_uris: redirectUris,
        response_types: ['code'],
        grant_types: ['authorization_code'],
        token_endpoint_auth_method: secretIn,
      },
    ],
    clientAuthMethods: [secretIn],
    jwks: { keys: [{ ...privateKey.export({ format: 'jwk' }), use: 'sig', alg: 'RS256', kid: 'first' }] },
    adapter: TestAdapter,
    cookies: { keys: ['of the tests'] },
    pkce: { required: () => true },
    features: { devInteractions: { enabled: false } },
    interactions: { url: (_context: unknown, { uid }: { uid: string }) => `/interaction/${uid}` },
    claims: { openid: ['sub'], profile: ['preferred_username'] },
    conformIdTokenClaims: false,
    findAccount: (_context: unknown, accountId: string) => ({
      accountId,
      claims: () => ({ sub: accountId, preferred_username: `@${accountId}` }),
    }),
    async loadExistingGrant({ oidc: { provider, client, session } }: ProviderContext) {
      const grant = new provider.Grant({ clientId: client.clientId, accountId: session.accountId })
      grant.addOIDCScope('openid profile')
      await grant.save()
      return grant
    },
    ttl: { Interaction: 600, Session: 600, Grant: 600, AuthorizationCode: 60, IdToken: 600, AccessToken: 600 },
  }
}

/**
 * Does what a new browser would: opens the address, chooses an account, and follows the way back.
 * @param account empty to cancel @returns what the service adds to the address of the console's page
 */
export async function visit(address: string, account: string): Promise<Record<string, string>> {
  const cookies = new Map<string, string>()
  let at = new URL(address)
  const { origin } = at
  for (let steps = 0; steps < 10; steps += 1) {
    const isPage = at.pathname.startsWith('/interaction/')
    const response = await fetch(at, {
      method: isPage ? 'POST' : 'GET',
      redirect: 'manual',
      headers: { cookie: [...cookies].map((pair) => pair.join('=')).join('; ') },
      ...(isPage && { body: new URLSearchParams({ account }) }),
    })
    for (const line of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? []
      if (value === '') cookies.delete(name)
      else cookies.set(name, value)
    }
    const location = response.headers.get('location')
    if (location === null) throw new Error(`The service answered ${response.status}: ${await response.text()}`)
    await response.body?.cancel()
    at = new URL(location, at)
    if (at.origin !== origin) return Object.fromEntries(at.searchParams)
  }
  throw new Error('The service led in circles')
}
