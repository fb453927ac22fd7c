/** Crash tests (security.md, Crash): kill -9 at random times during everything that the console does, then check all data. */
import { cp, readdir } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { sql } from 'kysely'
import { pino } from 'pino'
import { expect, test } from 'vitest'
import { type Database, openDatabase } from '#src/db/database.ts'
import { up as base } from '#src/db/migrations/0001_base.ts'
import { unfinishedRestoreFile } from '#src/db/unfinished-restore.ts'
import { diskStore } from '#src/files/disk.ts'
import { activityCounters, countedActivity } from '#test/activity.ts'
import { SAMPLE } from '#test/console-server.ts'
import { preparedDataDir, temporaryDataDir, waitFor } from '#test/processes.ts'
import { reportFigure, rounds, seededRandom } from '#test/size.ts'
import {
  signInAdmin,
  type ConsoleProcess,
  expectGoodEnd,
  kill,
  processesOf,
  type ServerProcess,
  startCommand,
  startServer,
  type Victim,
} from './console-process.ts'
import { createGameWorkload } from './game-workload.ts'
import { checkDerived, createWorkload, type Workload, WRITERS } from './workload.ts'

const TIMEOUT_MS = 5 * 60 * 60_000
/** Timeout of waits, in ms: far longer than anything takes here on a busy machine. */
const PATIENCE_MS = 300_000
const victims: Victim[] = ['server', 'postmaster', 'both']
const log = pino({ level: 'silent' })
const random = seededRandom()
let firstStart: Promise<number> | undefined
let importing: Promise<number> | undefined

test('security: crash: kill -9 during mixed writes, uploads and downloads', { timeout: TIMEOUT_MS }, async () => {
  const cycles = rounds(9, 300)
  const dataDir = await preparedDataDir()
  await importSample(dataDir)
  let server = startServer(dataDir)
  let url = await server.ready
  const cookie = await signInAdmin(url)
  const workload = createWorkload(
    random,
    () => url,
    () => cookie,
  )
  const startTimes: number[] = []

  for (let cycle = 0; cycle < cycles; cycle += 1) {
    // Each writer may have had one write in flight, so WRITERS + 1 acknowledged writes prove that one of them began after the restart.
    await killAmid(workload, { cycle, dataDir, server, writes: { before: 5, after: WRITERS + 1 } }, async () => {
      const startedAt = performance.now()
      server = startServer(dataDir)
      url = await server.ready
      startTimes.push(performance.now() - startedAt)
    })
    await withDatabase(dataDir, (database) => workload.check(database, filesIn(dataDir)))
    expect(await isSignedIn(url, cookie), 'an acknowledged session').toBe(true)
  }
  await expectLastEnd(server, dataDir)
  reportFigure(
    `crash during writes: ${cycles} cycles, ${workload.acknowledged} writes acknowledged (${workload.restored} restored from the trash, ${workload.purged} purged), ` +
      `${workload.unknown} without an answer, ${workload.downloads} downloads; starts of ${Math.round(Math.min(...startTimes))} to ${Math.round(Math.max(...startTimes))} ms`,
  )
})

test('security: crash: kill -9 during claims and entries of the game', { timeout: TIMEOUT_MS }, async () => {
  const cycles = rounds(4, 60)
  const dataDir = await preparedDataDir()
  await importSample(dataDir)
  let server = startServer(dataDir)
  let url = await server.ready
  const workload = await withDatabase(dataDir, (database) => createGameWorkload(database, random, () => url))
  for (let cycle = 0; cycle < cycles; cycle += 1) {
    await killAmid(workload, { cycle, dataDir, server, writes: { before: 20, after: 20 } }, async () => {
      server = startServer(dataDir)
      url = await server.ready
    })
    await withDatabase(dataDir, (database) => workload.check(database))
  }
  await withDatabase(dataDir, (database) => checkDerived(database, filesIn(dataDir)))
  await expectLastEnd(server, dataDir)
  reportFigure(
    `crash during claims: ${cycles} cycles, ${workload.acknowledged} entries acknowledged, ${workload.repeated} requests sent again`,
  )
})

test('security: crash: kill -9 during a first start', { timeout: TIMEOUT_MS }, async () => {
  const cycles = rounds(3, 60)
  const whole = await timeOfFirstStart()
  for (let cycle = 0; cycle < cycles; cycle += 1) {
    const dataDir = await temporaryDataDir()
    await killAfter(startServer(dataDir), dataDir, whole * random())
    const server = startServer(dataDir)
    const url = await server.ready
    expect(await isSignedIn(url, await signInAdmin(url))).toBe(true)
    await expectLastEnd(server, dataDir)
  }
  reportFigure(`crash during a first start of ${Math.round(whole)} ms: ${cycles} cycles`)
})

test('security: crash: kill -9 during migrations of a database with rows', { timeout: TIMEOUT_MS }, async () => {
  const cycles = rounds(4, 60)
  const old = await temporaryDataDir()
  const players = rounds(5_000, 200_000)
  const first = await openDatabase({ dataDir: old, use: 'command', log, migrations: [{ name: '0001_base', up: base }] })
  await sql`insert into telegram_users (user_id, first_name, username, balance, created_at)
    select n, 'Player ' || n, 'player' || n, n % 1000, now() - n * interval '1 minute' from generate_series(1, ${players}::int) n`.execute(
    first.db,
  )
  await sql`insert into counters values ('telegramUsers', ${players})`.execute(first.db)
  await first.close()
  const whole = await timeOfFirstStart()
  for (let cycle = 0; cycle < cycles; cycle += 1) {
    await migrateCopy(old, async (dataDir) => {
      await killAfter(startServer(dataDir), dataDir, whole * random())
      const server = startServer(dataDir)
      await server.ready
      await withDatabase(dataDir, async ({ db }) => {
        const { rows } = await sql<{ players: number }>`select count(*) as players from telegram_users`.execute(db)
        expect(rows).toEqual([{ players }])
        expect(await activityCounters(db)).toEqual(await countedActivity(db))
      })
      await expectLastEnd(server, dataDir)
    })
  }
  reportFigure(`crash during migrations of ${players} players, ${Math.round(whole)} ms: ${cycles} cycles`)
})

test('security: crash: kill -9 during an import, which continues when it is run again', { timeout: TIMEOUT_MS }, async () => {
  const cycles = rounds(6, 80)
  const whole = await timeOfImport()
  for (let cycle = 0; cycle < cycles; cycle += 1) {
    const dataDir = await preparedDataDir()
    await killAfter(startCommand(dataDir, 'import', SAMPLE), dataDir, whole * random(), victims[cycle % victims.length])
    await importSample(dataDir)
    await withDatabase(dataDir, async (database) => {
      await checkDerived(database, filesIn(dataDir))
      const { db } = database
      const { rows } = await sql<{ players: number }>`select count(*) as players from telegram_users`.execute(db)
      expect(rows[0]!.players).toBeGreaterThan(1000)
    })
    await waitFor('nothing to run any more', async () => (await processesOf(dataDir)).length === 0, PATIENCE_MS)
  }
  reportFigure(`crash during an import of ${Math.round(whole)} ms: ${cycles} cycles`)
})

test(
  'security: crash: kill -9 during a backup and during a restore, which start over when they are run again',
  { timeout: TIMEOUT_MS },
  async () => {
    const cycles = rounds(4, 60)
    const dataDir = await preparedDataDir()
    await importSample(dataDir)
    const folder = dirname(dataDir)
    const expected = await rowsIn(dataDir)
    const backupMs = await timed(() => succeed(dataDir, 'backup', join(folder, 'timed')))
    const backup = join(folder, 'timed')
    const restoreMs = await timed(async () => succeed(await temporaryDataDir(), 'restore', backup))
    const finished = { backups: 0, restores: 0 }
    for (let cycle = 0; cycle < cycles; cycle += 1) {
      const at = join(folder, `backup-${cycle}`)
      await killAfter(startCommand(dataDir, 'backup', at), dataDir, backupMs * random())
      const again = await startCommand(dataDir, 'backup', at).ended
      // The backup may have been complete before the kill.
      const wasComplete = again.output.includes('There is a backup in')
      expect(again.code === 0 || wasComplete, again.output).toBe(true)
      if (wasComplete) finished.backups += 1

      const target = await temporaryDataDir()
      await killAfter(startCommand(target, 'restore', at), target, restoreMs * random())
      const wasRestored = await isRestored(target)
      if (wasRestored) finished.restores += 1
      else await succeed(target, 'restore', at)
      expect(await rowsIn(target)).toEqual(expected)
      await withDatabase(target, (database) => checkDerived(database, filesIn(target)))
      await waitFor('nothing to run any more', async () => (await processesOf(target)).length === 0, PATIENCE_MS)
    }
    reportFigure(
      `crash during a backup of ${Math.round(backupMs)} ms and a restore of ${Math.round(restoreMs)} ms: ${cycles} cycles; ` +
        `${finished.backups} backups and ${finished.restores} restores were complete before the kill`,
    )
  },
)

/** Whether a killed restore was complete: then the database opens. Expects it to be refused otherwise, unless the restore had not begun. */
async function isRestored(dataDir: string): Promise<boolean> {
  const names = await readdir(dataDir).catch((): string[] => [])
  if (names.every((name) => name !== 'postgres' && name !== basename(unfinishedRestoreFile(dataDir)))) return false
  return withDatabase(dataDir, async () => undefined).then(
    () => true,
    (error: Error) => {
      expect(error.message).toContain('is being restored from a backup, or that was cut off')
      return false
    },
  )
}

/** Counts rows of tables that a restore must bring back unchanged. */
async function rowsIn(dataDir: string): Promise<unknown> {
  let found: unknown
  await withDatabase(dataDir, async ({ db }) => {
    const { rows } =
      await sql`select (select count(*) from telegram_users) as players, (select count(*) from participations) as participations,
      (select count(*) from tasks) as tasks, (select count(*) from announcements) as announcements, (select sum(value) from counters) as counted`.execute(
        db,
      )
    found = rows[0]
  })
  return found
}

async function succeed(dataDir: string, ...args: string[]): Promise<void> {
  const { code, output } = await startCommand(dataDir, ...args).ended
  expect(code, output).toBe(0)
}

interface Killed {
  cycle: number
  dataDir: string
  server: ServerProcess
  /** Acknowledged writes to wait for: before the kill, and after everything is back. */
  writes: { before: number; after: number }
}

/** Kills one of the victims at a random time during the workload. @param restart starts the server again; called if it was killed */
async function killAmid(
  workload: Pick<Workload, 'run' | 'acknowledged'>,
  { cycle, dataDir, server, writes }: Killed,
  restart: () => Promise<void>,
): Promise<void> {
  const victim = victims[cycle % victims.length]!
  let isOver = false
  const running = workload.run(() => isOver)
  await moreWrites(workload, writes.before)
  await pause(500 * random())
  await kill(victim, server, dataDir)
  if (victim !== 'postmaster') {
    await server.ended
    await restart()
  }
  await moreWrites(workload, writes.after)
  isOver = true
  await running
}

async function moreWrites(workload: Pick<Workload, 'acknowledged'>, count: number): Promise<void> {
  const before = workload.acknowledged
  await waitFor('acknowledged writes', () => workload.acknowledged >= before + count, PATIENCE_MS)
}

/** Measures the time in ms from an empty directory to a ready server. This is longer than any start that only migrates. */
function timeOfFirstStart(): Promise<number> {
  return (firstStart ??= temporaryDataDir().then(async (dataDir) => {
    const startedAt = performance.now()
    const server = startServer(dataDir)
    await server.ready
    const milliseconds = performance.now() - startedAt
    await expectLastEnd(server, dataDir)
    return milliseconds
  }))
}

function timeOfImport(): Promise<number> {
  return (importing ??= preparedDataDir().then((dataDir) => timed(() => importSample(dataDir))))
}

async function importSample(dataDir: string): Promise<void> {
  expect(await startCommand(dataDir, 'import', SAMPLE).ended).toMatchObject({ code: 0 })
}

async function timed(work: () => Promise<void>): Promise<number> {
  const startedAt = performance.now()
  await work()
  return performance.now() - startedAt
}

/** Kills the victim after a delay. A process that ends sooner is not killed. */
async function killAfter(
  process: ConsoleProcess,
  dataDir: string,
  delayMs: number,
  victim: Victim = victims[Math.floor(random() * 3)]!,
): Promise<void> {
  await pause(delayMs)
  await kill(victim, process, dataDir)
  process.child.kill('SIGKILL') // also if only PostgreSQL was the victim: the process would restart it and continue
  await process.ended
}

async function migrateCopy(from: string, work: (dataDir: string) => Promise<void>): Promise<void> {
  const dataDir = await temporaryDataDir()
  await cp(from, join(dirname(dataDir), basename(from)), { recursive: true, preserveTimestamps: true })
  await work(dataDir)
}

async function expectLastEnd(server: ServerProcess, dataDir: string): Promise<void> {
  await expectGoodEnd(server)
  await waitFor('nothing to run any more', async () => (await processesOf(dataDir)).length === 0, PATIENCE_MS)
}

const filesIn = (dataDir: string) => diskStore(join(dataDir, 'files'))

async function withDatabase<T>(dataDir: string, work: (database: Database) => Promise<T>): Promise<T> {
  const database = await openDatabase({ dataDir, use: 'command', log })
  try {
    return await work(database)
  } finally {
    await database.close()
  }
}

async function isSignedIn(url: string, cookie: string): Promise<boolean> {
  const answer = await fetch(`${url}/api/session`, { headers: { cookie } })
  return ((await answer.json()) as { user: unknown }).user !== null
}
