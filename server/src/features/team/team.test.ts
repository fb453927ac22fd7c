/** Roles of admins (contract/src/team/permissions.ts): who gets one, who may give one, and what the last owner is spared. */
import { sql } from 'kysely'
import { describe, expect, test } from 'vitest'
import { type Role, roles } from '@arcade/contract/team/fields'
import { type Permission, permissions } from '@arcade/contract/team/permissions'
import { auditTrail } from '#test/audit-trail.ts'
import { type Client, PASSWORD, testApp, type TestApp } from '#test/test-app.ts'
import { takeLock } from '#src/db/transaction-locks.ts'
import { changeRole, ensureAdmin } from '#src/identity/accounts.ts'
import { actOfProcess } from '#src/audit/audit.ts'

const settings = { seesPersonal: true, maxAdjustment: null, maxAdjustedDaily: null, maxBulk: null }

async function sessionOf(client: Client) {
  return (await client.call('GET', '/api/session')).body.user as {
    role: Role | null
    permissions: Permission[]
    userType: string
  } | null
}

/** Whether a transaction of this database waits for an advisory lock. */
async function waitsForAdvisoryLock({ database: { db } }: TestApp): Promise<boolean> {
  const { rows } = await sql`
    select from pg_locks where locktype = 'advisory' and not granted
       and database = (select oid from pg_database where datname = current_database())`.execute(db)
  return rows.length > 0
}

describe('a role', () => {
  test('an admin who is made without one is an owner, and a user has none', async () => {
    const app = await testApp()
    const [admin, user] = [await app.signUp('admin'), await app.signUp('user')]
    expect(await sessionOf(admin)).toMatchObject({ userType: 'admin', role: 'owner', permissions })
    expect(await sessionOf(user)).toMatchObject({ userType: 'user', role: null, permissions: [] })
    await admin.call('PUT', `/api/users/${user.id}/user-type`, { userType: 'admin' })
    expect((await admin.call('GET', `/api/users/${user.id}`)).body).toMatchObject({ userType: 'admin', role: 'owner' })
  })

  test('an admin made by a server that knows no roles is an owner', async () => {
    const app = await testApp()
    const admin = await app.signUp('admin')
    await app.database.db.updateTable('users').set({ role: null }).execute()
    expect(await sessionOf(admin)).toMatchObject({ role: 'owner', permissions })
    expect((await admin.call('GET', '/api/roles')).body.roles[0]).toMatchObject({ role: 'owner', people: 1 })
  })

  test.each(roles)('%s makes a user an admin, `user` takes it away, and both end the sessions', async (role) => {
    const app = await testApp()
    const owner = await app.signUp('owner')
    const person = await app.signUp('user')
    const given = await owner.call('PUT', `/api/users/${person.id}/role`, { role })
    expect(given.body).toMatchObject({ success: true, user: { userType: 'admin', role, version: 2 } })
    expect(await sessionOf(person)).toBeNull()
    expect((await owner.call('GET', '/api/metrics')).body.userTypes).toEqual({ user: 0, admin: 2 })
    const taken = await owner.call('PUT', `/api/users/${person.id}/role`, { role: 'user' })
    expect(taken.body).toMatchObject({ success: true, user: { userType: 'user', role: null, version: 3 } })
    expect((await owner.call('GET', '/api/metrics')).body.userTypes).toEqual({ user: 1, admin: 1 })
    const changes = (await auditTrail(app.database.db, 'user.role')).map((entry) => entry.changes)
    expect(changes).toEqual([
      { userType: ['user', 'admin'], role: [null, role] },
      { userType: ['admin', 'user'], role: [role, null] },
    ])
  })

  test('is refused if it does not exist, and changes nothing if the person has it', async () => {
    const app = await testApp()
    const owner = await app.signUp('owner')
    const editor = await app.signUp('editor')
    for (const role of ['god', 'admin', '', null, 'Owner'])
      expect((await owner.call('PUT', `/api/users/${editor.id}/role`, { role })).status, String(role)).toBe(400)
    const again = await owner.call('PUT', `/api/users/${editor.id}/role`, { role: 'editor' })
    expect(again.body.user).toMatchObject({ role: 'editor', version: 1 })
    expect(await sessionOf(editor)).toMatchObject({ role: 'editor' })
    expect((await owner.call('PUT', '/api/users/none/role', { role: 'editor' })).body.code).toBe('NO_SUCH_USER')
  })
})

describe('the last owner', () => {
  test('can neither get another role nor be removed while other admins are left', async () => {
    const app = await testApp()
    const [owner, other] = [await app.signUp('owner'), await app.signUp('owner')]
    await app.signUp('manager')
    expect((await owner.call('PUT', `/api/users/${other.id}/role`, { role: 'analyst' })).status).toBe(200)
    for (const [method, path, body] of [
      ['PUT', `/api/users/${owner.id}/role`, { role: 'manager' }],
      ['PUT', `/api/users/${owner.id}/user-type`, { userType: 'user' }],
      ['DELETE', `/removeUser/${owner.id}`, undefined],
    ] as const)
      expect((await owner.call(method, path, body)).body.code, path).toBe('NOT_YOURSELF')
  })

  test('stays when two owners demote each other at once, twenty times', async () => {
    const app = await testApp()
    for (let round = 0; round < 20; round += 1) {
      const [one, other] = [await app.signUp('owner'), await app.signUp('owner')]
      await app.database.db.updateTable('users').set({ role: 'manager' }).where('id', 'not in', [one.id, other.id]).execute()
      const answers = await Promise.all([
        one.call('PUT', `/api/users/${other.id}/role`, { role: 'editor' }),
        other.call(round % 2 === 0 ? 'DELETE' : 'PUT', round % 2 === 0 ? `/removeUser/${one.id}` : `/api/users/${one.id}/role`, {
          ...(round % 2 === 1 && { role: 'user' }),
        }),
      ])
      expect(answers.filter(({ status }) => status === 200)).toHaveLength(1)
      const owners = await app.database.db.selectFrom('users').select('id').where('role', '=', 'owner').execute()
      expect(owners).toHaveLength(1)
    }
  })
})

describe('who has just lost a role', () => {
  test.each([
    ['gives one', 'PUT', (id: string) => `/api/users/${id}/role`, { role: 'owner' }],
    ['makes an admin', 'PUT', (id: string) => `/api/users/${id}/user-type`, { userType: 'admin' }],
    ['removes a person', 'DELETE', (id: string) => `/removeUser/${id}`, undefined],
    ['removes several people', 'POST', () => '/api/users/remove', { target: { filter: {} } }],
    ['changes a role', 'PUT', () => '/api/roles/analyst', settings],
  ] as const)('no longer %s with a request that waited meanwhile', async (_what, method, path, body) => {
    const app = await testApp()
    const [owner, other, friend] = [await app.signUp('owner'), await app.signUp('owner'), await app.signUp('user')]
    const late = await app.database.transaction(async (tx) => {
      await takeLock(tx, 'admins')
      const asked = other.call(method, path(friend.id), body)
      await expect.poll(() => waitsForAdvisoryLock(app), { timeout: 10_000 }).toBe(true)
      await changeRole(tx, { id: other.id, from: 'owner', to: 'editor' })
      await app.sessions.endAllOf(tx, other.id)
      return { asked }
    })
    expect(await late.asked).toMatchObject({ status: 401, body: { code: 'SIGNED_OUT' } })
    expect((await owner.call('GET', `/api/users/${friend.id}`)).body).toMatchObject({ userType: 'user', role: null })
    expect(await auditTrail(app.database.db)).toEqual([])
  })
})

describe('a manager', () => {
  test('may not rename an owner, or do anything that would open or end the account', async () => {
    const app = await testApp()
    const [owner, manager, editor] = [await app.signUp('owner'), await app.signUp('manager'), await app.signUp('editor')]
    const other = await app.signUp('owner')
    for (const [method, path, body] of [
      ['DELETE', `/removeUser/${owner.id}`, undefined],
      ['POST', '/api/password-links', { id: owner.id }],
      ['PATCH', `/api/users/${owner.id}`, { fname: 'Other', lname: 'Name' }],
    ] as const) {
      const { status, body: answer } = await manager.call(method, path, body)
      expect([status, answer.message], path).toEqual([403, 'Your role may not do this to a person with the role Owner.'])
    }
    expect((await other.call('POST', '/api/password-links', { id: owner.id })).status).toBe(200)
    const ended = await manager.call('DELETE', `/api/password-links/${owner.id}`)
    expect(ended).toMatchObject({ status: 403, body: { message: 'Your role may not do this to a person with the role Owner.' } })
    expect((await owner.call('GET', '/api/password-links')).body.links).toMatchObject([{ id: owner.id, role: 'owner' }])
    const many = await manager.call('POST', '/api/users/remove', { target: { ids: [owner.id, editor.id, manager.id] } })
    expect(many.body).toMatchObject({ affected: 1 })
    const refusals = many.body.refusals as { id: string; reason: string }[]
    expect(new Map(refusals.map(({ id, reason }) => [id, reason]))).toEqual(
      new Map([
        [owner.id, 'Your role may not remove a person with the role Owner.'],
        [manager.id, 'You cannot remove yourself or change your own role.'],
      ]),
    )
    expect((await manager.call('POST', '/api/password-links', { id: (await app.signUp('analyst')).id })).status).toBe(200)
    // With another manager's account the points of two limits could be given.
    expect((await manager.call('POST', '/api/password-links', { id: (await app.signUp('manager')).id })).status).toBe(403)
  })
})

describe('a manager who does not see personal fields', () => {
  test('may do nothing to people who see them, and invites nobody to see them', async () => {
    const app = await testApp()
    const [owner, manager, editor] = [await app.signUp('owner'), await app.signUp('manager'), await app.signUp('editor')]
    expect((await owner.call('PUT', '/api/roles/manager', { ...settings, seesPersonal: false })).status).toBe(200)
    const attempts = async () => [
      await manager.call('POST', '/api/invitations', { email: 'me@example.org', role: 'editor' }),
      await manager.call('POST', '/api/password-links', { id: editor.id }),
      await manager.call('DELETE', `/removeUser/${editor.id}`),
    ]
    for (const { status, body } of await attempts())
      expect([status, body.message]).toEqual([403, 'Your role may not do this to a person with the role Editor.'])
    const many = await manager.call('POST', '/api/users/remove', { target: { ids: [editor.id] } })
    expect(many.body).toMatchObject({ affected: 0, refused: 1 })
    await owner.call('DELETE', `/removeUser/${editor.id}`)
    const { records } = (await manager.call('GET', '/api/trash')).body
    const restored = await manager.call('POST', '/api/trash/restore-one', { id: records[0].id, email: 'me@gmail.com' })
    expect(restored.status).toBe(403)
    expect((await owner.call('POST', '/api/trash/restore-one', { id: records[0].id })).status).toBe(200)
    expect((await owner.call('PUT', '/api/roles/editor', { ...settings, seesPersonal: false })).status).toBe(200)
    expect((await attempts()).map(({ status }) => status)).toEqual([200, 200, 200])
  })
})

describe('the settings of a role', () => {
  test('apply at once to people who are signed in, and are in the audit', async () => {
    const app = await testApp()
    const [owner, analyst] = [await app.signUp('owner'), await app.signUp('analyst')]
    expect((await sessionOf(analyst))?.permissions).not.toContain('players.personal')
    expect((await owner.call('PUT', '/api/roles/analyst', { ...settings, maxBulk: 5 })).body).toEqual({ success: true })
    expect((await sessionOf(analyst))?.permissions).toContain('players.personal')
    const { roles: shown } = (await analyst.call('GET', '/api/roles')).body
    expect(shown.find(({ role }: { role: Role }) => role === 'analyst')).toMatchObject({
      label: 'Analyst',
      people: 1,
      settings: { ...settings, maxBulk: 5 },
    })
    const [entry] = await auditTrail(app.database.db, 'role.update')
    expect(entry).toMatchObject({ recordId: 'analyst', changes: { seesPersonal: [false, true], maxBulk: [null, 5] } })
  })

  test('are refused for owners, for unknown roles and for limits that are none', async () => {
    const app = await testApp()
    const owner = await app.signUp('owner')
    for (const role of ['owner', 'user', 'none'])
      expect((await owner.call('PUT', `/api/roles/${role}`, settings)).status).toBe(400)
    for (const wrong of [{ maxAdjustment: 0 }, { maxAdjustedDaily: -1 }, { maxBulk: 1.5 }, { maxBulk: '5' }, { other: 1 }])
      expect((await owner.call('PUT', '/api/roles/editor', { ...settings, ...wrong })).status).toBe(400)
  })
})

test('the command that makes an admin makes an owner, also of an admin with another role', async () => {
  const app = await testApp()
  const editor = await app.signUp('editor', 'ed@gmail.com')
  const act = actOfProcess('command', 'admin create')
  const policy = 'standard'
  await ensureAdmin(app.database, app.sessions, {
    act,
    email: 'ed@gmail.com',
    password: PASSWORD,
    policy,
    unlessAdminExists: false,
  })
  const { role } = await app.database.db.selectFrom('users').select('role').where('id', '=', editor.id).executeTakeFirstOrThrow()
  expect(role).toBe('owner')
})
