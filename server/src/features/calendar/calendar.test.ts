import { expect, test } from 'vitest'
import { sql } from 'kysely'
import { MAX_CALENDAR_ITEMS, type CalendarBroadcast, type CalendarItem } from '@arcade/contract/calendar/calls'
import { type Client, type TestApp, testApp } from '#test/test-app.ts'

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

interface Sent {
  id: string
  state: string
  made?: string
  send?: string
  started?: string
  ends?: string
  done?: string
}

/** Adds broadcasts to the database. None of them is sent, because no background task runs. */
async function addBroadcasts({ database }: TestApp, broadcasts: readonly Sent[]): Promise<void> {
  for (const [number, { id, state, made = '2039-01-01T00:00Z', send, started, ends, done }] of broadcasts.entries())
    await sql`insert into broadcasts (id, number, announcement_id, title, filter, state, made_at, send_at, started_at, ends_at, done_at)
      values (${id}, ${number + 1}, 'a', ${`Title of ${id}`}, '{}', ${state}, ${made}::timestamptz, ${send ?? null}::timestamptz,
              ${started ?? null}::timestamptz, ${ends ?? null}::timestamptz, ${done ?? null}::timestamptz)`.execute(database.db)
}

async function broadcastsFor(person: Client, from: string, to: string): Promise<CalendarBroadcast[]> {
  const { status, body } = await person.call('GET', `/api/calendar?from=${from}&to=${to}`)
  expect(status).toBe(200)
  return body.broadcasts as CalendarBroadcast[]
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
    select 'social', 'task ' || n, 'twitter', n, 'Task', 5, '2040-01-01' from generate_series(0, ${MAX_CALENDAR_ITEMS}) as n`.execute(
    app.database.db,
  )
  const admin = await app.signUp('admin')
  const { body } = await admin.call('GET', '/api/calendar?from=2039-12-01T00:00:00Z&to=2040-01-01T00:00:00Z')
  expect([body.items.length, body.isMore]).toEqual([MAX_CALENDAR_ITEMS, true])
})

test('a span may lie in any year', async () => {
  const app = await testApp()
  for (const [from, to] of [
    ['0000-01-01T00:00:00+14:00', '0000-12-01T00:00:00Z'],
    ['9999-12-01T00:00:00Z', '9999-12-31T23:59:59-12:00'],
  ] as const)
    expect(await listed(app, from, to)).toEqual([])
})

test('broadcasts are in the calendar from their beginning to their end, also at its borders, each with its state', async () => {
  const app = await testApp()
  await addBroadcasts(app, [
    { id: 'before', state: 'done', started: '2040-03-30T00:00Z', done: '2040-04-01T00:00Z' },
    { id: 'into', state: 'done', started: '2040-03-30T00:00Z', done: '2040-04-01T00:00:00.001Z' },
    { id: 'at the first moment', state: 'scheduled', send: '2040-04-01T00:00Z' },
    { id: 'cancelled before it began', state: 'cancelled', send: '2040-04-02T00:00Z', done: '2040-03-02T00:00Z' },
    { id: 'cancelled amid', state: 'cancelled', started: '2040-04-02T00:00Z', done: '2040-04-02T01:00Z' },
    {
      id: 'later than planned',
      state: 'done',
      send: '2040-03-03T00:00Z',
      started: '2040-04-03T00:00Z',
      done: '2040-05-04T00:00Z',
    },
    { id: 'with an end', state: 'scheduled', send: '2040-04-04T00:00Z', ends: '2040-04-05T00:00Z' },
    { id: 'made without a time', state: 'scheduled', made: '2040-04-05T00:00Z' },
    { id: 'at the last moment', state: 'scheduled', send: '2040-04-30T23:59:59.999Z' },
    { id: 'after', state: 'scheduled', send: '2040-05-01T00:00Z' },
  ])
  const found = await broadcastsFor(await app.signUp('analyst'), '2040-04-01T00:00:00Z', '2040-05-01T00:00:00Z')
  expect(
    found.map(({ id, state, startsAt, endsAt }) => [id, state, startsAt.slice(5, 10), endsAt?.slice(5, 10) ?? null]),
  ).toEqual([
    ['into', 'done', '03-30', '04-01'],
    ['at the first moment', 'scheduled', '04-01', null],
    ['cancelled amid', 'cancelled', '04-02', '04-02'],
    ['later than planned', 'done', '04-03', '05-04'],
    ['with an end', 'scheduled', '04-04', '04-05'],
    ['made without a time', 'scheduled', '04-05', null],
    ['at the last moment', 'scheduled', '04-30', null],
  ])
  expect(found[0]).toEqual({
    id: 'into',
    title: 'Title of into',
    startsAt: '2040-03-30T00:00:00.000Z',
    endsAt: '2040-04-01T00:00:00.001Z',
    state: 'done',
  })
})

test('a broadcast that is being sent goes on until now; it waits while Telegram asks to', async () => {
  const app = await testApp()
  const admin = await app.signUp('admin')
  await addBroadcasts(app, [{ id: 'long', state: 'sending', started: '2020-01-01T00:00Z' }])
  const day = 24 * 60 * 60 * 1000
  const around = (days: number) =>
    broadcastsFor(admin, new Date(Date.now() + (days - 1) * day).toISOString(), new Date(Date.now() + days * day).toISOString())
  expect(await around(0.5)).toMatchObject([{ id: 'long', state: 'sending', endsAt: null }])
  expect(await around(2)).toEqual([])
  await sql`insert into telegram_pace (waiting_until, waiting_since, reason)
    values (now() + interval '1 hour', now(), 'telegram')`.execute(app.database.db)
  expect(await around(0.5)).toMatchObject([{ state: 'waiting' }])
  await sql`update broadcasts set is_paused = true`.execute(app.database.db)
  expect(await around(0.5)).toMatchObject([{ state: 'paused' }])
})
