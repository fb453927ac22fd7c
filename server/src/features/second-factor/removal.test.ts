/** What ends or replaces a second factor (security.md, Second factor). */
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { auditTrail } from '#test/audit-trail.ts'
import {
  ADA,
  FACTOR,
  ageProof,
  forgetLastCode,
  givePassword,
  isSignedIn,
  prove,
  setUpTotp,
  stepUp,
  takeCookieOf,
  totpCode,
  withFactor,
} from '#test/second-factor.ts'
import { type Client } from '#test/test-app.ts'

test('security: removing the app asks for a fresh proof, ends other sessions, and the codes end with it', async () => {
  const { app, ada, secret } = await withFactor()
  await ageProof(app, ada.id)
  for (const [method, path] of [
    ['POST', '/totp'],
    ['POST', '/recovery-codes'],
    ['DELETE', '/totp'],
  ] as const)
    expect((await ada.call(method, FACTOR + path)).body.code, path).toBe('STEP_UP_NEEDED')
  takeCookieOf((await stepUp(ada, totpCode(secret))).headers, ada)
  const other = `session=${await app.sessions.begin(ada.id)}`
  const removed = await ada.call('DELETE', `${FACTOR}/totp`)
  expect(removed.body).toEqual({ success: true })
  takeCookieOf(removed.headers, ada)
  expect(await isSignedIn(app, other)).toBe(false)
  expect((await ada.call('GET', FACTOR)).body).toMatchObject({ isOn: false, methods: [], recoveryCodesLeft: 0 })
  expect(await app.database.db.selectFrom('recovery_codes').selectAll().execute()).toEqual([])
  expect((await givePassword(app, ADA)).status).toBe(200)
})

test('security: a new app replaces the old one only when it is confirmed', async () => {
  const { app, ada, secret } = await withFactor()
  const { secret: fresh } = (await ada.call('POST', `${FACTOR}/totp`)).body
  const attempt = async (code: string) => (await prove(app, (await givePassword(app, ADA)).cookie, code)).status
  expect(await attempt(totpCode(fresh))).toBe(403)
  expect(await attempt(totpCode(secret))).toBe(200)
  const confirmed = await ada.call('POST', `${FACTOR}/totp/confirm`, { code: totpCode(fresh) })
  expect(confirmed.status).toBe(200)
  await forgetLastCode(app, ada.id)
  expect(await attempt(totpCode(secret))).toBe(403)
  expect(await attempt(totpCode(fresh))).toBe(200)
})

test('security: an owner resets the second factor of somebody who has lost it, and that person’s sessions end', async () => {
  const { app, ada } = await withFactor()
  const eve = await app.signUp('manager', 'eve@gmail.com')
  await setUpTotp(app, eve)
  const reset = (by: Client, id: string) => by.call('DELETE', `/api/users/${id}/second-factor`)
  expect((await reset(eve, ada.id)).status, 'a manager may not').toBe(403)
  expect((await reset(ada, ada.id)).body.code).toBe('NOT_YOURSELF')
  expect((await reset(ada, 'nobody')).body.code).toBe('NO_SUCH_USER')
  await ageProof(app, ada.id)
  expect((await reset(ada, eve.id)).body.code).toBe('STEP_UP_NEEDED')
  await sql`update sessions set second_factor_at = now()`.execute(app.database.db)
  expect((await reset(ada, eve.id)).body).toEqual({ success: true })
  expect(await isSignedIn(app, eve.headers['cookie']!)).toBe(false)
  expect((await givePassword(app, 'eve@gmail.com')).status).toBe(200)
  expect((await reset(ada, eve.id)).body.code).toBe('NO_SECOND_FACTOR')
  expect(await auditTrail(app.database.db, 'user.second-factor-end')).toMatchObject([
    { actorId: ada.id, recordId: eve.id, detail: { methods: ['totp', 'recovery'] } },
  ])
})

test('security: a new password by link does not remove the second factor', async () => {
  const { app, ada } = await withFactor()
  const eve = await app.signUp('manager', 'eve@gmail.com')
  const { secret } = await setUpTotp(app, eve)
  const { path } = (await ada.call('POST', '/api/password-links', { id: eve.id })).body
  const password = 'correct horse'
  const link = path.split('link=')[1]
  expect((await app.guest.call('PUT', '/api/password-link', { link, password, confirmPassword: password })).status).toBe(200)
  const { body, cookie } = await givePassword(app, 'eve@gmail.com')
  expect(body.code).toBe('SECOND_FACTOR_NEEDED')
  expect((await prove(app, cookie, totpCode(secret))).status).toBe(200)
})

test('security: removing a person removes the second factor', async () => {
  const { app, ada } = await withFactor()
  const eve = await app.signUp('editor', 'eve@gmail.com')
  await setUpTotp(app, eve)
  await givePassword(app, 'eve@gmail.com')
  expect((await ada.call('DELETE', `/removeUser/${eve.id}`)).status).toBe(200)
  for (const table of ['totp_secrets', 'recovery_codes', 'pending_sign_ins'] as const)
    expect(await app.database.db.selectFrom(table).select('user_id').where('user_id', '=', eve.id).execute()).toEqual([])
})
