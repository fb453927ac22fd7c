/** The schedule (design §7): each start and end happens once, in order, on one of several servers, whatever happens to the clock. */
import { sql } from 'kysely'
import { pino } from 'pino'
import { expect, onTestFinished, test } from 'vitest'
import { pauseScheduledWork, resumeScheduledWork } from '#src/db/scheduled-work.ts'
import { auditTrail } from '#test/audit-trail.ts'
import { waitFor } from '#test/processes.ts'
import { openAgain, testDatabase } from '#test/test-database.ts'
import { notifySchedule } from './schedule-notice.ts'
import { createSchedule } from './schedule.ts'

const database = await testDatabase()
const { db } = database
const log = pino({ level: 'silent' })

interface Dates {
  /** Intervals from now, such as `-1 minute`. */
  startsAt?: string
  endsAt?: string
  status?: boolean
}

const after = (interval: string | undefined) => sql<Date>`now() + ${interval ?? null}::interval`

async function addAnnouncement(id: string, { startsAt, endsAt, status = false }: Dates): Promise<void> {
  await sql`insert into announcements (id, type, title, subtitle, reward, status, starts_at, ends_at, start_pending, end_pending)
    values (${id}, 'desc', ${id}, '', 1, ${status}, ${after(startsAt)}, ${after(endsAt)}, ${startsAt !== undefined}, ${endsAt !== undefined})`.execute(
    db,
  )
}

async function addTask(id: string, { startsAt, endsAt }: Dates): Promise<void> {
  await sql`insert into tasks (collection, id, image, priority, title, reward, starts_at, ends_at, start_pending, end_pending)
    select 'social', ${id}, 'twitter', count(*), ${id}, 1, ${after(startsAt)}, ${after(endsAt)}, ${startsAt !== undefined}, ${endsAt !== undefined}
      from tasks`.execute(db)
}

/** Subscribes a webhook to all events of items. */
async function subscribe(): Promise<void> {
  await sql`insert into webhooks (id, url, events, secret)
    values ('w', 'https://bot.example/hook', '{announcement.activated,item.started,item.ended}', '\\x00')`.execute(db)
}

/** Returns the queued events with the ids of their items, in the order in which they were queued. */
async function events(): Promise<string[]> {
  const { rows } = await sql<{ text: string }>`
    select event || ' ' || (payload::jsonb #>> '{data,items,0,id}') as text from webhook_deliveries order by created_at, event`.execute(
    db,
  )
  return rows.map(({ text }) => text)
}

const announcements = async () =>
  (await db.selectFrom('announcements').select(['id', 'status', 'version', 'news']).orderBy('id').execute()).map(
    ({ id, status, version, news }) => `${id} ${status ? 'active' : 'inactive'} v${version} news ${news}`,
  )

test('design §7 an announcement starts at its moment: active, news and audit in one transaction; later it ends', async () => {
  await subscribe()
  await addAnnouncement('a', { startsAt: '-1 second', endsAt: '1 hour' })
  await addAnnouncement('later', { startsAt: '1 hour' })
  const schedule = createSchedule({ database, log })
  expect(await schedule.runDue()).toBe(30_000)
  expect(await announcements()).toEqual(['a active v2 news 1', 'later inactive v1 news 0'])
  expect(await events()).toEqual(['announcement.activated a', 'item.started a'])
  await schedule.runDue()
  await sql`update announcements set ends_at = now() where id = 'a'`.execute(db)
  await schedule.runDue()
  await schedule.runDue()
  expect(await announcements()).toEqual(['a inactive v3 news 1', 'later inactive v1 news 0'])
  expect((await events()).slice(2)).toEqual(['item.ended a'])
  const trail = await auditTrail(db)
  expect(trail).toMatchObject([
    {
      action: 'announcement.activate',
      actorKind: 'system',
      actorName: 'Schedule',
      recordKind: 'announcement',
      recordId: 'a',
      changes: { status: [false, true] },
      detail: { version: 2 },
    },
    { action: 'announcement.deactivate', recordId: 'a', changes: { status: [true, false] }, detail: { version: 3 } },
  ])
  expect(trail).toHaveLength(2)
})

test('design §7 a task has no status: its start and end are events and audit entries only', async () => {
  await subscribe()
  await addTask('t', { startsAt: '-2 seconds', endsAt: '-1 second' })
  await createSchedule({ database, log }).runDue()
  expect(await events()).toEqual(['item.started t', 'item.ended t'])
  expect((await auditTrail(db)).map(({ action, recordKind, recordId }) => [action, recordKind, recordId])).toEqual([
    ['item.start', 'socialTask', 't'],
    ['item.end', 'socialTask', 't'],
  ])
  const { rows } = await sql`select version, start_pending, end_pending from tasks`.execute(db)
  expect(rows).toEqual([{ version: 1, start_pending: false, end_pending: false }])
})

test('design §7 what fell into a stop is caught up in the order of the moments; what is over by then is no news', async () => {
  await subscribe()
  await addAnnouncement('c', { startsAt: '-5 minutes' })
  await addAnnouncement('a', { startsAt: '-3 minutes' })
  await addAnnouncement('over', { startsAt: '-4 minutes', endsAt: '-2 minutes' })
  await addAnnouncement('was active', { endsAt: '-6 minutes', status: true })
  await addTask('t', { startsAt: '-1 minute' })
  await createSchedule({ database, log }).runDue()
  expect(await events()).toEqual([
    'item.ended was active',
    'announcement.activated c',
    'item.started c',
    'item.started over',
    'announcement.activated a',
    'item.started a',
    'item.ended over',
    'item.started t',
  ])
  expect(await announcements()).toEqual([
    'a active v2 news 2',
    'c active v2 news 1',
    'over inactive v1 news 0',
    'was active inactive v2 news 0',
  ])
})

test('design §7 a clock that is set back or forward starts and ends nothing twice, nor does a later save', async () => {
  await subscribe()
  await addAnnouncement('a', { startsAt: '-1 minute', endsAt: '30 minutes' })
  await addTask('t', { startsAt: '-1 minute', endsAt: '30 minutes' })
  const schedule = createSchedule({ database, log })
  const setClock = async (by: string): Promise<void> => {
    for (const table of ['announcements', 'tasks'])
      await sql`update ${sql.table(table)} set starts_at = starts_at - ${by}::interval, ends_at = ends_at - ${by}::interval`.execute(
        db,
      )
    await schedule.runDue()
  }
  await schedule.runDue()
  const started = ['announcement.activated a', 'item.started a', 'item.started t']
  expect((await events()).toSorted()).toEqual(started)
  await setClock('-1 hour')
  await setClock('1 hour')
  await sql`update announcements set status = false`.execute(db) // a save (§4)
  await schedule.runDue()
  expect((await events()).toSorted()).toEqual(started)
  await setClock('1 hour')
  await setClock('-1 hour')
  await setClock('1 hour')
  expect((await events()).toSorted()).toEqual([...started.slice(0, 1), 'item.ended a', 'item.ended t', ...started.slice(1)])
})

test('design §4 of several servers one acts at a time: 40 starts and ends happen once each, in order', async () => {
  await subscribe()
  for (let n = 10; n < 30; n += 1)
    await addAnnouncement(`a${n}`, { startsAt: `${n - 200} seconds`, endsAt: `${n - 100} seconds` })
  for (let n = 30; n < 50; n += 1) await addAnnouncement(`a${n}`, { startsAt: `${n - 200} seconds` })
  const servers = [database, await openAgain(), await openAgain()]
  const isDone = async () =>
    (await sql`select from announcements where start_pending or end_pending limit 1`.execute(db)).rows.length === 0
  await Promise.all(
    servers.map(async (server) => {
      const schedule = createSchedule({ database: server, log })
      await waitFor('all to be done', async () => {
        await schedule.runDue()
        return isDone()
      })
    }),
  )
  const ids = (from: number, to: number) => Array.from({ length: to - from }, (_, n) => `a${from + n}`)
  expect((await events()).toSorted()).toEqual([
    ...ids(30, 50).map((id) => `announcement.activated ${id}`),
    ...ids(10, 30).map((id) => `item.ended ${id}`),
    ...ids(10, 50).map((id) => `item.started ${id}`),
  ])
  const { rows } = await sql<{ id: string }>`select id from announcements where status order by news`.execute(db)
  expect(rows.map(({ id }) => id)).toEqual(ids(30, 50))
  expect(await db.selectFrom('status_epoch').select('epoch').execute()).toEqual([{ epoch: 20 }])
})

test('design §7 after a restore nothing starts until an operator lets scheduled work run', async () => {
  await addAnnouncement('a', { startsAt: '-1 second' })
  await pauseScheduledWork(db, 'Restored.')
  const schedule = createSchedule({ database, log })
  await schedule.runDue()
  expect(await announcements()).toEqual(['a inactive v1 news 0'])
  await resumeScheduledWork(db)
  await schedule.runDue()
  expect(await announcements()).toEqual(['a active v2 news 1'])
})

test('design §7 the timer acts at the moment, and dates that were saved meanwhile wake it', async () => {
  const schedule = createSchedule({ database: await openAgain(), log })
  onTestFinished(() => schedule.stop())
  await schedule.start()
  await addAnnouncement('soon', { startsAt: '300 milliseconds' })
  await notifySchedule(db)
  const isActive = async (id: string) =>
    (await db.selectFrom('announcements').select('status').where('id', '=', id).executeTakeFirst())?.status
  // Far below the time after which a server looks without being woken.
  await waitFor('the start', () => isActive('soon'), 15_000)
  const { rows } = await sql<{ late: number }>`
    select extract(epoch from at - starts_at)::float8 as late from audit_trail, announcements where record_id = announcements.id`.execute(
    db,
  )
  expect(rows[0]!.late).toBeGreaterThanOrEqual(0)
  await addAnnouncement('now', { startsAt: '0 seconds' })
  await notifySchedule(db)
  await waitFor('the other start', () => isActive('now'), 15_000)
  await schedule.stop()
  await addAnnouncement('stopped', { startsAt: '0 seconds' })
  await notifySchedule(db)
  expect(await isActive('stopped')).toBe(false)
})
