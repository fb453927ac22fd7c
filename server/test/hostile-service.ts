/** A sign-in service that lies, hangs or never ends, for the parts of OpenID Connect that the console's server asks. */
import { createHmac, generateKeyPairSync, sign } from 'node:crypto'
import { EventEmitter, once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { onTestFinished } from 'vitest'
import type { SignInServiceSettings } from '#src/issuer.ts'

/** How it deviates; each part is as it should be unless it is here. */
export interface Deviations {
  /** What the requests of a part get. */
  at?: Partial<Record<Part, 'hang' | 'endless' | 'redirect' | 'error' | 'text'>>
  /** Fields of the discovery document. */
  metadata?: Record<string, unknown>
  /** Claims and header of the ID token. */
  claims?: Record<string, unknown>
  header?: Record<string, unknown>
  /** What signs the ID token. */
  signedBy?: 'another key' | 'nobody' | 'the client secret'
}
type Part = 'discovery' | 'token' | 'keys' | 'elsewhere'

export interface HostileService {
  settings: SignInServiceSettings
  /** The parts that were asked for, in order. */
  asked: Part[]
  deviate(deviations: Deviations): void
  /** Resolves when a part was asked for this many times. */
  isAsked(part: Part, times: number): Promise<void>
}

const SECRET = 'the-secret-of-the-console'
/** The key of the service and one that it does not publish. Making them takes two tenths of a second, so all services share them. */
const keys = {
  own: generateKeyPairSync('rsa', { modulusLength: 2048 }),
  other: generateKeyPairSync('rsa', { modulusLength: 2048 }),
}
const parts: Record<string, Part> = { '/.well-known/openid-configuration': 'discovery', '/token': 'token', '/keys': 'keys' }

/** Starts it on a free port; it stops when the test ends. */
export async function hostileService(): Promise<HostileService> {
  let deviations: Deviations = {}
  const asked: Part[] = []
  const asking = new EventEmitter()
  const server = createServer((request, response) => {
    const part = parts[request.url ?? ''] ?? 'elsewhere'
    asked.push(part)
    asking.emit('asked')
    const deviation = deviations.at?.[part]
    if (deviation !== undefined) return misbehave(response, deviation)
    const answer = {
      discovery: () => ({ ...metadataOf(issuer), ...deviations.metadata }),
      token: () => ({ access_token: 'a', token_type: 'Bearer', id_token: idToken(issuer, deviations) }),
      keys: () => ({ keys: [{ ...keys.own.publicKey.export({ format: 'jwk' }), use: 'sig', alg: 'RS256', kid: 'own' }] }),
      elsewhere: () => ({}),
    }[part]()
    response.setHeader('content-type', 'application/json').end(JSON.stringify(answer))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  onTestFinished(() => {
    server.close()
    server.closeAllConnections()
  })
  return {
    settings: { issuer: `${issuer}/`, clientId: 'console', clientSecret: SECRET, name: 'Telegram' },
    asked,
    deviate: (next) => void (deviations = next),
    async isAsked(part, times) {
      while (asked.filter((one) => one === part).length < times) await once(asking, 'asked')
    },
  }
}

function misbehave(response: ServerResponse, deviation: NonNullable<NonNullable<Deviations['at']>[Part]>): void {
  if (deviation === 'hang') return
  if (deviation === 'error') return void response.writeHead(500).end('a fault')
  if (deviation === 'redirect') return void response.writeHead(302, { location: '/elsewhere' }).end()
  if (deviation === 'text')
    return void response.setHeader('content-type', 'text/html').end('<p>Please sign in to the hotel’s network')
  response.setHeader('content-type', 'application/json')
  response.write('{"issuer":"')
  const write = (): void => {
    while (!response.destroyed && response.write('a'.repeat(16_384)));
  }
  response.on('drain', write).on('error', () => {})
  write()
}

function metadataOf(issuer: string): Record<string, unknown> {
  return {
    issuer,
    authorization_endpoint: `${issuer}/authorize`,
    token_endpoint: `${issuer}/token`,
    jwks_uri: `${issuer}/keys`,
    response_types_supported: ['code'],
    subject_types_supported: ['public'],
    id_token_signing_alg_values_supported: ['RS256', 'HS256', 'none'],
  }
}

function idToken(issuer: string, { claims, header, signedBy }: Deviations): string {
  const now = Math.floor(Date.now() / 1000)
  const encode = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url')
  const alg = signedBy === 'nobody' ? 'none' : signedBy === 'the client secret' ? 'HS256' : 'RS256'
  const head = encode({ alg, kid: 'own', ...header })
  const body = encode({ iss: issuer, sub: 'ada', aud: 'console', iat: now, exp: now + 300, ...claims })
  const signed = `${head}.${body}`
  if (signedBy === 'nobody') return `${signed}.`
  if (signedBy === 'the client secret') return `${signed}.${createHmac('sha256', SECRET).update(signed).digest('base64url')}`
  const key = signedBy === 'another key' ? keys.other : keys.own
  return `${signed}.${sign('sha256', Buffer.from(signed), key.privateKey).toString('base64url')}`
}
