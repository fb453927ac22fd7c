/** Imports and exports of when, for whom and how often items can be claimed (design §7). */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import os from 'node:os'
import { join } from 'node:path'
import { sql } from 'kysely'
import { expect, onTestFinished, test } from 'vitest'
import type { Database } from '#src/db/database.ts'
import { diskStore } from '#src/files/disk.ts'
import { emptyTables, testDatabase } from '#test/test-database.ts'
import { exportDirectory } from './export.ts'
import { importDirectory } from './import.ts'

const HOUR_MS = 3_600_000
const hours = (n: number) => new Date(Date.now() + n * HOUR_MS).toISOString()
const task = (id: string, priority: number, more = {}) => ({ id, image: 'telegram', priority, title: id, reward: 5, ...more })
const news = (id: string, more = {}) => ({ id, type: 'desc', title: id, subtitle: 'Today', reward: 5, ...more })

async function folder(): Promise<string> {
  const made = await mkdtemp(join(os.tmpdir(), 'arcade-test-availability-'))
  onTestFinished(() => rm(made, { recursive: true, force: true }))
  return made
}

/** Imports the rows of these collections. Returns how many of each file were loaded, and the reasons of refused rows. */
async function load(database: Database, files: Record<string, object[]>) {
  const directory = await folder()
  for (const [name, rows] of Object.entries(files))
    await writeFile(join(directory, `${name}.ndjson`), rows.map((row) => JSON.stringify(row)).join('\n'))
  const rejectedPath = join(directory, 'rejected')
  const { files: reports } = await importDirectory({ database, directory, rejectedPath })
  const rejected = (await readFile(rejectedPath, 'utf8').catch(() => '')).split('\n').filter((line) => line !== '')
  return {
    loaded: reports.map(({ loaded }) => loaded),
    reasons: rejected.map((line) => (JSON.parse(line) as { reason: string }).reason),
  }
}

async function stored({ db }: Database): Promise<Record<string, object>> {
  const columns = sql.raw(
    'id, starts_at, start_pending as "isToStart", ends_at, end_pending as "isToEnd", max_participants, daily_budget, segment_id',
  )
  const { rows } = await sql<{ id: string }>`
    select ${columns}, paused from tasks union all select ${columns}, null from announcements order by id`.execute(db)
  return Object.fromEntries(rows.map(({ id, ...row }) => [id, row]))
}

test('design §7 an import sets dates and limits; what a row leaves out stays, and a date that has passed takes no effect', async () => {
  const database = await testDatabase()
  const [past, next, last] = [hours(-5), hours(1), hours(2)]
  await load(database, {
    dailyTask: [task('a', 1, { startsAt: next, endsAt: last, maxParticipants: 7, dailyBudget: 9.5, paused: true }), task('b', 2)],
    announcements: [news('m', { startsAt: past, endsAt: hours(-1) }), news('n', { startsAt: Date.parse(next) })],
  })
  const none = { max_participants: null, daily_budget: null, segment_id: null }
  const before = await stored(database)
  expect(before).toMatchObject({
    a: { starts_at: new Date(next), isToStart: true, isToEnd: true, max_participants: 7, daily_budget: 9.5, paused: true },
    b: { starts_at: null, isToStart: false, isToEnd: false, paused: false, ...none },
    m: { starts_at: new Date(past), isToStart: false, isToEnd: false },
    n: { starts_at: new Date(next), isToStart: true, ends_at: null, ...none },
  })
  expect(await load(database, { dailyTask: [task('a', 1), task('b', 2)] })).toEqual({ loaded: [0], reasons: [] })
  expect(await stored(database)).toEqual(before)
  // The scheduler has acted; the same date does not take effect again, another one does.
  await sql`update announcements set start_pending = false`.execute(database.db)
  await load(database, { announcements: [news('n', { title: 'New', startsAt: next })] })
  expect(await stored(database)).toMatchObject({ n: { isToStart: false } })
  await load(database, { announcements: [news('n', { startsAt: last })] })
  expect(await stored(database)).toMatchObject({ n: { isToStart: true, starts_at: new Date(last) } })
})

test('design §7 an import refuses dates and limits that make no sense, and items for a segment that is not here', async () => {
  const database = await testDatabase()
  await sql`insert into saved_views (id, list, name, address) values
    ('here', 'telegramUsers', 'A', 'a=1'), ('users', 'users', 'B', 'a=1')`.execute(database.db)
  const rows = [
    task('a', 1, { startsAt: hours(2), endsAt: hours(1) }),
    task('b', 2, { maxParticipants: 0 }),
    task('c', 3, { maxParticipants: 1.5 }),
    task('d', 4, { dailyBudget: 4 }),
    task('e', 5, { dailyBudget: -1 }),
    task('f', 6, { startsAt: 'soon' }),
    task('g', 7, { paused: 'no' }),
    task('h', 8, { segmentId: 'here' }),
    task('i', 9, { segmentId: 'users' }),
    task('j', 8),
  ]
  const { loaded, reasons } = await load(database, { dailyTask: rows, announcements: [news('n', { segmentId: 'none' })] })
  expect(loaded).toEqual([1, 0])
  const noSegment = (id: string) => `There is no shared view of Telegram Users with the id ${id} (segmentId)`
  expect(reasons.toSorted()).toEqual(
    [
      'endsAt must be after startsAt',
      'maxParticipants must be from 1 to 2000000000',
      'maxParticipants must be a whole number',
      'dailyBudget must be at least the reward',
      'dailyBudget must be above 0',
      'startsAt is not a point in time',
      'paused must be true or false',
      noSegment('users'),
      'Priority is already taken!',
      noSegment('none'),
    ].toSorted(),
  )
  expect(await stored(database)).toMatchObject({ h: { segment_id: 'here' } })
})

test('what is exported is the same after an import into an empty console', async () => {
  const database = await testDatabase()
  const all = { startsAt: hours(1), endsAt: hours(2), maxParticipants: 7, dailyBudget: 9.5 }
  await load(database, {
    socialTask: [task('a', 1, { image: 'twitter', paused: true, ...all })],
    announcements: [news('n', all)],
  })
  const before = await stored(database)
  const directory = join(await folder(), 'made')
  await exportDirectory({ database, store: diskStore(await folder()), directory })
  await emptyTables()
  await importDirectory({ database, directory, rejectedPath: join(directory, 'rejected') })
  expect(await stored(database)).toEqual(before)
})

test('design §7 an import that changes a limit lets it be counted anew', async () => {
  const database = await testDatabase()
  await load(database, { dailyTask: [task('a', 1, { maxParticipants: 1 }), task('b', 2, { maxParticipants: 1 })] })
  await sql`update tasks set full_at = now()`.execute(database.db)
  for (const id of ['a', 'b'])
    await sql`insert into item_quotas (kind, item_id, quota, bucket, remaining) values ('daily', ${id}, 'places', 0, 0)`.execute(
      database.db,
    )
  await load(database, { dailyTask: [task('a', 1, { maxParticipants: 2 }), task('b', 2, { maxParticipants: 1 })] })
  const { rows } = await sql<{ id: string }>`
    select tasks.id, full_at is not null as "isFull", remaining from tasks left join item_quotas q on q.item_id = tasks.id order by 1`.execute(
    database.db,
  )
  expect(rows).toEqual([
    { id: 'a', isFull: false, remaining: null },
    { id: 'b', isFull: true, remaining: 0 },
  ])
})
