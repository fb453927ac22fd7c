/**
 * Kills the server, PostgreSQL and its backends (security.md, Crash): they come back by themselves and every acknowledged row is there.
 * bench/crash.bench.ts measures how fast; the timeouts here only tell that something does not come back at all.
 */
import { spawn } from 'node:child_process'
import { access, readFile, readdir, stat, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import {
  type DatabaseProcess,
  isRunning,
  postmasterPid,
  preparedDataDir,
  startProcess,
  temporaryDataDir,
  waitFor,
  waitForQuery,
} from '#test/processes.ts'
import { findProcesses } from '#src/postgres/processes.ts'

test('security: crash: kill -9 of the server: the next server adopts its PostgreSQL', async () => {
  const dataDir = await preparedDataDir()
  const server = await openServer(dataDir)
  const writer = writeRows(server)
  await waitFor('some rows', () => writer.acknowledged.length > 50)
  const postmaster = await postmasterPid(dataDir)
  server.kill('SIGKILL')
  await server.ended
  const next = startProcess({ dataDir, use: 'server' })
  await next.opened
  expect(await postmasterPid(dataDir)).toBe(postmaster)
  await expectRows(next, writer.acknowledged)
})

test('security: crash: kill -9 of PostgreSQL: the server starts it again, callers get 503 meanwhile', async () => {
  const dataDir = await preparedDataDir()
  const server = await openServer(dataDir)
  await server.listen('news')
  const writer = writeRows(server)
  await waitFor('some rows', () => writer.acknowledged.length > 50)
  process.kill(await postmasterPid(dataDir), 'SIGKILL')
  await waitFor('a failed write', () => writer.failures.length > 0)
  // Busy backends outlive their postmaster for a while, so a successful write does not prove that PostgreSQL is back. Two gap events
  // do: the server reports one when it loses the connection that listens and one when it listens again.
  await waitFor('both gaps', () => server.events.filter(({ event }) => event === 'gap').length === 2)
  const backAt = performance.now()
  await waitFor('a write after it', () => writer.lastSuccessAt > backAt)
  await writer.stop()
  expect(writer.failures.filter(({ isUnavailable }) => !isUnavailable)).toEqual([])
  await expectRows(server, writer.acknowledged)
  await server.query(`notify news, 'after'`)
  await waitFor('the message', () => server.events.some((event) => event.event === 'heard' && event.message === 'after'))
})

test('security: crash: kill -9 of PostgreSQL during a long query: the server ends the backends that are left', async () => {
  const dataDir = await preparedDataDir()
  const server = await openServer(dataDir)
  const busy = server.query('select count(*) from generate_series(1, 1000000000)')
  const ended = busy.catch((error: unknown) => error)
  await waitFor(
    'the query to run',
    async () =>
      (
        await server.query(
          `select 1 as one from pg_stat_activity where query like '%generate_series%' and pid <> pg_backend_pid() and state = 'active'`,
        )
      ).length > 0,
  )
  process.kill(await postmasterPid(dataDir), 'SIGKILL')
  expect(await ended).toMatchObject({ isUnavailable: true })
  await waitForQuery(server, 'select 1 as one')
})

test('security: crash: kill -9 of both', async () => {
  const dataDir = await preparedDataDir()
  const server = await openServer(dataDir)
  const writer = writeRows(server)
  await waitFor('some rows', () => writer.acknowledged.length > 50)
  server.kill('SIGKILL')
  process.kill(await postmasterPid(dataDir), 'SIGKILL')
  const next = startProcess({ dataDir, use: 'server' })
  await next.opened
  await expectRows(next, writer.acknowledged)
})

test('security: crash: kill -9 of one backend: PostgreSQL restarts itself and the pool recovers', async () => {
  const dataDir = await preparedDataDir()
  const server = await openServer(dataDir)
  const [row] = await server.query('select pg_backend_pid() as pid')
  process.kill(Number(row?.['pid']), 'SIGKILL')
  await waitForQuery(server, 'select 1 as one')
})

test('security: crash: two processes find a dead PostgreSQL at once: one starts it, both use it', async () => {
  const dataDir = await preparedDataDir()
  const server = await openServer(dataDir)
  const command = startProcess({ dataDir, use: 'command' })
  await command.opened
  process.kill(await postmasterPid(dataDir), 'SIGKILL')
  for (const user of [server, command]) await waitForQuery(user, 'select 1 as one')
})

test('security: crash: a server that was stopped finds that another one has taken over, and ends', async () => {
  const dataDir = await preparedDataDir()
  const server = await openServer(dataDir)
  server.kill('SIGSTOP') // as when a laptop sleeps or a debugger stops it
  process.kill(await postmasterPid(dataDir), 'SIGKILL')
  const next = startProcess({ dataDir, use: 'server' })
  await next.opened
  server.kill('SIGCONT')
  expect(await server.ended).toMatchObject({ code: 1 })
  expect(server.events.at(-1)).toMatchObject({
    event: 'fatal',
    message: expect.stringContaining('Another Arcade Console is already running'),
  })
  expect(await next.query('select 1 as one')).toEqual([{ one: 1 }])
})

test.for([
  ['of a process that is gone', async () => deadPid()],
  ['that another user’s process has by now', async () => strangerPid({ uid: 65_534, gid: 65_534 })],
  ['that another process of the same user has by now', async (owner: number) => strangerPid({ uid: owner, gid: owner })],
] as const)('security: crash: a stale lock file with a process id %s', async ([, getPid]) => {
  const dataDir = await preparedDataDir()
  const server = await openServer(dataDir)
  await server.query(`insert into counters values ('kept', 1)`)
  const { uid } = await stat(path.join(dataDir, 'postgres'))
  server.kill('SIGKILL')
  await server.ended
  process.kill(await postmasterPid(dataDir), 'SIGKILL')
  const pidFile = path.join(dataDir, 'postgres/postmaster.pid')
  const [, ...rest] = (await readFile(pidFile, 'utf8')).split('\n')
  await writeFile(pidFile, [await getPid(uid), ...rest].join('\n'))
  // A program that happens to work in the directory, such as a shell, is no PostgreSQL whose end has to be waited for.
  const shell = spawn('sleep', ['600'], { cwd: path.join(dataDir, 'postgres') })
  onTestFinished(() => void shell.kill('SIGKILL'))
  const next = startProcess({ dataDir, use: 'server' })
  await next.opened
  expect(await next.query('select name from counters')).toEqual([{ name: 'kept' }])
})

test('security: crash: an empty lock file, as after a power failure', async () => {
  const dataDir = await preparedDataDir()
  await stopped(await openServer(dataDir))
  await writeFile(path.join(dataDir, 'postgres/postmaster.pid'), '')
  const next = startProcess({ dataDir, use: 'server' })
  expect(await next.opened).toBeGreaterThan(0)
})

test.for(['the directory', 'PG_VERSION', 'base/1/PG_VERSION', 'arcade.password', 'postgresql.conf'])(
  'security: crash: the first start is killed after it has created %s',
  async (file) => {
    const dataDir = await temporaryDataDir()
    const server = startProcess({ dataDir, use: 'server' })
    const unfinished = async () =>
      (await readdir(dataDir).catch(() => [])).find((name) => name.startsWith('postgres.unfinished-'))
    await waitFor(file, async () => {
      const made = await unfinished()
      return made !== undefined && (file === 'the directory' || (await isThere(path.join(dataDir, made, file))))
    })
    server.kill('SIGKILL')
    await server.ended
    const next = startProcess({ dataDir, use: 'server' })
    await next.opened
    expect(await readdir(dataDir)).toEqual(['postgres'])
    expect(await next.query('select 1 as one')).toEqual([{ one: 1 }])
  },
)

test('security: crash: a start that finds a PostgreSQL without answer gives up in time and names its process', async () => {
  const dataDir = await preparedDataDir()
  const server = await openServer(dataDir)
  const postmaster = await postmasterPid(dataDir)
  server.kill('SIGKILL')
  await server.ended
  process.kill(postmaster, 'SIGSTOP')
  await expect(startProcess({ dataDir, use: 'server' }).opened).rejects.toThrow(
    `(process ${postmaster}) runs but does not answer`,
  )
  process.kill(postmaster, 'SIGCONT')
  const next = startProcess({ dataDir, use: 'server' })
  expect(await next.opened).toBeGreaterThan(0)
})

test.for(['has just gone', 'is being started again'])(
  'security: crash: SIGTERM while PostgreSQL %s ends the server and leaves nothing running',
  async (moment) => {
    const dataDir = await preparedDataDir()
    const server = await openServer(dataDir)
    await server.listen('anything')
    process.kill(await postmasterPid(dataDir), 'SIGKILL')
    if (moment === 'is being started again')
      await waitFor('the loss to be noticed', () => server.events.some(({ event }) => event === 'gap'))
    await stopped(server)
    // Backends of a killed postmaster end by themselves when they next check for it.
    const inside = () => findProcesses(({ cwd }) => cwd === path.join(dataDir, 'postgres'))
    await expect.poll(inside).toEqual([])
  },
)

async function openServer(dataDir: string): Promise<DatabaseProcess> {
  const server = startProcess({ dataDir, use: 'server' })
  await server.opened
  return server
}

async function stopped(server: DatabaseProcess): Promise<void> {
  server.kill('SIGTERM')
  expect(await server.ended).toMatchObject({ code: 0 })
}

/** Inserts rows from four concurrent callers and keeps the keys of acknowledged ones. */
function writeRows(server: DatabaseProcess) {
  const writer = {
    acknowledged: [] as string[],
    failures: [] as { isUnavailable: boolean }[],
    lastSuccessAt: 0,
    async stop() {
      isStopping = true
      await Promise.all(callers)
    },
  }
  let isStopping = false
  let next = 0
  const callers = Array.from({ length: 4 }, async () => {
    while (!isStopping) {
      const key = `row ${(next += 1)}`
      try {
        await server.query(`insert into file_removals (key) values ('${key}')`)
        writer.acknowledged.push(key)
        writer.lastSuccessAt = performance.now()
      } catch (error) {
        if (!('isUnavailable' in (error as object))) return // the server is dead
        writer.failures.push(error as { isUnavailable: boolean })
      }
    }
  })
  return writer
}

async function expectRows(server: DatabaseProcess, keys: string[]): Promise<void> {
  const stored = new Set((await server.query('select key from file_removals')).map(({ key }) => key))
  expect(keys.length).toBeGreaterThan(0)
  expect(keys.filter((key) => !stored.has(key))).toEqual([])
}

async function deadPid(): Promise<number> {
  const child = spawn('true')
  await new Promise((resolve) => child.once('exit', resolve))
  expect(await isRunning(child.pid ?? 0)).toBe(false)
  return child.pid ?? 0
}

/** Starts a process that has nothing to do with PostgreSQL. It runs as `user` if the tests run as root. */
async function strangerPid(user: { uid: number; gid: number }): Promise<number> {
  const child = spawn('sleep', ['600'], process.getuid?.() === 0 ? user : {})
  onTestFinished(() => void child.kill('SIGKILL'))
  await new Promise((resolve) => child.once('spawn', resolve))
  return child.pid ?? 0
}

async function isThere(file: string): Promise<boolean> {
  return access(file).then(
    () => true,
    () => false,
  )
}
