/** Passkeys: adding, listing and removing one's own, and signing in with one; what is refused (security.md, Passkeys). */
import { sql } from 'kysely'
import { describe, expect, test } from 'vitest'
import { MAX_PASSKEYS } from '@arcade/contract/passkeys/fields'
import { limits } from '#src/identity/attempts.ts'
import { auditTrail } from '#test/audit-trail.ts'
import { createCredential, type Deviations, answerWith } from '#test/authenticator.ts'
import { addPasskey, listOf, opening, optionsOf, PATH, refused, signIn, signInOptions, trailOf } from '#test/passkeys.ts'
import { sessionCookie, takeCookieOf } from '#test/second-factor.ts'
import { testApp } from '#test/test-app.ts'
import { openAgain } from '#test/test-database.ts'

describe('one’s own passkeys', () => {
  test('are added, listed, renamed and removed, each with an entry of the audit', async () => {
    const { app, admin } = await opening()
    expect((await admin.call('GET', PATH)).body).toEqual({ passkeys: [], isPossible: true })
    const options = await optionsOf(admin)
    expect(options).toMatchObject({
      challenge: expect.stringMatching(/^[\w-]{43}$/),
      rp: { id: 'console.localhost', name: 'Arcade Console' },
      user: { name: 'ada@gmail.com', displayName: 'Test Person' },
      attestation: 'none',
      authenticatorSelection: { residentKey: 'required', userVerification: 'required' },
      excludeCredentials: [],
    })
    expect(options.user.id, 'an authenticator must not learn who its owner is').not.toContain(admin.id)
    const { passkey, answer } = await addPasskey(admin, { name: ' Laptop ' })
    expect(answer).toMatchObject({ status: 200, body: { success: true, passkey: { name: 'Laptop', isSynced: false } } })
    const { id } = answer.body.passkey
    expect(await listOf(admin)).toEqual([
      { id, name: 'Laptop', createdAt: expect.any(String), lastUsedAt: null, isSynced: false },
    ])
    expect((await optionsOf(admin)).excludeCredentials).toEqual([
      { id: passkey.id, type: 'public-key', transports: ['internal'] },
    ])

    expect((await admin.call('PATCH', `${PATH}/${id}`, { name: 'Old laptop' })).status).toBe(200)
    expect((await admin.call('PATCH', `${PATH}/${id}`, { name: '' })).status).toBe(400)
    expect((await listOf(admin))[0].name).toBe('Old laptop')
    const removed = await admin.call('DELETE', `${PATH}/${id}`)
    expect(removed.status).toBe(200)
    takeCookieOf(removed.headers, admin)
    expect(await admin.call('DELETE', `${PATH}/${id}`)).toMatchObject({ status: 404, body: { code: 'NO_SUCH_PASSKEY' } })
    expect(await listOf(admin)).toEqual([])
    expect(await signIn(app, passkey)).toMatchObject(refused)
    const acts = (await auditTrail(app.database.db)).filter(({ action }) => action.startsWith('user.passkey'))
    expect(acts.map(({ action, recordId, changes, detail }) => [action, recordId, changes ?? detail])).toEqual([
      ['user.passkey', admin.id, { passkey: 'Laptop' }],
      ['user.passkey-rename', admin.id, { passkey: ['Laptop', 'Old laptop'] }],
      ['user.passkey-end', admin.id, { passkey: 'Old laptop' }],
    ])
  })

  test('nobody else sees, renames or removes them', async () => {
    const { app, admin } = await opening()
    const { answer } = await addPasskey(admin)
    const other = await app.signUp('admin')
    expect(await listOf(other)).toEqual([])
    const path = `${PATH}/${answer.body.passkey.id}`
    expect((await other.call('PATCH', path, { name: 'Mine' })).status).toBe(404)
    expect((await other.call('DELETE', path)).status).toBe(404)
    expect(await listOf(admin)).toHaveLength(1)
  })

  test('a passkey that somebody has already is refused', async () => {
    const { app, admin } = await opening()
    const options = await optionsOf(admin)
    const { response } = createCredential(options)
    expect((await admin.call('POST', PATH, { name: 'One', response })).status).toBe(200) // its session gets a new token
    const other = await app.signUp('admin')
    const { challenge } = await optionsOf(other)
    const clientDataJSON = Buffer.from(
      JSON.stringify({ type: 'webauthn.create', challenge, origin: 'http://console.localhost' }),
    ).toString('base64url')
    const same = { ...response, response: { ...response.response, clientDataJSON } }
    expect(await other.call('POST', PATH, { name: 'Two', response: same })).toMatchObject({
      status: 409,
      body: { code: 'PASSKEY_KNOWN' },
    })
  })

  test(`a person has ${MAX_PASSKEYS} at most, also when two are added at once`, async () => {
    const { app, admin } = await opening()
    await sql`insert into passkeys (user_id, credential_id, public_key, counter, transports, name, device_type, backed_up)
      select ${admin.id}, int4send(n), '', 0, '{}', 'Key', 'singleDevice', false from generate_series(2, ${MAX_PASSKEYS}) n`.execute(
      app.database.db,
    )
    const makeIn = async (cookie: string) => {
      const { options } = (await app.guest.call('POST', `${PATH}/options`, undefined, { cookie })).body
      const { response } = createCredential(options)
      return () => app.guest.call('POST', PATH, { name: 'Key', response }, { cookie })
    }
    const proved = async () => `session=${await app.sessions.begin(admin.id, { provedBy: 'passkey' })}`
    const adds = await Promise.all(Array.from({ length: 3 }, async () => makeIn(await proved())))
    const answers = await Promise.all(adds.map((add) => add()))
    const added = answers.filter(({ status }) => status === 200)
    expect(added).toHaveLength(1) // it ends the other sessions
    const oneMore = await makeIn(sessionCookie(added[0]!.headers)!)
    expect(await oneMore()).toMatchObject({ status: 409, body: { code: 'TOO_MANY_PASSKEYS' } })
  })

  test('they end with their owner’s removal', async () => {
    const { app, admin } = await opening()
    const person = await app.signUp('admin')
    const { passkey } = await addPasskey(person)
    await optionsOf(person) // leaves a challenge
    await admin.call('DELETE', `/removeUser/${person.id}`)
    expect(await signIn(app, passkey)).toMatchObject(refused)
    for (const table of ['passkeys', 'passkey_challenges'] as const)
      expect(await app.database.db.selectFrom(table).select('user_id').where('user_id', '=', person.id).execute()).toEqual([])
  })

  test.each([
    ['another origin', { origin: 'http://evil.localhost' }],
    ['another port', { origin: 'http://console.localhost:81' }],
    ['another site (RP id)', { rpId: 'localhost' }],
    ['a use instead of a new key', { type: 'webauthn.get' }],
    ['a user who was not verified', { isVerified: false }],
    ['a user who was not present', { isPresent: false }],
    ['another algorithm (ES384)', { algorithm: -35 }],
    ['RS1, which is broken', { algorithm: -65_535 }],
    ['another challenge', { challenge: 'A'.repeat(43) }],
  ] satisfies [string, Deviations][])('security: %s is refused', async (_, deviations) => {
    const { admin } = await opening()
    expect((await addPasskey(admin, deviations)).answer).toMatchObject(refused)
    expect(await listOf(admin)).toEqual([])
  })

  test('security: what the maker of an authenticator attests is not read', async () => {
    const { admin } = await opening()
    expect((await addPasskey(admin, { format: 'android-safetynet' })).answer.status).toBe(200)
  })

  test('security: a challenge works once, for its user and purpose, and for five minutes', async () => {
    const { app, admin } = await opening()
    const other = await app.signUp('admin')
    const options = await optionsOf(admin)
    const { response } = createCredential(options)
    expect(await other.call('POST', PATH, { name: 'Theft', response })).toMatchObject(refused)
    const added = await admin.call('POST', PATH, { name: 'Mine', response })
    expect(added.status).toBe(200)
    takeCookieOf(added.headers, admin)
    expect(await admin.call('POST', PATH, { name: 'Again', response })).toMatchObject(refused)

    const wrong = createCredential(await optionsOf(admin), { rpId: 'evil' })
    expect(await admin.call('POST', PATH, { name: 'Wrong', response: wrong.response })).toMatchObject(refused)
    const right = createCredential({ ...options, challenge: challengeOf(wrong.response) })
    expect(await admin.call('POST', PATH, { name: 'Used', response: right.response })).toMatchObject(refused)

    const late = createCredential(await optionsOf(admin))
    await sql`update passkey_challenges set expires_at = now()`.execute(app.database.db)
    expect(await admin.call('POST', PATH, { name: 'Late', response: late.response })).toMatchObject(refused)
    const ofGuest = createCredential({ ...options, challenge: (await signInOptions(app)).challenge })
    expect(await admin.call('POST', PATH, { name: 'Guest', response: ofGuest.response })).toMatchObject(refused)
    expect(await listOf(admin)).toHaveLength(1)
    const stored = JSON.stringify(await app.database.db.selectFrom('passkey_challenges').selectAll().execute())
    expect(stored).not.toContain((await optionsOf(admin)).challenge)
  })
})

function challengeOf({ response }: { response: { clientDataJSON: string } }): string {
  return JSON.parse(Buffer.from(response.clientDataJSON, 'base64url').toString()).challenge
}

describe('signing in with a passkey', () => {
  test('begins a session without a password, and notes the use', async () => {
    const { app, admin } = await opening()
    const { passkey } = await addPasskey(admin)
    expect(await signInOptions(app)).toEqual({
      challenge: expect.any(String),
      rpId: 'console.localhost',
      timeout: 300_000,
      userVerification: 'required',
    })
    const answer = await signIn(app, passkey)
    expect(answer).toMatchObject({
      status: 200,
      body: { success: true, user: { id: admin.id, email: 'ada@gmail.com', role: 'owner' } },
    })
    const cookie = answer.headers.getSetCookie()[0]!.split(';')[0]!
    expect((await app.guest.call('GET', '/api/users', undefined, { cookie })).status).toBe(200)
    expect((await listOf(admin))[0].lastUsedAt).not.toBeNull()
    expect((await trailOf(app, 'session.begin')).at(-1)).toMatchObject({ actorId: admin.id })
  })

  test('replaces the session that the browser had', async () => {
    const { app, admin } = await opening()
    const { passkey } = await addPasskey(admin)
    expect((await signIn(app, passkey, {}, admin.headers)).status).toBe(200)
    expect((await admin.call('GET', PATH)).status).toBe(401)
  })

  test.each([
    ['another origin', { origin: 'http://evil.localhost' }],
    ['another site (RP id)', { rpId: 'evil.localhost' }],
    ['a new key instead of a use', { type: 'webauthn.create' }],
    ['a user who was not verified', { isVerified: false }],
    ['another challenge', { challenge: 'A'.repeat(43) }],
    ['another user’s handle', { userHandle: 'AAAA' }],
  ] satisfies [string, Deviations][])('security: %s is refused, and audited', async (_, deviations) => {
    const { app, admin } = await opening()
    const { passkey } = await addPasskey(admin)
    const answer = await signIn(app, passkey, deviations)
    expect(answer).toMatchObject(refused)
    expect(answer.headers.get('set-cookie')).toBeNull()
    expect((await trailOf(app, 'session.refuse')).at(-1)).toMatchObject({
      recordId: admin.id,
      detail: { at: 'sign-in', method: 'passkey' },
    })
    expect((await listOf(admin))[0].lastUsedAt).toBeNull()
  })

  test('security: an unknown passkey, a wrong signature and another passkey’s signature are refused alike', async () => {
    const { app, admin } = await opening()
    const { passkey } = await addPasskey(admin)
    const { passkey: unknown } = createCredential(await optionsOf(admin))
    const first = await signIn(app, unknown)
    const second = await signIn(app, { ...unknown, id: passkey.id })
    for (const { status, body } of [first, second]) {
      expect({ status, body }).toMatchObject(refused)
      expect({ ...body, requestId: '' }).toEqual({ ...first.body, requestId: '' })
    }
    const response = answerWith(passkey, await signInOptions(app))
    const cut = { ...response, response: { ...response.response, signature: response.response.signature.slice(4) } }
    expect(await app.guest.call('POST', '/api/session/passkey', { response: cut })).toMatchObject(refused)
  })

  test('security: a copied passkey, whose counter has not grown, is refused and audited', async () => {
    const { app, admin } = await opening()
    const { passkey } = await addPasskey(admin, { counter: 5 })
    expect((await signIn(app, passkey)).status).toBe(200) // 6
    for (const counter of [6, 5, 1, 0]) {
      const answer = await signIn(app, passkey, { counter })
      expect(answer).toMatchObject(refused)
      expect(answer.body.message).toContain('may have been copied')
    }
    expect(await trailOf(app, 'user.passkey-copy')).toHaveLength(4)
    expect((await trailOf(app, 'user.passkey-copy'))[0]).toMatchObject({ recordId: admin.id, detail: { passkey: 'Laptop' } })
    expect((await signIn(app, passkey)).status).toBe(200) // 7
    const forged = { ...passkey, privateKey: createCredential(await optionsOf(admin)).passkey.privateKey }
    await signIn(app, forged, { counter: 1 })
    expect(await trailOf(app, 'user.passkey-copy'), 'a wrong signature says nothing about the counter').toHaveLength(4)
  })

  test('a passkey without a counter, such as a synced one, works again and again', async () => {
    const { app, admin } = await opening()
    const { passkey } = await addPasskey(admin, { counter: 0 })
    for (let time = 0; time < 3; time += 1) expect((await signIn(app, passkey)).status).toBe(200)
  })

  test('security: of 20 uses of one challenge at once on two servers, one succeeds', async () => {
    const { app, admin } = await opening({ database: await openAgain() })
    const other = await testApp({ database: await openAgain() })
    const { passkey } = await addPasskey(admin, { counter: 0 })
    const response = answerWith(passkey, await signInOptions(app))
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, n) => (n % 2 ? app : other).guest.call('POST', '/api/session/passkey', { response })),
    )
    const statuses = answers.map(({ status }) => status).toSorted((a, b) => a - b)
    expect(statuses).toEqual([200, ...Array<number>(19).fill(403)])
  })

  test('security: of 20 uses of one counter at once on two servers, one succeeds', async () => {
    const { app, admin } = await opening({ database: await openAgain() })
    const other = await testApp({ database: await openAgain() })
    const { passkey } = await addPasskey(admin)
    const responses = await Promise.all(
      Array.from({ length: 20 }, async () => answerWith(passkey, await signInOptions(app), { counter: 9 })),
    )
    const answers = await Promise.all(
      responses.map((response, n) => (n % 2 ? app : other).guest.call('POST', '/api/session/passkey', { response })),
    )
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
  })

  test('security: attempts and challenges are limited by address; a known device has its own limit', async () => {
    const { app, admin } = await opening({ rateLimit: true })
    const { passkey } = await addPasskey(admin)
    const device = (await signIn(app, passkey)).headers
      .getSetCookie()
      .find((cookie) => cookie.startsWith('device='))!
      .split(';')[0]!
    const ask = (headers: Record<string, string> = {}) =>
      app.guest.call('POST', '/api/session/passkey-options', undefined, headers)
    for (let time = 1; time < limits.signInStarts.max; time += 1) await ask()
    expect((await ask()).status).toBe(429)
    expect((await ask({ cookie: device })).status).toBe(200)
  })

  test('expired challenges are removed', async () => {
    const { app } = await opening()
    await signInOptions(app)
    await sql`update passkey_challenges set expires_at = now() - interval '1 second'`.execute(app.database.db)
    await signInOptions(app)
    await app.passkeys.sweep()
    expect(await app.database.db.selectFrom('passkey_challenges').select('purpose').execute()).toHaveLength(1)
  })
})
