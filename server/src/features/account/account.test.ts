/** One's own password and sessions, and links with which users set their passwords (security.md, Sessions). */
import { sql } from 'kysely'
import { describe, expect, test } from 'vitest'
import type { Session } from '@arcade/contract/account/calls'
import { auditTrail } from '#test/audit-trail.ts'
import { waitFor } from '#test/processes.ts'
import { type Client, PASSWORD, testApp, type TestApp } from '#test/test-app.ts'

const chrome = 'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/156.0.0.0 Safari/537.36'

async function signIn(app: TestApp, email: string, password: string, headers: Record<string, string> = {}) {
  const answer = await app.guest.call('POST', '/api/session', { email, password }, headers)
  return { status: answer.status, cookie: answer.headers.getSetCookie()[0]?.split(';')[0] ?? '' }
}

const isSignedIn = async (app: TestApp, cookie: string) =>
  (await app.guest.call('GET', '/api/session', undefined, { cookie })).body.user !== null

const auditOf = async (app: TestApp, action: string) =>
  (await auditTrail(app.database.db, action)).map(({ actorId, recordId, detail }) => ({ actorId, recordId, detail }))

describe('one’s own password', () => {
  const change = (admin: Client, changes: Record<string, string> = {}) =>
    admin.call('PUT', '/api/account/password', {
      currentPassword: PASSWORD,
      password: 'a new secret',
      confirmPassword: 'a new secret',
      ...changes,
    })

  test('changes if the current one is right; this session goes on with a new token, all others end', async () => {
    const app = await testApp()
    const admin = await app.signUp('admin', 'ada@gmail.com')
    const elsewhere = await signIn(app, 'ada@gmail.com', PASSWORD)
    const changed = await change(admin)
    expect(changed).toMatchObject({ status: 200, body: { success: true } })
    const cookie = changed.headers.getSetCookie()[0]?.split(';')[0] ?? ''
    expect(await isSignedIn(app, cookie)).toBe(true)
    expect(await isSignedIn(app, elsewhere.cookie)).toBe(false)
    expect(await isSignedIn(app, admin.headers['cookie'] ?? '')).toBe(false)
    expect((await signIn(app, 'ada@gmail.com', PASSWORD)).status).toBe(401)
    expect((await signIn(app, 'ada@gmail.com', 'a new secret')).status).toBe(200)
    expect(await auditOf(app, 'user.password')).toEqual([{ actorId: admin.id, recordId: admin.id, detail: null }])
  })

  test.each([
    [{ currentPassword: 'wrong' }, { currentPassword: 'This is not your current password' }],
    [{ currentPassword: '' }, { currentPassword: 'Current Password is required' }],
    [{ password: '12345', confirmPassword: '12345' }, { password: 'Password must be at least 6 characters' }],
    [{ confirmPassword: 'another' }, { confirmPassword: 'Passwords must match' }],
  ])('%j is refused', async (changes, fields) => {
    const app = await testApp()
    const admin = await app.signUp('admin', 'ada@gmail.com')
    expect(await change(admin, changes)).toMatchObject({ status: 400, body: { fields } })
    expect((await signIn(app, 'ada@gmail.com', PASSWORD)).status).toBe(200)
  })

  test('changing it while the user is removed leaves no account behind, which would keep the e-mail taken for ever', async () => {
    const app = await testApp()
    const [admin, person] = [await app.signUp('admin'), await app.signUp('admin', 'ada@gmail.com')]
    const [changed, removed] = await Promise.all([change(person), admin.call('DELETE', `/removeUser/${person.id}`)])
    expect(removed.status).toBe(200)
    expect([200, 401]).toContain(changed.status)
    const accounts = await app.database.db.selectFrom('accounts').select('id').execute()
    expect(accounts).toEqual([{ id: admin.id }])
  })

  test('security: a sign-in with the old password starts no session if the password changes meanwhile', async () => {
    const app = await testApp()
    const { id } = await app.signUp('admin', 'ada@gmail.com')
    const { db } = app.database
    const { signingIn } = await db.transaction().execute(async (tx) => {
      await tx.updateTable('accounts').set({ password_hash: 'another' }).where('id', '=', id).execute()
      const pending = { signingIn: signIn(app, 'ada@gmail.com', PASSWORD) }
      await waitFor('a sign-in that waits for the account', async () => {
        const { rows } =
          await sql`select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`.execute(db)
        return rows.length > 0
      })
      return pending
    })
    expect(await signingIn).toEqual({ status: 401, cookie: '' })
  })

  test('one of two simultaneous changes succeeds', async () => {
    const admin = await (await testApp()).signUp('admin')
    const passwords = ['a new secret', 'another secret']
    const answers = await Promise.all(passwords.map((password) => change(admin, { password, confirmPassword: password })))
    expect(answers.map(({ status }) => status)).toEqual(expect.arrayContaining([200, 401]))
  })

  test('security: guessing it from an open session is limited to 10 attempts', async () => {
    const app = await testApp({ rateLimit: true })
    const admin = await app.signUp('admin')
    const guesses: number[] = []
    for (let n = 0; n < 12; n += 1) guesses.push((await change(admin, { currentPassword: `guess ${n}` })).status)
    expect(guesses).toEqual([...Array<number>(10).fill(400), 429, 429])
  })
})

describe('one’s own sessions', () => {
  const sessionsOf = async (client: Client) => (await client.call('GET', '/api/account/sessions')).body.sessions

  test('are listed with device, start, last use and which one this is; those of other people are not', async () => {
    const app = await testApp()
    const admin = await app.signUp('admin', 'ada@gmail.com')
    await app.signUp('admin')
    await signIn(app, 'ada@gmail.com', PASSWORD, { 'user-agent': chrome })
    await signIn(app, 'ada@gmail.com', PASSWORD)
    await sql`update sessions set created_at = now() - interval '2 hours', last_seen_at = now() - interval '1 hour'
       where device = 'Chrome on Windows'`.execute(app.database.db)
    await sql`update sessions set created_at = now() - interval '8 days' where device = 'Unknown browser'`.execute(
      app.database.db,
    )
    const sessions = await sessionsOf(admin)
    expect(sessions).toMatchObject([
      { device: '', isCurrent: true },
      { device: 'Chrome on Windows', isCurrent: false },
    ])
    const [current, other] = sessions
    expect(Date.parse(current.lastSeenAt) - Date.parse(other.lastSeenAt)).toBeGreaterThan(3_500_000)
    expect(Date.parse(other.lastSeenAt) - Date.parse(other.begunAt)).toBe(3_600_000)
    expect(JSON.stringify(sessions)).not.toContain(String(admin.headers['cookie']).slice('session='.length))
  })

  test('are told apart by the addresses of their sign-in and of their last use', async () => {
    const app = await testApp()
    const person = { email: 'ada@gmail.com', password: PASSWORD }
    await app.signUp('admin', person.email)
    const headers = { 'content-type': 'application/json', 'user-agent': chrome }
    const begun = await app.fetch('/api/session', { method: 'POST', headers, body: JSON.stringify(person) }, '192.0.2.7')
    const cookie = begun.headers.getSetCookie()[0]?.split(';')[0] ?? ''
    const read = async (address: string) => {
      const answer = await app.fetch('/api/account/sessions', { headers: { cookie } }, address)
      return ((await answer.json()) as { sessions: Session[] }).sessions[0]!
    }
    expect(await read('192.0.2.7')).toMatchObject({ begunAddress: '192.0.2.7', lastAddress: '192.0.2.7', isCurrent: true })
    app.sessions.forgetUser() // as if a minute had passed: the cache asks the database again
    await waitFor('the address of the last use', async () => (await read('2001:db8:1:2:3::4')).lastAddress !== '192.0.2.7')
    expect(await read('2001:db8:1:2:3::4')).toMatchObject({ begunAddress: '192.0.2.7', lastAddress: '2001:db8:1:2::/64' })
  })

  test('one ends at once, but nobody can end those of other people', async () => {
    const app = await testApp()
    const admin = await app.signUp('admin', 'ada@gmail.com')
    const elsewhere = await signIn(app, 'ada@gmail.com', PASSWORD, { 'user-agent': chrome })
    const [stranger, user] = [await app.signUp('admin'), await app.signUp('user')]
    await stranger.call('POST', '/api/password-links', { id: user.id })
    const { id } = (await sessionsOf(admin)).find(({ isCurrent }: { isCurrent: boolean }) => !isCurrent)
    expect((await stranger.call('DELETE', `/api/account/sessions/${id}`)).status).toBe(200)
    expect(await isSignedIn(app, elsewhere.cookie)).toBe(true)
    const { rows: links } = await sql`select made_by from password_links`.execute(app.database.db)
    expect(links, 'what the stranger has made stays, too').toEqual([{ made_by: stranger.id }])
    expect((await admin.call('DELETE', `/api/account/sessions/${id}`)).status).toBe(200)
    expect(await isSignedIn(app, elsewhere.cookie)).toBe(false)
    expect(await sessionsOf(admin)).toMatchObject([{ isCurrent: true }])
    expect((await admin.call('DELETE', '/api/account/sessions/no-uuid')).status).toBe(400)
  })

  test('all others end at once; this one and those of other people stay', async () => {
    const app = await testApp()
    const admin = await app.signUp('admin', 'ada@gmail.com')
    const others = [await signIn(app, 'ada@gmail.com', PASSWORD), await signIn(app, 'ada@gmail.com', PASSWORD)]
    const stranger = await app.signUp('admin')
    expect((await admin.call('DELETE', '/api/account/sessions')).status).toBe(200)
    for (const { cookie } of others) expect(await isSignedIn(app, cookie)).toBe(false)
    expect(await sessionsOf(admin)).toMatchObject([{ isCurrent: true }])
    expect(await sessionsOf(stranger)).toMatchObject([{ isCurrent: true }])
  })
})

describe('password links', () => {
  const newLink = async (admin: Client, id: string): Promise<string> =>
    (await admin.call('POST', '/api/password-links', { id })).body.path.replace('/set-password?link=', '')
  const stateOf = async (app: TestApp, link: string) => (await app.guest.call('POST', '/api/password-link', { link })).body
  const setPassword = (app: TestApp, link: string, password = 'a new secret') =>
    app.guest.call('PUT', '/api/password-link', { link, password, confirmPassword: password })

  test('a link sets a password once and ends the user’s sessions', async () => {
    const app = await testApp()
    const admin = await app.signUp('admin')
    const user = await app.signUp('user', 'uma@gmail.com')
    const made = await admin.call('POST', '/api/password-links', { id: user.id })
    expect(made.body.path).toMatch(/^\/set-password\?link=[\w-]{43}$/)
    expect(Date.parse(made.body.expiresAt) - Date.now()).toBeGreaterThan(23.9 * 3_600_000)
    const link = made.body.path.replace('/set-password?link=', '')
    expect(await stateOf(app, link)).toEqual({ state: 'valid', email: 'uma@gmail.com', isMailed: false })
    expect(await isSignedIn(app, user.headers['cookie'] ?? '')).toBe(true)
    expect(await setPassword(app, link)).toMatchObject({ status: 200, body: { success: true } })
    expect(await isSignedIn(app, user.headers['cookie'] ?? '')).toBe(false)
    expect((await signIn(app, 'uma@gmail.com', 'a new secret')).status).toBe(200)
    expect(await stateOf(app, link)).toEqual({ state: 'used', email: null, isMailed: false })
    expect(await setPassword(app, link, 'another one')).toMatchObject({ status: 403, body: { code: 'PASSWORD_LINK_INVALID' } })
    expect(await auditOf(app, 'user.password-link')).toMatchObject([{ actorId: admin.id, recordId: user.id }])
    expect(await auditOf(app, 'user.password')).toMatchObject([{ actorId: null, recordId: user.id }])
    const stored = JSON.stringify(await app.database.db.selectFrom('password_links').selectAll().execute())
    expect(stored).not.toContain(link)
  })

  test('an imported user gets an account from a link', async () => {
    const app = await testApp()
    const admin = await app.signUp('admin')
    const user = { id: 'imported', fname: 'Ida', lname: 'Import', email: 'ida@gmail.com', user_type: 'user' as const }
    await app.database.db.insertInto('users').values(user).execute()
    expect((await signIn(app, 'ida@gmail.com', 'a new secret')).status).toBe(401)
    await setPassword(app, await newLink(admin, 'imported'))
    expect((await signIn(app, 'ida@gmail.com', 'a new secret')).status).toBe(200)
  })

  test('a newer link replaces an older one, an expired one is refused, and an unknown user gets none', async () => {
    const app = await testApp()
    const admin = await app.signUp('admin')
    const user = await app.signUp('user')
    const older = await newLink(admin, user.id)
    const newer = await newLink(admin, user.id)
    expect((await stateOf(app, older)).state).toBe('replaced')
    await sql`update password_links set expires_at = now() - interval '1 second'`.execute(app.database.db)
    expect((await stateOf(app, newer)).state).toBe('expired')
    for (const link of [older, newer, 'x'.repeat(43)]) expect((await setPassword(app, link)).status).toBe(403)
    expect(await admin.call('POST', '/api/password-links', { id: 'nobody' })).toMatchObject({
      status: 404,
      body: { code: 'NO_SUCH_USER' },
    })
    await admin.call('DELETE', `/removeUser/${user.id}`)
    expect((await stateOf(app, newer)).state).toBe('replaced')
  })

  test('security: nobody can create one for their own account, which would bypass the current password', async () => {
    const app = await testApp()
    const admin = await app.signUp('admin')
    expect(await admin.call('POST', '/api/password-links', { id: admin.id })).toMatchObject({
      status: 409,
      body: { code: 'NOT_BY_LINK' },
    })
    expect(await app.database.db.selectFrom('password_links').select('user_id').execute()).toEqual([])
  })

  test('exactly one of 10 simultaneous uses succeeds', async () => {
    const app = await testApp()
    const admin = await app.signUp('admin')
    const link = await newLink(admin, (await app.signUp('user')).id)
    const answers = await Promise.all(Array.from({ length: 10 }, (_, n) => setPassword(app, link, `secret ${n}`)))
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, ...Array<number>(9).fill(403)])
  })
})
