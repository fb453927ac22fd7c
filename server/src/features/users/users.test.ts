/** Manage Users (§2, §5, §6, §7): list, names, roles, adding, removing. */
import { describe, expect, test } from 'vitest'
import { sql } from 'kysely'
import { auditTrail } from '#test/audit-trail.ts'
import { addCount } from '#test/activity.ts'
import { type Client, PASSWORD, testApp } from '#test/test-app.ts'
import { changeRole } from '#src/identity/accounts.ts'
import { countDeadlocks, openAgain } from '#test/test-database.ts'

async function metricsOf(admin: Client) {
  return (await admin.call('GET', '/api/metrics')).body
}

describe('§2 the list', () => {
  test('§6 leaves out the caller; §9 has 50 rows a page and its count', async () => {
    const app = await testApp()
    const admin = await app.signUp('admin')
    await sql`insert into users (id, fname, lname, email, user_type, created_at)
      select 'u' || lpad(n::text, 3, '0'), 'F' || n, 'L' || n, 'u' || n || '@gmail.com', 'user', now() + n * interval '1 second' from generate_series(1, 120) n`.execute(
      app.database.db,
    )
    await addCount(app.database, { of: 'users', userType: 'user' }, 120)
    const first = (await admin.call('GET', '/api/users')).body
    expect(first).toMatchObject({ page: 1, pageSize: 50, pageCount: 3, total: 120 })
    expect(first.users).toHaveLength(50)
    expect(first.users[0]).toMatchObject({
      id: 'u001',
      fname: 'F1',
      lname: 'L1',
      email: 'u1@gmail.com',
      userType: 'user',
      version: 1,
    })
    const last = (await admin.call('GET', '/api/users?page=3')).body
    expect(last.users).toHaveLength(20)
    expect([...first.users, ...last.users].some((user: { id: string }) => user.id === admin.id)).toBe(false)
  })

  test('shows when a user was last seen: unknown before sign-in, then within ten minutes, and still after sign-out', async () => {
    const app = await testApp()
    const { db } = app.database
    const admin = await app.signUp('admin')
    const user = await app.signUp('user', 'ada@gmail.com')
    const seen = async () => {
      const [{ lastSeenAt }] = (await admin.call('GET', '/api/users?sort=email')).body.users
      expect((await admin.call('GET', `/api/users/${user.id}`)).body.lastSeenAt).toBe(lastSeenAt)
      return lastSeenAt as string | null
    }
    const wasSeen = (ago: string | null) =>
      sql`update users set last_seen_at = now() - ${ago}::interval where id = ${user.id}`.execute(db)
    const signIn = () => app.guest.call('POST', '/api/session', { email: 'ada@gmail.com', password: PASSWORD })
    await wasSeen(null)
    expect(await seen()).toBeNull()
    await signIn()
    expect(await seen()).not.toBeNull()

    for (const [ago, isWritten] of [
      ['9 minutes', false],
      ['11 minutes', true],
      ['-1 hour', true],
    ] as const) {
      await wasSeen(ago)
      const before = await seen()
      await signIn()
      expect((await seen()) !== before, `${ago} ago`).toBe(isWritten)
    }

    await wasSeen('1 day')
    const aDayAgo = Date.parse((await seen())!)
    await sql`update sessions set last_seen_at = now() - interval '11 minutes' where user_id = ${user.id}`.execute(db)
    await user.call('GET', '/api/session')
    await expect.poll(async () => Date.parse((await seen())!) - aDayAgo).toBeGreaterThan(86_000_000)
    const last = await seen()
    await user.call('DELETE', '/api/session')
    expect(await seen()).toBe(last)
  })

  test('§2 without other users, the list is empty and has one page', async () => {
    const app = await testApp()
    const admin = await app.signUp('admin')
    expect((await admin.call('GET', '/api/users')).body).toEqual({ users: [], page: 1, pageSize: 50, pageCount: 1, total: 0 })
  })
})

describe('§2 Update User', () => {
  test('§7 changes first and last name, also in the user’s session', async () => {
    const app = await testApp()
    const [admin, user] = [await app.signUp('admin'), await app.signUp('user')]
    await user.call('GET', '/api/session')
    const answer = await admin.call('PATCH', `/api/users/${user.id}`, { fname: ' Neu ', lname: 'Name', version: 1 })
    expect(answer.body).toMatchObject({ success: true, user: { fname: 'Neu', lname: 'Name', version: 2 } })
    expect((await user.call('GET', '/api/session')).body.user.username).toBe('Neu Name')
  })

  test('§5 First Name is required, Last Name is required', async () => {
    const app = await testApp()
    const [admin, user] = [await app.signUp('admin'), await app.signUp('user')]
    const answer = await admin.call('PATCH', `/api/users/${user.id}`, { fname: '', lname: ' ' })
    expect(answer.body.fields).toEqual({ fname: 'First Name is required', lname: 'Last Name is required' })
  })

  test('a stale save is refused and changes nothing', async () => {
    const app = await testApp()
    const [admin, user] = [await app.signUp('admin'), await app.signUp('user')]
    await admin.call('PATCH', `/api/users/${user.id}`, { fname: 'First', lname: 'One', version: 1 })
    const stale = await admin.call('PATCH', `/api/users/${user.id}`, { fname: 'Second', lname: 'One', version: 1 })
    expect(stale).toMatchObject({ status: 409, body: { code: 'STALE' } })
    expect((await admin.call('GET', `/api/users/${user.id}`)).body.fname).toBe('First')
  })

  test('§6 role, id and e-mail cannot be changed together with the names', async () => {
    const app = await testApp()
    const [admin, user] = [await app.signUp('admin'), await app.signUp('user')]
    for (const extra of [{ userType: 'admin' }, { email: 'x@gmail.com' }, { user_type: 'admin' }]) {
      expect((await admin.call('PATCH', `/api/users/${user.id}`, { fname: 'A', lname: 'B', ...extra })).status).toBe(400)
    }
    const other = await app.signUp('user')
    await admin.call('PATCH', `/api/users/${user.id}`, { fname: 'A', lname: 'B', id: other.id })
    expect((await admin.call('GET', `/api/users/${other.id}`)).body.fname).toBe('Test')
  })
})

describe('§7 POST /registerUser', () => {
  test('§7 answers with status success; the new user can sign in, and the figures follow at once', async () => {
    const app = await testApp()
    const admin = await app.signUp('admin')
    const input = { fname: 'New', lname: 'User', email: 'new@gmail.com', password: 'secret1', confirmPassword: 'secret1' }
    expect((await admin.call('POST', '/registerUser', input)).body).toMatchObject({
      status: 'success',
      message: 'User Added Successfuly!',
    })
    expect((await app.guest.call('POST', '/api/session', { email: input.email, password: 'secret1' })).body.user.userType).toBe(
      'user',
    )
    expect(await metricsOf(admin)).toMatchObject({ totalUsers: 2, userTypes: { user: 1, admin: 1 } })
    const again = await admin.call('POST', '/registerUser', input)
    expect(again).toMatchObject({
      status: 409,
      body: { status: 'failed', message: 'Error creating user!', fields: { email: 'This email is in use already' } },
    })
  })
})

describe('§7 DELETE /removeUser/{id}', () => {
  test('§7 removes the user and ends the user’s sessions at once', async () => {
    const app = await testApp()
    const [admin, user] = [await app.signUp('admin'), await app.signUp('user', 'gone@gmail.com')]
    expect((await user.call('GET', '/api/session')).body.user).not.toBeNull()
    expect((await admin.call('DELETE', `/removeUser/${user.id}`)).body).toMatchObject({ status: 'success' })
    expect((await user.call('GET', '/api/session')).body.user).toBeNull()
    expect((await app.guest.call('POST', '/api/session', { email: 'gone@gmail.com', password: 'correct horse' })).status).toBe(
      401,
    )
    expect(await metricsOf(admin)).toMatchObject({ totalUsers: 1, userTypes: { user: 0, admin: 1 } })
    const again = await admin.call('DELETE', `/removeUser/${user.id}`)
    expect(again).toMatchObject({ status: 404, body: { status: 'failed', code: 'NO_SUCH_USER' } })
    expect(await metricsOf(admin)).toMatchObject({ totalUsers: 1 })
  })

  test('security: nobody can remove or demote themselves', async () => {
    const app = await testApp()
    const [admin] = [await app.signUp('admin'), await app.signUp('admin')]
    expect((await admin.call('DELETE', `/removeUser/${admin.id}`)).body.code).toBe('NOT_YOURSELF')
    expect((await admin.call('PUT', `/api/users/${admin.id}/user-type`, { userType: 'user' })).body.code).toBe('NOT_YOURSELF')
  })

  test('security: one of two admins who remove or demote each other at once stays', async () => {
    for (let round = 0; round < 5; round += 1) {
      const app = await testApp()
      await app.database.db.deleteFrom('users').execute()
      const [a, b] = [await app.signUp('admin'), await app.signUp('admin')]
      await Promise.all([
        a.call('DELETE', `/removeUser/${b.id}`),
        b.call('PUT', `/api/users/${a.id}/user-type`, { userType: 'user' }),
      ])
      const admins = await app.database.db.selectFrom('users').select('id').where('user_type', '=', 'admin').execute()
      expect(admins).toHaveLength(1)
    }
  })
})

describe('design §7 roles', () => {
  test('an admin makes a user admin and back; their sessions end each time', async () => {
    const app = await testApp()
    const [admin, user] = [await app.signUp('admin'), await app.signUp('user')]
    expect((await user.call('GET', '/api/users')).status).toBe(403)
    const made = await admin.call('PUT', `/api/users/${user.id}/user-type`, { userType: 'admin' })
    expect(made.body).toMatchObject({ success: true, user: { userType: 'admin', version: 2 } })
    expect((await user.call('GET', '/api/users')).status).toBe(401)
    expect(await metricsOf(admin)).toMatchObject({ userTypes: { user: 0, admin: 2 } })
    await admin.call('PUT', `/api/users/${user.id}/user-type`, { userType: 'user' })
    expect(await metricsOf(admin)).toMatchObject({ userTypes: { user: 1, admin: 1 } })
  })

  test('every act is in the audit', async () => {
    const app = await testApp()
    const [admin, user] = [await app.signUp('admin'), await app.signUp('user')]
    await admin.call('PATCH', `/api/users/${user.id}`, { fname: 'A', lname: 'B' })
    await admin.call('PUT', `/api/users/${user.id}/user-type`, { userType: 'admin' })
    await admin.call('DELETE', `/removeUser/${user.id}`)
    expect(await auditTrail(app.database.db)).toMatchObject(
      ['user.update', 'user.role', 'user.remove'].map((action) => ({ actorId: admin.id, action, recordId: user.id })),
    )
  })
})

test('§6 simultaneous changes of many roles do not deadlock', async () => {
  const deadlocks = await countDeadlocks()
  const databases = [await openAgain(), await openAgain()]
  const apps = await Promise.all(databases.map((database) => testApp({ database })))
  // A user who becomes an admin comes before all other admins in the order of ids.
  const everybody = await Promise.all(Array.from({ length: 7 }, (_, n) => apps[n % 2]!.signUp('user')))
  const byId = everybody.toSorted((a, b) => (a.id < b.id ? -1 : 1))
  const [people, admins] = [byId.slice(0, 5), byId.slice(5)]
  for (const { id } of admins) await databases[0]!.transaction((tx) => changeRole(tx, { id, from: null, to: 'owner' }))
  const change = ({ id }: Client, n: number, userType: string) =>
    admins[n % admins.length]!.call('PUT', `/api/users/${id}/user-type`, { userType })
  for (let round = 0; round < 15; round += 1) {
    const both = people.flatMap((person, n) => [change(person, n, 'admin'), change(person, n + 1, 'user')])
    expect(new Set((await Promise.all(both)).map(({ status }) => status))).toEqual(new Set([200]))
  }
  for (const database of databases) await database.close()
  expect(await countDeadlocks()).toBe(deadlocks)
})

describe('§3 metrics', () => {
  test('§2 counts tasks by type over both collections and active announcements', async () => {
    const app = await testApp()
    const admin = await app.signUp('admin')
    const { db } = app.database
    const task = { title: 't', reward: 1, link: null }
    await db
      .insertInto('tasks')
      .values([
        { ...task, collection: 'social', id: 'a', image: 'twitter', priority: 1 },
        { ...task, collection: 'daily', id: 'b', image: 'twitter', priority: 1 },
        { ...task, collection: 'daily', id: 'c', image: 'moreLink', priority: 2 },
      ])
      .execute()
    const announcement = { type: 'desc' as const, title: 't', subtitle: 's', reward: 1 }
    await db
      .insertInto('announcements')
      .values([
        { ...announcement, id: 'x', status: true },
        { ...announcement, id: 'y' },
      ])
      .execute()
    expect(await metricsOf(admin)).toEqual({
      totalUsers: 1,
      totalTelegramUsers: 0,
      userTypes: { user: 0, admin: 1 },
      activeAnnouncements: 1,
      totalTasks: 3,
      tasksByType: { twitter: 2, moreLink: 1 },
    })
  })
})
