/** When, for whom and how often a task can be claimed (design §7): forms, lists, bulk acts, versions, trash and copies. */
import { describe, expect, test } from 'vitest'
import { addCount } from '#test/activity.ts'
import { auditTrail } from '#test/audit-trail.ts'
import { type Client, type TestApp, testApp } from '#test/test-app.ts'

const path = '/api/social-tasks'
const input = { priority: 1, type: 'twitter', title: 'Follow us', link: 'https://x.com/arcade', reward: 10 }
const HOUR_MS = 3_600_000
const hours = (n: number) => new Date(Date.now() + n * HOUR_MS).toISOString()

async function opening() {
  const app = await testApp()
  return { app, admin: await app.signUp('admin') }
}

async function add(admin: Client, changes: object = {}): Promise<string> {
  const answer = await admin.call('POST', path, { ...input, ...changes })
  expect(answer, JSON.stringify(answer.body)).toMatchObject({ status: 200 })
  return answer.body.id
}

const get = async (admin: Client, id: string) => (await admin.call('GET', `${path}/${id}`)).body
const update = (admin: Client, id: string, changes: object) => admin.call('PUT', `${path}/${id}`, { ...input, ...changes })
const marks = ({ database: { db } }: TestApp, id: string) =>
  db.selectFrom('tasks').select(['start_pending', 'end_pending']).where('id', '=', id).executeTakeFirstOrThrow()
const titles = async (admin: Client, query: string): Promise<string[]> =>
  (await admin.call('GET', `${path}?${query}`)).body.tasks.map(({ title }: { title: string }) => title)

async function addSegment(admin: Client, changes: object = {}): Promise<string> {
  const view = { list: 'telegramUsers', name: 'With a wallet', address: 'wallet=ton', isShared: true, ...changes }
  const answer = await admin.call('POST', '/api/views', view)
  expect(answer.status, JSON.stringify(answer.body)).toBe(200)
  return answer.body.id
}

describe('saving', () => {
  test('design §7 dates, limits, segment and pause are saved; what an update leaves out stays, and null clears it', async () => {
    const { app, admin } = await opening()
    const segmentId = await addSegment(admin)
    const [startsAt, endsAt] = [hours(1), hours(2)]
    const all = { startsAt, endsAt, maxParticipants: 5, dailyBudget: 20.5, segmentId, paused: true }
    const id = await add(admin, all)
    expect(await get(admin, id)).toMatchObject({ ...all, state: 'paused' })
    expect(await marks(app, id)).toEqual({ start_pending: true, end_pending: true })
    expect((await update(admin, id, { title: 'New' })).status).toBe(200)
    expect(await get(admin, id)).toMatchObject({ ...all, title: 'New', version: 2 })
    const none = { startsAt: null, endsAt: null, maxParticipants: null, dailyBudget: null, segmentId: null }
    expect((await update(admin, id, { ...none, paused: false })).status).toBe(200)
    expect(await get(admin, id)).toMatchObject({ ...none, paused: false, state: 'live' })
    expect(await marks(app, id)).toEqual({ start_pending: false, end_pending: false })
    const [, , cleared] = await auditTrail(app.database.db).then((trail) => trail.filter(({ recordId }) => recordId === id))
    expect(cleared?.changes).toMatchObject({ startsAt: [startsAt, null], segmentId: [segmentId, null], paused: [true, false] })
  })

  test('design §7 a task without any of this is as before', async () => {
    const { app, admin } = await opening()
    const id = await add(admin)
    const none = { startsAt: null, endsAt: null, maxParticipants: null, dailyBudget: null, segmentId: null }
    expect(await get(admin, id)).toMatchObject({ ...none, paused: false, state: 'live' })
    const [created] = await auditTrail(app.database.db, 'task.create')
    expect(Object.keys(created?.changes ?? {}).toSorted()).toEqual([
      'link',
      'paused',
      'priority',
      'reward',
      'title',
      'type',
      'verifiedByBot',
    ])
  })

  test('design §7 a date that is saved unchanged does not take effect again, a new one does', async () => {
    const { app, admin } = await opening()
    const startsAt = hours(-1)
    const id = await add(admin, { startsAt, endsAt: hours(1) })
    expect(await marks(app, id)).toEqual({ start_pending: true, end_pending: true })
    await app.database.db.updateTable('tasks').set({ start_pending: false }).execute() // as the scheduler does
    for (const same of [{}, { startsAt }, { startsAt: startsAt.replace('Z', '+00:00') }, { startsAt, endsAt: hours(3) }]) {
      expect((await update(admin, id, same)).status).toBe(200)
      expect(await marks(app, id)).toEqual({ start_pending: false, end_pending: true })
    }
    expect((await update(admin, id, { startsAt: hours(-2) })).status).toBe(200)
    expect(await marks(app, id)).toEqual({ start_pending: true, end_pending: true })
  })

  test('design §7 the values together must make sense, also those that an update leaves out', async () => {
    const { app, admin } = await opening()
    const id = await add(admin, { startsAt: hours(5), dailyBudget: 100 })
    const messageOf = async (changes: object) => {
      const { status, body } = await update(admin, id, changes)
      expect([status, body.code]).toEqual([400, 'INVALID_INPUT'])
      return body.fields
    }
    expect(await messageOf({ endsAt: hours(4) })).toEqual({ endsAt: 'Ends At must be after Starts At' })
    expect(await messageOf({ startsAt: null, endsAt: hours(-1) })).toEqual({ endsAt: 'Ends At must be in the future' })
    expect(await messageOf({ reward: 101 })).toEqual({ dailyBudget: 'Daily Budget must be at least the reward' })
    const segment = { segmentId: 'Choose a shared view of Telegram Users' }
    expect(await messageOf({ segmentId: 'none' })).toEqual(segment)
    expect(await messageOf({ segmentId: await addSegment(admin, { isShared: false }) })).toEqual(segment)
    expect(await messageOf({ segmentId: await addSegment(admin, { list: 'users', address: 'q=a' }) })).toEqual(segment)
    expect((await get(admin, id)).version).toBe(1)
    // An end that has passed may stay.
    await app.database.db
      .updateTable('tasks')
      .set({ starts_at: null, ends_at: hours(-1) })
      .execute()
    expect((await update(admin, id, { title: 'Still over' })).status).toBe(200)
    expect((await get(admin, id)).state).toBe('ended')
  })

  test('design §7 a segment of an item cannot be deleted by another request', async () => {
    const { app, admin } = await opening()
    const segmentId = await addSegment(admin)
    await add(admin, { segmentId })
    await expect(app.database.db.deleteFrom('saved_views').execute()).rejects.toThrow('tasks_segment_id_fkey')
  })

  test('design §7 a changed limit is counted anew', async () => {
    const { app, admin } = await opening()
    const { db } = app.database
    const id = await add(admin, { maxParticipants: 5, dailyBudget: 50 })
    const bucket = { kind: 'social' as const, quota: 'places' as const, bucket: 0, remaining: 5 }
    const other = { ...bucket, item_id: 'other' }
    const fill = () =>
      db
        .insertInto('item_quotas')
        .values({ ...bucket, item_id: id })
        .execute()
    await db.insertInto('item_quotas').values(other).execute()
    await fill()
    await update(admin, id, { title: 'Same limits' })
    expect(await db.selectFrom('item_quotas').select('item_id').execute()).toHaveLength(2)
    for (const changes of [{ maxParticipants: 6 }, { dailyBudget: 60 }, { reward: 20 }]) {
      await update(admin, id, changes)
      expect(await db.selectFrom('item_quotas').select('item_id').execute()).toEqual([{ item_id: 'other' }])
      await fill()
    }
    await addCount(app.database, { of: 'participants', kind: 'social', itemId: id }, 4)
    await update(admin, id, { maxParticipants: 4 })
    expect((await get(admin, id)).state).toBe('full')
    await update(admin, id, { maxParticipants: 5 })
    expect((await get(admin, id)).state).toBe('live')
  })
})

describe('Lists', () => {
  test('Lists: tasks by state, in pages, searches, counts and exports', async () => {
    const { app, admin } = await opening()
    await add(admin, { title: 'live', priority: 1 })
    await add(admin, { title: 'scheduled', priority: 2, startsAt: hours(1) })
    await add(admin, { title: 'paused', priority: 3, paused: true })
    await add(admin, { title: 'full', priority: 4, maxParticipants: 1 })
    await add(admin, { title: 'ended', priority: 5, endsAt: hours(1) })
    await app.database.db.updateTable('tasks').set({ full_at: new Date() }).where('title', '=', 'full').execute()
    await app.database.db
      .updateTable('tasks')
      .set({ ends_at: hours(-1) })
      .where('title', '=', 'ended')
      .execute()
    for (const state of ['live', 'scheduled', 'paused', 'full', 'ended']) {
      expect(await titles(admin, `state=${state}`)).toEqual([state])
      expect(await titles(admin, `state=${state}&search=${state}&sort=title&reversed=true`)).toEqual([state])
      expect((await admin.call('GET', `${path}?state=${state}`)).body.total).toBe(1)
    }
    expect((await admin.call('GET', `${path}?state=draft`)).status).toBe(400)
    const target = { filter: { state: 'paused' } }
    const sheet = await app.fetch('/api/exports', {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...admin.headers },
      body: JSON.stringify({ list: 'socialTasks', target, format: 'csv' }),
    })
    const text = await sheet.text()
    expect(text).toContain('Starts At (UTC),Ends At (UTC),Most Participants,Daily Budget,Segment ID,State,Paused')
    expect(text.trimEnd().split('\r\n')).toHaveLength(2)
    expect(text).toContain('Paused,Yes')
    expect((await admin.call('POST', `${path}/remove`, { target, expected: 1 })).body).toMatchObject({ affected: 1 })
  })
})

describe('Bulk', () => {
  const undo = async (admin: Client, { headers }: { headers: Headers }) =>
    (await admin.call('POST', `/api/acts/${headers.get('x-request-id')}/undo`, {})).body

  test('Bulk: dates still to come are moved by days of the zone, passed ones stay', async () => {
    const { app, admin } = await opening()
    // In Berlin the clocks go forward on 30 March 2098 and back on 26 October 2098.
    const id = await add(admin, { priority: 1, startsAt: '2098-03-29T17:00:00.000Z', endsAt: '2098-03-31T16:00:00.000Z' })
    const begun = await add(admin, { priority: 2, title: 'Begun', startsAt: hours(-1), endsAt: hours(48) })
    const none = await add(admin, { priority: 3, title: 'None' })
    await app.database.db.updateTable('tasks').set({ start_pending: false }).where('id', '=', begun).execute()
    const { startsAt: begunAt, endsAt: endingAt } = await get(admin, begun)
    const shift = (body: object) => admin.call('POST', `${path}/shift`, { target: { filter: {} }, ...body })
    const dryRun = await shift({ days: 2, zone: 'Europe/Berlin', dryRun: true })
    expect(dryRun.body).toMatchObject({
      affected: 2,
      refused: 1,
      refusals: [{ id: none, title: 'None', reason: 'It has no start or end to come.' }],
    })
    expect((await get(admin, id)).startsAt).toBe('2098-03-29T17:00:00.000Z')
    expect((await shift({ days: 2, zone: 'Europe/Berlin', expected: 3 })).body.code).toBe('STALE')
    const moved = await shift({ days: 2, zone: 'Europe/Berlin', expected: 2 })
    expect(moved.body).toMatchObject({ affected: 2 })
    // 18:00 in Berlin stays 18:00.
    expect(await get(admin, id)).toMatchObject({
      startsAt: '2098-03-31T16:00:00.000Z',
      endsAt: '2098-04-02T16:00:00.000Z',
      version: 2,
    })
    expect((await get(admin, begun)).startsAt).toBe(begunAt)
    expect(Date.parse((await get(admin, begun)).endsAt)).toBe(Date.parse(endingAt) + 48 * HOUR_MS)
    expect((await shift({ days: -10 })).body).toMatchObject({ affected: 1, refused: 2 })
    expect((await auditTrail(app.database.db, 'task.schedule')).map(({ changes }) => Object.keys(changes ?? {}))).toContainEqual([
      'endsAt',
    ])
    const refused = await undo(admin, moved)
    expect(refused.code, 'the second act has changed one of them').toBe('CHANGED_SINCE')
  })

  test.each([
    // In Berlin 2:30 does not exist on 30 March 2098, and comes twice on 26 October 2098.
    [
      'forward',
      '2098-03-29T01:30:00.000Z',
      '2098-03-29T02:10:00.000Z',
      1,
      'The clocks change then, so it would end before it starts.',
    ],
    [
      'back',
      '2098-10-26T00:50:00.000Z',
      '2098-10-26T01:10:00.000Z',
      1,
      'The clocks change then, so it would end before it starts.',
    ],
    ['too far', '2098-01-01T00:00:00.000Z', '2099-01-01T00:00:00.000Z', 400, 'It would start or end after 2099.'],
  ])('Bulk: dates that could not be saved are not moved: %s', async (_name, startsAt, endsAt, days, reason) => {
    const { admin } = await opening()
    const id = await add(admin, { startsAt, endsAt })
    const shift = (body: object) => admin.call('POST', `${path}/shift`, { target: { ids: [id] }, ...body })
    expect((await shift({ days, zone: 'Europe/Berlin' })).body).toMatchObject({ affected: 0, refusals: [{ id, reason }] })
    expect(await get(admin, id)).toMatchObject({ startsAt, endsAt, version: 1 })
    expect((await shift({ minutes: 5 })).body).toMatchObject({ affected: 1 })
  })

  test('Bulk: tasks are ended now, and the act can be undone', async () => {
    const { app, admin } = await opening()
    const startsAt = hours(1)
    const live = await add(admin, { priority: 1 })
    const later = await add(admin, { priority: 2, startsAt, endsAt: hours(2) })
    const over = await add(admin, { priority: 3, endsAt: hours(1) })
    await app.database.db
      .updateTable('tasks')
      .set({ ends_at: hours(-1) })
      .where('id', '=', over)
      .execute()
    const before = [await get(admin, live), await get(admin, later), await get(admin, over)]
    const ended = await admin.call('POST', `${path}/end`, { target: { ids: [live, later, over] }, expected: 2 })
    expect(ended.body).toMatchObject({ affected: 2 })
    for (const id of [live, later]) expect(await get(admin, id)).toMatchObject({ state: 'ended', startsAt: null, version: 2 })
    expect(await marks(app, later)).toEqual({ start_pending: false, end_pending: false })
    expect((await get(admin, over)).version).toBe(1)
    expect(await undo(admin, ended)).toMatchObject({ affected: 2 })
    expect([await get(admin, live), await get(admin, later), await get(admin, over)]).toEqual(
      before.map((task) => ({ ...task, version: task.id === over ? 1 : 3 })),
    )
    expect(await marks(app, later)).toEqual({ start_pending: true, end_pending: true })
  })

  test('Bulk: tasks are paused and go on, those that are so already stay, and the act can be undone', async () => {
    const { app, admin } = await opening()
    const one = await add(admin, { priority: 1 })
    const other = await add(admin, { priority: 2, paused: true })
    const pause = (paused: boolean, more: object = {}) =>
      admin.call('POST', `${path}/pause`, { target: { filter: { type: 'twitter' } }, paused, ...more })
    expect((await pause(true, { dryRun: true })).body).toMatchObject({ affected: 1, named: [{ id: one }] })
    expect((await get(admin, one)).paused).toBe(false)
    const paused = await pause(true, { expected: 1 })
    expect([(await get(admin, one)).state, (await get(admin, other)).version]).toEqual(['paused', 1])
    expect(await undo(admin, paused)).toMatchObject({ affected: 1 })
    expect([(await get(admin, one)).state, (await get(admin, other)).state]).toEqual(['live', 'paused'])
    expect((await pause(false)).body).toMatchObject({ affected: 1, named: [{ id: other }] })
    const actions = (await auditTrail(app.database.db)).map(({ action }) => action)
    expect(actions.filter((action) => action.startsWith('task.') && action !== 'task.create')).toEqual([
      'task.pause',
      'task.resume',
      'task.resume',
    ])
  })
})

describe('versions, trash and copies', () => {
  test('design §7 an earlier version comes back with its dates, which take no effect if they have passed', async () => {
    const { app, admin } = await opening()
    const id = await add(admin, { startsAt: hours(1), endsAt: hours(2), maxParticipants: 3, paused: true })
    const first = await get(admin, id)
    await update(admin, id, { startsAt: null, endsAt: null, maxParticipants: null, paused: false })
    const [{ seq }] = (await admin.call('GET', `/api/audit?recordId=${id}`)).body.entries.slice(-1)
    const restore = (version: number) => admin.call('POST', `${path}/${id}/restore`, { id, seq, version })
    expect((await restore(2)).body).toMatchObject({ success: true })
    expect(await get(admin, id)).toEqual({ ...first, version: 3 })
    expect(await marks(app, id)).toEqual({ start_pending: true, end_pending: true })
  })

  test('§7 a task comes back from the trash with dates and limits; without its segment it is paused', async () => {
    const { app, admin } = await opening()
    const segmentId = await addSegment(admin)
    const kept = { startsAt: hours(1), endsAt: hours(2), maxParticipants: 3, dailyBudget: 30 }
    const id = await add(admin, { ...kept, segmentId })
    const past = await add(admin, { priority: 2, startsAt: hours(1) })
    await app.database.db
      .updateTable('tasks')
      .set({ starts_at: hours(-1) })
      .where('id', '=', past)
      .execute()
    const back = async (one: string) => {
      await admin.call('DELETE', `${path}/${one}`)
      const { records } = (await admin.call('GET', '/api/trash')).body
      const restored = await admin.call('POST', '/api/trash/restore-one', { id: records[0].id })
      expect(restored.status, JSON.stringify(restored.body)).toBe(200)
      return { ...(await get(admin, one)), pausedTasks: restored.body.pausedTasks }
    }
    expect(await back(id)).toMatchObject({ ...kept, segmentId, paused: false, state: 'scheduled', pausedTasks: 0 })
    expect(await marks(app, id)).toEqual({ start_pending: true, end_pending: true })
    expect(await back(past)).toMatchObject({ state: 'live' })
    expect(await marks(app, past)).toEqual({ start_pending: false, end_pending: false })
    await app.database.db.updateTable('saved_views').set({ private_to: admin.id }).execute()
    expect(await back(id)).toMatchObject({ segmentId: null, paused: true, pausedTasks: 1 })
  })

  test('design §7 a copy is paused, has the next free priority and no dates', async () => {
    const { app, admin } = await opening()
    const limits = { maxParticipants: 3, dailyBudget: 30, segmentId: await addSegment(admin) }
    const title = 'x'.repeat(200)
    const id = await add(admin, { ...limits, title, startsAt: hours(1), endsAt: hours(2), priority: 7.5, verifiedByBot: true })
    const key = { 'idempotency-key': 'one' }
    const answers = [1, 2].map(() => admin.call('POST', `${path}/${id}/duplicate`, {}, key))
    const [first, second] = await Promise.all(answers)
    expect(first!.body).toMatchObject({ success: true })
    expect(second!.body).toEqual(first!.body)
    expect(await get(admin, first!.body.id)).toMatchObject({
      ...limits,
      title: `${'x'.repeat(193)} (copy)`,
      link: input.link,
      verifiedByBot: true,
      startsAt: null,
      endsAt: null,
      paused: true,
      priority: 8,
      version: 1,
      state: 'paused',
    })
    const [, entry] = await auditTrail(app.database.db, 'task.create')
    expect(entry).toMatchObject({ recordId: first!.body.id, detail: { version: 1, duplicateOf: id } })
    expect((await admin.call('POST', `${path}/none/duplicate`, {})).body.code).toBe('NO_SUCH_TASK')
  })

  test('design §7 a copy is last, so none is made of tasks of which the last has the largest priority', async () => {
    const { admin } = await opening()
    const id = await add(admin, { priority: 2 ** 53 - 1 })
    const last = await admin.call('POST', `${path}/${id}/duplicate`, {})
    expect((await get(admin, last.body.id)).priority).toBe(2 ** 53)
    expect(await admin.call('POST', `${path}/${id}/duplicate`, {})).toMatchObject({
      status: 409,
      body: {
        code: 'PRIORITY_TAKEN',
        message: 'No priority is left for a copy: the last task has the largest. Give it another first.',
      },
    })
    expect((await admin.call('GET', path)).body.total).toBe(2)
  })
})
