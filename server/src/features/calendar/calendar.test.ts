import { expect, test } from 'vitest'
import { sql } from 'kysely'
import { CALENDAR_MAX_ITEMS, type CalendarItem } from '@arcade/contract/calendar/calls'
import { type TestApp, testApp } from '#test/test-app.ts'

interface Item {
  id: string
  starts?: string | null
  ends?: string | null
}

async function addAnnouncement({ database }: TestApp, { id, starts = null, ends = null }: Item, status = false): Promise<void> {
  await sql`insert into announcements (id, type, title, subtitle, reward, status, starts_at, ends_at, start_pending)
    values (${id}, 'desc', ${`Title of ${id}`}, 'Sub', 5, ${status}, ${starts}::timestamptz, ${ends}::timestamptz,
            coalesce(${starts}::timestamptz > now(), false))`.execute(database.db)
}

async function addTask({ database }: TestApp, { id, starts = null, ends = null }: Item, more = { paused: false }): Promise<void> {
  await sql`insert into tasks (collection, id, image, priority, title, reward, starts_at, ends_at, paused)
    values (${id.startsWith('daily') ? 'daily' : 'social'}, ${id}, 'twitter', (select count(*) from tasks), ${`Title of ${id}`}, 5,
            ${starts}::timestamptz, ${ends}::timestamptz, ${more.paused})`.execute(database.db)
}

async function listed(app: TestApp, from: string, to: string): Promise<CalendarItem[]> {
  const admin = await app.signUp('admin')
  const { status, body } = await admin.call('GET', `/api/calendar?from=${encodeURIComponent(from)}&to=${encodeURIComponent(to)}`)
  expect(status).toBe(200)
  expect(body.isMore).toBe(false)
  return body.items as CalendarItem[]
}

const idsOf = (items: readonly CalendarItem[]) => items.map(({ id }) => id)

test('the calendar has the items that can be claimed at some time of the span, and none without dates', async () => {
  const app = await testApp()
  await addTask(app, { id: 'undated' })
  await addAnnouncement(app, { id: 'undated-news' })
  await addTask(app, { id: 'before', starts: '2040-03-01T00:00Z', ends: '2040-04-01T00:00Z' })
  await addTask(app, { id: 'into', starts: '2040-03-01T00:00Z', ends: '2040-04-01T00:00:00.001Z' })
  await addAnnouncement(app, { id: 'within', starts: '2040-04-10T18:00Z', ends: '2040-04-12T20:00Z' })
  await addTask(app, { id: 'daily-around', starts: '2040-01-01T00:00Z', ends: '2041-01-01T00:00Z' })
  await addTask(app, { id: 'on', starts: '2040-04-30T23:59:59.999Z' })
  await addTask(app, { id: 'after', starts: '2040-05-01T00:00Z', ends: '2040-06-01T00:00Z' })
  await addAnnouncement(app, { id: 'until', ends: '2040-04-02T00:00Z' })
  const items = await listed(app, '2040-04-01T00:00:00Z', '2040-05-01T00:00:00Z')
  expect(idsOf(items)).toEqual(['until', 'daily-around', 'into', 'within', 'on'])
  expect(items[3]).toEqual({
    kind: 'announcement',
    id: 'within',
    title: 'Title of within',
    startsAt: '2040-04-10T18:00:00.000Z',
    endsAt: '2040-04-12T20:00:00.000Z',
    state: 'scheduled',
    status: false,
    version: 1,
  })
  expect(items[1]).toMatchObject({ kind: 'daily', status: null })
  expect(items[0]).toMatchObject({ startsAt: null, endsAt: '2040-04-02T00:00:00.000Z', state: 'draft' })
})

test('each item has its state', async () => {
  const app = await testApp()
  await addTask(app, { id: 'live', starts: '2020-01-01T00:00Z' })
  await addTask(app, { id: 'paused', starts: '2020-01-02T00:00Z' }, { paused: true })
  await addTask(app, { id: 'scheduled', starts: '2050-01-03T00:00Z' })
  await addTask(app, { id: 'ended', starts: '2020-01-04T00:00Z', ends: '2020-01-05T00:00Z' })
  await addAnnouncement(app, { id: 'live-news', starts: '2020-01-06T00:00Z' }, true)
  const states = [...(await listed(app, '2020-01-01T00:00:00Z', '2020-12-31T00:00:00Z'))].map(({ id, state }) => [id, state])
  expect(states).toEqual([
    ['live', 'live'],
    ['paused', 'paused'],
    ['ended', 'ended'],
    ['live-news', 'live'],
  ])
  expect(await listed(app, '2050-01-01T00:00:00+02:00', '2050-02-01T00:00:00+02:00')).toMatchObject([
    { id: 'live', state: 'live' },
    { id: 'paused' },
    { id: 'live-news' },
    { id: 'scheduled', state: 'scheduled' },
  ])
})

test('a span is refused that ends before it begins, or is longer than a year', async () => {
  const app = await testApp()
  const admin = await app.signUp('admin')
  for (const [from, to] of [
    ['2026-05-01T00:00:00Z', '2026-05-01T00:00:00Z'],
    ['2026-05-01T00:00:00Z', '2027-05-03T00:00:00Z'],
    ['2026-05-01', '2026-05-03'],
  ] as const) {
    const { status, body } = await admin.call(
      'GET',
      `/api/calendar?from=${encodeURIComponent(from)}&to=${encodeURIComponent(to)}`,
    )
    expect([status, body.code]).toEqual([400, 'INVALID_INPUT'])
  }
})

test('more items than one answer has are told', async () => {
  const app = await testApp()
  await sql`insert into tasks (collection, id, image, priority, title, reward, ends_at)
    select 'social', 'task ' || n, 'twitter', n, 'Task', 5, '2040-01-01' from generate_series(0, ${CALENDAR_MAX_ITEMS}) as n`.execute(
    app.database.db,
  )
  const admin = await app.signUp('admin')
  const { body } = await admin.call('GET', '/api/calendar?from=2039-12-01T00:00:00Z&to=2040-01-01T00:00:00Z')
  expect([body.items.length, body.isMore]).toEqual([CALENDAR_MAX_ITEMS, true])
})

test('a span may lie in any year', async () => {
  const app = await testApp()
  for (const [from, to] of [
    ['0000-01-01T00:00:00+14:00', '0000-12-01T00:00:00Z'],
    ['9999-12-01T00:00:00Z', '9999-12-31T23:59:59-12:00'],
  ] as const)
    expect(await listed(app, from, to)).toEqual([])
})
