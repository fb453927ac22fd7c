/**
 * The sign-in service (OIDC_ISSUER): OpenID Connect 1.0 by the authorization code flow with PKCE. Hides the library, discovery, keys, and
 * the limits of time and size within which the service must answer. What the service says is shown to nobody: it may be anything.
 */
import { createHmac, hash } from 'node:crypto'
import type { ClientAuth, Configuration, CustomFetch } from 'openid-client'
import { Failure } from '#src/calls.ts'
import type { SignInServiceSettings } from '#src/issuer.ts'

/** Seconds within which each answer must be complete. One return of a browser takes two or three of them. */
const ANSWER_SECONDS = 4
/** Seconds within which the service must have answered all that a call needs. */
const TOTAL_SECONDS = 10
/** Bytes of an answer: several times what large services send. */
const MAX_ANSWER_BYTES = 256 * 1024
/** For how long the service's addresses are used before they are read again. */
const DISCOVERY_MS = 60 * 60_000
/** ASCII of at most 255 characters (OpenID Connect Core, 2, `sub`). */
const SUBJECT = /^[\u0020-\u007E]{1,255}$/
const MAX_NAME_LENGTH = 100

/** Who somebody is at the service. */
export interface Identity {
  subject: string
  /** What the service calls the person. */
  name: string | null
}

/** What the service added to the address of the page that it sent the browser back to. */
interface ServiceAnswer {
  code: string
  state: string
  iss?: string | undefined
}

export interface SignInService {
  name: string
  issuer: string
  /** Returns where to send the browser. @param browser the token in its cookie @throws Failure OIDC_UNREACHABLE */
  departure(options: { redirectUri: string; state: string; browser: string }): Promise<string>
  /**
   * Redeems the code with which a browser has come back, and checks the ID token: signature, issuer, audience, nonce and time.
   * @param browser the token in its cookie @throws Failure OIDC_UNREACHABLE, OIDC_REFUSED
   */
  identify(answer: ServiceAnswer, options: { redirectUri: string; browser: string }): Promise<Identity>
}

/** The library takes time and memory that most starts do not need: it is loaded for the first use. */
const library = () => import('openid-client')

export function createSignInService(settings: SignInServiceSettings): SignInService {
  const { issuer, name } = settings
  const service = createDiscovery(settings)
  return {
    name,
    issuer,

    async departure({ redirectUri, state, browser }) {
      const { verifier, nonce } = secretsOf(browser)
      const depart = async (): Promise<URL> => {
        const { buildAuthorizationUrl } = await library()
        const address = buildAuthorizationUrl(await service.configuration(), {
          redirect_uri: redirectUri,
          scope: 'openid profile',
          state,
          nonce,
          code_challenge: hash('sha256', verifier, 'base64url'),
          code_challenge_method: 'S256',
        })
        if (isAllowed(address, issuer)) return address
        throw new Unreachable('The address to send browsers to is neither https nor the issuer’s')
      }
      const address = await withinTime(depart).catch((error: unknown) => {
        service.forget()
        throw unreachable(error)
      })
      return address.href
    },

    async identify({ code, state, iss }, { redirectUri, browser }) {
      const { verifier: pkceCodeVerifier, nonce: expectedNonce } = secretsOf(browser)
      const returned = new URL(redirectUri)
      returned.search = new URLSearchParams({ code, state, ...(iss !== undefined && { iss }) }).toString()
      const checks = { pkceCodeVerifier, expectedNonce, expectedState: state, idTokenExpected: true }
      const claims = await withinTime(async () => {
        const { authorizationCodeGrant } = await library()
        const configuration = await service.configuration().catch((error: unknown) => {
          throw new Unreachable('Its addresses are not known', { cause: error })
        })
        return (await authorizationCodeGrant(configuration, returned, checks)).claims()
      }).catch((error: unknown) => {
        if (!isUnreachable(error)) throw refused(error)
        service.forget()
        throw unreachable(error)
      })
      // A service for many organisations has an issuer for each of them, in which the same subject is somebody else.
      if (!claims || !isSameAddress(claims.iss, issuer)) throw refused(new Error('Another issuer'))
      if (!SUBJECT.test(claims.sub)) throw refused(new Error('The subject is not of the form that the standard demands'))
      return { subject: claims.sub, name: nameIn(claims['preferred_username']) ?? nameIn(claims['name']) }
    },
  }
}

/** The service's addresses and keys, which are kept for DISCOVERY_MS. */
interface Discovery {
  /** Simultaneous calls share one request. */
  configuration(): Promise<Configuration>
  /** The service's addresses are read again next time, because they may be what is wrong. */
  forget(): void
}

function createDiscovery({ issuer, clientId, clientSecret }: SignInServiceSettings): Discovery {
  let found: { configuration: Promise<Configuration>; at: number } | undefined
  return {
    configuration() {
      if (found && performance.now() - found.at < DISCOVERY_MS) return found.configuration
      const discovery = { configuration: discover(), at: performance.now() }
      found = discovery
      discovery.configuration.catch(() => {}) // who waits for it gets the error, too
      return discovery.configuration
    },
    forget: () => void (found = undefined),
  }

  async function discover(): Promise<Configuration> {
    const { discovery, customFetch, allowInsecureRequests, enableNonRepudiationChecks, None, ...client } = await library()
    const options = {
      [customFetch]: boundedFetch(issuer),
      timeout: ANSWER_SECONDS,
      // Without it the library trusts TLS and does not look at the signature of an ID token (OpenID Connect Core, 3.1.3.7).
      execute: [enableNonRepudiationChecks, ...(issuer.startsWith('http:') ? [allowInsecureRequests] : [])],
    }
    const auth = clientSecret === undefined ? None() : secretAuth(client, clientSecret)
    return discovery(new URL(issuer), clientId, { [client.clockTolerance]: 30 }, auth, options)
  }
}

/** Returns how the console proves to the service that it is the client: as the service says, or else in the header (RFC 6749, 2.3.1). */
function secretAuth(
  { ClientSecretBasic, ClientSecretPost }: Pick<typeof import('openid-client'), 'ClientSecretBasic' | 'ClientSecretPost'>,
  secret: string,
): ClientAuth {
  const [inHeader, inBody] = [ClientSecretBasic(secret), ClientSecretPost(secret)]
  return (service, ...rest) => {
    const methods = service.token_endpoint_auth_methods_supported ?? ['client_secret_basic']
    const isByBody = methods.includes('client_secret_post') && !methods.includes('client_secret_basic')
    return (isByBody ? inBody : inHeader)(service, ...rest)
  }
}

/**
 * Returns the secrets of a flow, which are derived from the token in the browser's cookie: only that browser can finish, and the database
 * keeps none of them.
 */
function secretsOf(browser: string): { verifier: string; nonce: string } {
  const derive = (purpose: string): string => createHmac('sha256', browser).update(purpose).digest('base64url')
  return { verifier: derive('code_verifier'), nonce: derive('nonce') }
}

/** An answer that did not come, or not as it should. */
class Unreachable extends Error {}

/**
 * Returns a `fetch` for the service alone. It follows no redirects, and reads no more than MAX_ANSWER_BYTES. A service must not lead the
 * server to plain http elsewhere, such as the metadata of a cloud.
 */
function boundedFetch(issuer: string): CustomFetch {
  return async (address, { body, ...init }) => {
    if (!isAllowed(new URL(address), issuer)) throw new Unreachable('The address is neither https nor the issuer’s')
    const options = { ...init, redirect: 'manual', ...(body !== undefined && body !== null && { body }) } as RequestInit
    const response = await fetch(address, options).catch((cause: unknown) => {
      throw new Unreachable('Not reached', { cause })
    })
    if (response.status >= 500 || (response.status >= 300 && response.status < 400)) {
      await response.body?.cancel()
      throw new Unreachable(`Status ${response.status}`)
    }
    const { status, headers } = response
    return new Response(status === 204 ? null : await readBounded(response), { status, headers })
  }
}

async function readBounded({ body }: Response): Promise<Uint8Array<ArrayBuffer>> {
  const parts: Uint8Array[] = []
  let length = 0
  try {
    for await (const part of body ?? []) {
      length += part.length
      if (length > MAX_ANSWER_BYTES) throw new Error(`More than ${MAX_ANSWER_BYTES} bytes`)
      parts.push(part)
    }
  } catch (cause) {
    throw new Unreachable('The answer was not complete', { cause })
  }
  return Buffer.concat(parts)
}

function isAllowed({ protocol, origin }: URL, issuer: string): boolean {
  return protocol === 'https:' || origin === new URL(issuer).origin
}

function isSameAddress(one: string, other: string): boolean {
  return URL.canParse(one) && new URL(one).href === new URL(other).href
}

/** @throws Unreachable after TOTAL_SECONDS; each request ends by itself */
async function withinTime<T>(ask: () => Promise<T>): Promise<T> {
  const late = Promise.withResolvers<never>()
  const timer = setTimeout(() => late.reject(new Unreachable(`No answer within ${TOTAL_SECONDS} s`)), TOTAL_SECONDS * 1000)
  const asking = ask()
  asking.catch(() => {})
  return Promise.race([asking, late.promise]).finally(() => clearTimeout(timer))
}

function isUnreachable(error: unknown): boolean {
  for (let one = error; one instanceof Error; one = one.cause) {
    if (one instanceof Unreachable || (one as { code?: unknown }).code === 'OAUTH_TIMEOUT') return true
  }
  return false
}

function unreachable(error: unknown): Failure {
  return new Failure('OIDC_UNREACHABLE', { cause: redactedError(error) })
}

function refused(error: unknown): Failure {
  return new Failure('OIDC_REFUSED', { cause: redactedError(error) })
}

/** Returns what the log may have of an error: its messages, not the service's answer, which may hold tokens. */
function redactedError(error: unknown): Error {
  const messages: string[] = []
  for (let one = error; one instanceof Error; one = one.cause) {
    const { code, error: oauthCode } = one as { code?: unknown; error?: unknown }
    messages.push([one.message, code, oauthCode].filter((text) => typeof text === 'string').join(' '))
  }
  return new Error(`The sign-in service: ${messages.join(': ').slice(0, 500)}`)
}

/** Returns a name without control characters, or null if it is no text. */
function nameIn(claim: unknown): string | null {
  if (typeof claim !== 'string') return null
  const name = claim
    .replaceAll(/[\p{Cc}\p{Cs}]/gu, '')
    .slice(0, MAX_NAME_LENGTH)
    .toWellFormed()
    .trim()
  return name === '' ? null : name
}
