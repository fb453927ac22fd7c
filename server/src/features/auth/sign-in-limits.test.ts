/** Limits on signing in: they stop guessing, and nobody can use them to lock somebody else out (security.md, Sessions). */
import { expect, test } from 'vitest'
import { sql } from 'kysely'
import { createAttempts, type Limit, limits } from '#src/identity/attempts.ts'
import { SESSIONS_EACH } from '#src/identity/sessions.ts'
import { auditTrail } from '#test/audit-trail.ts'
import { PASSWORD, testApp, type TestApp } from '#test/test-app.ts'

const OFFICE = '198.51.100.7'
const ATTACKER = '203.0.113.66'
const email = 'ada@gmail.com'

interface Try {
  from: string
  password?: string
  email?: string
  cookies?: string[]
}

const signIn = async (app: TestApp, { from, password = PASSWORD, email: address = email, cookies = [] }: Try) => {
  const headers = { 'content-type': 'application/json', ...(cookies.length > 0 && { cookie: cookies.join('; ') }) }
  const init = { method: 'POST', headers, body: JSON.stringify({ email: address, password }) }
  const response = await app.fetch('/api/session', init, from)
  return { status: response.status, cookies: response.headers.getSetCookie().map((cookie) => cookie.split(';')[0] ?? '') }
}

const guess = async (app: TestApp, times: number, attempt: Omit<Try, 'password'>): Promise<number[]> => {
  const statuses: number[] = []
  for (let count = 0; count < times; count += 1) statuses.push((await signIn(app, { ...attempt, password: 'guessed' })).status)
  return statuses
}

/** Counts as many attempts as `times`, without hashing a password for each. */
const exhaust = async ({ database }: TestApp, limit: Limit, subject: string, times: number): Promise<void> => {
  const attempts = createAttempts(database, true)
  for (let count = 0; count < times; count += 1) await attempts.count(limit, subject)
}

/** Returns an app with an account, after a stranger has used up the limits of the account and of an address. */
async function underAttack(address = ATTACKER) {
  const app = await testApp({ rateLimit: true })
  const { id } = await app.signUp('admin', email)
  const known = await signIn(app, { from: OFFICE })
  expect(known.status).toBe(200)
  await exhaust(app, limits.signInByAccount, email, 9)
  expect(await guess(app, 3, { from: address })).toEqual([401, 429, 429])
  await exhaust(app, limits.signInByAddress, address, 47)
  expect(await guess(app, 2, { from: address, email: 'eve@gmail.com' })).toEqual([429, 429])
  return { app, id, device: known.cookies.filter((cookie) => cookie.startsWith('device=')) }
}

test('security: a stranger cannot lock a person out of a device that has signed in before, wherever it is', async () => {
  const { app, device } = await underAttack()
  expect(device).toHaveLength(1)
  expect((await signIn(app, { from: '192.0.2.99', cookies: device })).status).toBe(200)
  expect((await signIn(app, { from: ATTACKER, cookies: device })).status).toBe(200)
})

test('security: a stranger cannot lock a person out of an address that has signed in before', async () => {
  const { app } = await underAttack()
  expect((await signIn(app, { from: OFFICE })).status).toBe(200)
  expect((await signIn(app, { from: '192.0.2.99' })).status, 'anywhere else the account is locked').toBe(429)
})

test('security: a known device signs in from an address whose limit somebody else has used up', async () => {
  const app = await testApp({ rateLimit: true })
  await app.signUp('admin', email)
  const { cookies } = await signIn(app, { from: OFFICE })
  await exhaust(app, limits.signInByAddress, OFFICE, 50)
  expect((await guess(app, 11, { from: OFFICE })).at(-1)).toBe(429)
  expect((await signIn(app, { from: OFFICE })).status).toBe(429)
  expect((await signIn(app, { from: OFFICE, cookies })).status).toBe(200)
})

test('security: guessing stops on a known device too, and a device of somebody else does not help', async () => {
  const { app, device } = await underAttack()
  await app.signUp('user', 'eve@gmail.com')
  const other = (await signIn(app, { from: '192.0.2.50', email: 'eve@gmail.com' })).cookies
  expect((await signIn(app, { from: '192.0.2.99', cookies: other })).status).toBe(429)
  expect(await guess(app, 12, { from: ATTACKER, cookies: device })).toEqual([...Array<number>(10).fill(401), 429, 429])
  expect((await signIn(app, { from: ATTACKER, cookies: device })).status).toBe(429)
  expect((await signIn(app, { from: OFFICE })).status).toBe(200)
})

test.each([
  [
    'changed',
    (cookie: string) => cookie.replace(/.(.{9})$/, (_, rest: string) => `${cookie.at(-10) === 'A' ? 'B' : 'A'}${rest}`),
  ],
  ['cut off', (cookie: string) => cookie.slice(0, -10)],
  ['without a signature', (cookie: string) => cookie.split('.').slice(0, 3).join('.')],
  ['empty', () => 'device='],
  [
    'changed to an older time',
    (cookie: string) => cookie.replace(/\.(\d{10})\./, (_, since: string) => `.${Number(since) - 1}.`),
  ],
])('security: a device cookie that is %s counts as a stranger’s', async (_, change) => {
  const { app, device } = await underAttack()
  expect((await signIn(app, { from: '192.0.2.99', cookies: device.map(change) })).status).toBe(429)
})

test('security: the address is the one that a trusted proxy reports', async () => {
  const app = await testApp({ rateLimit: true, trustedProxies: ['10.0.0.0/8'] })
  const attempt = (forwardedFor: string) =>
    app.fetch(
      '/api/session',
      {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-forwarded-for': forwardedFor },
        body: JSON.stringify({ email, password: 'guessed' }),
      },
      '10.0.0.1',
    )
  await exhaust(app, limits.signInByAddress, ATTACKER, 49)
  expect((await attempt(ATTACKER)).status).toBe(401)
  expect((await attempt(`1.2.3.4, ${ATTACKER}`)).status).toBe(429)
  expect((await attempt(OFFICE)).status).toBe(401)
})

test('security: each limit that is reached is audited once', async () => {
  const { app, id } = await underAttack()
  expect(await auditTrail(app.database.db, 'session.limit')).toMatchObject([
    { recordId: id, detail: { limit: 'sign-in-account' }, address: ATTACKER, actorId: null },
    { recordId: null, detail: { limit: 'sign-in-address' }, address: ATTACKER, actorId: null },
  ])
})

test('security: successful sign-ins are limited, and no stranger can use up that limit', async () => {
  const app = await testApp({ rateLimit: true })
  const { id } = await app.signUp('admin', email)
  await guess(app, 3, { from: ATTACKER })
  await exhaust(app, limits.signInsOfUser, id, 28)
  const statuses: number[] = []
  for (let count = 0; count < 4; count += 1) statuses.push((await signIn(app, { from: OFFICE })).status)
  expect(statuses).toEqual([200, 200, 429, 429])
})

test('security: beyond the limit of sessions the oldest ends, on every server, even if all start at once', async () => {
  const app = await testApp()
  const other = await testApp()
  const person = await app.signUp('user', email)
  const oldest = person.headers['cookie'] ?? ''
  const isIn = async (on: TestApp, cookie: string) =>
    (await on.guest.call('GET', '/api/session', undefined, { cookie })).body.user !== null
  expect([await isIn(app, oldest), await isIn(other, oldest)]).toEqual([true, true])
  const tokens = await Promise.all(Array.from({ length: SESSIONS_EACH }, () => app.sessions.begin(person.id)))
  expect(await app.database.db.selectFrom('sessions').select('token_hash').execute()).toHaveLength(SESSIONS_EACH)
  expect(await isIn(app, oldest)).toBe(false)
  await expect.poll(() => isIn(other, oldest)).toBe(false)
  expect(await Promise.all(tokens.map((token) => isIn(app, `session=${token}`)))).not.toContain(false)
})

test('security: wrong bot tokens are limited, valid ones still get through', async () => {
  const app = await testApp({ rateLimit: true })
  const bot = await app.bot()
  const wrong = () =>
    app.guest.call('GET', '/update-users-status', undefined, { authorization: `Bearer arcade_${'x'.repeat(43)}` })
  for (let count = 0; count < 30; count += 1) expect((await wrong()).status).toBe(401)
  expect((await wrong()).status).toBe(429)
  expect((await bot.call('GET', '/update-users-status')).status).toBe(200)
})

test('security: a limit lasts a quarter of an hour from the first attempt', async () => {
  const app = await testApp({ rateLimit: true })
  await exhaust(app, limits.signInByAccount, email, 10)
  expect(await guess(app, 1, { from: ATTACKER })).toEqual([429])
  await sql`update attempt_windows set started_at = now() - interval '14 minutes 50 seconds'`.execute(app.database.db)
  expect(await guess(app, 1, { from: ATTACKER })).toEqual([429])
  await sql`update attempt_windows set started_at = now() - interval '15 minutes'`.execute(app.database.db)
  expect(await guess(app, 1, { from: ATTACKER })).toEqual([401])
})
