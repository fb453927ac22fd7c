/** Restoring earlier versions of tasks, announcements and users, each as a new change of the present record. */
import { sql } from 'kysely'
import { describe, expect, test } from 'vitest'
import { erasePerson } from '#src/audit/erase.ts'
import { actOfProcess } from '#src/audit/audit.ts'
import { sealEntries } from '#src/audit/chain.ts'
import { auditTrail } from '#test/audit-trail.ts'
import { type Client, type TestApp, testApp } from '#test/test-app.ts'
import { png, upload } from '#test/test-images.ts'

const input = { type: 'twitter', title: 'First', link: 'https://x.com/1', reward: 5, priority: 1 }
const path = '/api/social-tasks'

async function opening() {
  const app = await testApp()
  return { app, admin: await app.signUp('admin', 'ada@gmail.com') }
}

async function create(admin: Client, at: string, body: object): Promise<string> {
  const answer = await admin.call('POST', at, body)
  expect(answer.status, JSON.stringify(answer.body)).toBe(200)
  return answer.body.id
}

/** Returns the numbers of a record's audit entries, oldest first. */
async function entriesOf(admin: Client, record: string): Promise<number[]> {
  const { body } = await admin.call('GET', `/api/audit/records/${record}`)
  return body.entries.map(({ seq }: { seq: number }) => seq).toReversed()
}

/** Makes a task with three versions: two titles, then another priority by a bulk act. */
async function threeVersions(app: TestApp, admin: Client) {
  const id = await create(admin, path, input)
  await admin.call('PUT', `${path}/${id}`, { ...input, title: 'Second', link: '', reward: 7, version: 1 })
  await admin.call('POST', `${path}/priorities`, { target: { ids: [id] }, first: 3, step: 1, expected: 1 })
  const [first, second] = await entriesOf(admin, `socialTask/${id}`)
  const restore = (body: object) => admin.call('POST', `${path}/${id}/restore`, { seq: first, version: 3, ...body })
  const read = async () => (await admin.call('GET', `${path}/${id}`)).body
  return { app, id, first: first!, second: second!, restore, read }
}

describe('a task', () => {
  test('gets an earlier version back as a new version with an audit entry; the history item follows', async () => {
    const { app, admin } = await opening()
    const { id, first, restore, read } = await threeVersions(app, admin)
    const { status, body } = await restore({})
    expect(status, JSON.stringify(body)).toBe(200)
    expect(JSON.parse(body.changes)).toEqual({
      title: ['Second', 'First'],
      link: [null, 'https://x.com/1'],
      reward: [7, 5],
      priority: [3, 1],
    })
    expect(await read()).toMatchObject({ ...input, version: 4 })
    const entries = await auditTrail(app.database.db, 'task.update')
    expect(entries.at(-1)).toMatchObject({ recordId: id, actorId: admin.id, detail: { version: 4, restoredFrom: first } })
    const item = await app.database.db.selectFrom('history_items').selectAll().where('item_id', '=', id).executeTakeFirst()
    expect(item).toMatchObject({ title: 'First', reward: 5 })
  })

  test('older than its first entry can be restored to before it; one that its entries cover from creation cannot', async () => {
    const { app, admin } = await opening()
    const imported = {
      collection: 'social' as const,
      id: 'old',
      image: 'email',
      priority: 9,
      title: 'Old',
      link: null,
      reward: 2,
    }
    await app.database.db.insertInto('tasks').values(imported).execute()
    await admin.call('PUT', `${path}/old`, { ...input, priority: 8, version: 1 })
    const { status, body } = await admin.call('POST', `${path}/old/restore`, { seq: 0, version: 2 })
    expect(status, JSON.stringify(body)).toBe(200)
    const task = (await admin.call('GET', `${path}/old`)).body
    expect(task).toMatchObject({ type: 'email', priority: 9, title: 'Old', link: null, reward: 2, version: 3 })
    const { restore } = await threeVersions(app, admin)
    expect(await restore({ seq: 0 })).toMatchObject({ status: 404, body: { code: 'NO_SUCH_VERSION' } })
  })

  test('can be restored again over a restored version; a dry run reports the changes and makes none', async () => {
    const { app, admin } = await opening()
    const { second, restore, read } = await threeVersions(app, admin)
    await restore({})
    const tried = await restore({ seq: second, version: 4, dryRun: true })
    expect(JSON.parse(tried.body.changes)).toMatchObject({ title: ['First', 'Second'], reward: [5, 7] })
    expect(await read()).toMatchObject({ title: 'First', version: 4 })
    expect((await restore({ seq: second, version: 4 })).status).toBe(200)
    expect(await read()).toMatchObject({ title: 'Second', link: null, reward: 7, priority: 1, version: 5 })
  })

  test('can be restored to a version from before it was in the trash', async () => {
    const { app, admin } = await opening()
    const { id, first, restore, read } = await threeVersions(app, admin)
    await admin.call('DELETE', `${path}/${id}`)
    const { records } = (await admin.call('GET', '/api/trash')).body
    const back = await admin.call('POST', '/api/trash/restore-one', { id: records[0].id })
    expect(back.status, JSON.stringify(back.body)).toBe(200)
    const { version } = await read()
    const answer = await restore({ seq: first, version })
    expect(answer.status, JSON.stringify(answer.body)).toBe(200)
    expect(await read()).toMatchObject({ title: 'First', reward: 5, priority: 1 })
  })

  test('stays as it is, without a new version, when its present version is restored', async () => {
    const { app, admin } = await opening()
    const { id, restore, read } = await threeVersions(app, admin)
    const newest = (await entriesOf(admin, `socialTask/${id}`)).at(-1)
    expect((await restore({ seq: newest })).body).toMatchObject({ changes: '{}' })
    expect(await read()).toMatchObject({ version: 3 })
  })

  test('is not restored if stale, gone, its priority is taken meanwhile, or the entry is of another record', async () => {
    const { app, admin } = await opening()
    const { first, restore, read } = await threeVersions(app, admin)
    expect((await restore({ version: 2 })).body.code).toBe('STALE')
    const other = await create(admin, path, input)
    for (const dryRun of [true, false])
      expect(await restore({ dryRun })).toMatchObject({ status: 409, body: { code: 'PRIORITY_TAKEN' } })
    const foreign = await admin.call('POST', `${path}/${other}/restore`, { seq: first, version: 1 })
    expect(foreign).toMatchObject({ status: 404, body: { code: 'NO_SUCH_VERSION' } })
    expect((await admin.call('POST', `${path}/gone/restore`, { seq: first, version: 1 })).body.code).toBe('NO_SUCH_TASK')
    expect((await admin.call('POST', `/api/daily-tasks/${other}/restore`, { seq: first, version: 1 })).status).toBe(404)
    expect(await read()).toMatchObject({ title: 'Second', version: 3 })
  })

  test.each([
    ['an entry is missing', `delete from audit_entries where detail->>'version' = '2'`],
    ['something was changed without an entry', `update tasks set reward = 8`],
    ['a version was counted without an entry', `update tasks set version = 4`],
  ])('is not restored where the history has a gap: %s', async (_what, gap) => {
    const { app, admin } = await opening()
    const { restore, read } = await threeVersions(app, admin)
    await sealEntries(app.database)
    await sql.raw(gap).execute(app.database.db)
    const { version } = await read()
    expect(await restore({ version })).toMatchObject({ status: 409, body: { code: 'VERSION_GAP' } })
  })
})

test('a restored announcement is inactive and has those of its files that are still stored', async () => {
  const { app, admin } = await opening()
  const [image, icon] = [(await upload(app, admin, png)).body.key, (await upload(app, admin, png)).body.key]
  const files = { image, imageName: 'banner.png', icon, iconName: 'icon.png' }
  const text = { type: 'desc', title: 'First', subtitle: 'Sub', description: 'Read', reward: 1 }
  const id = await create(admin, '/api/announcements', { ...text, ...files })
  const second = { ...text, title: 'Second', icon, iconName: 'icon.png', version: 1 }
  expect((await admin.call('PUT', `/api/announcements/${id}`, second)).body).toEqual({ success: true })
  await admin.call('POST', `/api/announcements/${id}/status`, { status: false })
  await expect.poll(() => app.files.has(image)).toBe(false)
  const [first] = await entriesOf(admin, `announcement/${id}`)
  const restore = (body: object) => admin.call('POST', `/api/announcements/${id}/restore`, { seq: first, version: 3, ...body })
  expect((await restore({ dryRun: true })).body).toMatchObject({ success: true, missing: [] })
  expect(await app.files.has(image), 'a dry run serves nothing').toBe(false)
  await sql`update file_removals set requested_at = now() where key = ${image}`.execute(app.database.db)
  await app.files.sweep()
  const tried = await restore({ dryRun: true })
  expect(tried.body, JSON.stringify(tried.body)).toMatchObject({ success: true, missing: ['image'] })
  expect((await restore({})).status).toBe(200)
  const { body } = await admin.call('GET', `/api/announcements/${id}`)
  expect(body).toMatchObject({
    title: 'First',
    status: false,
    image: null,
    imageName: null,
    icon,
    iconName: 'icon.png',
    version: 4,
  })
})

describe('a dashboard user', () => {
  test('gets only the names back, not the role or anything else', async () => {
    const { app, admin } = await opening()
    const user = await app.signUp('user', 'uli@gmail.com')
    const rename = (fname: string) => admin.call('PATCH', `/api/users/${user.id}`, { fname, lname: 'Lang' })
    await rename('Uli')
    await rename('Ulla')
    await admin.call('PUT', `/api/users/${user.id}/user-type`, { userType: 'admin' })
    const entries = (await admin.call('GET', `/api/audit/records/user/${user.id}`)).body.entries
    const { seq } = entries.find(({ detail }: { detail: string }) => detail?.includes('"version":2'))
    const { version } = (await admin.call('GET', `/api/users/${user.id}`)).body
    const { body } = await admin.call('POST', `/api/users/${user.id}/restore`, { seq, version })
    expect(JSON.parse(body.changes)).toEqual({ fname: ['Ulla', 'Uli'] })
    const restored = (await admin.call('GET', `/api/users/${user.id}`)).body
    expect(restored).toMatchObject({ fname: 'Uli', lname: 'Lang', userType: 'admin', version: version + 1 })
  })

  test('whose history was erased has no versions', async () => {
    const { app, admin } = await opening()
    const user = await app.signUp('user', 'uli@gmail.com')
    await admin.call('PATCH', `/api/users/${user.id}`, { fname: 'Uli', lname: 'Lang' })
    const [seq] = await entriesOf(admin, `user/${user.id}`)
    const erased = { kind: 'user', id: user.id, anonymousId: 'erased-1' } as const
    await app.database.transaction((tx) => erasePerson(tx, actOfProcess('command', 'test'), erased))
    const { body } = await admin.call('POST', `/api/users/${user.id}/restore`, { seq, version: 2 })
    expect(body).toMatchObject({ code: 'NO_SUCH_VERSION' })
  })
})
