/** A passkey as the second factor: after the password, for weighty acts, and its end (security.md, Passkeys). */
import { sql } from 'kysely'
import { describe, expect, test } from 'vitest'
import { answerWith } from '#test/authenticator.ts'
import { addPasskey, opening, PATH, refused, signIn, signInOptions, trailOf } from '#test/passkeys.ts'
import { ageProof, givePassword, sessionCookie, setUpTotp, takeCookieOf } from '#test/second-factor.ts'
import { type TestApp } from '#test/test-app.ts'

describe('a passkey as the second factor', () => {
  const options = async (app: TestApp, cookie: string) =>
    (await app.guest.call('POST', '/api/session/second-factor/passkey-options', undefined, { cookie })).body.options
  const prove = (app: TestApp, cookie: string, response: unknown) =>
    app.guest.call('POST', '/api/session/second-factor/passkey', { response }, { cookie })

  test('is asked for after the password, and its recovery codes are given with the first passkey', async () => {
    const { app, admin } = await opening()
    const { passkey, answer } = await addPasskey(admin)
    expect(answer.body.recoveryCodes).toHaveLength(10)
    expect((await addPasskey(admin, { name: 'Phone' })).answer.body.recoveryCodes).toBeNull()
    const first = await givePassword(app, 'ada@gmail.com')
    expect(first).toMatchObject({ status: 403, body: { code: 'SECOND_FACTOR_NEEDED', methods: ['passkey', 'recovery'] } })
    const asked = await options(app, first.cookie)
    expect(asked.allowCredentials).toHaveLength(2)
    const second = await prove(app, first.cookie, answerWith(passkey, asked))
    expect(second).toMatchObject({ status: 200, body: { success: true, user: { id: admin.id, lacksSecondFactor: false } } })
    const cookie = sessionCookie(second.headers)!
    expect((await app.guest.call('GET', '/api/users', undefined, { cookie })).status).toBe(200)
    expect((await prove(app, first.cookie, answerWith(passkey, asked))).body.code).toBe('SIGN_IN_EXPIRED')
    expect((await trailOf(app, 'session.begin')).at(-1)).toMatchObject({ detail: { secondFactor: 'passkey' } })
  })

  test('security: another person’s passkey, one’s sign-in challenge and a late answer are refused', async () => {
    const { app, admin } = await opening()
    const { passkey } = await addPasskey(admin)
    const eve = await app.signUp('admin', 'eve@gmail.com')
    const { passkey: evil } = await addPasskey(eve)
    const { cookie } = await givePassword(app, 'ada@gmail.com')
    expect(await prove(app, cookie, answerWith(evil, await options(app, cookie)))).toMatchObject(refused)
    expect(await prove(app, cookie, answerWith(passkey, await signInOptions(app)))).toMatchObject(refused)
    const ofStepUp = (await admin.call('POST', '/api/session/step-up/passkey-options')).body.options
    expect(await prove(app, cookie, answerWith(passkey, ofStepUp)), 'one’s own, for another purpose').toMatchObject(refused)
    const asked = await options(app, cookie)
    await sql`update pending_sign_ins set expires_at = now()`.execute(app.database.db)
    expect((await prove(app, cookie, answerWith(passkey, asked))).body.code).toBe('SIGN_IN_EXPIRED')
    expect((await app.guest.call('POST', '/api/session/second-factor/passkey-options')).body.code).toBe('SIGN_IN_EXPIRED')
  })

  test('security: adding one ends other sessions; removing and adding ask for a fresh proof, which a passkey gives', async () => {
    const { app, admin } = await opening()
    const other = `session=${await app.sessions.begin(admin.id)}`
    const { passkey, answer } = await addPasskey(admin)
    expect((await app.guest.call('GET', PATH, undefined, { cookie: other })).status).toBe(401)
    await ageProof(app, admin.id)
    const path = `${PATH}/${answer.body.passkey.id}`
    for (const [method, address] of [
      ['POST', `${PATH}/options`],
      ['DELETE', path],
    ] as const)
      expect((await admin.call(method, address)).body).toMatchObject({ code: 'STEP_UP_NEEDED', methods: ['passkey', 'recovery'] })
    const old = admin.headers['cookie']!
    const asked = (await admin.call('POST', '/api/session/step-up/passkey-options')).body.options
    const wrong = answerWith(passkey, asked, { isVerified: false })
    expect(await admin.call('POST', '/api/session/step-up/passkey', { response: wrong })).toMatchObject(refused)
    const again = (await admin.call('POST', '/api/session/step-up/passkey-options')).body.options
    const proved = await admin.call('POST', '/api/session/step-up/passkey', { response: answerWith(passkey, again) })
    expect(proved.body).toEqual({ success: true })
    takeCookieOf(proved.headers, admin)
    expect((await app.guest.call('GET', PATH, undefined, { cookie: old })).status).toBe(401)
    expect((await admin.call('DELETE', path)).status).toBe(200)
    expect(await app.database.db.selectFrom('recovery_codes').selectAll().execute()).toEqual([])
    expect((await givePassword(app, 'ada@gmail.com')).status).toBe(200)
  })

  test('security: signing in with a passkey proves both factors, so nothing is asked again', async () => {
    const { app, admin } = await opening()
    const { passkey } = await addPasskey(admin)
    const cookie = sessionCookie((await signIn(app, passkey)).headers)!
    const answer = await app.guest.call('POST', `${PATH}/options`, undefined, { cookie })
    expect(answer.status).toBe(200)
  })

  test('security: its owner is told by mail of a new and a removed passkey and of each change of the second factor', async () => {
    const { app, admin } = await opening({ smtpUrl: 'smtp://127.0.0.1:9' })
    const { answer } = await addPasskey(admin)
    takeCookieOf((await admin.call('DELETE', `${PATH}/${answer.body.passkey.id}`)).headers, admin)
    await addPasskey(admin)
    await setUpTotp(app, admin)
    takeCookieOf((await admin.call('POST', '/api/account/second-factor/recovery-codes')).headers, admin)
    expect((await admin.call('DELETE', '/api/account/second-factor/totp')).status).toBe(200)
    await (await app.signUp('owner')).call('DELETE', `/api/users/${admin.id}/second-factor`)
    const { rows } = await sql<{ kind: string }>`
      select kind from mails where user_id = ${admin.id} order by created_at`.execute(app.database.db)
    expect(rows.map(({ kind }) => kind)).toEqual([
      'newPasskey',
      'endedPasskey',
      'newPasskey',
      ...Array<string>(4).fill('secondFactor'),
    ])
  })

  test('security: an owner’s reset ends a person’s passkeys and sessions', async () => {
    const { app, admin } = await opening()
    const { passkey } = await addPasskey(admin)
    const owner = await app.signUp('owner')
    expect((await owner.call('DELETE', `/api/users/${admin.id}/second-factor`)).status).toBe(200)
    expect(await signIn(app, passkey)).toMatchObject(refused)
    expect((await admin.call('GET', PATH)).status).toBe(401)
    expect((await givePassword(app, 'ada@gmail.com')).status).toBe(200)
  })

  test('security: a session does not begin by a passkey that was removed meanwhile', async () => {
    const { app, admin } = await opening()
    const { answer } = await addPasskey(admin)
    const proof = { provedBy: 'passkey', passkeyId: answer.body.passkey.id } as const
    await app.sessions.begin(admin.id, proof)
    await sql`delete from passkeys`.execute(app.database.db)
    await expect(app.sessions.begin(admin.id, proof)).rejects.toMatchObject({ code: 'PASSKEY_REFUSED' })
  })
})
