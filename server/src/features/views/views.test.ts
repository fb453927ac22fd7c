/** Saved views of lists (design §7): who owns them, who sees them, and what happens to them. */
import { sql } from 'kysely'
import { describe, expect, test } from 'vitest'
import type { View } from '@arcade/contract/views/calls'
import { MAX_VIEWS } from '@arcade/contract/views/fields'
import { auditTrail } from '#test/audit-trail.ts'
import { type Client, testApp } from '#test/test-app.ts'

const rich = {
  list: 'telegramUsers' as const,
  name: 'Rich',
  address: 'balanceMin=1000&rows=compact&columns=Email',
  isShared: false,
}

async function save(client: Client, changes: Record<string, unknown> = {}): Promise<string> {
  const answer = await client.call('POST', '/api/views', { ...rich, ...changes })
  expect(answer.status, JSON.stringify(answer.body)).toBe(200)
  return answer.body.id as string
}

async function seenBy(client: Client): Promise<View[]> {
  return (await client.call('GET', '/api/views')).body.views as View[]
}

const namesSeenBy = async (client: Client) => (await seenBy(client)).map(({ name }) => name)

const change = (client: Client, id: string, changes: object = {}) =>
  client.call('PATCH', `/api/views/${id}`, { name: 'Rich', isShared: false, ...changes })

const statuses = (answers: { status: number }[]) => answers.map(({ status }) => status).toSorted((a, b) => a - b)

const seeFirst = (client: Client, id: string | null, list = 'telegramUsers') =>
  client.call('PUT', `/api/default-views/${list}`, { id })

test('Views: one’s own come first, then those that others share, each sorted by name', async () => {
  const app = await testApp()
  const [ada, bob] = [await app.signUp('admin'), await app.signUp('admin')]
  const id = await save(ada, { name: 'poor' })
  await save(ada)
  await save(bob, { name: 'Alpha', isShared: true })
  await save(bob, { name: 'Secret' })
  expect(await namesSeenBy(ada)).toEqual(['poor', 'Rich', 'Alpha'])
  expect((await seenBy(ada))[0]).toEqual({
    ...rich,
    name: 'poor',
    id,
    owner: 'Test Person',
    isOwn: true,
    isDefault: false,
    version: 1,
  })
  expect((await seenBy(ada))[2]).toMatchObject({ isShared: true, isOwn: false })
})

test.each([
  ['q=%00', 'q'],
  ['balanceMin=5&tookPart=social:%00', 'tookPart'],
  ['balanceMin=abc', 'balanceMin'],
  ['balanceMin=9007199254740993', 'balanceMin'],
  [`q=${'x'.repeat(101)}`, 'q'],
  ['any=%5B%7B%22seenDays%22%3A%22x%22%7D%5D', 'any'],
  ['joinedUntil=2026-02-30&foo=1&sort=newest', 'joinedUntil, foo'],
  ['status=blocked&status=unblocked', 'status'],
  ['search=ada', 'search'],
  ['joinedBefore=2026-02-03', 'joinedBefore'],
])('Views: security: an address that its list cannot read completely is refused: %s', async (address, parts) => {
  const app = await testApp()
  const ada = await app.signUp('admin')
  const id = await save(ada)
  const message = `The view has parts that its list cannot read: ${parts}.`
  const refused = { status: 400, body: { code: 'INVALID_INPUT', message, fields: { address: message } } }
  expect(await ada.call('POST', '/api/views', { ...rich, name: 'Other', address })).toMatchObject(refused)
  expect(await change(ada, id, { address })).toMatchObject(refused)
  expect(await seenBy(ada)).toMatchObject([{ id, address: rich.address, version: 1 }])
})

test('Views: any list’s addresses are checked; a view that cannot be read any more can still be renamed', async () => {
  const app = await testApp()
  const ada = await app.signUp('admin')
  const audit = { ...rich, list: 'audit', name: 'Acts', address: 'doneFrom=2026-05-05T09:30&doneUntil=2026-05-06' }
  expect((await ada.call('POST', '/api/views', audit)).status).toBe(200)
  expect((await ada.call('POST', '/api/views', { ...audit, name: 'Bad', address: 'doneFrom=2026-05-05T25:00' })).status).toBe(400)
  await app.database.db
    .insertInto('saved_views')
    .values({ id: 'old', list: 'users', name: 'Old', address: 'removed=1', owner_id: ada.id, private_to: ada.id })
    .execute()
  expect((await change(ada, 'old', { name: 'Older' })).status).toBe(200)
  expect(await namesSeenBy(ada)).toEqual(['Acts', 'Older'])
})

test('Views: security: nobody else can use a private view, by any call', async () => {
  const app = await testApp()
  const [ada, bob] = [await app.signUp('admin'), await app.signUp('admin')]
  const id = await save(ada)
  const refused = { status: 404, body: { code: 'NO_SUCH_VIEW' } }
  expect(await change(bob, id, { isShared: true })).toMatchObject(refused)
  expect(await bob.call('DELETE', `/api/views/${id}`)).toMatchObject(refused)
  expect(await seeFirst(bob, id)).toMatchObject(refused)
  expect(JSON.stringify(await seenBy(bob))).not.toContain(id)
  expect(await namesSeenBy(ada)).toEqual(['Rich'])
})

test('Views: any admin can change and delete a shared view; made private, it is its owner’s again', async () => {
  const app = await testApp()
  const [ada, bob] = [await app.signUp('admin'), await app.signUp('admin')]
  const id = await save(ada, { isShared: true })
  expect((await change(bob, id, { name: 'Richest', isShared: true, address: 'q=x&rows=normal', version: 1 })).status).toBe(200)
  expect(await seenBy(ada)).toMatchObject([{ name: 'Richest', address: 'q=x&rows=normal', isOwn: true, version: 2 }])
  expect(await change(ada, id, { version: 1 })).toMatchObject({ status: 409, body: { code: 'STALE' } })
  await change(bob, id)
  expect(await namesSeenBy(bob)).toEqual([])
  expect(await namesSeenBy(ada)).toEqual(['Rich'])
  await change(ada, id, { isShared: true })
  expect((await bob.call('DELETE', `/api/views/${id}`)).status).toBe(200)
  expect(await namesSeenBy(ada)).toEqual([])
})

test('Views: a shared view outlives its owner, a private one does not; the admin who makes it private owns it', async () => {
  const app = await testApp()
  const [ada, bob] = [await app.signUp('admin'), await app.signUp('admin')]
  const id = await save(ada, { isShared: true })
  await save(ada, { name: 'Secret' })
  await seeFirst(bob, id)
  expect((await bob.call('DELETE', `/removeUser/${ada.id}`)).status).toBe(200)
  expect(await seenBy(bob)).toMatchObject([{ id, owner: null, isOwn: false, isDefault: true }])
  const left = await app.database.db.selectFrom('saved_views').select('name').execute()
  expect(left).toEqual([{ name: 'Rich' }])
  await change(bob, id)
  expect(await seenBy(bob)).toMatchObject([{ id, isOwn: true, isShared: false }])
})

test('Views: each person chooses a default view of a list, or none', async () => {
  const app = await testApp()
  const [ada, bob] = [await app.signUp('admin'), await app.signUp('admin')]
  const [one, other] = [await save(ada, { isShared: true }), await save(ada, { name: 'Poor' })]
  const firstOf = async (client: Client) => (await seenBy(client)).filter((view) => view.isDefault).map(({ name }) => name)
  await seeFirst(ada, one)
  await seeFirst(bob, one)
  await seeFirst(ada, other)
  expect([await firstOf(ada), await firstOf(bob)]).toEqual([['Poor'], ['Rich']])
  expect(await seeFirst(ada, one, 'users')).toMatchObject({ status: 404, body: { code: 'NO_SUCH_VIEW' } })
  await seeFirst(ada, null)
  await ada.call('DELETE', `/api/views/${one}`)
  expect([await firstOf(ada), await firstOf(bob)]).toEqual([[], []])
})

test('Views: a name is unique among one’s own views of a list, whatever its case', async () => {
  const app = await testApp()
  const [ada, bob] = [await app.signUp('admin'), await app.signUp('admin')]
  await save(ada)
  await save(bob)
  await save(ada, { list: 'users', address: '' })
  const other = await save(ada, { name: 'Poor' })
  const refused = { status: 409, body: { code: 'VIEW_NAME_TAKEN', fields: { name: 'You have a view of this name already' } } }
  expect(await ada.call('POST', '/api/views', { ...rich, name: ' RICH ' })).toMatchObject(refused)
  expect(await change(ada, other)).toMatchObject(refused)
})

describe('Views: limits', () => {
  test.each([
    [{ name: '' }, 'name'],
    [{ name: 'x'.repeat(61) }, 'name'],
    [{ address: `q=${'x'.repeat(4000)}` }, 'address'],
    [{ address: 'q=a b' }, 'address'],
    [{ address: '#q' }, 'address'],
    [{ list: 'participants' }, 'list'],
  ])('%j is refused', async (changes, field) => {
    const app = await testApp()
    const ada = await app.signUp('admin')
    const answer = await ada.call('POST', '/api/views', { ...rich, ...changes })
    expect(answer).toMatchObject({ status: 400, body: { code: 'INVALID_INPUT' } })
    expect(Object.keys(answer.body.fields as object)).toEqual([field])
  })

  test('one person can have a limited number of views, even if they are saved at once', async () => {
    const app = await testApp()
    const ada = await app.signUp('admin')
    const { list, address } = rich
    const rows = Array.from({ length: MAX_VIEWS - 1 }, (_, n) => ({ id: `v${n}`, list, address, name: `View ${n}` }))
    await app.database.db
      .insertInto('saved_views')
      .values(rows.map((row) => ({ ...row, owner_id: ada.id, private_to: ada.id })))
      .execute()
    const names = ['a', 'b', 'c', 'd', 'e']
    const answers = await Promise.all(names.map((name) => ada.call('POST', '/api/views', { ...rich, name })))
    expect(statuses(answers)).toEqual([200, 409, 409, 409, 409])
    expect(answers.find(({ status }) => status === 409)?.body).toMatchObject({ code: 'TOO_MANY_VIEWS' })
  })
})

test('Views: one of several simultaneous requests for one name succeeds; a repeat with its key gets the same answer', async () => {
  const app = await testApp()
  const ada = await app.signUp('admin')
  const answers = await Promise.all(Array.from({ length: 8 }, () => ada.call('POST', '/api/views', rich)))
  expect(statuses(answers)).toEqual([200, ...Array<number>(7).fill(409)])
  const headers = { 'idempotency-key': 'one' }
  const poor = { ...rich, name: 'Poor' }
  const twice = await Promise.all([1, 2].map(() => ada.call('POST', '/api/views', poor, headers)))
  expect(twice[0]).toMatchObject({ status: 200 })
  expect(twice[1]?.body).toEqual(twice[0]?.body)
  expect(await namesSeenBy(ada)).toEqual(['Poor', 'Rich'])
  const audited = await auditTrail(app.database.db, 'view.create')
  expect(audited).toHaveLength(2)
})

test('Views: a view that is the segment of an item stays, and stays shared; the refusal names the items', async () => {
  const app = await testApp()
  const [ada, bob] = [await app.signUp('admin'), await app.signUp('admin')]
  const id = await save(ada, { isShared: true })
  const { db } = app.database
  await db
    .insertInto('tasks')
    .values([
      { collection: 'social', id: 's', image: 'x', priority: 1, title: 'Follow us', reward: 1, segment_id: id },
      { collection: 'daily', id: 'd', image: 'x', priority: 1, title: 'Visit us', reward: 1 },
    ])
    .execute()
  await db
    .insertInto('announcements')
    .values({ id: 'a', type: 'desc', title: 'A gift', subtitle: '', reward: 1, segment_id: id })
    .execute()
  const refused = {
    status: 409,
    body: {
      code: 'VIEW_IS_SEGMENT',
      message: 'Items are for the players of this view, so it must stay and stay shared. They are: A gift, Follow us.',
    },
  }
  expect(await ada.call('DELETE', `/api/views/${id}`)).toMatchObject(refused)
  expect(await change(ada, id)).toMatchObject(refused)
  expect(await change(bob, id, { name: 'Richer', isShared: true, address: 'balanceMin=2000' })).toMatchObject({ status: 200 })
  expect(await seenBy(bob)).toMatchObject([{ name: 'Richer', isShared: true, address: 'balanceMin=2000' }])

  await db.updateTable('tasks').set({ segment_id: null }).execute()
  await db.updateTable('announcements').set({ segment_id: null }).execute()
  expect((await change(ada, id)).status).toBe(200)
  expect((await ada.call('DELETE', `/api/views/${id}`)).status).toBe(200)
})

test('Views: security: who may not change the items of a segment neither gives them other players nor learns their titles', async () => {
  const app = await testApp()
  const { db } = app.database
  const owner = await app.signUp('owner')
  const id = await save(owner, { isShared: true })
  await db
    .insertInto('tasks')
    .values({ collection: 'social', id: 's', image: 'x', priority: 1, title: 'Follow us', reward: 1, segment_id: id })
    .execute()
  await db.insertInto('announcements').values({ id: 'a', type: 'desc', title: 'A gift', subtitle: '', reward: 1 }).execute()
  for (const role of ['reviewer', 'analyst'] as const) {
    const person = await app.signUp(role)
    const changed = await change(person, id, { isShared: true, address: 'balanceMin=1' })
    expect([role, changed.status, changed.body.message]).toEqual([role, 403, expect.stringContaining('tasks.write')])
    expect((await change(person, id, { isShared: true, address: rich.address })).status, 'the same players').toBe(200)
    const removed = await person.call('DELETE', `/api/views/${id}`)
    expect([role, removed.body.code, removed.body.message.includes('Follow us')]).toEqual([
      role,
      'VIEW_IS_SEGMENT',
      role === 'analyst',
    ])
  }
  const editor = await app.signUp('editor')
  expect((await change(editor, id, { isShared: true, address: 'balanceMin=1' })).status).toBe(200)
  await db.updateTable('announcements').set({ segment_id: id }).execute()
  expect((await change(editor, id, { isShared: true, address: 'balanceMin=2' })).status).toBe(200)
})

test('Views: an item that is being saved for a segment and the end of that segment wait for each other', async () => {
  const app = await testApp()
  const admin = await app.signUp('admin')
  const id = await save(admin, { isShared: true })
  const removal = await app.database.db.transaction().execute(async (tx) => {
    await tx
      .insertInto('announcements')
      .values({ id: 'a', type: 'desc', title: 'A gift', subtitle: '', reward: 1, segment_id: id })
      .execute()
    const asked = admin.call('DELETE', `/api/views/${id}`)
    await expect
      .poll(async () => {
        const { rows } =
          await sql`select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`.execute(tx)
        return rows.length
      })
      .toBe(1)
    return { asked }
  })
  expect(await removal.asked).toMatchObject({ status: 409, body: { code: 'VIEW_IS_SEGMENT' } })
})
