/** Social and daily tasks (§2, §3, §5, §7, §8). The same tests run for both collections. */
import { describe, expect, test } from 'vitest'
import { auditTrail } from '#test/audit-trail.ts'
import { addCount } from '#test/activity.ts'
import { type Client, type TestApp, testApp } from '#test/test-app.ts'

const collections = [
  { collection: 'social', path: '/api/social-tasks', other: '/api/daily-tasks', type: 'discord', foreignType: 'telegram' },
  { collection: 'daily', path: '/api/daily-tasks', other: '/api/social-tasks', type: 'telegram', foreignType: 'discord' },
] as const

const input = { priority: 1, type: 'twitter', title: 'Follow us', link: 'https://x.com/arcade', reward: 100.5 }

const statuses = (answers: { status: number }[]) => answers.map(({ status }) => status).toSorted((a, b) => a - b)

const history = (app: TestApp, collection: string, id: string) =>
  app.database.db
    .selectFrom('history_items')
    .selectAll()
    .where('kind', '=', collection as 'social')
    .where('item_id', '=', id)
    .execute()

const actions = async (app: TestApp, id: string) =>
  (await auditTrail(app.database.db)).flatMap(({ action, actorId, recordId }) =>
    recordId === id ? `${action} by ${actorId}` : [],
  )

describe.each(collections)('$collection tasks', ({ collection, path, other, type, foreignType }) => {
  const opening = async () => {
    const app = await testApp()
    return { app, admin: await app.signUp('admin') }
  }
  const add = async (admin: Client, changes: object = {}): Promise<string> => {
    const answer = await admin.call('POST', path, { ...input, ...changes })
    expect(answer, JSON.stringify(answer.body)).toMatchObject({ status: 200, body: { success: true } })
    return answer.body.id
  }

  test('Lists: a search treats several spaces as one, as a page shows them', async () => {
    const { admin } = await opening()
    await add(admin, { title: 'Season  2 opens' })
    for (const search of ['season 2', ' Season   2  opens ', '2 opens'])
      expect((await admin.call('GET', `${path}?${new URLSearchParams({ search }).toString()}`)).body.total, search).toBe(1)
    expect((await admin.call('GET', `${path}?search=season2`)).body.total).toBe(0)
  })

  test('§6 neither a guest nor a user nor a bot can see or change anything', async () => {
    const { app, admin } = await opening()
    const id = await add(admin)
    for (const [client, status] of [
      [app.guest, 401],
      [await app.signUp('user'), 403],
      [await app.bot(), 403],
    ] as const) {
      for (const [method, at, body] of [
        ['GET', path],
        ['GET', `${path}/${id}`],
        ['POST', path, input],
        ['PUT', `${path}/${id}`, input],
        ['DELETE', `${path}/${id}`],
      ] as const) {
        const answer = await client.call(method, at, body)
        expect(answer.status).toBe(status)
        expect(JSON.stringify(answer.body)).not.toContain('Follow us')
      }
    }
    expect((await admin.call('GET', path)).body.tasks).toHaveLength(1)
  })

  test('§2 the whole list is sorted by priority, 50 a page, each task with its participants', async () => {
    const { app, admin } = await opening()
    const numbers = Array.from({ length: 60 }, (_, index) => ((index * 37) % 60) + 1)
    await app.database.db
      .insertInto('tasks')
      .values(numbers.map((n) => ({ collection, id: `t${n}`, image: type, priority: n / 2, title: `Task ${n}`, reward: n })))
      .execute()
    await addCount(app.database, { of: 'participants', kind: collection, itemId: 't51' }, 7)
    const first = (await admin.call('GET', path)).body
    expect(first).toMatchObject({ page: 1, pageSize: 50, pageCount: 2, total: 60 })
    expect(first.tasks.map((task: { title: string }) => task.title)).toEqual(
      Array.from({ length: 50 }, (_, index) => `Task ${index + 1}`),
    )
    const last = (await admin.call('GET', `${path}?page=2`)).body
    expect(last.tasks).toHaveLength(10)
    expect(last.tasks[0]).toMatchObject({
      id: 't51',
      priority: 25.5,
      type,
      title: 'Task 51',
      link: null,
      reward: 51,
      numberOfParticipants: 7,
      version: 1,
    })
    expect(last.tasks[1].numberOfParticipants).toBe(0)
    expect((await admin.call('GET', `${path}?page=3`)).body).toMatchObject({ tasks: [], page: 3, pageCount: 2 })
  })

  test('§8 No tasks found!', async () => {
    const { admin } = await opening()
    expect((await admin.call('GET', path)).body).toEqual({
      tasks: [],
      message: 'No tasks found!',
      page: 1,
      pageSize: 50,
      pageCount: 1,
      total: 0,
    })
  })

  test('§8 Error fetching tasks!, Internal Server Error!: the cause is only logged', async () => {
    const { app, admin } = await opening()
    const { schema } = app.database.db
    await schema.alterTable('tasks').renameTo('tasks_away').execute()
    const broken = { list: await admin.call('GET', path), create: await admin.call('POST', path, input) }
    await schema.alterTable('tasks_away').renameTo('tasks').execute()
    expect(broken.list).toMatchObject({
      status: 500,
      body: { success: false, message: 'Error fetching tasks!', code: 'FETCH_TASKS_FAILED' },
    })
    expect(broken.create).toMatchObject({
      status: 500,
      body: { success: false, message: 'Internal Server Error!', code: 'CREATE_TASK_FAILED' },
    })
    expect(JSON.stringify(broken)).not.toContain('relation')
  })

  test('§3 create, get, update, delete; the history document follows changes and stays', async () => {
    const { app, admin } = await opening()
    const id = await add(admin, { type })
    expect((await admin.call('GET', `${path}/${id}`)).body).toMatchObject({
      ...input,
      id,
      type,
      numberOfParticipants: 0,
      version: 1,
    })
    expect((await admin.call('GET', `${other}/${id}`)).body.code).toBe('NO_SUCH_TASK')
    const changed = { priority: 2, type: 'moreLink', title: ' Visit us ', link: '', reward: 0.1, version: 1 }
    expect((await admin.call('PUT', `${other}/${id}`, { ...changed, type: 'twitter' })).status).toBe(404)
    expect((await admin.call('PUT', `${path}/${id}`, changed)).body).toEqual({ success: true })
    expect((await admin.call('GET', `${path}/${id}`)).body).toMatchObject({
      ...changed,
      title: 'Visit us',
      link: null,
      version: 2,
    })
    expect((await admin.call('DELETE', `${path}/${id}`)).body).toEqual({ success: true })
    expect((await admin.call('GET', `${path}/${id}`)).status).toBe(404)
    expect(await admin.call('DELETE', `${path}/${id}`)).toMatchObject({ status: 404, body: { code: 'NO_SUCH_TASK' } })
    expect(await history(app, collection, id)).toMatchObject([{ title: 'Visit us', type: 'moreLink', link: null, reward: 0.1 }])
    expect(await actions(app, id)).toEqual(['create', 'update', 'remove'].map((act) => `task.${act} by ${admin.id}`))
  })

  const refusals: [changes: object, fields: Record<string, string>][] = [
    [{ priority: '' }, { priority: 'Priority is required' }],
    [{ priority: undefined }, { priority: 'Priority is required' }],
    [{ priority: '7' }, { priority: 'Priority must be a number' }],
    [{ priority: 2 ** 54 }, { priority: 'Priority must be between -9007199254740992 and 9007199254740992' }],
    [{ type: '' }, { type: 'Type is required' }],
    [{ type: undefined }, { type: 'Type is required' }],
    [{ title: '  ' }, { title: 'Title is required' }],
    [{ title: undefined }, { title: 'Title is required' }],
    [{ title: 'x'.repeat(201) }, { title: 'Title must be at most 200 characters' }],
    [{ reward: null }, { reward: 'Reward is required' }],
    [{ reward: undefined }, { reward: 'Reward is required' }],
    [{ reward: '7' }, { reward: 'Reward must be a number' }],
    [{ reward: -0.01 }, { reward: 'Reward must be 0 or more' }],
    [{ reward: 2 ** 54 }, { reward: 'Reward must be at most 9007199254740992' }],
    ...[
      'nonsense',
      'javascript:alert(1)',
      'data:text/html,x',
      'ftp://x.org',
      'https://',
      'http:x.org',
      'https://a b.org',
      'https://x.org/\n'.repeat(2),
      '//x.org',
    ].map((link): [object, Record<string, string>] => [{ link }, { link: 'Invalid URL format' }]),
  ]
  test.each(refusals)('§5 %o is refused on create and update', async (changes, fields) => {
    const { admin } = await opening()
    const id = await add(admin)
    for (const [method, at] of [
      ['POST', path],
      ['PUT', `${path}/${id}`],
    ] as const) {
      const answer = await admin.call(method, at, { ...input, priority: 2, ...changes })
      expect(answer).toMatchObject({ status: 400, body: { success: false, message: Object.values(fields)[0], fields } })
    }
  })

  test('§5 a type of the other collection is refused', async () => {
    const { admin } = await opening()
    expect((await admin.call('POST', path, { ...input, type: foreignType })).body.fields).toEqual({ type: 'Type is required' })
  })

  test('§3 numbers are exact up to 2^53', async () => {
    const { admin } = await opening()
    for (const n of [0, -3, 0.1, 1e-7, 123456789.123456, 2 ** 53, -(2 ** 53)]) {
      const id = await add(admin, { priority: n, reward: Math.abs(n) })
      expect((await admin.call('GET', `${path}/${id}`)).body).toMatchObject({ priority: n, reward: Math.abs(n) })
    }
  })

  test('§5 Priority is already taken! only in the same collection; on update not for the task itself', async () => {
    const { admin } = await opening()
    const [first, second] = [await add(admin, { priority: 1 }), await add(admin, { priority: 2 })]
    const taken = { status: 409, body: { success: false, message: 'Priority is already taken!', code: 'PRIORITY_TAKEN' } }
    expect(await admin.call('POST', path, { ...input, priority: 1 })).toMatchObject(taken)
    expect(await admin.call('PUT', `${path}/${second}`, { ...input, priority: 1 })).toMatchObject(taken)
    expect((await admin.call('PUT', `${path}/${first}`, { ...input, priority: 1, title: 'Same priority' })).status).toBe(200)
    expect((await admin.call('POST', other, { ...input, priority: 1 })).status).toBe(200)
    expect((await admin.call('GET', path)).body.total).toBe(2)
  })

  test('§5 exactly one of 20 simultaneous creations with one priority succeeds', async () => {
    const { app, admin } = await opening()
    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, n) => admin.call('POST', path, { ...input, title: `Task ${n}` })),
    )
    expect(statuses(answers)).toEqual([200, ...Array<number>(19).fill(409)])
    expect(answers.filter(({ body }) => body.code === 'PRIORITY_TAKEN')).toHaveLength(19)
    expect((await admin.call('GET', path)).body.total).toBe(1)
    expect(await app.database.db.selectFrom('history_items').select('item_id').execute()).toHaveLength(1)
  })

  test('§5 exactly one of two tasks that move to one priority at once gets it', async () => {
    const { admin } = await opening()
    const ids = [await add(admin, { priority: 1 }), await add(admin, { priority: 2 })]
    const answers = await Promise.all(ids.map((id) => admin.call('PUT', `${path}/${id}`, { ...input, priority: 3 })))
    expect(statuses(answers)).toEqual([200, 409])
  })

  test('a stale save gets 409 and changes nothing; exactly one of several simultaneous saves of one version succeeds', async () => {
    const { app, admin } = await opening()
    const id = await add(admin)
    const save = (title: string) => admin.call('PUT', `${path}/${id}`, { ...input, title, version: 1 })
    const answers = await Promise.all(Array.from({ length: 8 }, (_, n) => save(`Save ${n}`)))
    expect(statuses(answers)).toEqual([200, ...Array<number>(7).fill(409)])
    expect(answers.find(({ status }) => status === 409)?.body.code).toBe('STALE')
    const { body } = await admin.call('GET', `${path}/${id}`)
    expect(body).toMatchObject({ version: 2, title: `Save ${answers.findIndex(({ status }) => status === 200)}` })
    expect(await history(app, collection, id)).toMatchObject([{ title: body.title }])
  })

  test('unknown fields are refused', async () => {
    const { admin } = await opening()
    for (const extra of [{ id: 'mine' }, { createdAt: '2020-01-01' }, { numberOfParticipants: 5 }, { collection: 'x' }]) {
      expect((await admin.call('POST', path, { ...input, ...extra })).status).toBe(400)
    }
  })
})

describe('social tasks', () => {
  test.each(['email', 'bsc'])('§5 a task of the type %s has no link, also after an update', async (type) => {
    const app = await testApp()
    const admin = await app.signUp('admin')
    const { id } = (await admin.call('POST', '/api/social-tasks', { ...input, type })).body
    expect((await admin.call('GET', `/api/social-tasks/${id}`)).body).toMatchObject({ type, link: null })
    await admin.call('PUT', `/api/social-tasks/${id}`, { ...input, type: 'twitter' })
    expect((await admin.call('GET', `/api/social-tasks/${id}`)).body.link).toBe(input.link)
    await admin.call('PUT', `/api/social-tasks/${id}`, { ...input, type })
    expect((await admin.call('GET', `/api/social-tasks/${id}`)).body.link).toBeNull()
    expect(await history(app, 'social', id)).toMatchObject([{ type, link: null }])
  })
})
