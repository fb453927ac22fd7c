/** `npm run import -- DIRECTORY --dry-run` (design §8): reports what the import would do, and changes nothing. */
import { appendFile, cp, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import os from 'node:os'
import { join } from 'node:path'
import { sql } from 'kysely'
import { expect, onTestFinished, test } from 'vitest'
import { startCommandWith } from '#test/faults/console-process.ts'
import { SAMPLE } from '#test/console-server.ts'
import { temporaryDataDir } from '#test/processes.ts'
import { testDatabase, workerUrl } from '#test/test-database.ts'
import { importDirectory } from './import.ts'

const TOOK_PART = Date.UTC(2026, 0, 1)

async function folder(): Promise<string> {
  const path = await mkdtemp(join(os.tmpdir(), 'arcade-test-dry-run-'))
  onTestFinished(() => rm(path, { recursive: true, force: true }))
  return path
}

/** Returns the report of an import of `directory`, all that it prints, and the rejected rows. */
async function load(directory: string, isDryRun: boolean) {
  const database = await testDatabase()
  const rejectedPath = join(await folder(), 'rejected.ndjson')
  const lines: string[] = []
  const log = (line: string): void => void lines.push(line)
  const { files } = await importDirectory({ database, directory, isDryRun, rejectedPath, log })
  return { files, lines, rejected: await readFile(rejectedPath, 'utf8').catch(() => '') }
}

/** Returns every row of every table, with its position and the transaction that wrote it. */
async function everything(): Promise<Record<string, unknown[]>> {
  const { db } = await testDatabase()
  const { rows: tables } = await sql<{ name: string }>`
    select tablename as name from pg_tables where schemaname = 'public' order by 1`.execute(db)
  const found: Record<string, unknown[]> = {}
  for (const { name } of tables) {
    const { rows } = await sql`
      select ctid::text, xmin::text, to_jsonb(t)::text as row from ${sql.table(name)} t order by 3`.execute(db)
    found[name] = rows
  }
  return found
}

test('design §8 a dry run of the sample reports what the import then does, and changes no table', async () => {
  const before = await everything()
  const dry = await load(SAMPLE, true)
  expect(await everything()).toEqual(before)
  expect(dry.lines).toContainEqual(expect.stringMatching(/^telegramUsers\.ndjson: 1203 read, 1203 would be loaded, 0 unchanged/))
  expect(dry.lines.at(-1)).toBe('This was a dry run: nothing was changed.')
  const real = await load(SAMPLE, false)
  expect(real.lines.join('\n')).not.toMatch(/would|dry run/)
  expect(dry.files).toEqual(real.files)
  expect(dry.rejected + real.rejected).toBe('')
  expect(dry.files.every(({ loaded }) => loaded > 0)).toBe(true)

  const loaded = await everything()
  expect(loaded['participations']!.length).toBeGreaterThan(1000)
  const again = await load(SAMPLE, true)
  expect(again.files.every(({ read, unchanged }) => read === unchanged)).toBe(true)
  expect(await everything()).toEqual(loaded)
})

test('design §8 a dry run of a changed second import reports which rows change, which are refused and why', async () => {
  await load(SAMPLE, false)
  const directory = await folder()
  await cp(SAMPLE, directory, { recursive: true })
  const append = (file: string, ...rows: object[]) =>
    appendFile(join(directory, `${file}.ndjson`), rows.map((row) => `${JSON.stringify(row)}\n`).join(''))
  const [first = ''] = (await readFile(join(SAMPLE, 'telegramUsers.ndjson'), 'utf8')).split('\n')
  const [taken = ''] = (await readFile(join(SAMPLE, 'socialTask.ndjson'), 'utf8')).split('\n')
  const { id, balance } = JSON.parse(first) as { id: string; balance: number }
  const { priority } = JSON.parse(taken) as { priority: number }
  const task = { image: 'twitter', title: 'New', reward: 1 }
  // A changed balance, a new player, and an invalid line.
  const players = join(directory, 'telegramUsers.ndjson')
  const changed = JSON.stringify({ ...JSON.parse(first), balance: balance + 1 })
  await writeFile(
    players,
    (await readFile(players, 'utf8')).replace(first, () => changed),
  )
  await append('telegramUsers', { id: '900001', balance: 2 })
  await appendFile(players, '{"id":\n')
  // Both lines of `three` are refused: `one` has the priority of the first, and the second repeats the id.
  await append('socialTask', { id: 'one', ...task, priority: 9001 }, { id: 'two', ...task, priority: 9002 })
  await append('socialTask', { id: 'three', ...task, priority: 9001 }, { id: 'three', ...task, priority })
  // Documents that this import would make, for a task or on their own, exist for their participations.
  await append('socialTasksHistory', { id: 'gone', title: 'Gone', reward: 1, type: 'discord' })
  await append(
    'socialTasksHistory.users',
    ...['one', 'gone', 'nowhere', 'three'].map((parent) => ({ parent, id, timestamp: TOOK_PART })),
  )

  const before = await everything()
  const dry = await load(directory, true)
  expect(await everything()).toEqual(before)
  const counts = Object.fromEntries(dry.files.map(({ collection, loaded, rejected }) => [collection, [loaded, rejected]]))
  expect(counts).toMatchObject({
    telegramUsers: [2, 1],
    socialTask: [2, 2],
    socialTasksHistory: [1, 0],
    'socialTasksHistory/users': [2, 2],
  })
  const reasons = dry.rejected.split('\n').flatMap((line) => (line ? (JSON.parse(line) as { reason: string }).reason : []))
  expect(reasons).toEqual([
    'The line is not valid JSON',
    'Priority is already taken!',
    expect.stringMatching(/^Line \d+ has the same id: only the first of them is read$/),
    'There is no history document with the id nowhere (parent)',
    'There is no history document with the id three (parent)',
  ])
  const real = await load(directory, false)
  expect(dry.files).toEqual(real.files)
  expect(dry.rejected).toBe(real.rejected)
})

test('design §8 participations refer to documents of earlier batches, which a dry run has rolled back', async () => {
  const directory = await folder()
  const write = (file: string, rows: object[]) =>
    writeFile(join(directory, `${file}.ndjson`), rows.map((row) => `${JSON.stringify(row)}\n`).join(''))
  const documents = Array.from({ length: 5001 }, (_, n) => ({ id: `d${n}`, title: 'Old', reward: 1, type: 'discord' }))
  await write('socialTasksHistory', documents)
  await write(
    'socialTasksHistory.users',
    documents.map(({ id: parent }) => ({ parent, id: 1, timestamp: TOOK_PART })),
  )
  const dry = await load(directory, true)
  expect(dry.files.map(({ loaded, rejected }) => [loaded, rejected])).toEqual([
    [5001, 0],
    [5001, 0],
  ])
})

test('design §8 the command takes --dry-run, even if npm consumes it, and leaves no entry in the audit', async () => {
  const dataDir = await temporaryDataDir()
  const run = (env: Record<string, string>, ...args: string[]) =>
    startCommandWith({ DATABASE_URL: workerUrl(), ...env }, dataDir, 'import', ...args).ended
  const wrong = join(await folder(), 'wrong')
  await cp(SAMPLE, wrong, { recursive: true })
  await appendFile(join(wrong, 'dailyTask.ndjson'), '[]\n')

  const before = await everything()
  const refused = await run({}, wrong, '--dry-run')
  expect(refused.code).toBe(2)
  expect(refused.output).toContain('The line is not a JSON object')
  expect(await readFile(join(dataDir, '../rejected.ndjson'), 'utf8')).toContain('"dailyTask.ndjson"')
  const kept = await run({ npm_config_dry_run: 'true' }, SAMPLE) // npm run import SAMPLE --dry-run
  expect(kept.code).toBe(0)
  expect(kept.output).toMatch(/^telegramUsers\.ndjson: 1203 read, 1203 would be loaded, 0 unchanged, 0 rejected/m)
  expect(await everything()).toEqual(before)
  expect((await run({}, SAMPLE)).output).toMatch(/^telegramUsers\.ndjson: 1203 read, 1203 loaded/m)
})
