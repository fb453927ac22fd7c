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
import { mailServer } from '#test/test-mail-server.ts'
import { type Client, PASSWORD, testApp, type TestApp } from '#test/test-app.ts'

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

test('security: restoring a removed person restores the second factor, so that removing and restoring takes away none', async () => {
  const { app, ada } = await withFactor()
  await app.signUp('owner')
  const manager = await app.signUp('manager')
  const eve = await app.signUp('manager', 'eve@gmail.com')
  const { secret, recoveryCodes } = await setUpTotp(app, eve)
  await sql`insert into passkeys (user_id, credential_id, public_key, counter, transports, name, device_type, backed_up, last_used_at)
    values (${eve.id}, '\\x01', '\\x02', 7, '{usb,nfc}', 'Key', 'singleDevice', false, now())`.execute(app.database.db)
  await sql`insert into adjusted_points (user_id, day, points) values (${eve.id}, '2026-05-05', 12.5)`.execute(app.database.db)
  const kept = async () => {
    const tables = ['totp_secrets', 'recovery_codes', 'passkeys', 'adjusted_points']
    return Promise.all(
      tables.map(async (table) => {
        const { rows } = await sql<{ row: object }>`
          select to_jsonb(kept) as row from ${sql.table(table)} as kept where user_id = ${eve.id} order by 1`.execute(
          app.database.db,
        )
        return rows.map(({ row }) => row)
      }),
    )
  }
  const before = await kept()
  expect(before.map((rows) => rows.length)).toEqual([1, 10, 1, 1])
  expect((await manager.call('DELETE', `/removeUser/${eve.id}`)).status).toBe(200)
  const { records } = (await manager.call('GET', '/api/trash')).body
  await sql`insert into passkeys (user_id, credential_id, public_key, counter, transports, name, device_type, backed_up)
    values (${manager.id}, '\\x01', '\\x03', 0, '{}', 'The same', 'singleDevice', false)`.execute(app.database.db)
  const taken = await manager.call('POST', '/api/trash/restore-one', { id: records[0].id, email: 'mine@gmail.com' })
  expect(taken.body.code, 'a factor is not left out because somebody has claimed its passkey').toBe('PASSKEY_KNOWN')
  await app.database.db.deleteFrom('passkeys').execute()
  const restored = await manager.call('POST', '/api/trash/restore-one', { id: records[0].id, email: 'mine@gmail.com' })
  expect(restored.status).toBe(200)
  expect(await kept()).toEqual(before)
  const first = await givePassword(app, 'mine@gmail.com')
  expect(first.body).toMatchObject({ code: 'SECOND_FACTOR_NEEDED', methods: ['totp', 'passkey', 'recovery'] })
  expect((await prove(app, first.cookie, totpCode(secret))).status).toBe(200)
  expect((await prove(app, (await givePassword(app, 'mine@gmail.com')).cookie, recoveryCodes[0]!)).status).toBe(200)
  expect(ada.id).not.toBe(eve.id)
})

test('security: what a thief of the session has made ends with a new second factor: invitations, a change of e-mail, links', async () => {
  const { url } = await mailServer()
  const app = await testApp({ smtpUrl: url })
  const eve = await app.signUp('owner', 'eve@gmail.com')
  const ed = await app.signUp('editor')
  const made = [
    await eve.call('POST', '/api/invitations', { email: 'thief@example.org', role: 'owner' }),
    await eve.call('POST', '/api/password-links', { id: ed.id }),
    await eve.call('POST', '/api/account/email', { email: 'thief@gmail.com', currentPassword: PASSWORD }),
  ]
  expect(made.map(({ status }) => status)).toEqual([200, 200, 200])
  await setUpTotp(app, eve)
  for (const table of ['invitations', 'password_links', 'email_changes'] as const)
    expect(await sql`select * from ${sql.table(table)}`.execute(app.database.db), table).toMatchObject({ rows: [] })
})

test('security: a change of the password that began before a second factor gives no session after it', async () => {
  const app = await testApp()
  const ada = await app.signUp('owner', ADA)
  const thief: Client = { ...ada, headers: { cookie: `session=${await app.sessions.begin(ada.id)}` } }
  const { promise: changed, asked } = await app.database.transaction(async (tx) => {
    await sql`select from accounts where id = ${ada.id} for update`.execute(tx)
    const promise = app.fetch('/api/account/password', {
      method: 'PUT',
      headers: { ...thief.headers, 'content-type': 'application/json' },
      body: JSON.stringify({ currentPassword: PASSWORD, password: 'a new secret', confirmPassword: 'a new secret' }),
    })
    await expect.poll(() => waitsForRow(app), { timeout: 10_000 }).toBe(true)
    await app.sessions.renewAlone(tx, ada.id, ada.headers['cookie']!.slice('session='.length))
    return { promise, asked: true }
  })
  expect(asked).toBe(true)
  const response = await changed
  expect([response.status, response.headers.getSetCookie()]).toEqual([401, []])
  expect((await givePassword(app, ADA)).status).toBe(200)
})

/** Whether a transaction of this database waits for a row that another one has locked. */
async function waitsForRow({ database: { db } }: TestApp): Promise<boolean> {
  const { rows } = await sql`
    select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock' and query like '%accounts%'`.execute(
    db,
  )
  return rows.length > 0
}
