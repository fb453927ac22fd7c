/** `npm run arcade -- backup`, `backup verify`, `restore` and `resume` as processes, beside a server and killed at any moment. */
import { access, mkdir, readdir, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import pg from 'pg'
import { pino } from 'pino'
import { afterAll, expect, onTestFinished, test } from 'vitest'
import { ADMIN, startCommand, startCommandWith, startServer } from '#test/faults/console-process.ts'
import { preparedDataDir, removePrepared, startProcess, temporaryDataDir, waitFor } from '#test/processes.ts'
import { unfinishedRestoreFile } from '#src/db/unfinished-restore.ts'
import { processStartTime } from '#src/postgres/processes.ts'
import { embeddedCluster } from '#src/postgres/cluster.ts'
import { createDatabase } from '#test/test-database.ts'
import { onServer } from '#test/test-server.ts'

afterAll(removePrepared)

/** Nine processes one after the other, each with a cluster to start, on a busy machine. */
const MANY_PROCESSES_MS = 300_000

test(
  'design §8 a backup beside a running server, verified and restored into an absent DATA_DIR, shows the same figures',
  async () => {
    const dataDir = await temporaryDataDir()
    const server = startServer(dataDir)
    const address = await server.ready
    const cookie = await signIn(address)
    const task = { type: 'twitter', priority: 1, title: 'Follow us', link: 'https://example.org', reward: 5 }
    expect((await call(address, cookie, 'POST', '/api/social-tasks', task)).status).toBe(200)
    const figures = await (await call(address, cookie, 'GET', '/api/metrics')).json()
    expect(await command(dataDir, 'token', 'create', 'game bot')).toMatchObject({ code: 0 })

    const at = path.join(dataDir, '../backup')
    const backup = await command(dataDir, 'backup', 'backup') // relative to the folder in which the operator types the command
    expect(backup.code, backup.output).toBe(0)
    expect(backup.output).toMatch(/^Saved \d+ rows and 0 files \(0\.\d MB\) in /)
    // As if the server verified a backup at the same time.
    const trial = path.join(dataDir, 'backup-trial')
    await mkdir(trial)
    const pid = server.child.pid!
    await writeFile(unfinishedRestoreFile(trial), [pid, await processStartTime(pid), ''].join('\n'))
    const verified = await command(dataDir, 'backup', 'verify', at)
    await rm(trial, { recursive: true })
    expect(verified.code, verified.output).toBe(0)
    expect(verified.output).toMatch(/is whole: \d+ rows and 0 files .* were restored on trial and are what was saved\.$/m)
    expect((await readdir(dataDir)).filter((name) => name.startsWith('backup-trial'))).toEqual([])
    const occupied = await command(dataDir, 'restore', at)
    expect(occupied).toMatchObject({ code: 1, output: expect.stringContaining('is not empty (') as string })

    const otherDir = await temporaryDataDir()
    const restored = await command(otherDir, 'restore', at)
    expect(restored.code, restored.output).toBe(0)
    expect(restored.output).toMatch(/^These bot tokens work:\n {2}game bot, scope play, created at /m)
    expect(restored.output).not.toContain('hash')
    const second = startServer(otherDir)
    const other = await second.ready
    expect((await call(other, cookie, 'GET', '/api/metrics')).status, 'an old session').toBe(401)
    const newCookie = await signIn(other)
    expect(await (await call(other, newCookie, 'GET', '/api/metrics')).json()).toEqual(figures)
    expect(await command(otherDir, 'resume')).toMatchObject({ code: 0, output: 'Scheduled work runs again.\n' })
    expect(await command(otherDir, 'resume')).toMatchObject({ code: 0, output: 'Scheduled work was not paused.\n' })
    second.child.kill('SIGTERM')
    expect((await second.ended).output).toContain('Scheduled work is paused')
  },
  MANY_PROCESSES_MS,
)

test('security: kill -9 during a backup leaves no backup, the next one is clean', async () => {
  const dataDir = await preparedDataDir()
  const server = startProcess({ dataDir, use: 'server' })
  await server.opened
  const at = path.join(dataDir, '../backup')
  // The backup waits for this lock after it has saved the tables that come first.
  await server.query(`insert into counters values ('kept', 1)`)
  const lock = await connectTo(dataDir)
  await lock.query('begin; lock table telegram_users in access exclusive mode')
  const cutOff = startCommand(dataDir, 'backup', at)
  await waitFor('the first table', () => exists(path.join(at, 'tables/counters.00001.copy.zst')))
  cutOff.child.kill('SIGKILL')
  await cutOff.ended
  await lock.query('rollback')
  expect(await readdir(at)).toContain('unfinished')
  expect(await command(dataDir, 'backup', 'verify', at)).toMatchObject({
    code: 1,
    output: expect.stringContaining('There is no whole backup in') as string,
  })
  await waitFor('the lock of the killed backup', async () => (await command(dataDir, 'backup', at)).code === 0)
  expect((await readdir(at)).toSorted()).toEqual(['manifest.json', 'tables'])
})

test('security: kill -9 during a restore into DATA_DIR: the folder is not served, and the same command starts over', async () => {
  const at = await backupOf(await preparedDataDir())
  const dataDir = await temporaryDataDir()
  const cutOff = startCommand(dataDir, 'restore', at)
  await waitFor('PostgreSQL', () => exists(path.join(dataDir, 'postgres/postmaster.pid')))
  cutOff.child.kill('SIGKILL')
  await cutOff.ended
  const server = startServer(dataDir)
  await expect(server.ready).rejects.toThrow(/is being restored from a backup, or that was cut off before it was finished/)
  const again = await command(dataDir, 'restore', at)
  expect(again.code, again.output).toBe(0)
  expect((await readdir(dataDir)).filter((name) => name !== 'files')).toEqual(['postgres'])
  const opened = startProcess({ dataDir, use: 'server' })
  await opened.opened
  expect(await opened.query(`select value from counters where name = 'kept'`)).toEqual([{ value: 1 }])
})

test('security: kill -9 during a restore into DATABASE_URL: the database is not served, and the same command starts over', async () => {
  const at = await backupOf(await preparedDataDir())
  const dataDir = await temporaryDataDir()
  const url = await createDatabase('backup_killed')
  const env = { DATABASE_URL: url }
  // The restore waits for the end of this transaction when it builds its first index.
  const holder = new pg.Client({ connectionString: url })
  await holder.connect()
  onTestFinished(() => holder.end())
  await holder.query('begin isolation level repeatable read; select 1')
  const cutOff = startCommandWith(env, dataDir, 'restore', at)
  await waitFor('a migration', async () => (await countOf(url, 'migrations')) > 0)
  cutOff.child.kill('SIGKILL')
  await cutOff.ended
  await holder.query('rollback')
  const server = startServer(dataDir, env)
  await expect(server.ready).rejects.toThrow(/is being restored from a backup, or that was cut off before it was finished/)
  await waitFor(
    'the locks of the killed restore',
    async () => (await startCommandWith(env, dataDir, 'restore', at).ended).code === 0,
  )
  const opened = startProcess({ dataDir, url, use: 'server' })
  await opened.opened
  expect(await opened.query(`select value from counters where name = 'kept'`)).toEqual([{ value: 1 }])
})

/** A backup of a console with a counter `kept`. */
async function backupOf(dataDir: string): Promise<string> {
  const server = startProcess({ dataDir, use: 'server' })
  await server.opened
  await server.query(`insert into counters values ('kept', 1)`)
  const at = path.join(dataDir, '../backup')
  const { code, output } = await command(dataDir, 'backup', at)
  expect(code, output).toBe(0)
  server.kill('SIGTERM')
  await server.ended
  return at
}

async function command(dataDir: string, ...args: string[]): Promise<{ code: number | null; output: string }> {
  return startCommand(dataDir, ...args).ended
}

/** A connection to the embedded database that a server keeps running. */
async function connectTo(dataDir: string): Promise<pg.Client> {
  const running = await embeddedCluster({ dataDir, log: pino({ level: 'silent' }) }).find()
  const client = new pg.Client(running)
  client.on('error', () => undefined)
  await client.connect()
  onTestFinished(() => client.end())
  return client
}

async function countOf(url: string, table: string): Promise<number> {
  return onServer(url, async (run) => {
    const [found] = await run<{ there: boolean }>(`select to_regclass('${table}') is not null as there`)
    if (!found?.there) return 0
    const [row] = await run<{ count: number }>(`select count(*)::int as count from ${table}`)
    return row?.count ?? 0
  })
}

function exists(file: string): Promise<boolean> {
  return access(file).then(
    () => true,
    () => false,
  )
}

async function signIn(address: string): Promise<string> {
  const answer = await call(address, '', 'POST', '/api/session', ADMIN)
  expect(answer.status).toBe(200)
  return answer.headers.get('set-cookie')!.split(';')[0]!
}

function call(address: string, cookie: string, method: string, route: string, body?: object): Promise<Response> {
  return fetch(address + route, {
    method,
    headers: { 'content-type': 'application/json', cookie },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
}
