/** Imports and claims (design §7): who verifies an item, and that nobody is paid or counted twice for the same participation. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import os from 'node:os'
import { join } from 'node:path'
import { sql } from 'kysely'
import { expect, onTestFinished, test } from 'vitest'
import type { Database } from '#src/db/database.ts'
import { activityCounters, countedActivity } from '#test/activity.ts'
import { addPlayers } from '#test/players.ts'
import { testApp } from '#test/test-app.ts'
import { testDatabase } from '#test/test-database.ts'
import { importDirectory } from './import.ts'

const task = (id: string, priority: number, more = {}) => ({ id, image: 'telegram', priority, title: id, reward: 5, ...more })
const news = (id: string, more = {}) => ({ id, type: 'desc', title: id, subtitle: 'Today', reward: 5, ...more })

/** Imports the rows of these collections. Returns for each file how many rows were loaded and unchanged. */
async function load(database: Database, files: Record<string, object[]>): Promise<[loaded: number, unchanged: number][]> {
  const directory = await mkdtemp(join(os.tmpdir(), 'arcade-test-claims-'))
  onTestFinished(() => rm(directory, { recursive: true, force: true }))
  for (const [name, rows] of Object.entries(files))
    await writeFile(join(directory, `${name}.ndjson`), rows.map((row) => JSON.stringify(row)).join('\n'))
  const { files: reports } = await importDirectory({ database, directory, rejectedPath: join(directory, 'rejected') })
  return reports.map(({ loaded, unchanged }) => [loaded, unchanged])
}

test('design §7 an import sets who verifies an item; without the field the operator’s setting stays', async () => {
  const database = await testDatabase()
  await load(database, {
    dailyTask: [task('a', 1, { verifiedByBot: true }), task('b', 2)],
    announcements: [news('n', { verifiedByBot: true }), news('m')],
  })
  const flags = async () => {
    const { rows } = await sql<{ id: string }>`
      select id from tasks where verified_by_bot union all select id from announcements where verified_by_bot order by id`.execute(
      database.db,
    )
    return rows.map(({ id }) => id)
  }
  expect(await flags()).toEqual(['a', 'n'])
  await sql`update tasks set verified_by_bot = true`.execute(database.db)
  expect(await load(database, { dailyTask: [task('a', 1, { verifiedByBot: false }), task('b', 2)] })).toEqual([[1, 1]])
  expect(await flags()).toEqual(['b', 'n'])
})

/** Returns an app with player 7, and a daily and a social task that pay 5. */
async function gameApp() {
  const app = await testApp()
  await addPlayers(app.database.db, [{ user_id: 7, username: 'ada' }])
  await load(app.database, { dailyTask: [task('d', 1)], socialTask: [task('s', 1, { image: 'twitter' })] })
  const bot = await app.bot()
  const claim = (kind: string, id: string) => bot.call('POST', '/bot/v1/players/7/claims', { kind, id })
  return { app, claim }
}

const today = () => new Date().toISOString()

async function expectCounted(database: Database): Promise<void> {
  expect(await activityCounters(database.db)).toEqual(await countedActivity(database.db))
}

test('design §7 a daily task done today before the switch is not paid today, and older participations are not paid again', async () => {
  const { app, claim } = await gameApp()
  const { database } = app
  const rows = [
    { parent: 'd', id: 7, timestamp: '2026-01-02T23:59:59.999Z' },
    { parent: 'd', id: 7, timestamp: today() },
  ]
  const files = { 'dailyTasksHistory.users': rows, 'socialTasksHistory.users': [{ ...rows[0], parent: 's' }] }
  expect(await load(database, files)).toEqual([
    [1, 0],
    [2, 0],
  ])
  const { rows: taken } = await sql`select kind, period from participations order by period`.execute(database.db)
  const day = today().slice(0, 10)
  expect(taken).toEqual([
    { kind: 'social', period: '' },
    { kind: 'daily', period: '2026-01-02' },
    { kind: 'daily', period: day },
  ])
  for (const answer of [await claim('daily', 'd'), await claim('social', 's')])
    expect(answer.body).toMatchObject({ isFirst: false, reward: 0, balance: 0, entry: null })
  expect(await load(database, files)).toEqual([
    [0, 1],
    [0, 2],
  ])
  await expectCounted(database)
})

test('design §7 a claim that was paid here already exists for an import, whatever the old game says about it', async () => {
  const { app, claim } = await gameApp()
  const { database } = app
  for (const [kind, id] of [
    ['daily', 'd'],
    ['social', 's'],
  ] as const)
    expect((await claim(kind, id)).body.isFirst).toBe(true)
  const before = await sql`select * from participations order by kind`.execute(database.db)
  const row = { id: 7, username: 'other', timestamp: `${today().slice(0, 10)}T00:00:00Z` }
  const files = { 'dailyTasksHistory.users': [{ ...row, parent: 'd' }], 'socialTasksHistory.users': [{ ...row, parent: 's' }] }
  expect(await load(database, files)).toEqual([
    [0, 1],
    [0, 1],
  ])
  expect((await sql`select * from participations order by kind`.execute(database.db)).rows).toEqual(before.rows)
  await expectCounted(database)
  const { rows } = await sql`select balance from balances where user_id = 7`.execute(database.db)
  expect(rows).toEqual([{ balance: 10 }])
})
