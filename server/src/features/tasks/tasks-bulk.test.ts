/** Lists of tasks, and bulk calls for them: delete, renumber, reorder, all or none. */
import { describe, expect, test } from 'vitest'
import { auditTrail } from '#test/audit-trail.ts'
import { addCount } from '#test/activity.ts'
import { type Client, type TestApp, testApp } from '#test/test-app.ts'

const path = '/api/social-tasks'
type Row = { id: string; priority: number; title: string; version: number }

async function opening(priorities: number[]) {
  const app = await testApp()
  await app.database.db
    .insertInto('tasks')
    .values([
      ...priorities.map((priority, index) => ({
        collection: 'social' as const,
        id: `t${index}`,
        image: index % 2 ? 'twitter' : 'discord',
        priority,
        title: ['Follow', 'follow us', '50% off_', 'Ünal'][index % 4]!,
        link: index % 3 === 0 ? `https://x.com/${index}` : null,
        reward: [5, 1, 5][index % 3]!,
        created_at: new Date(Date.UTC(2026, 0, 31 - Math.floor(index / 2))),
      })),
      { collection: 'daily' as const, id: 't0', image: 'twitter', priority: 1, title: 'Follow daily', reward: 1 },
    ])
    .execute()
  return { app, admin: await app.signUp('admin') }
}

const list = async (admin: Client, query = ''): Promise<Row[]> => (await admin.call('GET', `${path}?${query}`)).body.tasks
const ids = async (admin: Client, query = '') => (await list(admin, query)).map(({ id }) => id)
const priorities = async (admin: Client) => Object.fromEntries((await list(admin)).map(({ id, priority }) => [id, priority]))
const statuses = (answers: { status: number }[]) => answers.map(({ status }) => status).toSorted((a, b) => a - b)
const entries = ({ database: { db } }: TestApp, action: string) => auditTrail(db, action)

describe('Lists: tasks', () => {
  test('Lists: search in title and link, by type, in every order and reversed', async () => {
    const { app, admin } = await opening([10, 20, 30, 40, 50, 60, 70, 80])
    await addCount(app.database, { of: 'participants', kind: 'social', itemId: 't3' }, 9)
    await addCount(app.database, { of: 'participants', kind: 'social', itemId: 't6' }, 2)
    expect(await ids(admin, 'search=FOLLOW')).toEqual(['t0', 't1', 't4', 't5'])
    expect(await ids(admin, 'search=x.com')).toEqual(['t0', 't3', 't6'])
    expect(await ids(admin, 'search=%25')).toEqual(['t2', 't6'])
    expect(await ids(admin, 'search=_')).toEqual(['t2', 't6'])
    expect(await ids(admin, `search=${encodeURIComponent('ü')}`)).toEqual(['t1', 't3', 't5', 't7']) // folded to `u`
    expect(await ids(admin, 'search=UNAL')).toEqual(['t3', 't7'])
    expect(await ids(admin, 'type=twitter&search=follow')).toEqual(['t1', 't5'])
    const orders = {
      priority: ['t0', 't1', 't2', 't3', 't4', 't5', 't6', 't7'],
      title: ['t2', 't6', 't0', 't4', 't1', 't5', 't3', 't7'],
      reward: ['t1', 't4', 't7', 't0', 't2', 't3', 't5', 't6'],
      participants: ['t0', 't1', 't2', 't4', 't5', 't7', 't6', 't3'],
      created: ['t6', 't7', 't4', 't5', 't2', 't3', 't0', 't1'],
    }
    for (const [sort, order] of Object.entries(orders)) {
      expect(await ids(admin, `sort=${sort}`), sort).toEqual(order)
      expect(await ids(admin, `sort=${sort}&reversed=true`), sort).toEqual(order.toReversed())
    }
    expect((await admin.call('GET', `${path}?search=nothing`)).body).toMatchObject({ total: 0, message: 'No tasks found!' })
    expect((await admin.call('GET', `${path}?type=discord`)).body).toMatchObject({ total: 4, pageCount: 1 })
  })
})

describe('Bulk: tasks', () => {
  test('Bulk: delete picked tasks or those of a filter, only in this collection; dry run and expected', async () => {
    const { app, admin } = await opening([1, 2, 3, 4])
    const remove = (body: object) => admin.call('POST', `${path}/remove`, body)
    expect((await remove({ target: { ids: ['t0', 't9'] }, dryRun: true })).body).toMatchObject({
      affected: 1,
      named: [{ id: 't0', title: expect.any(String) }],
      refused: 0,
    })
    expect((await remove({ target: { filter: { search: 'follow' } }, expected: 3 })).body.code).toBe('STALE')
    expect(await ids(admin)).toHaveLength(4)
    expect(await entries(app, 'task.remove')).toHaveLength(0)
    expect((await remove({ target: { filter: { search: 'follow' } }, expected: 2 })).body).toMatchObject({ affected: 2 })
    expect(await ids(admin)).toEqual(['t2', 't3'])
    expect((await admin.call('GET', '/api/daily-tasks')).body.total).toBe(1)
    const removed = await entries(app, 'task.remove')
    expect(new Set(removed.map(({ recordId }) => recordId))).toEqual(new Set(['t0', 't1']))
    expect(new Set(removed.map(({ actId }) => actId)).size, 'one act').toBe(1)
  })

  test('Bulk: renumbering keeps the order, also where a new number is the old one of another picked task', async () => {
    const { admin } = await opening([1, 2, 3, 9])
    const prioritise = (body: object) => admin.call('POST', `${path}/priorities`, body)
    const target = { ids: ['t2', 't0', 't1'] }
    expect((await prioritise({ target, first: 9_007_199_254_740_000, step: 0.1, expected: 3 })).status).toBe(400)
    expect((await prioritise({ target, first: 2, step: 1, dryRun: true })).body).toMatchObject({ affected: 3 })
    expect(await priorities(admin)).toEqual({ t0: 1, t1: 2, t2: 3, t3: 9 })
    expect((await prioritise({ target, first: 2, step: 1, expected: 3 })).status).toBe(200)
    expect(await priorities(admin)).toEqual({ t0: 2, t1: 3, t2: 4, t3: 9 })
    expect((await list(admin)).map(({ version }) => version)).toEqual([2, 2, 2, 1])
    for (const dryRun of [true, false]) {
      expect(await prioritise({ target, first: 7, step: 1, dryRun })).toMatchObject({
        status: 409,
        body: { code: 'PRIORITY_TAKEN', message: 'Priority is already taken!', fields: { first: 'Already taken: 9 by Ünal' } },
      })
    }
    expect(await prioritise({ target, first: 0.1, step: 0.1 })).toMatchObject({ status: 200 })
    expect(await priorities(admin)).toEqual({ t0: 0.1, t1: 0.2, t2: 0.3, t3: 9 })
    expect((await prioritise({ target, first: 2 ** 53, step: 1 })).status).toBe(400)
    expect((await prioritise({ target, first: 1, step: 0 })).status).toBe(400)
  })

  test('Bulk: one of 20 simultaneous calls that give different tasks the same numbers succeeds', async () => {
    const { admin } = await opening(Array.from({ length: 40 }, (_, index) => 1000 + index))
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, n) =>
        admin.call('POST', `${path}/priorities`, { target: { ids: [`t${2 * n}`, `t${2 * n + 1}`] }, first: 1, step: 1 }),
      ),
    )
    expect(statuses(answers)).toEqual([200, ...Array.from({ length: 19 }, () => 409)])
    expect(
      (await list(admin))
        .slice(0, 3)
        .map(({ priority }) => priority)
        .slice(0, 2),
    ).toEqual([1, 2])
  })

  test('Lists: reordering redistributes the priorities; tasks that changed meanwhile are stale', async () => {
    const { app, admin } = await opening([1, 2.5, 30, 41])
    const reorder = (tasks: object[]) => admin.call('POST', `${path}/order`, { tasks })
    const newOrder = [
      { id: 't3', priority: 41 },
      { id: 't0', priority: 1 },
      { id: 't1', priority: 2.5 },
    ]
    expect((await reorder(newOrder)).body).toEqual({ success: true })
    expect(await priorities(admin)).toEqual({ t3: 1, t0: 2.5, t2: 30, t1: 41 })
    expect((await list(admin)).map(({ id, version }) => [id, version])).toEqual([
      ['t3', 2],
      ['t0', 2],
      ['t2', 1],
      ['t1', 2],
    ])
    expect(await reorder(newOrder)).toMatchObject({ status: 409, body: { code: 'STALE' } })
    expect(
      (
        await reorder([
          { id: 't3', priority: 1 },
          { id: 'gone', priority: 5 },
        ])
      ).body.code,
    ).toBe('STALE')
    expect(
      (
        await reorder([
          { id: 't3', priority: 1 },
          { id: 't3', priority: 1 },
        ])
      ).status,
    ).toBe(400)
    expect((await reorder([{ id: 't3', priority: 1 }])).status).toBe(400)
    expect(await priorities(admin)).toEqual({ t3: 1, t0: 2.5, t2: 30, t1: 41 })
    const moves = await entries(app, 'task.priority')
    expect(new Set(moves.map(({ actId }) => actId)).size, 'one act').toBe(1)
  })

  test('Lists: one of 20 simultaneous calls that reorder the same tasks succeeds', async () => {
    const { admin } = await opening([1, 2, 3, 4])
    const tasks = [4, 3, 2, 1].map((priority) => ({ id: `t${priority - 1}`, priority }))
    const answers = await Promise.all(Array.from({ length: 20 }, () => admin.call('POST', `${path}/order`, { tasks })))
    expect(statuses(answers)).toEqual([200, ...Array.from({ length: 19 }, () => 409)])
    expect(await ids(admin)).toEqual(['t3', 't2', 't1', 't0'])
  })
})
