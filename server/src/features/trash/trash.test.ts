/** The trash: deleted records leave the lists at once, and can be restored as they were, with everything that belonged to them. */
import { describe, expect, test } from 'vitest'
import { sql } from 'kysely'
import type { TrashedRecord } from '@arcade/contract/trash/fields'
import { readCounters } from '#src/counters/counters.ts'
import { auditTrail } from '#test/audit-trail.ts'
import { type Client, PASSWORD, testApp } from '#test/test-app.ts'
import { openAgain } from '#test/test-database.ts'
import { download, png, upload } from '#test/test-images.ts'
import { purgeExpired } from './trash.ts'

const task = { type: 'twitter', title: 'Follow us', link: 'https://x.com/moon', reward: 0.1, priority: 0.3 }
const announcement = { type: 'desc', title: 'Season 2', subtitle: 'Fresh levels', reward: 1 }

const opening = async () => {
  const app = await testApp()
  return { app, admin: await app.signUp('admin', 'ada@gmail.com') }
}
const succeed = async (answer: ReturnType<Client['call']>) => {
  const { status, body, headers } = await answer
  expect(status, JSON.stringify(body)).toBe(200)
  return { ...body, actId: headers.get('x-request-id') }
}
const add = async (admin: Client, changes: object = {}): Promise<string> =>
  (await succeed(admin.call('POST', '/api/social-tasks', { ...task, ...changes }))).id
const remove = (admin: Client, id: string) => succeed(admin.call('DELETE', `/api/social-tasks/${id}`))
const inTrash = async (admin: Client, query = ''): Promise<TrashedRecord[]> =>
  (await succeed(admin.call('GET', `/api/trash${query}`))).records
const restore = (admin: Client, id: string, instead: object = {}) =>
  admin.call('POST', '/api/trash/restore-one', { id, ...instead })
const restoreAct = (admin: Client, actId: string) => admin.call('POST', '/api/trash/restore-act', { actId })

describe('the trash of tasks', () => {
  test('lists a deleted task with who deleted it and until when it is kept, and restores it as it was', async () => {
    const { app, admin } = await opening()
    const id = await add(admin)
    const before = (await admin.call('GET', `/api/social-tasks/${id}`)).body
    await app.database.db.deleteFrom('history_items').execute()
    const { actId } = await remove(admin, id)
    expect((await admin.call('GET', `/api/social-tasks/${id}`)).status).toBe(404)
    const [record, ...others] = await inTrash(admin)
    expect(others).toEqual([])
    expect(record).toMatchObject({
      kind: 'socialTask',
      name: 'Follow us',
      priorityOrEmail: '0.3',
      deletedBy: 'Test Person',
      recordId: id,
      hasOthersOfAct: false,
      actId,
    })
    expect((Date.parse(record!.expiresAt) - Date.parse(record!.deletedAt)) / 86_400_000).toBeCloseTo(30, 1)
    expect(await succeed(restore(admin, record!.id))).toMatchObject({ kind: 'socialTask', recordId: id })
    expect((await admin.call('GET', `/api/social-tasks/${id}`)).body).toEqual({ ...before, version: 2 })
    expect(await inTrash(admin)).toEqual([])
    const history = await app.database.db.selectFrom('history_items').select(['kind', 'title']).execute()
    expect(history).toEqual([{ kind: 'social', title: 'Follow us' }])
    const [entry] = await auditTrail(app.database.db, 'task.restore')
    expect(entry).toMatchObject({
      recordId: id,
      changes: { title: [null, 'Follow us'], priority: [null, 0.3] },
      detail: { version: 2 },
    })
  })

  test('restores a task once, however many ask at once', async () => {
    const { admin } = await opening()
    const id = await add(admin)
    await remove(admin, id)
    const [record] = await inTrash(admin)
    const answers = await Promise.all(Array.from({ length: 20 }, () => restore(admin, record!.id)))
    expect(answers.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([200, ...Array.from({ length: 19 }, () => 404)])
    expect(answers.find(({ status }) => status === 404)?.body.code).toBe('NOT_IN_TRASH')
  })

  test('asks for another priority if the old one is taken, even by a task that is created at the same time', async () => {
    const { admin } = await opening()
    const id = await add(admin)
    await remove(admin, id)
    const [record] = await inTrash(admin)
    const [restored, created] = await Promise.all([
      restore(admin, record!.id),
      admin.call('POST', '/api/social-tasks', { ...task, title: 'Newer' }),
    ])
    expect([restored.status, created.status].toSorted((a, b) => a - b)).toEqual([200, 409])
    expect([restored.body.code, created.body.code]).toContain('PRIORITY_TAKEN')
    if (restored.status === 200) await remove(admin, id)
    if (created.status !== 200) await add(admin, { title: 'Newer' })
    const [again] = await inTrash(admin)
    expect((await restore(admin, again!.id)).body).toMatchObject({
      code: 'PRIORITY_TAKEN',
      message: 'Priority is already taken!',
    })
    expect((await restore(admin, again!.id, { priority: 0.4 })).status).toBe(200)
    expect((await admin.call('GET', `/api/social-tasks/${id}`)).body.priority).toBe(0.4)
  })

  test('restores all tasks that one act deleted, and reports those whose priority is taken', async () => {
    const { admin } = await opening()
    const ids = [
      await add(admin),
      await add(admin, { priority: 2, title: 'Join' }),
      await add(admin, { priority: 3, title: 'Share' }),
    ]
    const { actId } = await succeed(admin.call('POST', '/api/social-tasks/remove', { target: { ids } }))
    await remove(admin, await add(admin, { priority: 4, title: 'Alone' }))
    const withOthers = async () => (await inTrash(admin, '?sort=name')).map(({ name, hasOthersOfAct }) => [name, hasOthersOfAct])
    expect(await withOthers()).toEqual([
      ['Alone', false],
      ['Follow us', true],
      ['Join', true],
      ['Share', true],
    ])
    await add(admin, { priority: 2, title: 'Newer' })
    expect((await restoreAct(admin, actId)).body).toMatchObject({
      affected: 2,
      refused: 1,
      refusals: [{ title: 'Join', reason: 'Priority is already taken!', code: 'PRIORITY_TAKEN' }],
    })
    expect(await withOthers()).toEqual([
      ['Alone', false],
      ['Join', false],
    ])
    expect((await succeed(admin.call('GET', '/api/social-tasks'))).tasks.map(({ title }: { title: string }) => title)).toEqual([
      'Follow us',
      'Newer',
      'Share',
    ])
    expect((await restoreAct(admin, crypto.randomUUID())).body.code).toBe('NOT_IN_TRASH')
  })

  test('tells how many of the restored tasks are paused because their segment is gone', async () => {
    const { admin } = await opening()
    const view = { list: 'telegramUsers', name: 'With a wallet', address: 'wallet=ton', isShared: true }
    const { id: segmentId } = await succeed(admin.call('POST', '/api/views', view))
    await add(admin)
    for (const priority of [2, 3]) await add(admin, { priority, segmentId })
    const removeAll = () => succeed(admin.call('POST', '/api/social-tasks/remove', { target: { filter: {} } }))
    const first = await removeAll()
    expect((await restoreAct(admin, first.actId)).body).toMatchObject({ affected: 3, pausedTasks: 0 })
    const second = await removeAll()
    await succeed(admin.call('DELETE', `/api/views/${segmentId}`))
    const all = { target: { filter: {} } }
    expect((await admin.call('POST', '/api/trash/restore', { ...all, dryRun: true })).body).toMatchObject({ pausedTasks: 2 })
    expect((await restoreAct(admin, second.actId)).body).toMatchObject({ affected: 3, pausedTasks: 2 })
  })

  test('reports that a task exists again if an import has brought it back, and leaves it', async () => {
    const { app, admin } = await opening()
    const id = await add(admin)
    const { actId } = await remove(admin, id)
    const imported = { collection: 'social' as const, id, image: 'twitter', priority: 7, title: 'Follow us', reward: 1 }
    await app.database.db.insertInto('tasks').values(imported).execute()
    const [record] = await inTrash(admin)
    const text = 'It exists again: an import brought it back.'
    expect((await restore(admin, record!.id)).body).toMatchObject({ code: 'STALE', message: text })
    expect((await restoreAct(admin, actId)).body).toMatchObject({
      affected: 0,
      refused: 1,
      refusals: [{ title: 'Follow us', reason: text, code: 'STALE' }],
    })
    expect(await inTrash(admin)).toHaveLength(1)
  })

  test('of two deleted tasks with one priority restores the one deleted last', async () => {
    const { admin } = await opening()
    for (const title of ['Earlier', 'Later']) await remove(admin, await add(admin, { title }))
    const run = (options: object) => admin.call('POST', '/api/trash/restore', { target: { filter: {} }, ...options })
    expect((await run({ dryRun: true })).body).toMatchObject({ affected: 1, refused: 1 })
    expect(await inTrash(admin)).toHaveLength(2)
    expect((await run({ expected: 1 })).body).toMatchObject({ affected: 1, refusals: [{ title: 'Earlier' }] })
    expect((await inTrash(admin)).map(({ name }) => name)).toEqual(['Earlier'])
  })

  test('is searched, filtered, paged and exported like any list, latest first', async () => {
    const { admin } = await opening()
    for (let n = 1; n <= 52; n += 1) await add(admin, { priority: n, title: `Task ${n}` })
    await succeed(admin.call('POST', '/api/social-tasks/remove', { target: { filter: {} } }))
    const id = await add(admin, { title: 'Last', link: 'https://x.com/sun' })
    await remove(admin, id)
    expect((await succeed(admin.call('GET', '/api/trash'))).total).toBe(53)
    expect((await inTrash(admin))[0]?.name).toBe('Last')
    expect(await inTrash(admin, '?page=2')).toHaveLength(3)
    expect((await inTrash(admin, '?search=SUN')).map(({ name }) => name)).toEqual(['Last'])
    expect(await inTrash(admin, '?kind=user')).toEqual([])
    const exported = await admin.call('POST', '/api/exports', {
      list: 'trash',
      target: { filter: { search: 'last' } },
      format: 'csv',
    })
    expect(exported.headers.get('x-row-count')).toBe('1')
  })
})

describe('the trash of announcements', () => {
  const addOne = async (admin: Client, app: Awaited<ReturnType<typeof testApp>>) => {
    const { key } = (await upload(app, admin, png)).body
    const { id } = await succeed(admin.call('POST', '/api/announcements', { ...announcement, image: key, imageName: 'a.png' }))
    return { id: id as string, key: key }
  }
  test('§7 files of a deleted announcement are not served; restored inactive, it has them again, byte for byte', async () => {
    const { app, admin } = await opening()
    const { id, key } = await addOne(admin, app)
    await succeed(admin.call('POST', `/api/announcements/${id}/status`, { id, status: false }))
    const before = await download(app, admin, key)
    expect(before.status).toBe(200)
    await succeed(admin.call('POST', '/api/announcements/remove', { target: { ids: [id] } }))
    expect((await download(app, admin, key)).status).toBe(404)
    expect((await download(app, admin, key, '?size=thumb')).status).toBe(404)
    await app.files.sweep()
    const other = { ...announcement, image: key, imageName: 'a.png' }
    expect((await admin.call('POST', '/api/announcements', other)).status, 'nobody else can have the file').toBe(400)
    const [record] = await inTrash(admin, '?kind=announcement')
    await succeed(restore(admin, record!.id))
    expect((await download(app, admin, key)).bytes.equals(before.bytes)).toBe(true)
    expect((await admin.call('GET', `/api/announcements/${id}`)).body).toMatchObject({ status: false, image: key, version: 3 })
    expect(await app.database.db.selectFrom('file_removals').selectAll().execute()).toEqual([])
  })

  test('security: purging an announcement removes its files for good', async () => {
    const { app, admin } = await opening()
    const { id, key } = await addOne(admin, app)
    await succeed(admin.call('DELETE', `/api/announcements/${id}`))
    const [record] = await inTrash(admin)
    const purge = (options: object) => admin.call('POST', '/api/trash/purge', { target: { ids: [record!.id] }, ...options })
    expect((await purge({ dryRun: true })).body).toMatchObject({ affected: 1, named: [{ title: 'Season 2' }] })
    expect(await inTrash(admin)).toHaveLength(1)
    expect((await purge({ expected: 1 })).status).toBe(200)
    const removals = () => app.database.db.selectFrom('file_removals').select('key').where('key', '=', key).execute()
    await expect.poll(removals).toEqual([])
    expect((await restore(admin, record!.id)).status).toBe(404)
    const [entry] = await auditTrail(app.database.db, 'trash.purge')
    expect(entry).toMatchObject({ recordId: id, recordName: 'Season 2', changes: { deletedAt: [record!.deletedAt, null] } })
  })

  test('expired records are purged by one of several servers', async () => {
    const { app, admin } = await opening()
    const other = await testApp({ database: await openAgain() })
    const { id, key } = await addOne(admin, app)
    await succeed(admin.call('DELETE', `/api/announcements/${id}`))
    await remove(admin, await add(admin))
    const { database, files } = app
    await purgeExpired({ database, files })
    expect(await inTrash(admin)).toHaveLength(2)
    const [record] = await inTrash(admin, '?kind=announcement')
    await sql`update trash set expires_at = now() where kind = 'announcement'`.execute(database.db)
    expect((await restore(admin, record!.id)).status, 'expired').toBe(404)
    await Promise.all([purgeExpired({ database, files }), purgeExpired(other)])
    await files.sweep()
    expect(await database.db.selectFrom('file_removals').select('key').where('key', '=', key).execute()).toEqual([])
    expect((await database.db.selectFrom('trash').select('kind').execute()).map(({ kind }) => kind)).toEqual(['socialTask'])
    const purged = await auditTrail(database.db, 'trash.purge')
    expect(purged).toMatchObject([{ actorKind: 'system', recordId: id }])
  })

  test('a replaced file is not served, but its bytes are kept for the same time', async () => {
    const { app, admin } = await opening()
    const { id, key } = await addOne(admin, app)
    await succeed(admin.call('PUT', `/api/announcements/${id}`, { ...announcement, image: null }))
    expect((await download(app, admin, key)).status).toBe(404)
    await app.files.sweep()
    const { rows } = await sql<{ days: number }>`
      select extract(epoch from requested_at - now()) / 86400 as days from file_removals where key = ${key} and is_withdrawn`.execute(
      app.database.db,
    )
    expect(rows.map(({ days }) => Math.round(days))).toEqual([30])
  })
})

describe('the trash of users', () => {
  test('security: a removed user is signed out at once and the e-mail is free; a restored one can sign in and has the views', async () => {
    const { app, admin } = await opening()
    const eve = await app.signUp('user', 'eve@gmail.com')
    await admin.call('PUT', `/api/users/${eve.id}/user-type`, { userType: 'admin' })
    const signIn = () => app.guest.call('POST', '/api/session', { email: 'eve@gmail.com', password: PASSWORD })
    const cookie = (await signIn()).headers.getSetCookie()[0]!.split(';')[0]!
    const as = (method: string, path: string, body?: unknown) => app.guest.call(method, path, body, { cookie })
    const save = (name: string, isShared: boolean) =>
      succeed(as('POST', '/api/views', { list: 'users', name, address: 'q=a', isShared }))
    const { id: own } = await save('Mine', false)
    const { id: shared } = await save('Ours', true)
    await succeed(as('PUT', '/api/default-views/users', { id: own }))
    const viewsBefore = (await succeed(as('GET', '/api/views'))).views
    const before = await readCounters(app.database.db, [{ of: 'users', userType: 'admin' }])

    await succeed(admin.call('DELETE', `/removeUser/${eve.id}`))
    expect((await as('GET', '/api/users')).status).toBe(401)
    expect((await signIn()).status).toBe(401)
    const [record] = await inTrash(admin, '?kind=user')
    expect(record).toMatchObject({ name: 'Test Person', priorityOrEmail: 'eve@gmail.com', recordId: eve.id })
    expect(JSON.stringify(await admin.call('GET', '/api/trash'))).not.toContain('scrypt')

    await succeed(restore(admin, record!.id))
    expect((await as('GET', '/api/users')).status, 'sessions stay ended').toBe(401)
    const again = (await signIn()).headers.getSetCookie()[0]!.split(';')[0]!
    const { views } = await succeed(app.guest.call('GET', '/api/views', undefined, { cookie: again }))
    expect(views).toEqual(viewsBefore)
    expect(new Set(views.map(({ id }: { id: string }) => id))).toEqual(new Set([own, shared]))
    expect(await readCounters(app.database.db, [{ of: 'users', userType: 'admin' }])).toEqual(before)
    const [entry] = await auditTrail(app.database.db, 'user.restore')
    expect(entry).toMatchObject({ recordId: eve.id, changes: { email: [null, 'eve@gmail.com'] } })
  })

  test('§5 a taken e-mail must be replaced, by one that the configuration allows', async () => {
    const { app, admin } = await opening()
    const eve = await app.signUp('user', 'eve@gmail.com')
    await succeed(admin.call('POST', '/api/users/remove', { target: { ids: [eve.id] } }))
    await app.signUp('user', 'EVE@gmail.com')
    const [record] = await inTrash(admin)
    expect((await restore(admin, record!.id)).body).toMatchObject({ code: 'EMAIL_TAKEN' })
    expect((await restore(admin, record!.id, { email: 'eve2@example.org' })).body).toMatchObject({
      code: 'INVALID_INPUT',
      fields: { email: 'Email must be a @gmail.com' },
    })
    await succeed(restore(admin, record!.id, { email: 'eve2@gmail.com' }))
    const signedIn = await app.guest.call('POST', '/api/session', { email: 'eve2@gmail.com', password: PASSWORD })
    expect(signedIn.status).toBe(200)
    expect((await admin.call('GET', `/api/users/${eve.id}`)).body).toMatchObject({ email: 'eve2@gmail.com', version: 2 })
  })

  test('§6 only admins can use the trash', async () => {
    const { app, admin } = await opening()
    await remove(admin, await add(admin))
    const [record] = await inTrash(admin)
    const user = await app.signUp('user')
    for (const caller of [user, await app.bot()]) {
      expect((await caller.call('GET', '/api/trash')).status).toBe(403)
      expect((await restore(caller, record!.id)).status).toBe(403)
    }
  })
})
