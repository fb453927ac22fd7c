/** Invitations: made, mailed, accepted once, and what ends them (security.md, One-time secrets). */
import { sql } from 'kysely'
import { describe, expect, test } from 'vitest'
import { auditTrail } from '#test/audit-trail.ts'
import { linkIn } from '#test/mail-server.ts'
import { waitFor } from '#test/processes.ts'
import { type Client, PASSWORD, testApp, type TestApp } from '#test/test-app.ts'
import { openAgain } from '#test/test-database.ts'
import { mailServer } from '#test/test-mail-server.ts'

const EMAIL = 'ada@example.org' // not at the host of registrations: the inviter decides
const person = { fname: 'Ada', lname: 'Lovelace', password: 'a new secret', confirmPassword: 'a new secret' }

const invite = (client: Client, role = 'editor', email = EMAIL) => client.call('POST', '/api/invitations', { email, role })
const made = async (client: Client, role = 'editor', email = EMAIL) => {
  const { status, body } = await invite(client, role, email)
  expect(status, JSON.stringify(body)).toBe(200)
  return body as { id: string; link: string; expiresAt: string; isMailed: boolean }
}
const tokenOf = (link: string) => link.slice(link.lastIndexOf('=') + 1)
const stateOf = async (app: TestApp, link: string) =>
  (await app.guest.call('POST', '/api/invitation', { link: tokenOf(link) })).body
const accept = (app: TestApp, link: string, changes: object = {}) =>
  app.guest.call('PUT', '/api/invitation', { link: tokenOf(link), ...person, ...changes })
const open = async (client: Client) => (await client.call('GET', '/api/invitations')).body.invitations

describe('an invitation', () => {
  test('makes an account with its role once, and signs in', async () => {
    const app = await testApp()
    const owner = await app.signUp('owner')
    const { link, expiresAt, isMailed, id } = await made(owner)
    expect(link).toMatch(/^\/invitation\?link=[\w-]{43}$/)
    expect(isMailed).toBe(false)
    const hours = (Date.parse(expiresAt) - Date.now()) / 3_600_000
    expect(hours).toBeGreaterThan(71.9)
    expect(hours).toBeLessThan(72.1)
    expect(await stateOf(app, link)).toEqual({ state: 'valid', email: EMAIL, role: 'editor' })
    const accepted = await accept(app, link)
    expect(accepted).toMatchObject({
      status: 200,
      body: { success: true, user: { email: EMAIL, role: 'editor', userType: 'admin' } },
    })
    const cookie = accepted.headers.getSetCookie()[0]!.split(';')[0]!
    expect((await app.guest.call('GET', '/api/session', undefined, { cookie })).body.user).toMatchObject({
      username: 'Ada Lovelace',
    })
    expect(await stateOf(app, link)).toEqual({ state: 'used', email: null, role: null })
    expect(await accept(app, link)).toMatchObject({ status: 403, body: { code: 'INVITATION_INVALID' } })
    expect((await app.guest.call('POST', '/api/session', { email: EMAIL, password: person.password })).status).toBe(200)
    expect(await open(owner)).toEqual([])
    const trail = await auditTrail(app.database.db)
    expect(trail.map(({ action }) => action)).toEqual(['invitation.create', 'user.register', 'session.begin', 'session.begin'])
    expect(trail[0]).toMatchObject({ actorId: owner.id, recordKind: 'invitation', recordId: id, recordName: EMAIL })
    expect(trail[1]).toMatchObject({ actorId: accepted.body.user.id, detail: { invitation: id } })
    const stored = JSON.stringify(await app.database.db.selectFrom('invitations').selectAll().execute())
    expect(stored).not.toContain(tokenOf(link))
    expect(stored).not.toContain(EMAIL)
  })

  test('takes the whole link as well as its token, and may be for the type user', async () => {
    const app = await testApp()
    const { link } = await made(await app.signUp('owner'), 'user')
    const accepted = await app.guest.call('PUT', '/api/invitation', { link: `https://console.example.org${link}`, ...person })
    expect(accepted.body.user).toMatchObject({ userType: 'user', role: null })
  })

  test.each([
    [{ fname: ' ' }, { fname: 'First Name is required' }],
    [{ password: '12345', confirmPassword: '12345' }, { password: 'Password must be at least 6 characters' }],
    [{ confirmPassword: 'another' }, { confirmPassword: 'Passwords must match' }],
    [{ email: 'eve@example.org' }, expect.anything()],
    [{ role: 'owner' }, expect.anything()],
  ])('accepted with %j is refused and stays usable', async (changes, fields) => {
    const app = await testApp()
    const { link } = await made(await app.signUp('owner'))
    expect(await accept(app, link, changes)).toMatchObject({ status: 400, body: { fields } })
    expect((await accept(app, link)).status).toBe(200)
  })

  test('security: 10 simultaneous uses on two servers make one account', async () => {
    const app = await testApp()
    const other = await testApp({ database: await openAgain() })
    const { link } = await made(await app.signUp('owner'))
    const answers = await Promise.all(
      Array.from({ length: 10 }, (_, n) => accept(n % 2 ? app : other, link, { fname: `Ada ${n}` })),
    )
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, ...Array<number>(9).fill(403)])
    const accounts = await app.database.db.selectFrom('users').select('fname').where('email', '=', EMAIL).execute()
    expect(accounts).toHaveLength(1)
  })

  test('lasts 72 hours; it can be renewed after that, which ends the earlier link', async () => {
    const app = await testApp()
    const owner = await app.signUp('owner')
    const { id, link } = await made(owner)
    await sql`update invitations set expires_at = now() - interval '1 second'`.execute(app.database.db)
    expect((await stateOf(app, link)).state).toBe('expired')
    expect((await accept(app, link)).status).toBe(403)
    expect(await open(owner)).toMatchObject([{ id, email: EMAIL, role: 'editor', madeBy: 'Test Person', isExpired: true }])
    const renewed = await owner.call('POST', `/api/invitations/${id}/resend`)
    expect(renewed).toMatchObject({ status: 200, body: { success: true, id } })
    expect((await stateOf(app, link)).state).toBe('replaced')
    expect((await stateOf(app, renewed.body.link)).state).toBe('valid')
    expect(await open(owner)).toMatchObject([{ id, isExpired: false }])
    expect((await accept(app, renewed.body.link)).status).toBe(200)
    expect(await owner.call('POST', `/api/invitations/${id}/resend`)).toMatchObject({
      status: 404,
      body: { code: 'NO_SUCH_INVITATION' },
    })
  })

  test('security: its role may not be above that of its maker, also when it is renewed; others may not invite', async () => {
    const app = await testApp()
    const [owner, manager] = [await app.signUp('owner'), await app.signUp('manager')]
    expect(await invite(manager, 'owner')).toMatchObject({ status: 403, body: { code: 'FORBIDDEN' } })
    const { id, link } = await made(owner, 'owner')
    expect((await manager.call('POST', `/api/invitations/${id}/resend`)).status).toBe(403)
    expect((await stateOf(app, link)).state).toBe('valid')
    for (const role of ['editor', 'reviewer', 'analyst', 'user'] as const)
      expect((await invite(await app.signUp(role), 'user')).status, role).toBe(403)
    const peer = await made(owner, 'manager', 'peer@example.org')
    for (const answer of [
      await invite(manager, 'manager', 'second@example.org'),
      await manager.call('POST', `/api/invitations/${peer.id}/resend`),
    ]) {
      const message = 'Your role may not invite a person with the role Manager.'
      expect(answer, 'whose limits would add up').toMatchObject({ status: 403, body: { code: 'FORBIDDEN', message } })
    }
    for (const role of ['editor', 'reviewer', 'analyst', 'user'])
      expect((await invite(manager, role, `${role}@example.org`)).status, role).toBe(200)
  })

  test('security: who may not give its role may neither end it nor take its place, until it has expired', async () => {
    const app = await testApp()
    const [owner, manager] = [await app.signUp('owner'), await app.signUp('manager')]
    const { id, link } = await made(owner, 'owner')
    expect(await manager.call('DELETE', `/api/invitations/${id}`)).toMatchObject({ status: 403, body: { code: 'FORBIDDEN' } })
    expect(await invite(manager, 'editor', EMAIL.toUpperCase())).toMatchObject({ status: 403, body: { code: 'FORBIDDEN' } })
    expect((await stateOf(app, link)).state).toBe('valid')
    await sql`update invitations set expires_at = now() - interval '1 minute'`.execute(app.database.db)
    expect(await invite(manager)).toMatchObject({ status: 200, body: { hasReplaced: false } })
    expect(await open(owner)).toMatchObject([{ role: 'editor' }])
    expect(await invite(owner, 'owner')).toMatchObject({ status: 200, body: { hasReplaced: true } })
    const [{ id: last }] = await open(owner)
    expect((await owner.call('DELETE', `/api/invitations/${last}`)).status).toBe(200)
    expect(await open(owner)).toEqual([])
  })

  test('of an address that has an account is refused, and so are bad addresses and roles', async () => {
    const app = await testApp()
    const owner = await app.signUp('owner')
    await app.signUp('user', 'inuse@gmail.com')
    expect(await invite(owner, 'editor', 'InUse@gmail.com')).toMatchObject({ status: 409, body: { code: 'EMAIL_TAKEN' } })
    expect((await invite(owner, 'admin')).status).toBe(400)
    expect((await invite(owner, 'editor', 'ada@example.org\r\nBcc: eve@example.org')).status).toBe(400)
    expect(await open(owner)).toEqual([])
  })
})

interface Given {
  app: TestApp
  /** Who made the invitation. */
  maker: Client
  other: Client
  id: string
}

const newPassword = { password: 'another secret', confirmPassword: 'another secret' }

/** Acts that end an invitation before its time. */
const ends: [what: string, act: (given: Given) => Promise<unknown>][] = [
  ['a newer one for the same address, in other letters', ({ other }) => made(other, 'analyst', 'ADA@example.org')],
  ['its end by another admin', ({ other, id }) => other.call('DELETE', `/api/invitations/${id}`)],
  ['its renewal by another admin', ({ other, id }) => other.call('POST', `/api/invitations/${id}/resend`)],
  ['the removal of its maker', ({ other, maker }) => other.call('DELETE', `/removeUser/${maker.id}`)],
  [
    'the removal of several users with its maker',
    ({ other, maker }) => other.call('POST', '/api/users/remove', { target: { ids: [maker.id] } }),
  ],
  ['a lower role of its maker', ({ other, maker }) => other.call('PUT', `/api/users/${maker.id}/role`, { role: 'manager' })],
  [
    'a new password of its maker',
    ({ maker }) => maker.call('PUT', '/api/account/password', { currentPassword: PASSWORD, ...newPassword }),
  ],
  ['the end of all other sessions by its maker', ({ maker }) => maker.call('DELETE', '/api/account/sessions')],
  [
    'an account of the address that an admin adds',
    ({ app }) =>
      sql`insert into users (id, fname, lname, email, user_type) values ('x', 'X', 'X', 'Ada@Example.org', 'user')`.execute(
        app.database.db,
      ),
  ],
]

describe('security: an invitation ends', () => {
  test.each(ends)('with %s', async (_what, act) => {
    const app = await testApp()
    const [maker, other] = [await app.signUp('owner'), await app.signUp('owner')]
    const { id, link } = await made(maker)
    await act({ app, maker, other, id })
    expect((await stateOf(app, link)).state).toBe('replaced')
    expect(await accept(app, link)).toMatchObject({ status: 403, body: { code: 'INVITATION_INVALID' } })
  })

  test('but not with acts of others, a sign-out of its maker, or a renewal of another one', async () => {
    const app = await testApp()
    const [maker, other] = [await app.signUp('owner'), await app.signUp('owner')]
    const { link } = await made(maker)
    const { id } = await made(other, 'editor', 'grace@example.org')
    await other.call('POST', `/api/invitations/${id}/resend`)
    await other.call('DELETE', '/api/account/sessions')
    await maker.call('DELETE', '/api/session')
    expect((await stateOf(app, link)).state).toBe('valid')
  })

  test('if its maker loses the session while it is being made', async () => {
    const app = await testApp()
    const [maker, other] = [await app.signUp('owner'), await app.signUp('owner')]
    const { db } = app.database
    const { making } = await db.transaction().execute(async (tx) => {
      await tx.updateTable('users').set({ user_type: 'user' }).where('id', '=', maker.id).execute()
      const pending = { making: invite(maker) }
      await waitFor('an invitation that waits for its maker', async () => {
        const { rows } =
          await sql`select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`.execute(db)
        return rows.length > 0
      })
      return pending
    })
    expect((await making).status).toBe(401)
    expect(await open(other)).toEqual([])
  })
})

describe('an invitation by mail', () => {
  test('has the link, which is also told to its maker; the list says what became of the mail', async () => {
    const server = await mailServer()
    const app = await testApp({ smtpUrl: server.url })
    const owner = await app.signUp('owner')
    const { link, isMailed } = await made(owner)
    expect(isMailed).toBe(true)
    expect(await open(owner)).toMatchObject([{ mail: 'queued' }])
    await app.mails.sendDue()
    expect(await open(owner)).toMatchObject([{ mail: 'sent' }])
    expect(server.mails).toMatchObject([{ to: [EMAIL] }])
    expect(linkIn(server.mails[0]!)).toBe(tokenOf(link))
    expect(server.mails[0]!.text).toContain('Test Person invites you to the Arcade Console as Editor.')
    expect((await accept(app, linkIn(server.mails[0]!))).status).toBe(200)
    await app.mails.sendDue()
    expect(server.mails).toHaveLength(1) // the first sign-in of an account is not one from a new device
  })

  test('that is renewed or ended before it was sent is not sent with the earlier link', async () => {
    const server = await mailServer()
    const app = await testApp({ smtpUrl: server.url })
    const owner = await app.signUp('owner')
    const { id } = await made(owner)
    const { body } = await owner.call('POST', `/api/invitations/${id}/resend`)
    const { id: ended } = await made(owner, 'editor', 'grace@example.org')
    await owner.call('DELETE', `/api/invitations/${ended}`)
    await made(owner, 'editor', 'eve@example.org')
    await owner.call('DELETE', '/api/account/sessions') // which ends all of them
    const { id: last } = await made(owner)
    const renewed = await owner.call('POST', `/api/invitations/${last}/resend`)
    await app.mails.sendDue()
    expect(server.mails.map(linkIn)).toEqual([tokenOf(renewed.body.link)])
    expect(tokenOf(body.link)).not.toBe(tokenOf(renewed.body.link))
  })

  test('no request waits for a mail server that hangs', async () => {
    const server = await mailServer('hang')
    const app = await testApp({ smtpUrl: server.url })
    const owner = await app.signUp('owner')
    await made(owner)
    const sending = app.mails.sendDue()
    await waitFor('a connection to the mail server', () => server.connections > 0)
    const { link } = await made(owner, 'editor', 'grace@example.org')
    expect((await accept(app, link)).status).toBe(200)
    app.mails.stop()
    await sending
  })
})
