/** Imports and the counters of activity: when players joined and when they took part. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { itemActivityNames } from '#src/counters/counter-keys.ts'
import { activityCounters, countedActivity } from '#test/activity.ts'
import { testDatabase } from '#test/test-database.ts'
import { importDirectory } from './import.ts'

const HOUR_MS = 3_600_000
const LONG_AGO = Date.UTC(2026, 4, 5, 17)

const task = (id: string, priority: number) => ({ id, image: 'twitter', priority, title: `Task ${id}`, reward: 5 })
const player = (userId: number, more = {}) => ({ id: String(userId), userId, balance: userId, ...more })
const took = (parent: string, id: number, more = {}) => ({ parent, id: String(id), timestamp: LONG_AGO, ...more })

async function load(files: Record<string, object[]>): Promise<void> {
  const directory = await mkdtemp(path.join(os.tmpdir(), 'arcade-test-import-'))
  onTestFinished(() => rm(directory, { recursive: true, force: true }))
  for (const [name, rows] of Object.entries(files))
    await writeFile(path.join(directory, `${name}.ndjson`), rows.map((row) => `${JSON.stringify(row)}\n`).join(''))
  const rejectedPath = path.join(directory, 'rejected.txt')
  const { files: reports } = await importDirectory({ database: await testDatabase(), directory, rejectedPath, log: () => {} })
  expect(reports.every(({ rejected }) => rejected === 0)).toBe(true)
}

async function expectExactActivity(): Promise<Record<string, number>> {
  const { db } = await testDatabase()
  const counters = await activityCounters(db)
  expect(counters).toEqual(await countedActivity(db))
  return counters
}

test('Dashboard: a player or participation whose time changes moves to another bucket, also by the hour', async () => {
  const now = Date.now()
  await load({
    socialTask: [task('a', 1), task('b', 2)],
    telegramUsers: [player(1, { createdAt: now }), player(2, { createdAt: LONG_AGO }), player(3), player(4, { createdAt: now })],
    'socialTasksHistory.users': [took('a', 1, { timestamp: now }), took('a', 2), took('b', 1, { timestamp: now - 2 * HOUR_MS })],
  })
  const first = await expectExactActivity()
  const [from, to] = itemActivityNames('hour', new Date(now - 24 * HOUR_MS), new Date(now + HOUR_MS))
  expect(Object.keys(first).filter((name) => name >= from && name < to)).toHaveLength(2)

  const changed = {
    telegramUsers: [
      player(1, { createdAt: now - 3 * HOUR_MS }),
      player(2, { createdAt: now }),
      player(3, { createdAt: LONG_AGO }),
      player(4),
    ],
    'socialTasksHistory.users': [
      took('a', 1, { timestamp: now - 60 * 24 * HOUR_MS }),
      took('a', 2, { timestamp: now, username: 'renamed' }),
      took('b', 1, { timestamp: now - 2 * HOUR_MS, username: 'renamed' }),
    ],
  }
  await load(changed)
  const second = await expectExactActivity()
  expect(second).not.toEqual(first)
  await load(changed)
  expect(await expectExactActivity()).toEqual(second)
})

test('Dashboard: simultaneous imports with different times for the same players count each player once', async () => {
  const players = (createdAt: number) => Array.from({ length: 200 }, (_, index) => player(index + 1, { createdAt }))
  await load({ telegramUsers: players(LONG_AGO) })
  const now = Date.now()
  await Promise.all([1, 0, 24, 1, 0, 24].map((hours) => load({ telegramUsers: players(now - hours * HOUR_MS) })))
  await expectExactActivity()
})
