/** Undoing an act on many records: restores priorities and statuses, unless something has changed since. */
import { expect, test } from 'vitest'
import { auditTrail } from '#test/audit-trail.ts'
import { type Client, testApp } from '#test/test-app.ts'

const opening = async () => {
  const app = await testApp()
  const admin = await app.signUp('admin')
  const ids: string[] = []
  for (const n of [1, 2, 3]) {
    const task = { type: 'email', title: `Task ${n}`, reward: 1, priority: n / 10 }
    ids.push((await admin.call('POST', '/api/social-tasks', task)).body.id)
  }
  return { app, admin, ids }
}
const act = async (answer: ReturnType<Client['call']>): Promise<string> => {
  const { status, body, headers } = await answer
  expect(status, JSON.stringify(body)).toBe(200)
  return headers.get('x-request-id')!
}
const undo = (admin: Client, actId: string, options: object = {}) => admin.call('POST', `/api/acts/${actId}/undo`, options)
const tasks = async (admin: Client): Promise<[string, number, number][]> =>
  (await admin.call('GET', '/api/social-tasks')).body.tasks.map((task: { title: string; priority: number; version: number }) => [
    task.title,
    task.priority,
    task.version,
  ])

test('Undo: priorities that one act has changed are restored in another act', async () => {
  const { app, admin, ids } = await opening()
  const numbers = { target: { ids }, first: 0.2, step: 0.1 }
  const actId = await act(admin.call('POST', '/api/social-tasks/priorities', numbers))
  expect(await tasks(admin)).toEqual([
    ['Task 1', 0.2, 2],
    ['Task 2', 0.3, 2],
    ['Task 3', 0.4, 2],
  ])
  const answer = await undo(admin, actId)
  expect(answer.body).toMatchObject({ affected: 3, refused: 0 })
  expect(await tasks(admin)).toEqual([
    ['Task 1', 0.1, 3],
    ['Task 2', 0.2, 3],
    ['Task 3', 0.3, 3],
  ])
  const entries = (await auditTrail(app.database.db, 'task.priority')).slice(3)
  expect(entries.map(({ actId: own, detail }) => [own, detail])).toEqual(
    [1, 2, 3].map(() => [answer.headers.get('x-request-id'), { version: 3, undoes: actId }]),
  )
  expect(entries.map(({ changes }) => changes)).toContainEqual({ priority: [0.2, 0.1] })
})

test('Undo: records changed since are named with who changed them, and only the others can be undone', async () => {
  const { app, admin, ids } = await opening()
  const actId = await act(admin.call('POST', '/api/social-tasks/priorities', { target: { ids }, first: 5, step: 1 }))
  const eve = await app.signUp('admin')
  await eve.call('PATCH', `/api/users/${eve.id}`, { fname: 'Eve', lname: 'Moon' })
  const task = { type: 'email', title: 'Task 2', reward: 2, priority: 6 }
  await act(eve.call('PUT', `/api/social-tasks/${ids[1]}`, task))
  await act(eve.call('DELETE', `/api/social-tasks/${ids[2]}`))
  const refused = await undo(admin, actId)
  expect(refused.status).toBe(409)
  expect(refused.body).toMatchObject({
    code: 'CHANGED_SINCE',
    fields: { [ids[1]!]: 'Task 2: changed by Eve Moon', [ids[2]!]: 'Task 3: deleted by Eve Moon' },
  })
  expect(refused.body.message).toContain('Task 2 (changed by Eve Moon)')
  expect((await undo(admin, actId, { isPartial: true })).body).toMatchObject({ affected: 1, refused: 2 })
  expect(await tasks(admin)).toEqual([
    ['Task 1', 0.1, 3],
    ['Task 2', 6, 3],
  ])
  expect((await undo(admin, actId)).body.code, 'not twice').toBe('CHANGED_SINCE')
})

test('Undo: a priority that a newer task has is not taken from it', async () => {
  const { admin, ids } = await opening()
  const actId = await act(admin.call('POST', '/api/social-tasks/priorities', { target: { ids }, first: 5, step: 1 }))
  await act(admin.call('POST', '/api/social-tasks', { type: 'email', title: 'Newer', reward: 1, priority: 0.2 }))
  expect((await undo(admin, actId)).body).toMatchObject({ code: 'PRIORITY_TAKEN' })
  expect((await tasks(admin)).map(([, priority]) => priority)).toEqual([0.2, 5, 6, 7])
})

test('Undo: undoing an activation tells no player; undoing a deactivation is news', async () => {
  const { app, admin } = await opening()
  const epoch = async () => (await app.database.db.selectFrom('status_epoch').select('epoch').executeTakeFirstOrThrow()).epoch
  for (const title of ['One', 'Two'])
    await act(admin.call('POST', '/api/announcements', { type: 'desc', title, subtitle: 'Today', reward: 1 }))
  const target = { filter: {} }
  const statuses = async () =>
    (await admin.call('GET', '/api/announcements')).body.announcements.map(({ status }: { status: boolean }) => status)
  const activation = await act(admin.call('POST', '/api/announcements/status', { target, status: true }))
  expect(await epoch()).toBe(2)
  expect((await undo(admin, activation)).body).toMatchObject({ affected: 2 })
  expect([await statuses(), await epoch()]).toEqual([[false, false], 2])
  await act(admin.call('POST', '/api/announcements/status', { target, status: true }))
  const deactivation = await act(admin.call('POST', '/api/announcements/status', { target, status: false }))
  await act(undo(admin, deactivation))
  expect([await statuses(), await epoch()]).toEqual([[true, true], 6])
})

test('Undo: an act that does not exist, or cannot be undone, is refused', async () => {
  const { app, admin, ids } = await opening()
  expect((await undo(admin, crypto.randomUUID())).body).toMatchObject({ code: 'NOTHING_TO_UNDO' })
  const removal = await act(admin.call('DELETE', `/api/social-tasks/${ids[0]}`))
  expect((await undo(admin, removal)).status).toBe(404)
  expect((await undo(await app.signUp('user'), removal)).status).toBe(403)
})
