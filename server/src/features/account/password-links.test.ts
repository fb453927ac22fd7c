/** What ends a password link, who sees the open ones, and who can end them (security.md, One-time secrets). */
import { sql } from 'kysely'
import { describe, expect, test } from 'vitest'
import { auditTrail } from '#test/audit-trail.ts'
import { waitFor } from '#test/processes.ts'
import { type Client, PASSWORD, testApp, type TestApp } from '#test/test-app.ts'
import { actOfProcess } from '#src/audit/audit.ts'
import { changeRole as giveRole, ensureAdmin } from '#src/identity/accounts.ts'
import { createPasswordLink } from '#src/identity/password-links.ts'

const NEW_PASSWORD = { password: 'a new secret', confirmPassword: 'a new secret' }

interface People {
  app: TestApp
  /** The admin who made the link. */
  maker: Client
  /** The admin for whom it is. */
  user: Client
  /** An admin who has nothing to do with it. */
  other: Client
}

async function people(): Promise<People> {
  const app = await testApp()
  return {
    app,
    maker: await app.signUp('admin', 'maker@gmail.com'),
    user: await app.signUp('admin', 'user@gmail.com'),
    other: await app.signUp('admin', 'other@gmail.com'),
  }
}

const linkFor = async (maker: Client, { id }: Client): Promise<string> =>
  (await maker.call('POST', '/api/password-links', { id })).body.path.replace('/set-password?link=', '')
const stateOf = async (app: TestApp, link: string): Promise<string> =>
  (await app.guest.call('POST', '/api/password-link', { link })).body.state
const useLink = (app: TestApp, link: string) => app.guest.call('PUT', '/api/password-link', { link, ...NEW_PASSWORD })
const openLinks = async (admin: Client) => (await admin.call('GET', '/api/password-links')).body.links
const changeRole = (admin: Client, { id }: Client, userType: 'admin' | 'user') =>
  admin.call('PUT', `/api/users/${id}/user-type`, { userType })
const changePassword = (person: Client) =>
  person.call('PUT', '/api/account/password', { currentPassword: PASSWORD, ...NEW_PASSWORD })
/** Signs a person in once more, and returns the session that the person can end. */
async function anotherSession(app: TestApp, person: Client, email: string): Promise<string> {
  await app.guest.call('POST', '/api/session', { email, password: PASSWORD })
  const { sessions } = (await person.call('GET', '/api/account/sessions')).body
  return sessions.find(({ isCurrent }: { isCurrent: boolean }) => !isCurrent).id
}
const createAdmin = ({ app }: People, email: string) =>
  ensureAdmin(app.database, app.sessions, {
    act: actOfProcess('command', 'arcade admin create'),
    email,
    password: 'another secret',
    policy: 'standard',
    unlessAdminExists: false,
  })

/** Acts that end a link before its time. See account.test.ts for use and expiry, and import.test.ts for roles that an import changes. */
const ends: [what: string, act: (given: People) => Promise<unknown>][] = [
  ['a newer link for the user, by another admin', ({ other, user }) => linkFor(other, user)],
  ['the end of the link by another admin', ({ other, user }) => other.call('DELETE', `/api/password-links/${user.id}`)],
  ['the removal of the maker', ({ other, maker }) => other.call('DELETE', `/removeUser/${maker.id}`)],
  [
    'the removal of several users with the maker',
    ({ other, maker }) => other.call('POST', '/api/users/remove', { target: { ids: [maker.id] } }),
  ],
  ['a demotion of the maker', ({ other, maker }) => changeRole(other, maker, 'user')],
  [
    'a demotion of the maker, who becomes an admin again',
    async ({ other, maker }) => {
      await changeRole(other, maker, 'user')
      await changeRole(other, maker, 'admin')
    },
  ],
  ['a change of the maker’s password', ({ maker }) => changePassword(maker)],
  ['a new password of the maker by a link', async ({ app, other, maker }) => useLink(app, await linkFor(other, maker))],
  ['a new password of the maker by `admin create`', (given) => createAdmin(given, 'maker@gmail.com')],
  [
    'the end of all other sessions by the maker',
    async ({ app, maker }) => {
      await anotherSession(app, maker, 'maker@gmail.com')
      await maker.call('DELETE', '/api/account/sessions')
    },
  ],
  ['the end of all other sessions by a maker who has only one', ({ maker }) => maker.call('DELETE', '/api/account/sessions')],
  [
    'the end of one session by the maker',
    async ({ app, maker }) =>
      maker.call('DELETE', `/api/account/sessions/${await anotherSession(app, maker, 'maker@gmail.com')}`),
  ],
  ['a change of the user’s password', ({ user }) => changePassword(user)],
  ['a new password of the user by `admin create`', (given) => createAdmin(given, 'user@gmail.com')],
  ['a change of the user’s role', ({ other, user }) => changeRole(other, user, 'user')],
  ['the removal of the user', ({ other, user }) => other.call('DELETE', `/removeUser/${user.id}`)],
]

describe('security: a password link ends', () => {
  test.each(ends)('with %s', async (_what, act) => {
    const given = await people()
    const { app, maker, user } = given
    const link = await linkFor(maker, user)
    expect(await stateOf(app, link)).toBe('valid')
    await act(given)
    expect(await stateOf(app, link)).toBe('replaced')
    expect(await useLink(app, link)).toMatchObject({ status: 403, body: { code: 'PASSWORD_LINK_INVALID' } })
  })

  test('but not with what changes neither rights nor passwords, and not with acts of others', async () => {
    const { app, maker, user, other } = await people()
    const link = await linkFor(maker, user)
    await other.call('PATCH', `/api/users/${user.id}`, { fname: 'Una', lname: 'User' })
    await other.call('PATCH', `/api/users/${maker.id}`, { fname: 'Mae', lname: 'Maker' })
    await changePassword(other)
    await maker.call('DELETE', '/api/session')
    expect(await stateOf(app, link)).toBe('valid')
    expect((await useLink(app, link)).status).toBe(200)
  })

  test('if it has no maker, as a link of an earlier version may not have', async () => {
    const { app, maker, user } = await people()
    const link = await linkFor(maker, user)
    await sql`update password_links set made_by = null`.execute(app.database.db)
    expect(await stateOf(app, link)).toBe('replaced')
    expect((await useLink(app, link)).status).toBe(403)
  })

  test('with a restored user: the link from before the removal stays ended', async () => {
    const { app, maker, user, other } = await people()
    const link = await linkFor(maker, user)
    await other.call('DELETE', `/removeUser/${maker.id}`)
    const [trashed] = (await other.call('GET', '/api/trash')).body.records
    expect((await other.call('POST', '/api/trash/restore', { target: { ids: [trashed.id] } })).status).toBe(200)
    expect(await stateOf(app, link)).toBe('replaced')
  })
})

describe('open password links', () => {
  test('are shown to admins: for whom, by whom and until when; ended, used and expired ones are not', async () => {
    const { app, maker, user, other } = await people()
    const { body: made } = await maker.call('POST', '/api/password-links', { id: user.id })
    const byOther = await linkFor(other, maker)
    await app.database.db.updateTable('users').set({ fname: 'Mae', lname: 'Maker' }).where('id', '=', maker.id).execute()
    await app.database.db.updateTable('users').set({ fname: 'Una', lname: 'User' }).where('id', '=', user.id).execute()
    const links = await openLinks(other)
    expect(links).toHaveLength(2)
    expect(links[0]).toEqual({
      id: user.id,
      name: 'Una User',
      email: 'user@gmail.com',
      role: 'owner',
      madeBy: 'Mae Maker',
      expiresAt: made.expiresAt,
    })
    expect(JSON.stringify(links)).not.toContain(made.path.split('=')[1])
    await sql`update password_links set expires_at = now() where user_id = ${user.id}`.execute(app.database.db)
    expect(await openLinks(other)).toMatchObject([{ id: maker.id }])
    await useLink(app, byOther)
    expect(await openLinks(other)).toEqual([])
  })

  test('can be ended by each admin, with an audit entry; ending none changes nothing', async () => {
    const { app, maker, user, other } = await people()
    await linkFor(maker, user)
    const end = (id: string) => other.call('DELETE', `/api/password-links/${id}`)
    for (const id of [user.id, user.id, maker.id, 'nobody'])
      expect(await end(id)).toMatchObject({ status: 200, body: { success: true } })
    expect(await openLinks(maker)).toEqual([])
    expect(await auditTrail(app.database.db, 'user.password-link-end')).toMatchObject([{ actorId: other.id, recordId: user.id }])
  })
})

describe('security: an admin who makes a link and loses the rights at the same time leaves no link', () => {
  const isWaiting = ({ app }: People) =>
    waitFor('a statement that waits for a lock', async () => {
      const { rows } =
        await sql`select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`.execute(
          app.database.db,
        )
      return rows.length > 0
    })

  test.each(['demotion', 'new password'] as const)('if the %s is first', async (first) => {
    const given = await people()
    const { app, maker, user } = given
    const making = await app.database.transaction(async (tx) => {
      if (first === 'demotion') await giveRole(tx, { id: maker.id, from: 'owner', to: null })
      await app.sessions.endAllOf(tx, maker.id)
      const pending = { answer: maker.call('POST', '/api/password-links', { id: user.id }) }
      await isWaiting(given)
      return pending
    })
    expect(await making.answer).toMatchObject({ status: 401, body: { code: 'SIGNED_OUT' } })
    expect(await app.database.db.selectFrom('password_links').select('user_id').execute()).toEqual([])
  })

  test.each([
    ['demotion', ({ other, maker }: People) => changeRole(other, maker, 'user')],
    ['removal', ({ other, maker }: People) => other.call('DELETE', `/removeUser/${maker.id}`)],
    ['new password', ({ maker }: People) => changePassword(maker)],
    ['end of the sessions', ({ maker }: People) => maker.call('DELETE', '/api/account/sessions')],
  ] as const)('if the link is first, before the %s', async (what, act) => {
    const given = await people()
    const { app, maker, user } = given
    // Only the session in which the link is made must be another one than the session that ends it.
    const token = await app.sessions.begin(maker.id)
    const ending = await app.database.transaction(async (tx) => {
      await app.sessions.lockAdmin(tx, maker.id, token)
      await createPasswordLink(tx, { userId: user.id, madeBy: maker.id })
      const pending = { answer: act(given) }
      await isWaiting(given)
      return pending
    })
    expect((await ending.answer).status, what).toBe(200)
    expect(await app.database.db.selectFrom('password_links').select('user_id').execute()).toEqual([])
  })

  test('in whatever order they come', async () => {
    const { app, maker, user, other } = await people()
    for (let round = 0; round < 10; round += 1) {
      const token = await app.sessions.begin(maker.id)
      const [made, demoted] = await Promise.all([
        maker.call('POST', '/api/password-links', { id: user.id }, { cookie: `session=${token}` }),
        changeRole(other, maker, 'user'),
      ])
      expect([200, 401, 403]).toContain(made.status)
      expect(demoted.status).toBe(200)
      expect(await app.database.db.selectFrom('password_links').select('user_id').execute()).toEqual([])
      expect((await changeRole(other, maker, 'admin')).status).toBe(200)
    }
  })
})
