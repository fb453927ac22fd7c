/** Forgotten passwords, changes of one's own e-mail address, and notices, with a real SMTP server. */
import { type KyselyPlugin, sql } from 'kysely'
import { describe, expect, test } from 'vitest'
import { auditTrail } from '#test/audit-trail.ts'
import { linkIn, type MailServer } from '#test/mail-server.ts'
import { rowsOfTables } from '#test/console-rows.ts'
import { type Client, PASSWORD, testApp, type TestApp } from '#test/test-app.ts'
import { testDatabase } from '#test/test-database.ts'
import { mailServer } from '#test/test-mail-server.ts'

const NEW_PASSWORD = { password: 'a new secret', confirmPassword: 'a new secret' }
const JSON_TYPE = { 'content-type': 'application/json' }

async function opening(options: { rateLimit?: boolean } = {}): Promise<{ app: TestApp; server: MailServer; admin: Client }> {
  const server = await mailServer()
  const app = await testApp({ smtpUrl: server.url, ...options })
  return { app, server, admin: await app.signUp('admin', 'ada@gmail.com') }
}

const signIn = async (app: TestApp, email: string, password = PASSWORD) =>
  (await app.guest.call('POST', '/api/session', { email, password })).status

/** Sends what is due, and returns the mails to an address so far. */
async function mailsTo({ app, server }: { app: TestApp; server: MailServer }, address: string) {
  await app.passwordResets.answer()
  await app.mails.sendDue()
  return server.mails.filter(({ to }) => to.includes(address))
}

describe('a forgotten password', () => {
  const forget = (app: TestApp, email: string) => app.guest.call('POST', '/api/forgotten-password', { email })
  const setPassword = (app: TestApp, link: string) => app.guest.call('PUT', '/api/password-link', { link, ...NEW_PASSWORD })
  const stateOf = async (app: TestApp, link: string) => (await app.guest.call('POST', '/api/password-link', { link })).body

  test('is replaced by a link in a mail, once, within an hour; a notice tells that it changed', async () => {
    const given = await opening()
    const { app, admin } = given
    expect((await app.guest.call('GET', '/api/session')).body.canResetByMail).toBe(true)
    expect(await forget(app, 'ADA@gmail.com')).toMatchObject({ status: 200, body: { success: true } })
    const [mail, ...more] = await mailsTo(given, 'ada@gmail.com')
    expect(more).toEqual([])
    expect(mail!.headers['subject']).toBe('Set a new password')
    const link = linkIn(mail!)
    expect(await stateOf(app, link)).toEqual({ state: 'valid', email: 'ada@gmail.com', isMailed: true })
    expect((await setPassword(app, link)).status).toBe(200)
    expect((await admin.call('GET', '/api/users')).status).toBe(401) // all sessions have ended
    expect(await signIn(app, 'ada@gmail.com', 'a new secret')).toBe(200)
    expect(await stateOf(app, link)).toEqual({ state: 'used', email: null, isMailed: true })
    expect((await setPassword(app, link)).status).toBe(403)
    const subjects = new Set((await mailsTo(given, 'ada@gmail.com')).map(({ headers }) => headers['subject']))
    expect(subjects).toEqual(new Set(['A sign-in from a new device', 'Set a new password', 'Your password has changed']))
    expect(await auditTrail(app.database.db, 'user.password-mail')).toMatchObject([{ actorKind: 'system', recordId: admin.id }])
  })

  test('security: the answer, its headers, the statements and the rows they write are the same whether there is an account or not', async () => {
    const server = await mailServer()
    const database = await testDatabase()
    const statements: string[] = []
    const recorder: KyselyPlugin = {
      transformQuery({ node, queryId }) {
        statements.push(database.db.getExecutor().compileQuery(node, queryId).sql)
        return node
      },
      transformResult: async ({ result }) => result,
    }
    const recorded = { ...database, db: database.db.withPlugin(recorder) }
    const app = await testApp({ smtpUrl: server.url, rateLimit: true, database: recorded })
    await app.signUp('admin', 'ada@gmail.com')
    const rowCounts = async () =>
      Object.fromEntries(Object.entries(await rowsOfTables(database.db)).map(([name, rows]) => [name, rows.length]))
    const work = async (email: string) => {
      const before = await rowCounts()
      statements.length = 0
      const answer = await forget(app, email)
      const made = [...statements]
      const headers = [...answer.headers].filter(([name]) => name !== 'x-request-id')
      const written = Object.entries(await rowCounts()).map(([name, count]) => [name, count - before[name]!])
      return { status: answer.status, body: answer.body, headers, made, written: written.filter(([, count]) => count !== 0) }
    }
    await work('first@gmail.com') // begins the window of the address
    const known = await work('ada@gmail.com')
    expect(await work('nobody@gmail.com')).toEqual(known)
    expect(known.made).toHaveLength(3)
    expect(known.written).toEqual([
      ['attempt_windows', 1],
      ['password_requests', 1],
    ])
    expect(await mailsTo({ app, server }, 'nobody@gmail.com')).toEqual([])
    expect(server.mails).toHaveLength(1)
    expect(await database.db.selectFrom('password_requests').selectAll().execute()).toEqual([])
  })

  test('security: 5 mails an hour for an account, and 20 requests from an address; the answer does not tell the first limit', async () => {
    const given = await opening({ rateLimit: true })
    const { app } = given
    const statuses = []
    for (let n = 0; n < 21; n += 1) statuses.push((await forget(app, n < 8 ? 'ada@gmail.com' : `nobody${n}@gmail.com`)).status)
    expect(statuses).toEqual([...Array<number>(20).fill(200), 429])
    await app.passwordResets.answer()
    // Of requests that are answered together, one mail is enough.
    expect((await mailsTo(given, 'ada@gmail.com')).length).toBeLessThanOrEqual(5)
  })

  test('security: a newer link does not end an earlier one, nor one that an admin made; using one ends all', async () => {
    const given = await opening()
    const { app, admin } = given
    const user = await app.signUp('user', 'uma@gmail.com')
    const { path } = (await admin.call('POST', '/api/password-links', { id: user.id })).body
    await forget(app, 'uma@gmail.com')
    await mailsTo(given, 'uma@gmail.com')
    await forget(app, 'uma@gmail.com')
    const links = (await mailsTo(given, 'uma@gmail.com')).map(linkIn)
    expect(links).toHaveLength(2)
    const all = [...links, path.split('=')[1] as string]
    for (const link of all) expect((await stateOf(app, link)).state).toBe('valid')
    expect((await setPassword(app, links[0]!)).status).toBe(200)
    for (const link of all.slice(1)) expect((await stateOf(app, link)).state).toBe('replaced')
  })

  test('security: the link ends after an hour, with a new role, a new password and the removal of its user', async () => {
    const given = await opening()
    const { app, admin } = given
    const user = await app.signUp('user', 'uma@gmail.com')
    const newLink = async () => {
      await forget(app, 'uma@gmail.com')
      return linkIn(
        (await mailsTo(given, 'uma@gmail.com')).findLast(({ headers }) => headers['subject'] === 'Set a new password')!,
      )
    }
    const link = await newLink()
    await sql`update password_resets set expires_at = now()`.execute(app.database.db)
    expect(await stateOf(app, link)).toMatchObject({ state: 'expired', isMailed: true })
    expect((await setPassword(app, link)).status).toBe(403)
    const left = await sql<{ minutes: number }>`
      select extract(epoch from expires_at - now())::float8 / 60 as minutes from password_resets where token_hash = sha256(${await newLink()})`.execute(
      app.database.db,
    )
    expect(left.rows[0]!.minutes).toBeCloseTo(60, 0)
    const byRole = await newLink()
    await admin.call('PUT', `/api/users/${user.id}/role`, { role: 'editor' })
    expect((await stateOf(app, byRole)).state).toBe('replaced')
    const byRemoval = await newLink()
    await forget(app, 'uma@gmail.com') // and is removed before the request is answered
    await admin.call('DELETE', `/removeUser/${user.id}`)
    expect((await stateOf(app, byRemoval)).state).toBe('replaced')
    const before = given.server.mails.length
    await mailsTo(given, 'uma@gmail.com')
    expect(given.server.mails).toHaveLength(before)
  })

  test('exactly one of 10 simultaneous uses of a link succeeds', async () => {
    const given = await opening()
    await forget(given.app, 'ada@gmail.com')
    const link = linkIn((await mailsTo(given, 'ada@gmail.com'))[0]!)
    const answers = await Promise.all(Array.from({ length: 10 }, () => setPassword(given.app, link)))
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, ...Array<number>(9).fill(403)])
  })

  test('without SMTP_URL the call and the link to it are not there', async () => {
    const app = await testApp()
    expect((await app.guest.call('GET', '/api/session')).body.canResetByMail).toBe(false)
    expect(await forget(app, 'ada@gmail.com')).toMatchObject({ status: 409, body: { code: 'MAIL_OFF' } })
  })
})

describe('a change of one’s own e-mail', () => {
  const change = (client: Client, changes: object = {}) =>
    client.call('POST', '/api/account/email', { email: 'lovelace@gmail.com', currentPassword: PASSWORD, ...changes })
  const confirm = (app: TestApp, link: string, act?: string) =>
    app.guest.call('PUT', '/api/email-link', { link, ...(act !== undefined && { act }) })
  const stateOf = async (app: TestApp, link: string) => (await app.guest.call('POST', '/api/email-link', { link })).body
  const waiting = async (client: Client) => (await client.call('GET', '/api/account/email')).body.change
  const emailOf = async ({ database: { db } }: TestApp, id: string) =>
    db
      .selectFrom('users')
      .innerJoin('accounts', 'accounts.id', 'users.id')
      .select(['users.email', 'accounts.email as account'])
      .where('users.id', '=', id)
      .executeTakeFirst()

  async function asked() {
    const given = await opening()
    expect((await change(given.admin)).body).toEqual({ success: true })
    const [atNew] = await mailsTo(given, 'lovelace@gmail.com')
    const [atOld] = await mailsTo(given, 'ada@gmail.com')
    return { ...given, newLink: linkIn(atNew!), oldLink: linkIn(atOld!), atNew: atNew!, atOld: atOld! }
  }

  test.each(['new first', 'present first'])('takes effect when both addresses have confirmed: %s', async (order) => {
    const { app, admin, newLink, oldLink, atNew, atOld } = await asked()
    expect([atNew, atOld].map(({ headers }) => headers['subject'])).toEqual([
      'Confirm your new e-mail address',
      'Your e-mail address is about to change',
    ])
    expect(atOld.text).toContain('to lovelace@gmail.com')
    expect(atNew.text).not.toContain('ada@gmail.com')
    expect(await stateOf(app, newLink)).toEqual({ state: 'valid', email: 'lovelace@gmail.com', isPresent: false })
    expect(await stateOf(app, oldLink)).toEqual({ state: 'valid', email: 'lovelace@gmail.com', isPresent: true })
    const [first, second] = order === 'new first' ? [newLink, oldLink] : [oldLink, newLink]
    expect((await confirm(app, first)).body).toEqual({ success: true, isChanged: false })
    expect((await confirm(app, first)).body).toEqual({ success: true, isChanged: false }) // again
    expect((await stateOf(app, first)).state).toBe('confirmed')
    expect(await waiting(admin)).toMatchObject({
      email: 'lovelace@gmail.com',
      isConfirmedByNew: order === 'new first',
      isConfirmedByPresent: order !== 'new first',
    })
    expect(await emailOf(app, admin.id)).toEqual({ email: 'ada@gmail.com', account: 'ada@gmail.com' })
    expect((await confirm(app, second)).body).toEqual({ success: true, isChanged: true })
    expect(await emailOf(app, admin.id)).toEqual({ email: 'lovelace@gmail.com', account: 'lovelace@gmail.com' })
    expect((await admin.call('GET', '/api/session')).body.user.email).toBe('lovelace@gmail.com')
    expect(await signIn(app, 'lovelace@gmail.com')).toBe(200)
    expect(await signIn(app, 'ada@gmail.com')).toBe(401)
    expect(await waiting(admin)).toBeNull()
    for (const link of [first, second])
      expect(await confirm(app, link)).toMatchObject({ status: 403, body: { code: 'EMAIL_LINK_INVALID' } })
    expect(await auditTrail(app.database.db, 'user.email')).toMatchObject([
      { recordId: admin.id, changes: { email: ['ada@gmail.com', 'lovelace@gmail.com'] } },
    ])
  })

  test('both links used at the same time change it once', async () => {
    const { app, admin, newLink, oldLink } = await asked()
    const answers = await Promise.all([confirm(app, newLink), confirm(app, oldLink)])
    expect(answers.map(({ body }) => String(body.isChanged)).toSorted((a, b) => a.localeCompare(b))).toEqual(['false', 'true'])
    expect(await emailOf(app, admin.id)).toEqual({ email: 'lovelace@gmail.com', account: 'lovelace@gmail.com' })
  })

  test('security: the present address can cancel it, the new one cannot', async () => {
    const { app, admin, newLink, oldLink } = await asked()
    await confirm(app, newLink)
    expect((await confirm(app, newLink, 'cancel')).status).toBe(403)
    expect((await confirm(app, oldLink, 'cancel')).body).toEqual({ success: true, isChanged: false })
    for (const link of [newLink, oldLink]) expect((await confirm(app, link)).status).toBe(403)
    expect(await emailOf(app, admin.id)).toMatchObject({ email: 'ada@gmail.com' })
    expect(await auditTrail(app.database.db, 'user.email-end')).toMatchObject([{ recordId: admin.id }])
  })

  const ends: [what: string, act: (given: Awaited<ReturnType<typeof asked>>) => Promise<unknown>][] = [
    ['a newer change', ({ admin }) => change(admin, { email: 'other@gmail.com' })],
    ['its end by the person', ({ admin }) => admin.call('DELETE', '/api/account/email')],
    ['the end of other sessions', ({ admin }) => admin.call('DELETE', '/api/account/sessions')],
    ['a new password', ({ admin }) => admin.call('PUT', '/api/account/password', { currentPassword: PASSWORD, ...NEW_PASSWORD })],
    ['a day', ({ app }) => sql`update email_changes set expires_at = now()`.execute(app.database.db)],
    [
      'a new role',
      async ({ app, admin }) => (await app.signUp('admin')).call('PUT', `/api/users/${admin.id}/role`, { role: 'editor' }),
    ],
    [
      'the removal of the person',
      async ({ app, admin }) => (await app.signUp('admin')).call('DELETE', `/removeUser/${admin.id}`),
    ],
  ]
  test.each(ends)('security: ends with %s', async (_what, act) => {
    const given = await asked()
    await confirm(given.app, given.newLink)
    await act(given)
    expect((await confirm(given.app, given.oldLink)).status).toBe(403)
    expect(
      await given.app.database.db.selectFrom('users').select('id').where('email', '=', 'lovelace@gmail.com').execute(),
    ).toEqual([])
  })

  test('security: ends the links to set a password that went to the earlier address', async () => {
    const given = await asked()
    const { app } = given
    await app.guest.call('POST', '/api/forgotten-password', { email: 'ada@gmail.com' })
    const reset = linkIn((await mailsTo(given, 'ada@gmail.com')).at(-1)!)
    await confirm(app, given.newLink)
    await confirm(app, given.oldLink)
    expect((await app.guest.call('POST', '/api/password-link', { link: reset })).body.state).toBe('replaced')
  })

  test('an address that somebody takes meanwhile is refused, and nothing changes', async () => {
    const { app, admin, newLink, oldLink } = await asked()
    await app.signUp('user', 'Lovelace@gmail.com')
    await confirm(app, newLink)
    expect(await confirm(app, oldLink)).toMatchObject({ status: 409, body: { code: 'EMAIL_TAKEN' } })
    expect(await emailOf(app, admin.id)).toEqual({ email: 'ada@gmail.com', account: 'ada@gmail.com' })
  })

  test.each([
    [{ currentPassword: 'wrong' }, 400, { fields: { currentPassword: 'This is not your current password' } }],
    [{ email: 'nobody' }, 400, { fields: { email: 'Invalid email address' } }],
    [{ email: 'ada@evil.example' }, 400, { fields: { email: 'Email must be a @gmail.com' } }],
    [{ email: 'ada@gmail.com' }, 409, { code: 'SAME_EMAIL' }],
  ])('with %j is refused', async (changes, status, body) => {
    const given = await opening()
    expect(await change(given.admin, changes)).toMatchObject({ status, body })
    await given.app.mails.sendDue()
    expect(given.server.mails).toEqual([])
  })

  test('security: guesses of the current password are limited', async () => {
    const { admin } = await opening({ rateLimit: true })
    const statuses = []
    for (let n = 0; n < 12; n += 1) statuses.push((await change(admin, { currentPassword: `guess ${n}` })).status)
    expect(statuses).toEqual([...Array<number>(10).fill(400), 429, 429])
  })

  test('without SMTP_URL is refused with the reason', async () => {
    const app = await testApp()
    expect(await change(await app.signUp('admin'))).toMatchObject({ status: 409, body: { code: 'MAIL_OFF' } })
  })
})

describe('notices', () => {
  const signInFrom = async (app: TestApp, cookie: string) => {
    const body = JSON.stringify({ email: 'ada@gmail.com', password: PASSWORD })
    const headers = { ...JSON_TYPE, cookie, 'user-agent': 'Mozilla/5.0 (Windows NT 10.0) Chrome/156.0.0.0 Safari/537.36' }
    const answer = await app.fetch('/api/session', { method: 'POST', headers, body }, '192.0.2.7')
    return answer.headers
      .getSetCookie()
      .find((one) => one.includes('device'))!
      .split(';')[0]!
  }

  test('tell an admin of a sign-in from a new device, but not from a known one', async () => {
    const given = await opening()
    const device = await signInFrom(given.app, '')
    await signInFrom(given.app, device)
    const [mail, ...more] = await mailsTo(given, 'ada@gmail.com')
    expect(more).toEqual([])
    expect(mail!.headers['subject']).toBe('A sign-in from a new device')
    expect(mail!.text).toContain('with Chrome on Windows from the address 192.0.2.7.')
  })

  test('security: nobody of the type user gets any: anybody can register with an address that is not theirs', async () => {
    const given = await opening()
    const registration = { fname: 'E', lname: 'Ve', email: 'victim@gmail.com', password: PASSWORD, confirmPassword: PASSWORD }
    expect((await given.app.guest.call('POST', '/api/register', registration)).status).toBe(200)
    for (let n = 0; n < 3; n += 1) expect(await signIn(given.app, 'victim@gmail.com')).toBe(200)
    expect(await mailsTo(given, 'victim@gmail.com')).toEqual([])
  })

  test('tell of a new role and of a new password', async () => {
    const given = await opening()
    const other = await given.app.signUp('editor', 'other@gmail.com')
    await given.admin.call('PUT', `/api/users/${other.id}/role`, { role: 'manager' })
    await given.admin.call('PUT', `/api/users/${other.id}/role`, { role: 'manager' }) // as it is
    await given.admin.call('PUT', `/api/users/${other.id}/role`, { role: 'user' })
    await given.admin.call('PUT', '/api/account/password', { currentPassword: PASSWORD, ...NEW_PASSWORD })
    const mails = await mailsTo(given, 'other@gmail.com')
    expect(mails.map(({ text }) => text.split('\n')[0]!).toSorted()).toEqual([
      'You have no role in the Arcade Console any more: your account is of the type User now.',
      'Your role in the Arcade Console is Manager now. Please sign in again.',
    ])
    expect((await mailsTo(given, 'ada@gmail.com')).map(({ headers }) => headers['subject'])).toEqual([
      'Your password has changed',
    ])
  })
})
