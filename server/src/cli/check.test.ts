/** `arcade check` (design §4, §8): reports and repairs each kind of difference while others write, and leaves correct data alone. */
import { randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import os from 'node:os'
import { join } from 'node:path'
import { sql } from 'kysely'
import { beforeEach, expect, onTestFinished, test } from 'vitest'
import { beginActivity, addParticipationCount, addPlayerCount } from '#src/counters/activity.ts'
import { addToCounters, foldCounters } from '#src/counters/counters.ts'
import type { Database } from '#src/db/database.ts'
import { diskStore } from '#src/files/disk.ts'
import { arcadeIn } from '#test/run-arcade.ts'
import { activityCounters, addCount, countedActivity } from '#test/activity.ts'
import { temporaryDataDir } from '#test/processes.ts'
import { testDatabase, workerUrl } from '#test/test-database.ts'
import { addPlayers } from '#test/players.ts'
import { checkConsole } from './check.ts'

let database: Database
let dir: string

beforeEach(async () => {
  database = await testDatabase()
  dir = await mkdtemp(join(os.tmpdir(), 'arcade-test-check-'))
  onTestFinished(() => rm(dir, { recursive: true, force: true }))
})

const DAY = '2026-03-04'
const at = new Date(`${DAY}T05:06:07Z`)

async function run({ isRepair = false } = {}) {
  const found: string[] = []
  const report = await checkConsole({ database, store: diskStore(dir), isRepair, onDifference: (text) => found.push(text) })
  return { found, ...report }
}

/** Adds a player with a participation, and counts both as the product does. */
async function addPlayer(userId: number, moment = at): Promise<void> {
  await database.transaction(async (tx) => {
    await addPlayers(tx, [{ user_id: userId, created_at: moment }])
    await sql`insert into participations (user_id, kind, item_id, at) values (${userId}, 'social', 'x:y', ${moment})`.execute(tx)
    const activity = await beginActivity(tx)
    addPlayerCount(activity, moment, 1)
    addParticipationCount(activity, { kind: 'social', itemId: 'x:y' }, moment, 1)
    await addToCounters(tx, activity.deltas)
  })
}

async function store(...names: string[]): Promise<void> {
  for (const name of names) await diskStore(dir).put(name, new Uint8Array(1), 'image/png')
}

const withThumb = (name: string): [string, string] => [`announcements/${name}`, `announcements-thumbs/${name}.webp`]

async function addAnnouncement(id: string, key: string): Promise<void> {
  await sql`insert into announcements (id, type, title, subtitle, reward, image_key) values (${id}, 'desc', 't', 's', 1, ${key})`.execute(
    database.db,
  )
  await sql`insert into history_items (kind, item_id, title, type, reward) values ('announcement', ${id}, 't', 'desc', 1)`.execute(
    database.db,
  )
}

test('design §8 a correct console has no differences, with counters folded or not, and with times in other centuries', async () => {
  const now = Date.now()
  const moments = [
    at,
    new Date(now),
    new Date(now - 30 * 3_600_000),
    new Date(now - 47.5 * 3_600_000),
    new Date(now - 60 * 3_600_000),
  ]
  for (const [index, moment] of [...moments, new Date('0007-08-09'), new Date('-000010-11-12T13:14Z')].entries())
    await addPlayer(index + 1, moment)
  await addPlayer(50, new Date('9999-12-31T23:59:59.999Z'))
  await store(...withThumb('1_a.png'))
  await addAnnouncement('a', 'announcements/1_a.png')
  expect(await run()).toEqual({ found: [], differences: 0, repaired: 0 })
  await foldCounters(database)
  expect(await run({ isRepair: true })).toEqual({ found: [], differences: 0, repaired: 0 })
  expect(await entries()).toEqual([])
})

test('design §8 a wrong counter of any kind is reported, and corrected by a repair that is in the audit', async () => {
  await addPlayer(1)
  const hour = new Date(Date.now() - 3_600_000)
  await addPlayer(2, hour)
  await foldCounters(database)
  const item = { kind: 'social', itemId: 'x:y' } as const
  await addCount(database, { of: 'players' }, 5)
  await addCount(database, { of: 'users', userType: 'admin' }, 1)
  await addCount(database, { of: 'participants', ...item }, -2)
  await addCount(database, { of: 'participants', kind: 'daily', itemId: 'gone' }, 3)
  await addCount(database, { of: 'activity', bucket: 'day', at, series: 'players' }, 1)
  await addCount(database, { of: 'activity', bucket: 'month', at, series: 'social' }, 1)
  await addCount(database, { of: 'activity', bucket: 'hour', at: hour, series: 'players' }, -1)
  await addCount(database, { of: 'itemActivity', bucket: 'day', at, ...item }, 1)
  await addCount(database, { of: 'itemActivity', bucket: 'hour', at: hour, ...item }, 1)
  await addCount(database, { of: 'paid', ...item }, 2)
  await addCount(database, { of: 'itemPaid', bucket: 'day', at, ...item }, 3)
  await addCount(database, { of: 'activity', bucket: 'day', at, series: 'paid' }, 3)
  await addCount(database, { of: 'balances', bucket: '010' }, -1)
  await addCount(database, { of: 'balances', bucket: '0512' }, 1)
  await addCount(database, { of: 'balances', bucket: '-' }, 1)
  const hourText = hour.toISOString().slice(0, 13)
  const expected = [
    `The counter of players who joined on ${DAY} (UTC) says 2, there are 1.`,
    `The counter of players who joined in the hour ${hourText} (UTC) says 0, there are 1.`,
    `The counter of participations of kind social in 2026-03 (UTC) says 2, there are 1.`,
    `The counter of participations in daily/gone says 3, there are 0.`,
    `The counter of participations in social/x:y says 0, there are 2.`,
    `The counter of participations in social/x:y on ${DAY} (UTC) says 2, there are 1.`,
    `The counter of participations in social/x:y in the hour ${hourText} (UTC) says 2, there are 1.`,
    'The counter of players says 7, there are 2.',
    'The counter of points paid for claims of social/x:y says 2, there are 0.',
    `The counter of points paid for claims of social/x:y on ${DAY} (UTC) says 3, there are 0.`,
    `The counter of points paid for claims on ${DAY} (UTC) says 3, there are 0.`,
    'The counter of unblocked players with a balance like 0 says 1, there are 2.',
    'The counter of unblocked players with a balance like 12000 says 1, there are 0.',
    'The counter of unblocked players who owe says 1, there are 0.',
    'The counter of users who are admin says 1, there are 0.',
  ]
  expect((await run()).found.toSorted()).toEqual(expected.toSorted())
  expect(await run({ isRepair: true })).toMatchObject({ differences: 15, repaired: 15 })
  expect(await run()).toMatchObject({ found: [] })
  expect(await activityCounters(database.db)).toEqual(await countedActivity(database.db))
  expect(await entries()).toEqual([{ counters: 15 }])
})

test('design §8 if all counters are missing, they are rebuilt', async () => {
  for (let userId = 1; userId <= 20; userId += 1) await addPlayer(userId, new Date(at.getTime() + userId * 86_400_000))
  await foldCounters(database)
  await sql`truncate counters`.execute(database.db)
  expect(await run({ isRepair: true })).toMatchObject({ differences: 65, repaired: 65 })
  expect(await run()).toMatchObject({ found: [] })
})

test('design §8 a repair beside writers, folding and another repair loses nothing and counts nothing twice', async () => {
  for (let userId = 1; userId <= 50; userId += 1) await addPlayer(userId)
  await addCount(database, { of: 'players' }, 1000)
  await addCount(database, { of: 'participants', kind: 'social', itemId: 'x:y' }, -1000)
  let isOver = false
  let next = 100
  const writer = async (): Promise<void> => {
    while (!isOver) await addPlayer((next += 1), new Date())
  }
  const folder = async (): Promise<void> => {
    while (!isOver) await foldCounters(database)
  }
  const working = Promise.all([writer(), writer(), writer(), folder()])
  try {
    for (let round = 0; round < 5; round += 1) {
      const written = next
      const reports = await Promise.all([run({ isRepair: true }), run({ isRepair: true })])
      expect(reports.map(({ differences }) => differences).toSorted((a, b) => a - b)).toEqual([0, round === 0 ? 2 : 1])
      expect((await run()).found).toEqual([])
      await addCount(database, { of: 'players' }, round + 1)
      while (next < written + 10) await new Promise(setImmediate)
    }
  } finally {
    isOver = true
    await working
  }
  expect((await run({ isRepair: true })).found).toHaveLength(1)
  expect(await run()).toMatchObject({ found: [] })
})

test('§3 an item without a history document is reported and gets one', async () => {
  await sql`insert into tasks (collection, id, image, priority, title, reward) values ('daily', 'd', 'x', 1, 'Daily', 1)`.execute(
    database.db,
  )
  expect(await run()).toMatchObject({ found: ['The daily task d has no history document.'] })
  expect(await run({ isRepair: true })).toMatchObject({ differences: 1, repaired: 1 })
  expect(await run()).toMatchObject({ found: [] })
  const { rows } = await sql`select kind, item_id, title from history_items`.execute(database.db)
  expect(rows).toEqual([{ kind: 'daily', item_id: 'd', title: 'Daily' }])
  expect(await entries()).toEqual([{ documents: 1 }])
})

test('§7 files that are missing, wait for removal, are not kept for the trash or have no record are reported; lost files stay lost', async () => {
  await store(
    ...withThumb('1_gone.png').slice(1),
    ...withThumb('2_leaving.png'),
    ...withThumb('3_kept.png'),
    ...withThumb('4_stray.png'),
  )
  await store('announcements/5_half.png.part')
  await addAnnouncement('gone', 'announcements/1_gone.png')
  await addAnnouncement('leaving', 'announcements/2_leaving.png')
  await sql`insert into file_removals (key, requested_at) values ('announcements/2_leaving.png', 'infinity')`.execute(database.db)
  const content = JSON.stringify({ row: { image_key: 'announcements/3_kept.png', icon_key: null } })
  await sql`insert into trash (id, act_id, kind, record_id, name, content, expires_at)
    values ('t', ${randomUUID()}, 'announcement', 'x', 'x', ${content}, now() + interval '1 day')`.execute(database.db)
  const sentences = [
    'The file announcements/1_gone.png belongs to a record, but it or its thumbnail is not in the file store.',
    'The file announcements/2_leaving.png belongs to an announcement, but waits to be removed.',
    'The file announcements/3_kept.png belongs to an announcement in the trash, but nothing keeps it until that is purged.',
    'The file announcements/4_stray.png is in the file store, but belongs to no record.',
    'The file announcements/5_half.png is in the file store, but belongs to no record.',
  ]
  // A file that is not kept for the trash also counts as a file without a record, until the repair keeps it.
  const stray = 'The file announcements/3_kept.png is in the file store, but belongs to no record.'
  expect((await run()).found.toSorted()).toEqual([...sentences, stray].toSorted())
  expect(await run({ isRepair: true })).toMatchObject({ differences: 5, repaired: 4 })
  expect(await run()).toMatchObject({ found: [sentences[0]] })
  const { rows } =
    await sql`select key, is_withdrawn, requested_at = 'infinity' as "isKept" from file_removals order by key`.execute(
      database.db,
    )
  expect(rows).toEqual([
    { key: 'announcements/3_kept.png', is_withdrawn: true, isKept: true },
    { key: 'announcements/4_stray.png', is_withdrawn: false, isKept: false },
    { key: 'announcements/5_half.png', is_withdrawn: false, isKept: false },
  ])
})

test('design §8 the command prints the differences and exits with 1; with --repair it repairs them and exits with 0', async () => {
  const env = { DATABASE_URL: workerUrl(), DATA_DIR: await temporaryDataDir() }
  await diskStore(join(env.DATA_DIR, 'files')).put('announcements/1_a.png', new Uint8Array(1), 'image/png')
  const found = await arcadeIn(env, 'check')
  expect(found.output).toContain('The file announcements/1_a.png is in the file store, but belongs to no record.')
  expect(found.output).toContain('1 difference was found.')
  expect(found.code).toBe(1)
  const repaired = await arcadeIn(env, 'check', '--repair')
  expect(repaired.output).toContain('1 difference was found, 1 repaired.')
  expect(repaired.code).toBe(0)
  const clean = await arcadeIn(env, 'check')
  expect(clean.output).toContain('All counters, balances, history documents and files are as the records say.')
  expect(clean.code).toBe(0)
})

async function entries(): Promise<unknown[]> {
  const { rows } = await sql<{ detail: unknown }>`
    select detail from audit_trail where action = 'data.repair' order by at`.execute(database.db)
  return rows.map(({ detail }) => detail)
}
