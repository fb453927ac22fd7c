/** Linking an account of a real OpenID Connect provider, and signing in with it (security.md, Sign-in service). */
import { sql } from 'kysely'
import { describe, expect, test } from 'vitest'
import { auditTrail } from '#test/audit-trail.ts'
import { comeBack, flowCookie, LINK, linkAccount, send, SIGN_IN, signInWith, twoWithService, withService } from '#test/oidc.ts'
import {
  ageProof,
  FACTOR,
  givePassword,
  isSignedIn,
  prove,
  setUpTotp,
  stepUp,
  takeCookieOf,
  totpCode,
} from '#test/second-factor.ts'
import { visit } from '#test/sign-in-service.ts'
import { type Client, testApp, type TestApp } from '#test/test-app.ts'

const stateOf = async (client: Client) => (await client.call('GET', LINK)).body
const rowsOf = ({ database }: TestApp) => database.db.selectFrom('oidc_links').selectAll().execute()
const EXPIRED = { status: 403, body: { code: 'OIDC_EXPIRED' } }

describe('an account of the sign-in service', () => {
  test('is linked by its owner, signs in, and is unlinked', async () => {
    const { app, ada } = await withService()
    expect(await stateOf(ada)).toEqual({ service: 'Telegram', link: null })
    expect((await app.guest.call('GET', '/api/session')).body.signInService).toBe('Telegram')
    expect(await linkAccount(ada, 'ada')).toMatchObject({ status: 200, body: { success: true } })
    expect(await stateOf(ada)).toMatchObject({ service: 'Telegram', link: { name: '@ada', lastUsedAt: null } })

    const signedIn = await signInWith(app, 'ada')
    expect(signedIn).toMatchObject({ status: 200, body: { success: true, user: { id: ada.id, role: 'owner' } } })
    expect((await app.guest.call('GET', '/api/users', undefined, { cookie: signedIn.cookie })).status).toBe(200)
    expect((await stateOf(ada)).link.lastUsedAt).not.toBeNull()
    expect((await auditTrail(app.database.db, 'session.begin')).at(-1)).toMatchObject({ detail: { method: 'oidc' } })

    const unlinked = await ada.call('DELETE', LINK)
    expect(unlinked).toMatchObject({ status: 200, body: { success: true } })
    expect(await isSignedIn(app, signedIn.cookie), 'other sessions end').toBe(false)
    expect(await signInWith(app, 'ada')).toMatchObject({ status: 403, body: { code: 'OIDC_NOT_LINKED' } })
    for (const action of ['user.oidc', 'user.oidc-end'] as const)
      expect(await auditTrail(app.database.db, action)).toMatchObject([{ detail: { service: 'Telegram', account: '@ada' } }])
  })

  test('comes back with a person who is restored from the trash, unless somebody else has linked it meanwhile', async () => {
    const { app, ada } = await withService()
    const trashed = async (person: Client): Promise<string> => {
      expect((await ada.call('DELETE', `/removeUser/${person.id}`)).status).toBe(200)
      const { records } = (await ada.call('GET', '/api/trash')).body
      return (records as { id: string; recordId: string }[]).find(({ recordId }) => recordId === person.id)!.id
    }
    const restore = async (id: string) => expect((await ada.call('POST', '/api/trash/restore-one', { id })).status).toBe(200)
    const [grace, eve] = [await app.signUp('editor', 'grace@gmail.com'), await app.signUp('editor', 'eve@gmail.com')]
    await linkAccount(grace, 'grace')
    const [before] = await rowsOf(app)
    await restore(await trashed(grace))
    expect(await rowsOf(app)).toEqual([before])
    expect(await signInWith(app, 'grace')).toMatchObject({ status: 200, body: { user: { id: grace.id } } })
    const again = await trashed(grace)
    expect((await linkAccount(eve, 'grace')).status).toBe(200)
    await restore(again)
    expect(await rowsOf(app)).toMatchObject([{ user_id: eve.id }])
    expect(await signInWith(app, 'grace')).toMatchObject({ status: 200, body: { user: { id: eve.id } } })
  })

  test.for(['client_secret_post', 'none'] as const)('works with a service that wants %s', async (secretIn) => {
    const { app, ada } = await withService({ secretIn })
    expect((await linkAccount(ada, 'ada')).status).toBe(200)
    expect((await signInWith(app, 'ada')).status).toBe(200)
  })

  test('security: one that is linked to nobody is refused, also if its e-mail address is known here', async () => {
    const { app } = await withService()
    const refused = await signInWith(app, 'ada@gmail.com')
    expect(refused).toMatchObject({ status: 403, body: { code: 'OIDC_NOT_LINKED' }, cookie: '' })
    expect(refused.body.message).toBe(
      'This Telegram account is not linked to an account here. Sign in with your password and link it under Your Account.',
    )
    expect(await app.database.db.selectFrom('accounts').select('id').execute(), 'none is made').toHaveLength(1)
    expect(await auditTrail(app.database.db, 'session.refuse')).toMatchObject([{ detail: { code: 'OIDC_NOT_LINKED' } }])
  })

  test('security: it belongs to one person, and a person has one', async () => {
    const { app, ada } = await withService()
    const grace = await app.signUp('editor', 'grace@gmail.com')
    await linkAccount(ada, 'ada')
    expect(await linkAccount(grace, 'ada')).toMatchObject({ status: 409, body: { code: 'OIDC_TAKEN' } })
    expect(await linkAccount(ada, 'grace')).toMatchObject({ status: 409, body: { code: 'OIDC_LINKED' } })
    expect(await linkAccount(ada, 'ada')).toMatchObject({ status: 409, body: { code: 'OIDC_LINKED' } })
    expect(await linkAccount(grace, 'grace')).toMatchObject({ status: 200 })
    expect(await rowsOf(app)).toMatchObject([{ subject: 'ada' }, { subject: 'grace' }])
    const unlinked = await ada.call('DELETE', LINK)
    takeCookieOf(unlinked.headers, ada)
    expect((await ada.call('DELETE', LINK)).body.code).toBe('OIDC_NO_LINK')
  })

  test('security: one at another issuer does not sign in, and is replaced', async () => {
    const { app, ada } = await withService()
    await sql`insert into oidc_links (user_id, issuer, subject) values (${ada.id}, 'https://old.example/', 'ada')`.execute(
      app.database.db,
    )
    expect(await stateOf(ada)).toMatchObject({ link: null })
    expect((await signInWith(app, 'ada')).body.code).toBe('OIDC_NOT_LINKED')
    expect((await linkAccount(ada, 'ada')).status).toBe(200)
    expect(await rowsOf(app)).toHaveLength(1)
  })

  test('security: twenty people on two servers who link one account at the same time: one gets it', async () => {
    const [one, other] = await twoWithService()
    const people = await Promise.all(Array.from({ length: 20 }, () => one.signUp('editor')))
    const clients = await Promise.all(
      people.map(async (person, n) => {
        const app = n % 2 === 0 ? one : other
        return { ...person, call: withIdentityOf(app, person), sent: await send(person, LINK) }
      }),
    )
    const answers = await Promise.all(clients.map(async ({ sent }) => visit(sent.address, 'ada')))
    const results = await Promise.all(clients.map((client, n) => comeBack(client, LINK, answers[n]!, client.sent.cookie)))
    expect(results.filter(({ status }) => status === 200)).toHaveLength(1)
    expect(results.filter(({ body }) => body.code === 'OIDC_TAKEN')).toHaveLength(19)
    expect(await rowsOf(one)).toHaveLength(1)
  })

  test('security: it ends with its owner, who cannot sign in from the trash', async () => {
    const { app, ada } = await withService()
    const grace = await app.signUp('editor', 'grace@gmail.com')
    await linkAccount(grace, 'grace')
    expect((await ada.call('DELETE', `/removeUser/${grace.id}`)).status).toBe(200)
    expect(await signInWith(app, 'grace')).toMatchObject({ status: 403, body: { code: 'OIDC_NOT_LINKED' } })
    expect(await rowsOf(app)).toEqual([])
  })

  test('security: its owner is told by mail when one is linked and unlinked', async () => {
    const { app, ada } = await withService({ smtpUrl: 'smtp://127.0.0.1:9' })
    await linkAccount(ada, 'ada')
    await ada.call('DELETE', LINK)
    const mails = await app.database.db.selectFrom('mails').select(['kind', 'recipient']).execute()
    expect(mails).toEqual(Array.from({ length: 2 }, () => ({ kind: 'signInLink', recipient: 'ada@gmail.com' })))
  })
})

/** Returns the calls of a person to another server. */
function withIdentityOf(app: TestApp, { headers: identity }: Client): Client['call'] {
  return (method, path, body, headers = {}) => app.guest.call(method, path, body, { ...identity, ...headers })
}

describe('the second factor', () => {
  test('security: it is asked for after the service, too, and also of a role that must have one', async () => {
    const { app, ada } = await withService({ secondFactor: 'admins' })
    expect((await ada.call('GET', LINK)).status, 'one’s own account').toBe(200)
    const { secret } = await setUpTotp(app, ada)
    await linkAccount(ada, 'ada')
    const first = await signInWith(app, 'ada')
    expect(first).toMatchObject({ status: 403, body: { code: 'SECOND_FACTOR_NEEDED', methods: ['totp', 'recovery'] } })
    expect(first.body.message).toBe('Telegram knows you. Now prove your second factor.')
    expect(await isSignedIn(app, first.cookie)).toBe(false)
    expect((await prove(app, first.cookie, '000000')).body.code).toBe('WRONG_CODE')
    expect(await prove(app, first.cookie, totpCode(secret))).toMatchObject({ status: 200, body: { user: { id: ada.id } } })

    const grace = await app.signUp('editor', 'grace@gmail.com')
    await linkAccount(grace, 'grace')
    const signedIn = await signInWith(app, 'grace')
    expect(signedIn.body.user).toMatchObject({ lacksSecondFactor: true, permissions: ['account.own'] })
    expect((await app.guest.call('GET', '/api/telegram-users', undefined, { cookie: signedIn.cookie })).status).toBe(403)
  })

  test('security: linking and unlinking ask for a fresh proof, and give none', async () => {
    const { app, ada } = await withService()
    const { secret } = await setUpTotp(app, ada)
    await ageProof(app, ada.id)
    expect((await ada.call('POST', `${LINK}/begin`)).body.code).toBe('STEP_UP_NEEDED')
    const renewed = await stepUp(ada, totpCode(secret))
    takeCookieOf(renewed.headers, ada)
    const { address, cookie } = await send(ada, LINK)
    await ageProof(app, ada.id)
    const linked = await comeBack(ada, LINK, await visit(address, 'ada'), cookie)
    expect(linked.status).toBe(200)
    takeCookieOf(linked.headers, ada)
    expect((await ada.call('DELETE', LINK)).body.code).toBe('STEP_UP_NEEDED')
    expect((await ada.call('DELETE', `${FACTOR}/totp`)).body.code, 'for other acts, too').toBe('STEP_UP_NEEDED')
  })

  test('security: a sign-in that waits for it ends when the account is unlinked', async () => {
    const { app, ada } = await withService()
    const { secret } = await setUpTotp(app, ada)
    await linkAccount(ada, 'ada')
    const first = await signInWith(app, 'ada')
    expect((await ada.call('DELETE', LINK)).status).toBe(200)
    expect((await prove(app, first.cookie, totpCode(secret))).body.code).toBe('SIGN_IN_EXPIRED')
  })

  test('after a reset of the second factor and a new password the account is still linked', async () => {
    const { app, ada } = await withService()
    const grace = await app.signUp('editor', 'grace@gmail.com')
    await setUpTotp(app, grace)
    await linkAccount(grace, 'grace')
    expect((await ada.call('DELETE', `/api/users/${grace.id}/second-factor`)).status).toBe(200)
    expect((await signInWith(app, 'grace')).status).toBe(200)
    expect((await givePassword(app, 'grace@gmail.com')).status, 'the password stays a way in').toBe(200)
  })
})

describe('the way back from the service', () => {
  test('security: it works once, for the browser that was sent, within ten minutes, on any server', async () => {
    const [app, other] = await twoWithService()
    const ada = await app.signUp('owner')
    await linkAccount(ada, 'ada')

    const sent = await send(app.guest, SIGN_IN)
    const answer = await visit(sent.address, 'ada')
    expect(await comeBack(app.guest, SIGN_IN, answer, ''), 'another browser').toMatchObject(EXPIRED)
    const stranger = await send(app.guest, SIGN_IN)
    expect(await comeBack(app.guest, SIGN_IN, answer, stranger.cookie), 'with a cookie of its own').toMatchObject(EXPIRED)
    const back = await comeBack(other.guest, SIGN_IN, answer, sent.cookie)
    expect(back).toMatchObject({ status: 200, body: { user: { id: ada.id } } })
    expect(flowCookie(back.headers), 'the cookie is removed').toBe('flow=')
    expect(await comeBack(app.guest, SIGN_IN, answer, sent.cookie), 'again').toMatchObject(EXPIRED)

    const late = await send(app.guest, SIGN_IN)
    const lateAnswer = await visit(late.address, 'ada')
    await sql`update oidc_flows set expires_at = now()`.execute(app.database.db)
    expect(await comeBack(app.guest, SIGN_IN, lateAnswer, late.cookie), 'late').toMatchObject(EXPIRED)
  })

  test('security: twenty attempts on two servers to use it begin one session', async () => {
    const [app, other] = await twoWithService()
    const ada = await app.signUp('owner')
    await linkAccount(ada, 'ada')
    const sent = await send(app.guest, SIGN_IN)
    const answer = await visit(sent.address, 'ada')
    const attempts = Array.from({ length: 20 }, (_, n) => (n % 2 ? app : other).guest)
    const results = await Promise.all(attempts.map((guest) => comeBack(guest, SIGN_IN, answer, sent.cookie)))
    expect(results.filter(({ status }) => status === 200)).toHaveLength(1)
    expect(results.filter(({ body }) => body.code === 'OIDC_EXPIRED')).toHaveLength(19)
  })

  test('security: one for a sign-in links nothing, one to link signs nobody in, and nobody else can use it', async () => {
    const { app, ada } = await withService()
    const grace = await app.signUp('owner', 'grace@gmail.com')
    const signIn = await send(app.guest, SIGN_IN)
    expect(await comeBack(ada, LINK, await visit(signIn.address, 'ada'), signIn.cookie)).toMatchObject(EXPIRED)
    const link = await send(ada, LINK)
    const answer = await visit(link.address, 'ada')
    expect(await comeBack(app.guest, SIGN_IN, answer, link.cookie)).toMatchObject(EXPIRED)
    expect(await comeBack(grace, LINK, answer, link.cookie), 'another person in the same browser').toMatchObject(EXPIRED)
    expect(await comeBack(app.guest, LINK, answer, link.cookie), 'signed out').toMatchObject({ status: 401 })
    expect(await rowsOf(app)).toEqual([])
    expect((await comeBack(ada, LINK, answer, link.cookie)).status).toBe(200)
  })

  test('security: a code of another flow is refused, and one that was used', async () => {
    const { app, ada } = await withService()
    await linkAccount(ada, 'ada')
    const [one, other] = [await send(app.guest, SIGN_IN), await send(app.guest, SIGN_IN)]
    const stolen = await visit(one.address, 'ada')
    const own = await visit(other.address, 'grace')
    const injected = await comeBack(app.guest, SIGN_IN, { ...own, code: stolen['code']! }, other.cookie)
    expect(injected, 'PKCE').toMatchObject({ status: 403, body: { code: 'OIDC_REFUSED' } })
    expect((await comeBack(app.guest, SIGN_IN, { ...stolen, iss: 'https://evil.example' }, one.cookie)).body.code).toBe(
      'OIDC_REFUSED',
    )
  })

  test('someone who cancels at the service comes back with access_denied, for which no call is made', async () => {
    const { app } = await withService()
    const { address } = await send(app.guest, SIGN_IN)
    expect(await visit(address, '')).toMatchObject({ error: 'access_denied', state: expect.stringMatching(/^sign-in\./) })
  })

  test('security: attempts count against the limit of an address, and those that wait are forgotten', async () => {
    const { app } = await withService({ rateLimit: true })
    const tryIt = () => comeBack(app.guest, SIGN_IN, { code: 'x', state: 'sign-in.x' }, 'flow=x')
    const codes = new Set<string>()
    for (let n = 0; n < 51; n += 1) codes.add((await tryIt()).body.code)
    expect([...codes]).toEqual(['OIDC_EXPIRED', 'TOO_MANY_ATTEMPTS'])
    const begun = new Set<number>()
    for (let n = 0; n < 101; n += 1) begun.add((await app.guest.call('POST', `${SIGN_IN}/begin`)).status)
    expect([...begun]).toEqual([200, 429])
  })
})

test('without OIDC_CLIENT_ID there is no sign-in service', async () => {
  const app = await testApp()
  const ada = await app.signUp('owner')
  expect((await app.guest.call('GET', '/api/session')).body.signInService).toBeNull()
  expect(await stateOf(ada)).toEqual({ service: null, link: null })
  for (const [client, path] of [
    [ada, `${LINK}/begin`],
    [app.guest, `${SIGN_IN}/begin`],
  ] as const)
    expect(await client.call('POST', path)).toMatchObject({ status: 409, body: { code: 'OIDC_OFF' } })
})
