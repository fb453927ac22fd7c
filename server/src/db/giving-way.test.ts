/** Work that yields to requests while the processors are busy, as the system reports it for real processes. */
import { existsSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import os from 'node:os'
import { sql } from 'kysely'
import { pino } from 'pino'
import { expect, onTestFinished, test } from 'vitest'
import { AWAITED_NICENESS, NICENESS } from '#src/postgres/priority.ts'
import { startConsoleServer } from '#test/console-server.ts'
import { type Database, openDatabase } from './database.ts'

const PROCESS = 'select pg_backend_pid() as pid'

/** Falls back to the process where Linux does not group processes by session. */
async function sessionNiceness(pid: number): Promise<string> {
  const session = await readFile(`/proc/${pid}/autogroup`, 'utf8').catch(() => `nice ${os.getPriority(pid)}`)
  return session.trim()
}

async function childrenOf(pid: number, program: string): Promise<number[]> {
  const ids = (await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8')).trim().split(' ').filter(Boolean).map(Number)
  const commands = await Promise.all(ids.map((id) => readFile(`/proc/${id}/cmdline`, 'utf8').catch(() => '')))
  return ids.filter((_, index) => commands[index]!.includes(program))
}

/** Returns the niceness of the process that runs the pool's statements. */
async function poolNiceness({ db }: Database): Promise<number> {
  const { rows } = await sql<{ pid: number }>`${sql.raw(PROCESS)}`.execute(db)
  return os.getPriority(rows[0]!.pid)
}

test('§9 spreadsheets, counts, the ledger and commands on whole tables yield to requests', async () => {
  const server = await startConsoleServer()
  onTestFinished(() => server.stop())
  expect(await poolNiceness(server.database)).toBe(os.getPriority())
  const ledgerProcess = server.database.statement<{ pid: number }>('ledger-process', PROCESS)
  await expect.poll(async () => os.getPriority((await ledgerProcess([]))[0]!.pid)).toBe(NICENESS)
  for (const isAwaited of [false, true]) {
    const niceness = isAwaited ? AWAITED_NICENESS : NICENESS
    await server.database.snapshot(
      async ({ query }) => {
        const [{ pid }] = (await query<{ pid: number }>(PROCESS)) as [{ pid: number }]
        expect(os.getPriority(pid)).toBe(niceness)
        expect(await sessionNiceness(pid)).toMatch(new RegExp(`nice ${niceness}$`))
        // Parallel workers would not yield.
        const [helpers] = await query<{ max_parallel_workers_per_gather: string }>('show max_parallel_workers_per_gather')
        expect(helpers).toEqual({ max_parallel_workers_per_gather: '0' })
      },
      { isAwaited },
    )
  }
  const log = pino({ level: 'silent' })
  const bulk = await openDatabase({ dataDir: server.dataDir, log, use: 'command', isLowPriority: true })
  onTestFinished(() => bulk.close())
  await expect.poll(() => poolNiceness(bulk)).toBe(NICENESS)
})

test('§9 spreadsheets are written by a process that yields, has its own session and ends with the server', async () => {
  const server = await startConsoleServer()
  onTestFinished(() => server.stop())
  const { token } = await server.addPerson({ fname: 'A', lname: 'B', email: 'reads@gmail.com', userType: 'admin' })
  expect(await childrenOf(server.pid, 'sheet-process')).toEqual([])
  const answer = await fetch(`${server.url}/downloadUsersData`, { headers: { cookie: `session=${token}` } })
  expect((await answer.arrayBuffer()).byteLength).toBeGreaterThan(1000)
  const writers = await childrenOf(server.pid, 'sheet-process')
  expect(writers).toHaveLength(1)
  const writer = writers[0]!
  expect(os.getPriority(writer)).toBe(NICENESS)
  expect(await sessionNiceness(writer)).toMatch(new RegExp(`nice ${NICENESS}$`))
  process.kill(server.pid, 'SIGKILL')
  await expect.poll(() => existsSync(`/proc/${writer}`)).toBe(false)
})

test('§9 the threads that compress and hash yield to the thread that answers requests', async () => {
  const server = await startConsoleServer()
  onTestFinished(() => server.stop())
  const folder = `/proc/${server.pid}/task`
  const threads = await Promise.all(
    (await readdir(folder)).map(async (id) => ({ id, name: (await readFile(`${folder}/${id}/comm`, 'utf8')).trim() })),
  )
  const niceness = (isWanted: (name: string) => boolean) =>
    new Set(threads.filter(({ name }) => isWanted(name)).map(({ id }) => os.getPriority(Number(id))))
  expect(niceness((name) => name.startsWith('libuv-worker'))).toEqual(new Set([NICENESS]))
  expect(niceness((name) => !name.startsWith('libuv-worker'))).toEqual(new Set([os.getPriority()]))
})
