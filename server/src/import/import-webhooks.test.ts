/** Webhooks and imports (ADR 20): announcements that the import activates, tasks that it adds or changes, nothing else. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { auditTrail } from '#test/audit-trail.ts'
import { add, endpoint, type Opening, opening } from '#test/webhooks.ts'
import { importDirectory } from './import.ts'

const task = (id: string, priority: number, more = {}) => ({ id, image: 'twitter', priority, title: id, reward: 5, ...more })
const news = (id: string, status: boolean, more = {}) => ({
  id,
  type: 'desc',
  title: `News ${id}`,
  subtitle: 'Today',
  reward: 5,
  status,
  ...more,
})

/** Returns an app with a webhook for all events, and a function that imports rows and returns the events sent, sorted. */
async function listening() {
  const all: Opening = await opening()
  const bot = await endpoint()
  await add(all, bot.url, ['announcement.activated', 'task.changed', 'player.adjusted'])
  const { database } = all.app
  const load = async (files: Record<string, object[]>, isDryRun = false): Promise<unknown[]> => {
    const directory = await mkdtemp(path.join(os.tmpdir(), 'arcade-test-import-'))
    onTestFinished(() => rm(directory, { recursive: true, force: true }))
    for (const [name, rows] of Object.entries(files))
      await writeFile(path.join(directory, `${name}.ndjson`), rows.map((row) => `${JSON.stringify(row)}\n`).join(''))
    await importDirectory({ database, directory, isDryRun, rejectedPath: path.join(directory, 'rejected'), log: () => {} })
    bot.received.length = 0
    await all.deliveries.sendDue()
    const events = bot.received.map(({ body }) => {
      const { type, data } = JSON.parse(body) as { type: string; data: { change: string; items: object[] } }
      return [type, data.change, data.items]
    })
    return events.toSorted((one, other) => (JSON.stringify(one) < JSON.stringify(other) ? -1 : 1))
  }
  return { load, database }
}

test('ADR 20 an import sends the announcements that it activates and the tasks that it adds or changes, each once', async () => {
  const { load, database } = await listening()
  const files = {
    socialTask: [task('s', 1), task('taken', 1)],
    dailyTask: [task('d', 1)],
    announcements: [news('a', true), news('b', false)],
    telegramUsers: [{ id: '1', balance: 5 }],
  }
  expect(await load(files, true)).toEqual([])
  const [a, b] = ['a', 'b'].map((id) => ({ kind: 'announcement', id, title: `News ${id}` }))
  const [social, daily] = [
    { kind: 'socialTask', id: 's', title: 's' },
    { kind: 'dailyTask', id: 'd', title: 'd' },
  ]
  expect(await load(files)).toEqual([
    ['announcement.activated', 'activated', [a]],
    ['task.changed', 'added', [daily]],
    ['task.changed', 'added', [social]],
  ])
  expect(await load(files)).toEqual([])
  const changed = {
    socialTask: [task('s', 1), task('new', 2)],
    dailyTask: [task('d', 3)],
    announcements: [news('a', true, { reward: 6 }), news('b', true)],
    telegramUsers: [{ id: '1', balance: 7 }],
  }
  expect(await load(changed)).toEqual([
    ['announcement.activated', 'activated', [b]],
    ['task.changed', 'added', [{ kind: 'socialTask', id: 'new', title: 'new' }]],
    ['task.changed', 'changed', [daily]],
  ])
  expect(await load({ socialTask: [task('s', 1, { title: 'Other' })] })).toEqual([
    ['task.changed', 'changed', [{ ...social, title: 'Other' }]],
  ])
  expect(await auditTrail(database.db, 'task.create')).toEqual([])
})

test('ADR 20 a large import sends them a hundred at a time', async () => {
  const { load } = await listening()
  const events = await load({ announcements: Array.from({ length: 250 }, (_, n) => news(`n${n}`, true)) })
  expect(events.map((one) => (one as [string, string, object[]])[2].length).toSorted((a, b) => a - b)).toEqual([50, 100, 100])
})
