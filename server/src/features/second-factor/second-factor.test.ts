/** The second factor: set-up, the second step of a sign-in, step-up and policy (security.md, Second factor). */
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { auditTrail } from '#test/audit-trail.ts'
import {
  ADA,
  FACTOR,
  ageProof,
  givePassword,
  isSignedIn,
  prove,
  sessionCookie,
  setUpTotp,
  stepUp,
  takeCookieOf,
  totpCode,
  withFactor,
} from '#test/second-factor.ts'
import { type Client, testApp, type TestApp } from '#test/test-app.ts'

/** A code that is wrong at any time near now. */
const wrongOf = (secret: string): string => {
  const right = [-2, -1, 0, 1, 2].map((steps) => totpCode(secret, steps))
  return ['000000', '111111', '222222', '333333', '444444', '555555'].find((code) => !right.includes(code))!
}

test('security: setting up an app shows secret and codes once, and other sessions end', async () => {
  const app = await testApp()
  const ada = await app.signUp('owner', ADA)
  const other = `session=${await app.sessions.begin(ada.id)}`
  const before = { isOn: false, methods: [], totp: null, recoveryCodesLeft: 0, policy: 'optional' }
  expect((await ada.call('GET', FACTOR)).body).toEqual(before)
  const begun = await ada.call('POST', `${FACTOR}/totp`)
  expect(begun.body).toEqual({
    secret: expect.stringMatching(/^[A-Z2-7]{32}$/),
    uri: expect.stringMatching(/^otpauth:\/\/totp\//),
  })
  expect((await ada.call('GET', FACTOR)).body, 'a secret without a code is no factor').toEqual(before)
  const { secret } = begun.body
  const wrong = await ada.call('POST', `${FACTOR}/totp/confirm`, { code: wrongOf(secret) })
  expect(wrong.body).toMatchObject({
    code: 'WRONG_CODE',
    fields: { code: 'This code is wrong or was used already.' },
  })
  expect(await isSignedIn(app, other), 'a wrong code changes nothing').toBe(true)

  const old = ada.headers['cookie']!
  const confirmed = await ada.call('POST', `${FACTOR}/totp/confirm`, { code: totpCode(secret) })
  expect(confirmed.body).toEqual({ success: true, recoveryCodes: expect.any(Array) })
  const { recoveryCodes } = confirmed.body
  expect(new Set(recoveryCodes).size).toBe(10)
  for (const code of recoveryCodes) expect(code).toMatch(/^([0-9A-HJKMNP-TV-Z]{4}-){3}[0-9A-HJKMNP-TV-Z]{4}$/)
  takeCookieOf(confirmed.headers, ada)
  expect(ada.headers['cookie']).not.toBe(old)
  expect([await isSignedIn(app, old), await isSignedIn(app, other), await isSignedIn(app, ada.headers['cookie']!)]).toEqual([
    false,
    false,
    true,
  ])
  const state = (await ada.call('GET', FACTOR)).body
  expect(state).toMatchObject({ isOn: true, methods: ['totp', 'recovery'], recoveryCodesLeft: 10 })
  expect(state.totp.confirmedAt).toMatch(/^\d{4}-/)
  expect((await ada.call('POST', `${FACTOR}/totp/confirm`, { code: totpCode(secret, 1) })).body.code).toBe('TOTP_NOT_BEGUN')
})

test('security: after the right password the cookie is good for the second step alone', async () => {
  const { app, ada, secret } = await withFactor()
  const first = await givePassword(app, ADA)
  expect(first.status).toBe(403)
  expect(first.body).toEqual({
    success: false,
    code: 'SECOND_FACTOR_NEEDED',
    message: 'The password is right. Now prove your second factor.',
    methods: ['totp', 'recovery'],
    requestId: expect.any(String),
  })
  for (const [method, path] of [
    ['GET', '/api/users'],
    ['GET', FACTOR],
    ['DELETE', `${FACTOR}/totp`],
    ['POST', '/api/session/step-up'],
  ] as const) {
    const answer = await app.guest.call(method, path, method === 'POST' ? { code: totpCode(secret) } : undefined, {
      cookie: first.cookie,
    })
    expect([answer.status, answer.body.code], path).toEqual([401, 'SIGNED_OUT'])
  }
  expect(await isSignedIn(app, first.cookie)).toBe(false)
  const second = await prove(app, first.cookie, totpCode(secret))
  expect(second.status).toBe(200)
  expect(second.body).toMatchObject({ success: true, user: { id: ada.id, role: 'owner', lacksSecondFactor: false } })
  const cookie = sessionCookie(second.headers)!
  expect(cookie).not.toBe(first.cookie)
  expect([await isSignedIn(app, first.cookie), await isSignedIn(app, cookie)]).toEqual([false, true])
  expect((await prove(app, first.cookie, totpCode(secret, 1))).body.code).toBe('SIGN_IN_EXPIRED')
  expect(await auditTrail(app.database.db, 'session.begin')).toMatchObject([
    { detail: { secondFactor: 'totp' }, actorId: ada.id },
  ])
})

test('security: a code counts once, and no code of an earlier step after it', async () => {
  const { app, secret } = await withFactor()
  const attempt = async (code: string) => (await prove(app, (await givePassword(app, ADA)).cookie, code)).status
  const [now, next] = [totpCode(secret), totpCode(secret, 1)]
  expect(await attempt(next)).toBe(200)
  expect(await attempt(next), 'the same code again').toBe(403)
  expect(await attempt(now), 'the code before it').toBe(403)
})

test('security: the code that confirms an app does not also sign in', async () => {
  const app = await testApp()
  const ada = await app.signUp('owner', ADA)
  const { secret } = (await ada.call('POST', `${FACTOR}/totp`)).body
  const code = totpCode(secret)
  await ada.call('POST', `${FACTOR}/totp/confirm`, { code })
  expect((await prove(app, (await givePassword(app, ADA)).cookie, code)).body.code).toBe('WRONG_CODE')
})

test('security: each recovery code signs in once, as typed in any way, and new codes end the old', async () => {
  const { app, ada, recoveryCodes } = await withFactor()
  const attempt = async (code: string) => (await prove(app, (await givePassword(app, ADA)).cookie, code)).status
  expect(await attempt(recoveryCodes[0]!)).toBe(200)
  expect(await attempt(recoveryCodes[0]!)).toBe(403)
  expect(
    await attempt(` ${recoveryCodes[1]!.toLowerCase().replaceAll('-', ' ').replaceAll('0', 'o').replaceAll('1', 'l')} `),
  ).toBe(200)
  expect((await ada.call('GET', FACTOR)).body).toMatchObject({ recoveryCodesLeft: 8 })
  const renewed = await ada.call('POST', `${FACTOR}/recovery-codes`)
  expect(renewed.body).toMatchObject({ success: true, codes: { length: 10 } })
  expect(await attempt(recoveryCodes[2]!)).toBe(403)
  expect(await attempt(renewed.body.codes[0])).toBe(200)
})

test('security: all recovery codes can be used up, and then only the app is offered', async () => {
  const { app, secret, recoveryCodes } = await withFactor()
  for (const code of recoveryCodes) expect((await prove(app, (await givePassword(app, ADA)).cookie, code)).status).toBe(200)
  const { body, cookie } = await givePassword(app, ADA)
  expect(body.methods).toEqual(['totp'])
  expect((await prove(app, cookie, totpCode(secret))).status).toBe(200)
})

test('security: a sign-in waits for five codes and ten minutes', async () => {
  const { app, secret } = await withFactor()
  const wrong = wrongOf(secret)
  const { cookie } = await givePassword(app, ADA)
  for (let count = 0; count < 5; count += 1) expect((await prove(app, cookie, wrong)).body.code).toBe('WRONG_CODE')
  expect((await prove(app, cookie, totpCode(secret))).body.code).toBe('SIGN_IN_EXPIRED')
  const late = await givePassword(app, ADA)
  await sql`update pending_sign_ins set expires_at = now()`.execute(app.database.db)
  expect((await prove(app, late.cookie, totpCode(secret))).body.code).toBe('SIGN_IN_EXPIRED')
  await app.sessions.sweep()
  expect(await app.database.db.selectFrom('pending_sign_ins').selectAll().execute()).toEqual([])
})

test.each<[string, (given: { app: TestApp; ada: Client; cookie: string }) => Promise<unknown>]>([
  ['signing out', ({ app, cookie }) => app.guest.call('DELETE', '/api/session', undefined, { cookie })],
  ['another sign-in with its cookie', ({ app, cookie }) => givePassword(app, ADA, cookie)],
  [
    'a new password',
    ({ ada }) =>
      ada.call('PUT', '/api/account/password', {
        currentPassword: 'correct horse',
        password: 'battery staple',
        confirmPassword: 'battery staple',
      }),
  ],
  ['ending the other sessions', ({ ada }) => ada.call('DELETE', '/api/account/sessions')],
  ['new recovery codes', ({ ada }) => ada.call('POST', `${FACTOR}/recovery-codes`)],
])('security: %s ends a sign-in that waits', async (_, act) => {
  const { app, ada, secret } = await withFactor()
  const { cookie } = await givePassword(app, ADA)
  await act({ app, ada, cookie })
  expect((await prove(app, cookie, totpCode(secret))).body.code).toBe('SIGN_IN_EXPIRED')
})

test('security: a session that begins while a second factor is switched on does not outlive it', async () => {
  const { app, ada } = await withFactor()
  const { password_hash: passwordHash } = await app.database.db
    .selectFrom('accounts')
    .select('password_hash')
    .executeTakeFirstOrThrow()
  await expect(app.sessions.begin(ada.id, { passwordHash })).rejects.toMatchObject({ code: 'LOGIN_FAILED' })
})

test('security: somebody who knows the password cannot lock the owner out of known devices, nor of recovery codes', async () => {
  const { app, secret, recoveryCodes } = await withFactor({ rateLimit: true })
  const from = async (address: string, path: string, body: unknown, cookies: string[]) => {
    const headers = { 'content-type': 'application/json', cookie: cookies.join('; ') }
    const response = await app.fetch(path, { method: 'POST', headers, body: JSON.stringify(body) }, address)
    const set = response.headers.getSetCookie().map((one) => one.split(';')[0]!)
    return { status: response.status, body: (await response.json()) as { code?: string }, set }
  }
  const signIn = async (address: string, code: string, device: string[] = []) => {
    const first = await from(address, '/api/session', { email: ADA, password: 'correct horse' }, device)
    if (first.body.code !== 'SECOND_FACTOR_NEEDED') return first
    return from(address, '/api/session/second-factor', { code }, [...first.set, ...device])
  }
  const known = await signIn('198.51.100.7', totpCode(secret))
  expect(known.status).toBe(200)
  const device = known.set.filter((one) => one.startsWith('device='))
  await app.database.db.updateTable('totp_secrets').set({ last_step: null }).execute()

  const wrong = wrongOf(secret)
  const guesses = new Set<string | undefined>()
  for (let count = 0; count < 21; count += 1) {
    guesses.add((await signIn('203.0.113.66', wrong)).body.code)
    // Otherwise the limit of passwords would be reached first.
    await sql`delete from attempt_windows where key like 'sign-in-%'`.execute(app.database.db)
  }
  expect([...guesses]).toEqual(['WRONG_CODE', 'TOO_MANY_ATTEMPTS'])
  expect((await signIn('203.0.113.66', totpCode(secret))).body.code, 'not even the right code').toBe('TOO_MANY_ATTEMPTS')
  expect((await signIn('192.0.2.99', totpCode(secret))).body.code, 'anywhere else neither').toBe('TOO_MANY_ATTEMPTS')
  expect((await signIn('192.0.2.99', totpCode(secret), device)).status, 'the known device').toBe(200)
  await app.database.db.updateTable('totp_secrets').set({ last_step: null }).execute()
  expect((await signIn('198.51.100.7', totpCode(secret))).status, 'the known address').toBe(200)
  expect((await signIn('192.0.2.98', recoveryCodes[0]!)).status, 'a recovery code').toBe(200)
  expect(await auditTrail(app.database.db, 'session.limit')).toContainEqual(
    expect.objectContaining({ detail: { limit: 'code-account' } }),
  )
})

test('security: the right password alone uses up the limit of sign-ins of strangers, not that of the owner', async () => {
  const { app, secret } = await withFactor({ rateLimit: true })
  const attempt = (address: string) =>
    app.fetch(
      '/api/session',
      {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ email: ADA, password: 'correct horse' }),
      },
      address,
    )
  const statuses: number[] = []
  for (let count = 0; count < 11; count += 1) statuses.push((await attempt('203.0.113.66')).status)
  expect(statuses).toEqual([...Array<number>(10).fill(403), 429])
  const keys = await app.database.db.selectFrom('attempt_windows').select('key').execute()
  expect(keys.filter(({ key }) => key.startsWith('sign-in-user'))).toEqual([])
  expect(secret).toHaveLength(32)
})

test('security: weighty calls ask for the second factor again after ten minutes, and the session gets a new token', async () => {
  const { app, ada, secret } = await withFactor()
  const eve = await app.signUp('user')
  const promote = (role = 'editor') => ada.call('PUT', `/api/users/${eve.id}/role`, { role })
  expect((await promote()).status, 'just after the set-up').toBe(200)
  await ageProof(app, ada.id)
  const refused = await promote('analyst')
  expect(refused.status).toBe(403)
  expect(refused.body).toMatchObject({
    code: 'STEP_UP_NEEDED',
    methods: ['totp', 'recovery'],
    message: 'Prove your second factor again before you do this.',
  })
  expect((await ada.call('GET', '/api/users')).status, 'other calls do not ask').toBe(200)
  expect((await stepUp(ada, wrongOf(secret))).body.code).toBe('WRONG_CODE')
  expect((await promote('analyst')).body.code).toBe('STEP_UP_NEEDED')

  const old = ada.headers['cookie']!
  const other = await testApp() // another server of the same console
  expect(await isSignedIn(other, old)).toBe(true)
  const renewed = await stepUp(ada, totpCode(secret))
  expect(renewed.body).toEqual({ success: true })
  takeCookieOf(renewed.headers, ada)
  expect(ada.headers['cookie']).not.toBe(old)
  expect(await isSignedIn(app, old)).toBe(false)
  await expect.poll(() => isSignedIn(other, old)).toBe(false)
  expect((await promote('analyst')).status).toBe(200)
  expect(await auditTrail(app.database.db, 'session.step-up')).toMatchObject([
    { detail: { secondFactor: 'totp' }, recordId: ada.id },
  ])
  expect(await auditTrail(app.database.db, 'session.refuse-code')).toMatchObject([
    { detail: { at: 'step-up', method: 'totp' }, recordId: ada.id },
  ])
})

test('security: an invitation asks for a fresh proof, because it gives a role', async () => {
  const { app, ada } = await withFactor()
  const invite = (role: string) => ada.call('POST', '/api/invitations', { email: 'eve@example.org', role })
  const { id } = (await invite('owner')).body
  await ageProof(app, ada.id)
  const answers = [await invite('owner'), await invite('user'), await ada.call('POST', `/api/invitations/${id}/resend`)]
  expect(answers.map(({ body }) => body.code)).toEqual(Array(3).fill('STEP_UP_NEEDED'))
})

test('security: messages to players, and a webhook to which all changes go, ask for a fresh proof', async () => {
  const { app, ada } = await withFactor()
  await ageProof(app, ada.id)
  const id = '00000000-0000-4000-8000-000000000000'
  for (const [method, path, body] of [
    ['POST', '/api/broadcasts', { announcementId: 'a', audience: 'everybody' }],
    ['POST', `/api/broadcasts/${id}/resume`, {}],
    ['POST', `/api/broadcasts/${id}/resend-unknown`, {}],
    ['PUT', `/api/broadcasts/${id}/times`, { sendAt: null, endsAt: null }],
    ['POST', '/api/webhooks', { url: 'https://game.example/hook', events: ['task.create'] }],
  ] as const)
    expect((await ada.call(method, path, body)).body.code, path).toBe('STEP_UP_NEEDED')
})

test('whether somebody has a second factor is told to those who see users', async () => {
  const { app, ada } = await withFactor()
  const [manager, editor] = [await app.signUp('manager'), await app.signUp('editor')]
  const seen = async (by: Client, { id }: Client) => (await by.call('GET', `/api/users/${id}`)).body.hasSecondFactor
  expect([await seen(manager, ada), await seen(manager, editor), await seen(editor, ada)]).toEqual([true, false, undefined])
})

test('security: people without a second factor are not asked for it', async () => {
  const app = await testApp()
  const ada = await app.signUp('owner')
  const eve = await app.signUp('user')
  expect((await ada.call('PUT', `/api/users/${eve.id}/role`, { role: 'editor' })).status).toBe(200)
  expect((await stepUp(ada, '123456')).body.code).toBe('NO_SECOND_FACTOR')
  expect((await ada.call('POST', `${FACTOR}/recovery-codes`)).body.code).toBe('NO_SECOND_FACTOR')
  expect((await ada.call('DELETE', `${FACTOR}/totp`)).body.code).toBe('NO_SECOND_FACTOR')
})

test('security: codes within a session are limited for that session alone', async () => {
  const { app, ada, secret } = await withFactor({ rateLimit: true })
  const codes: string[] = []
  for (let count = 0; count < 11; count += 1) codes.push((await stepUp(ada, wrongOf(secret))).body.code)
  expect(codes).toEqual([...Array<string>(10).fill('WRONG_CODE'), 'TOO_MANY_ATTEMPTS'])
  const elsewhere = { ...ada, headers: { cookie: `session=${await app.sessions.begin(ada.id)}` } }
  const answer = await app.guest.call('POST', '/api/session/step-up', { code: totpCode(secret) }, elsewhere.headers)
  expect(answer.status).toBe(200)
})

test('security: with SECOND_FACTOR=admins an admin without one may use only the own account', async () => {
  const app = await testApp({ secondFactor: 'admins' })
  const ada = await app.signUp('owner', ADA)
  const refused = await ada.call('GET', '/api/users')
  expect(refused.status).toBe(403)
  expect(refused.body.message).toBe('This console requires a second factor. Set one up under Your Account first.')
  expect((await ada.call('GET', '/api/events')).status).toBe(403)
  expect((await givePassword(app, ADA)).body.user).toMatchObject({ lacksSecondFactor: true, permissions: ['account.own'] })
  expect((await ada.call('GET', FACTOR)).body).toMatchObject({ isOn: false, policy: 'admins' })
  await setUpTotp(app, ada)
  expect((await ada.call('GET', '/api/users')).status).toBe(200)
  const removed = await ada.call('DELETE', `${FACTOR}/totp`)
  takeCookieOf(removed.headers, ada)
  expect((await ada.call('GET', '/api/users')).status).toBe(403)
  const user = await app.signUp('user')
  const { body } = await user.call('GET', '/api/session')
  expect(body.user.lacksSecondFactor).toBe(false)
})

test('security: neither secrets nor codes are readable in the database or the audit', async () => {
  const { app, ada, secret, recoveryCodes } = await withFactor()
  await prove(app, (await givePassword(app, ADA)).cookie, recoveryCodes[0]!)
  await prove(app, (await givePassword(app, ADA)).cookie, 'ZZZZ-ZZZZ-ZZZZ-ZZZZ')
  await ada.call('POST', `${FACTOR}/totp`)
  const rows = await app.database.db.selectFrom('totp_secrets').selectAll().execute()
  const codes = await app.database.db.selectFrom('recovery_codes').selectAll().execute()
  const trail = await auditTrail(app.database.db)
  const text = JSON.stringify([rows, codes, trail]) + rows.map((row) => row.secret?.toString('latin1')).join('')
  for (const hidden of [secret, 'ZZZZ', ...recoveryCodes]) expect(text).not.toContain(hidden)
  expect(trail.map(({ action }) => action)).toEqual(expect.arrayContaining(['user.second-factor', 'session.refuse-code']))
})

test('security: with another SECRET_KEY the app is refused in words, and a recovery code still signs in', async () => {
  const { app, secret, recoveryCodes } = await withFactor()
  await sql`update totp_secrets set secret = sha256('of another key')`.execute(app.database.db)
  const { cookie } = await givePassword(app, ADA)
  expect((await prove(app, cookie, totpCode(secret))).body.code).toBe('TOTP_UNREADABLE')
  expect((await prove(app, cookie, recoveryCodes[0]!)).status).toBe(200)
})

test('security: bulk acts on very many records and large adjustments ask for a fresh proof', async () => {
  const { app, ada } = await withFactor()
  await app.bot('game').then((bot) => bot.call('PUT', '/bot/v1/players/7', { firstName: 'Player' }))
  const adjust = (amount: number) => ada.call('POST', '/api/telegram-users/7/adjustments', { amount, reason: 'A prize' })
  await sql`insert into users (id, fname, lname, email, user_type)
    select 'u' || n, 'Many', 'People', 'u' || n || '@gmail.com', 'user' from generate_series(1, 1001) n`.execute(app.database.db)
  await ageProof(app, ada.id)
  expect((await adjust(100_000)).status).toBe(200)
  expect((await adjust(-100_001)).body.code).toBe('STEP_UP_NEEDED')
  await app.database.db.updateTable('balances').set({ balance: 200_001 }).execute()
  await sql`update ledger_entries set amount = 200_001, balance = 200_001`.execute(app.database.db)
  const reversed = await ada.call('POST', '/api/telegram-users/7/reversals', { entryId: '7-1', reason: 'A mistake' })
  expect(reversed.body.code).toBe('STEP_UP_NEEDED')
  expect((await ada.call('GET', '/api/telegram-users/7')).body.balance).toBe(200_001)
  const remove = (more: object) => ada.call('POST', '/api/users/remove', { target: { filter: { userType: 'user' } }, ...more })
  expect((await remove({ dryRun: true })).body).toMatchObject({ affected: 1001 })
  expect((await remove({ dryRun: false, expected: 1001 })).body.code).toBe('STEP_UP_NEEDED')
  expect((await remove({ dryRun: false })).body.code, 'also without the expected number').toBe('STEP_UP_NEEDED')
  await sql`delete from users where id = 'u1'`.execute(app.database.db)
  expect((await remove({ dryRun: false })).body).toMatchObject({ affected: 1000 })
})
