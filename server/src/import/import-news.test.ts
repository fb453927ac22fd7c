/** Announcements that an import activates are news to players (design §7). */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { testDatabase } from '#test/test-database.ts'
import { importDirectory } from './import.ts'

const announcement = (id: string, status: boolean, more = {}) => ({
  id,
  type: 'desc',
  title: `News ${id}`,
  subtitle: 'Today',
  reward: 5,
  description: 'D',
  status,
  ...more,
})

/** Imports these announcements and returns the stored news numbers, in the order of ids. */
async function numbersAfter(rows: object[]): Promise<number[]> {
  const directory = await mkdtemp(path.join(os.tmpdir(), 'arcade-test-import-'))
  onTestFinished(() => rm(directory, { recursive: true, force: true }))
  await writeFile(path.join(directory, 'announcements.ndjson'), rows.map((row) => `${JSON.stringify(row)}\n`).join(''))
  const database = await testDatabase()
  await importDirectory({ database, directory, rejectedPath: path.join(directory, 'rejected.ndjson'), log: () => {} })
  const stored = await database.db.selectFrom('announcements').select('news').orderBy('id').execute()
  return stored.map(({ news }) => news)
}

test('§7 announcements that an import activates are news once, and again when another import reactivates them', async () => {
  expect(await numbersAfter([announcement('a', true), announcement('b', false)])).toEqual([1, 0])
  expect(await numbersAfter([announcement('a', true), announcement('b', false)])).toEqual([1, 0])
  expect(await numbersAfter([announcement('a', true, { title: 'Other' }), announcement('b', true)])).toEqual([1, 2])
  await numbersAfter([announcement('a', false), announcement('b', true)])
  expect(await numbersAfter([announcement('a', true), announcement('b', true)])).toEqual([3, 2])
})
