/** Sign-in, sign-out, registration, the first admin (§4, §5, §7, §8; security.md, Sessions). */
import { describe, expect, test } from 'vitest'
import { sql } from 'kysely'
import { takeClocks } from '#test/clock.ts'
import { testApp, type TestApp, PASSWORD } from '#test/test-app.ts'
import { actOfProcess } from '#src/audit/audit.ts'
import { ensureAdmin } from '#src/identity/accounts.ts'
import { createSetupLink } from '#src/identity/setup-links.ts'

const registration = { fname: 'Ada', lname: 'Lovelace', email: 'ada@gmail.com', password: 'secret1', confirmPassword: 'secret1' }

function cookieOf(headers: Headers): string {
  return headers.get('set-cookie')?.split(';')[0] ?? ''
}

async function whoIs(app: TestApp, cookie: string) {
  return (await app.guest.call('GET', '/api/session', undefined, { cookie })).body.user
}

const act = actOfProcess('command', 'test')

describe('§7 registration', () => {
  test('§7 creates an account and a users document of type user, and signs in', async () => {
    const app = await testApp()
    const answer = await app.guest.call('POST', '/api/register', registration)
    expect(answer.status).toBe(200)
    expect(answer.body).toMatchObject({
      success: true,
      user: { username: 'Ada Lovelace', email: 'ada@gmail.com', userType: 'user' },
    })
    expect(answer.headers.getSetCookie()[0]).toMatch(/^session=[\w-]{43}; Max-Age=604800; Path=\/; HttpOnly; SameSite=Strict$/)
    expect(await whoIs(app, cookieOf(answer.headers))).toMatchObject({ fname: 'Ada', lname: 'Lovelace', userType: 'user' })
    const stored = await app.database.db.selectFrom('accounts').selectAll().executeTakeFirstOrThrow()
    expect(stored.password_hash).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/)
    const session = await app.database.db.selectFrom('sessions').selectAll().executeTakeFirstOrThrow()
    expect(session.token_hash).toHaveLength(32)
    expect(cookieOf(answer.headers)).not.toContain(session.token_hash.toString('base64url'))
  })

  test.each([
    [{ fname: '' }, 'fname', 'First Name is required'],
    [{ fname: '   ' }, 'fname', 'First Name is required'],
    [{ lname: '' }, 'lname', 'Last Name is required'],
    [{ email: '' }, 'email', 'Email is required'],
    [{ email: 'ada' }, 'email', 'Invalid email address'],
    [{ email: 'ada@example.org' }, 'email', 'Email must be a @gmail.com'],
    [{ email: 'ada@gmail.com.evil.org' }, 'email', 'Email must be a @gmail.com'],
    [{ email: 'ada@notgmail.com' }, 'email', 'Email must be a @gmail.com'],
    [{ password: '', confirmPassword: '' }, 'password', 'Password is required'],
    [{ password: '12345', confirmPassword: '12345' }, 'password', 'Password must be at least 6 characters'],
    [{ confirmPassword: 'other1' }, 'confirmPassword', 'Passwords must match'],
    [{ confirmPassword: '' }, 'confirmPassword', 'Confirm Password is required'],
  ])('§5 %o: %s says %s', async (wrong, field, message) => {
    const app = await testApp()
    const admin = await app.signUp('admin')
    for (const answer of [
      await app.guest.call('POST', '/api/register', { ...registration, ...wrong }),
      await admin.call('POST', '/registerUser', { ...registration, ...wrong }),
    ]) {
      expect(answer.status).toBe(400)
      expect(answer.body.fields[field]).toBe(message)
    }
    expect(await app.database.db.selectFrom('accounts').select('id').execute()).toHaveLength(1)
  })

  test('§8 an e-mail that is in use, in any case, gets Error creating user! and leaves nothing behind', async () => {
    const app = await testApp()
    await app.guest.call('POST', '/api/register', registration)
    const answer = await app.guest.call('POST', '/api/register', { ...registration, email: 'ADA@Gmail.com' })
    expect(answer).toMatchObject({ status: 409, body: { success: false, message: 'Error creating user!' } })
    const simultaneous = await Promise.all(
      Array.from({ length: 20 }, () => app.guest.call('POST', '/api/register', { ...registration, email: 'race@gmail.com' })),
    )
    expect(simultaneous.filter(({ status }) => status === 200)).toHaveLength(1)
    expect(await app.database.db.selectFrom('accounts').select('id').execute()).toHaveLength(2)
    expect(await app.database.db.selectFrom('users').select('id').execute()).toHaveLength(2)
  })

  test('§6 nobody can register as an admin', async () => {
    const app = await testApp()
    for (const extra of [{ userType: 'admin' }, { admin: true }, { isAdmin: true }, { id: 'x' }, { setup: 'guessed' }]) {
      const answer = await app.guest.call('POST', '/api/register', { ...registration, ...extra })
      expect(answer.status).toBeGreaterThanOrEqual(400)
    }
    expect(await app.database.db.selectFrom('users').select('id').execute()).toHaveLength(0)
  })
})

describe('§4 sign-in', () => {
  test('§7 a correct password signs in, whatever the case of the e-mail', async () => {
    const app = await testApp()
    await app.guest.call('POST', '/api/register', registration)
    const answer = await app.guest.call('POST', '/api/session', { email: ' Ada@GMAIL.com ', password: 'secret1' })
    expect(answer).toMatchObject({ status: 200, body: { success: true, user: { username: 'Ada Lovelace' } } })
    expect(await whoIs(app, cookieOf(answer.headers))).not.toBeNull()
  })

  test('§8 a wrong password and an unknown e-mail get the same answer', async () => {
    const app = await testApp()
    await app.guest.call('POST', '/api/register', registration)
    const wrong = await app.guest.call('POST', '/api/session', { email: 'ada@gmail.com', password: 'secret2' })
    const unknown = await app.guest.call('POST', '/api/session', { email: 'eve@gmail.com', password: 'secret1' })
    for (const answer of [wrong, unknown])
      expect(answer).toMatchObject({ status: 401, body: { success: false, message: 'Error logging in!' } })
    const { requestId: _a, ...first } = wrong.body
    const { requestId: _b, ...second } = unknown.body
    expect(first).toEqual(second)
    expect(wrong.headers.get('set-cookie')).toBeNull()
  })

  test('§8 an account without a users document gets No such document!', async () => {
    const app = await testApp()
    const person = await app.signUp('user', 'ghost@gmail.com')
    await app.database.db.deleteFrom('users').where('id', '=', person.id).execute()
    const answer = await app.guest.call('POST', '/api/session', { email: 'ghost@gmail.com', password: PASSWORD })
    expect(answer).toMatchObject({ status: 403, body: { success: false, message: 'No such document!' } })
    expect(answer.headers.get('set-cookie')).toBeNull()
  })

  test('security: a new sign-in gets a new token and ends the previous session of that browser', async () => {
    const app = await testApp()
    const first = cookieOf((await app.guest.call('POST', '/api/register', registration)).headers)
    const again = await app.guest.call('POST', '/api/session', { email: 'ada@gmail.com', password: 'secret1' }, { cookie: first })
    expect(cookieOf(again.headers)).not.toBe(first)
    expect(await whoIs(app, first)).toBeNull()
  })

  test('security: all 128 characters of a password count, none is cut off', async () => {
    const app = await testApp()
    const long = 'x'.repeat(128)
    await app.guest.call('POST', '/api/register', { ...registration, password: long, confirmPassword: long })
    const sign = (password: string) => app.guest.call('POST', '/api/session', { email: 'ada@gmail.com', password })
    expect((await sign(long)).status).toBe(200)
    expect((await sign(`${'x'.repeat(127)}y`)).status).toBe(401)
    expect((await sign(`${long}x`)).status).toBe(400)
  })

  test('security: guessing at one account stops after 10 attempts, whatever the case of the e-mail or the claimed address', async () => {
    const app = await testApp({ rateLimit: true })
    await app.guest.call('POST', '/api/register', registration)
    const spellings = ['ada@gmail.com', 'ADA@gmail.com', ' Ada@Gmail.Com ']
    const statuses: number[] = []
    for (let attempt = 0; attempt < 12; attempt += 1) {
      const answer = await app.guest.call(
        'POST',
        '/api/session',
        { email: spellings[attempt % 3], password: 'guessed' },
        { 'x-forwarded-for': `10.0.0.${attempt}` },
      )
      statuses.push(answer.status)
    }
    expect(statuses).toEqual([...Array<number>(10).fill(401), 429, 429])
    const right = await app.guest.call('POST', '/api/session', { email: 'ada@gmail.com', password: 'secret1' })
    expect(right.status).toBe(429)
    expect(Number(right.headers.get('retry-after'))).toBeGreaterThan(0)
    expect(right.body.retryAfterSeconds).toBeGreaterThan(0)
  })

  test('security: simultaneous guesses cannot exceed the limit', async () => {
    const app = await testApp({ rateLimit: true })
    await app.guest.call('POST', '/api/register', registration)
    const answers = await Promise.all(
      Array.from({ length: 30 }, () => app.guest.call('POST', '/api/session', { email: 'ada@gmail.com', password: 'guessed' })),
    )
    expect(answers.filter(({ status }) => status === 401)).toHaveLength(10)
  })

  test('security: correct passwords do not use up the limit', async () => {
    const app = await testApp({ rateLimit: true })
    await app.guest.call('POST', '/api/register', registration)
    for (let attempt = 0; attempt < 15; attempt += 1) {
      expect((await app.guest.call('POST', '/api/session', { email: 'ada@gmail.com', password: 'secret1' })).status).toBe(200)
    }
  })

  test('security: guessing at many accounts from one address is stopped too', async () => {
    const app = await testApp({ rateLimit: true })
    const statuses = new Set<number>()
    for (let attempt = 0; attempt < 51; attempt += 1) {
      statuses.add((await app.guest.call('POST', '/api/session', { email: `p${attempt}@gmail.com`, password: 'guessed' })).status)
    }
    expect([...statuses]).toEqual([401, 429])
  })
})

describe('security: PASSWORD_POLICY=strict', () => {
  const commonest = 'This password is one of the 3,000 commonest. Please choose another one.'

  test.each([
    ['secret1', 'Password must be at least 8 characters'],
    ['Password1', commonest],
    ['1234567890', commonest],
  ])('a new password such as %s is refused at its field', async (password, message) => {
    const app = await testApp({ passwordPolicy: 'strict' })
    const admin = await app.signUp('admin')
    const input = { ...registration, password, confirmPassword: password }
    const change = { currentPassword: PASSWORD, password, confirmPassword: password }
    for (const answer of [
      await app.guest.call('POST', '/api/register', input),
      await admin.call('POST', '/registerUser', input),
      await admin.call('PUT', '/api/account/password', change),
    ])
      expect(answer).toMatchObject({ status: 400, body: { code: 'INVALID_INPUT', message, fields: { password: message } } })
    const first = { act, email: 'ada@gmail.com', password, policy: 'strict', unlessAdminExists: false } as const
    await expect(ensureAdmin(app.database, app.sessions, first)).rejects.toThrow(message)
  })

  test('§5 accepts any other password; existing weak passwords still sign in, and without the policy §5 alone applies', async () => {
    const [app, strict] = [await testApp(), await testApp({ passwordPolicy: 'strict' })]
    const weak = { ...registration, password: 'secret', confirmPassword: 'secret' }
    expect((await app.guest.call('POST', '/api/register', weak)).status).toBe(200)
    expect((await strict.guest.call('POST', '/api/session', { email: weak.email, password: 'secret' })).status).toBe(200)
    const long = { ...registration, email: 'b@gmail.com', password: 'correct horse', confirmPassword: 'correct horse' }
    expect((await strict.guest.call('POST', '/api/register', long)).status).toBe(200)
  })
})

describe('§4 session', () => {
  test('§4 sign-out ends the session for every route and clears the cookie', async () => {
    const app = await testApp()
    const admin = await app.signUp('admin')
    const answer = await admin.call('DELETE', '/api/session')
    expect(answer).toMatchObject({ status: 200, body: { success: true } })
    expect(answer.headers.get('set-cookie')).toContain('Max-Age=0')
    expect((await admin.call('GET', '/api/users')).status).toBe(401)
    expect((await admin.call('GET', '/api/session')).body.user).toBeNull()
  })

  test.each([
    ['12 h without use', sql`last_seen_at = now() - interval '12 hours 1 second'`],
    ['7 days', sql`created_at = now() - interval '7 days 1 second'`],
  ])('security: a session ends after %s', async (_name, change) => {
    const app = await testApp()
    const admin = await app.signUp('admin')
    const unused = await app.signUp('admin')
    await sql`update sessions set ${change}`.execute(app.database.db)
    expect((await admin.call('GET', '/api/users')).status).toBe(401)
    // The ended session was removed, so setting the database's clock back cannot revive it, as this update shows.
    await sql`update sessions set created_at = now(), last_seen_at = now() where user_id = ${admin.id}`.execute(app.database.db)
    expect((await admin.call('GET', '/api/users')).status).toBe(401)
    await app.sessions.sweep()
    expect(await app.database.db.selectFrom('sessions').select('user_id').execute()).toHaveLength(0)
    expect((await unused.call('GET', '/api/users')).status).toBe(401)
  })

  test.each([2, -2])(
    'security: a session that is deleted without a notification ends within a minute; clock %i hours ahead',
    async (hours) => {
      const clocks = takeClocks()
      const app = await testApp()
      const admin = await app.signUp('admin')
      expect((await admin.call('GET', '/api/users')).status).toBe(200)
      await app.database.db.deleteFrom('sessions').execute()
      clocks.jump(hours * 3_600_000)
      clocks.pass(61_000)
      expect((await admin.call('GET', '/api/users')).status).toBe(401)
    },
  )

  test.each(['session=', 'session=x', `session=${'A'.repeat(43)}`, `session=${'A'.repeat(4000)}`, 'session=%00', 'other=1'])(
    'security: the cookie %.20s is not a session',
    async (cookie) => {
      const app = await testApp()
      await app.signUp('admin')
      expect(await whoIs(app, cookie)).toBeNull()
    },
  )
})

describe('design §7 the first admin', () => {
  /** Returns the token of a new set-up link. */
  const newToken = async (app: TestApp) => (await createSetupLink(app.database, act))?.replace('/register?setup=', '')
  const stateOf = async (app: TestApp, setup: string | undefined) =>
    (await app.guest.call('POST', '/api/setup-link', { setup })).body.state
  const hasAdmin = async (app: TestApp) => (await app.guest.call('GET', '/api/session')).body.hasAdmin

  test('a set-up link makes one admin, once, and its state is reported', async () => {
    const app = await testApp()
    const token = await newToken(app)
    expect(await hasAdmin(app)).toBe(false)
    expect(await stateOf(app, token)).toBe('valid')
    const wrong = await app.guest.call('POST', '/api/register', { ...registration, setup: 'x'.repeat(43) })
    expect(wrong).toMatchObject({ status: 403, body: { code: 'SETUP_LINK_INVALID' } })
    const first = await app.guest.call('POST', '/api/register', { ...registration, setup: token })
    expect(first.body.user.userType).toBe('admin')
    expect(await hasAdmin(app)).toBe(true)
    expect(await stateOf(app, token)).toBe('used')
    const second = await app.guest.call('POST', '/api/register', { ...registration, email: 'eve@gmail.com', setup: token })
    expect(second.body.code).toBe('SETUP_LINK_INVALID')
    expect(await createSetupLink(app.database, act)).toBeUndefined()
  })

  test('a failed registration does not use up the link; its holder learns that the e-mail is taken', async () => {
    const app = await testApp()
    await app.guest.call('POST', '/api/register', registration)
    const token = await newToken(app)
    expect(await app.guest.call('POST', '/api/register', { ...registration, setup: token })).toMatchObject({
      status: 409,
      body: { code: 'CREATE_USER_FAILED', fields: { email: 'This email is in use already' } },
    })
    expect((await app.guest.call('POST', '/api/register', registration)).body.fields).toBeUndefined()
    expect(await stateOf(app, token)).toBe('valid')
  })

  test('an expired link is refused, and so is one that a newer link has replaced', async () => {
    const app = await testApp()
    const older = await newToken(app)
    const newer = await newToken(app)
    expect(await stateOf(app, older)).toBe('replaced')
    expect(await stateOf(app, newer)).toBe('valid')
    await sql`update setup_links set expires_at = now() - interval '1 second'`.execute(app.database.db)
    expect(await stateOf(app, newer)).toBe('expired')
    for (const setup of [older, newer]) {
      const late = await app.guest.call('POST', '/api/register', { ...registration, setup })
      expect(late.body.code).toBe('SETUP_LINK_INVALID')
    }
    expect(await hasAdmin(app)).toBe(false)
  })

  test('security: a link ends with the first admin, however that admin was made', async () => {
    const app = await testApp()
    const setup = await newToken(app)
    await ensureAdmin(app.database, app.sessions, {
      act,
      email: 'owner@gmail.com',
      password: 'the owner',
      policy: 'standard',
      unlessAdminExists: false,
    })
    expect(await stateOf(app, setup)).toBe('used')
    const late = await app.guest.call('POST', '/api/register', { ...registration, setup })
    expect(late).toMatchObject({ status: 403, body: { code: 'SETUP_LINK_INVALID' } })
  })

  test('of 10 links that are made at the same time only one works', async () => {
    const app = await testApp()
    const tokens = await Promise.all(Array.from({ length: 10 }, () => newToken(app)))
    const states = await Promise.all(tokens.map((token) => stateOf(app, token)))
    expect(states.filter((state) => state === 'valid')).toHaveLength(1)
    expect(states.filter((state) => state === 'replaced')).toHaveLength(9)
  })

  test('exactly one of 10 simultaneous registrations with one link makes an admin', async () => {
    const app = await testApp()
    const setup = await newToken(app)
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, n) =>
        app.guest.call('POST', '/api/register', { ...registration, email: `ada${n}@gmail.com`, setup }),
      ),
    )
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, ...Array<number>(9).fill(403)])
  })

  test('ADMIN_EMAIL creates an admin where there is none, and takes over an account that somebody else registered', async () => {
    const app = await testApp()
    const squatter = await app.guest.call('POST', '/api/register', registration)
    const options = { act, email: 'Ada@gmail.com', password: 'the owner', policy: 'standard', unlessAdminExists: true } as const
    expect(await ensureAdmin(app.database, app.sessions, options)).toBe('updated')
    expect((await app.guest.call('POST', '/api/session', { email: 'ada@gmail.com', password: 'secret1' })).status).toBe(401)
    const owner = await app.guest.call('POST', '/api/session', { email: 'ada@gmail.com', password: 'the owner' })
    expect(owner.body.user.userType).toBe('admin')
    expect((await app.guest.call('GET', '/api/users', undefined, { cookie: cookieOf(squatter.headers) })).status).toBe(401)
    expect(await ensureAdmin(app.database, app.sessions, { ...options, email: 'b@gmail.com' })).toBe('kept')
  })
})
