/** Sign-in services that lie, hang or never end (security.md, Sign-in service). */
import { describe, expect, test } from 'vitest'
import { type Deviations, type HostileService, hostileService } from '#test/hostile-service.ts'
import { comeBack, LINK, send, SIGN_IN } from '#test/oidc.ts'
import { type Client, PASSWORD, testApp, type TestApp } from '#test/test-app.ts'

async function withHostile(): Promise<{ app: TestApp; ada: Client; service: HostileService }> {
  const service = await hostileService()
  const app = await testApp({ oidc: service.settings })
  return { app, service, ada: await app.signUp('owner', 'ada@gmail.com') }
}

/** Begins to link, and comes back with a code that the service takes for any account. */
async function link(ada: Client, service: HostileService, deviations: Deviations, answer: Record<string, string> = {}) {
  const { address, cookie } = await send(ada, LINK)
  const { searchParams } = new URL(address)
  service.deviate({ ...deviations, claims: { nonce: searchParams.get('nonce'), ...deviations.claims } })
  const { status, body } = await comeBack(ada, LINK, { code: 'x', state: searchParams.get('state')!, ...answer }, cookie)
  return { status, code: body.code }
}

const REFUSED = { status: 403, code: 'OIDC_REFUSED' }
const UNREACHABLE = { status: 502, code: 'OIDC_UNREACHABLE' }
const longAgo = Math.floor(Date.now() / 1000) - 3600

describe('an ID token', () => {
  test('of the service itself is accepted', async () => {
    const { ada, service } = await withHostile()
    expect(await link(ada, service, {})).toEqual({ status: 200, code: undefined })
    expect(service.asked).toEqual(['discovery', 'token', 'keys'])
  })

  test.for<[name: string, deviations: Deviations]>([
    ['signed by another key', { signedBy: 'another key' }],
    ['signed by nobody', { signedBy: 'nobody' }],
    ['signed by the client secret', { signedBy: 'the client secret' }],
    ['signed by a key that the service does not have', { header: { kid: 'unknown' } }],
    ['of another nonce', { claims: { nonce: 'of another sign-in' } }],
    ['without a nonce', { claims: { nonce: undefined } }],
    ['for another client', { claims: { aud: 'somebody else' } }],
    ['for several clients, at the demand of another', { claims: { aud: ['console', 'other'], azp: 'other' } }],
    ['of another issuer', { claims: { iss: 'https://evil.example' } }],
    ['that has expired', { claims: { iat: longAgo, exp: longAgo + 300 } }],
    ['that never expires', { claims: { exp: undefined } }],
    ['without a subject', { claims: { sub: undefined } }],
    ['with an empty subject', { claims: { sub: '' } }],
    ['with a subject that is too long', { claims: { sub: 'x'.repeat(256) } }],
    ['with a subject that no database keeps', { claims: { sub: 'a\0b' } }],
    ['with a subject that is no text', { claims: { sub: { $ne: '' } } }],
  ])('security: %s is refused', async ([, deviations]) => {
    const { ada, app, service } = await withHostile()
    expect(await link(ada, service, deviations)).toEqual(REFUSED)
    expect(await app.database.db.selectFrom('oidc_links').select('subject').execute()).toEqual([])
  })

  test('security: its name is shortened, and a claim that is no text is left out', async () => {
    const { ada, app, service } = await withHostile()
    const claims = { preferred_username: { evil: true }, name: `\0 A\u0007da\uD800${'x'.repeat(1000)}` }
    expect((await link(ada, service, { claims })).status).toBe(200)
    const [row] = await app.database.db.selectFrom('oidc_links').select('name').execute()
    expect(row!.name).toBe(`Ada${'x'.repeat(96)}`)
  })
})

describe('a service', () => {
  test.for<[name: string, deviations: Deviations]>([
    ['whose token never ends', { at: { token: 'endless' } }],
    ['whose keys never end', { at: { keys: 'endless' } }],
    ['that leads elsewhere', { at: { token: 'redirect' } }],
    ['that fails', { at: { token: 'error' } }],
  ])('security: %s is not reached', async ([, deviations]) => {
    const { ada, service } = await withHostile()
    expect(await link(ada, service, deviations)).toEqual(UNREACHABLE)
    expect(service.asked).not.toContain('elsewhere')
  })

  test.for<[name: string, deviations: Deviations]>([
    ['fails', { at: { discovery: 'error' } }],
    ['never ends', { at: { discovery: 'endless' } }],
    ['leads elsewhere', { at: { discovery: 'redirect' } }],
    ['is another page', { at: { discovery: 'text' } }],
    ['is of another issuer', { metadata: { issuer: 'https://evil.example' } }],
    ['names no page to sign in', { metadata: { authorization_endpoint: undefined } }],
    ['sends browsers to plain http', { metadata: { authorization_endpoint: 'http://evil.example/authorize' } }],
    ['sends browsers to a script', { metadata: { authorization_endpoint: 'javascript:alert(1)' } }],
  ])('security: one whose description %s is not reached, and asked again next time', async ([, deviations]) => {
    const { app, service } = await withHostile()
    service.deviate(deviations)
    expect(await app.guest.call('POST', `${SIGN_IN}/begin`)).toMatchObject({ status: 502, body: { code: 'OIDC_UNREACHABLE' } })
    service.deviate({})
    expect((await app.guest.call('POST', `${SIGN_IN}/begin`)).status).toBe(200)
  })

  test('security: one cannot lead the server to plain http at another address', async () => {
    const { ada, service } = await withHostile()
    const other = await hostileService()
    service.deviate({ metadata: { token_endpoint: `${other.settings.issuer}token` } })
    expect(await link(ada, service, {})).toEqual(UNREACHABLE)
    expect(other.asked).toEqual([])
  })

  test('security: one that hangs holds up no other request of the same address, and is given up', async () => {
    const { app, service } = await withHostile()
    service.deviate({ at: { discovery: 'hang' } })
    const hanging = Array.from({ length: 8 }, () => app.guest.call('POST', `${SIGN_IN}/begin`))
    let isGivenUp = false
    const given = Promise.all(hanging).then((answers) => ((isGivenUp = true), answers))
    await service.isAsked('discovery', 1)
    expect((await app.guest.call('POST', '/api/session', { email: 'ada@gmail.com', password: PASSWORD })).status).toBe(200)
    expect(isGivenUp, 'the others still wait').toBe(false)
    expect((await given).map(({ status }) => status)).toEqual(Array(8).fill(502))
  }, 30_000)

  test('that cannot be reached is reported as such', async () => {
    const oidc = { issuer: 'http://127.0.0.1:9/', clientId: 'console', clientSecret: undefined, name: 'Telegram' }
    const app = await testApp({ oidc })
    expect(await app.guest.call('POST', `${SIGN_IN}/begin`)).toMatchObject({
      status: 502,
      body: { message: 'The sign-in service does not answer as it should. Please try again later, or use your password.' },
    })
  })
})
