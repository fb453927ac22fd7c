/** What gives way to requests while the processors are busy, as the system itself tells it of real processes. */
import { readdir, readFile } from 'node:fs/promises'
import os from 'node:os'
import { sql } from 'kysely'
import { pino } from 'pino'
import { expect, onTestFinished, test } from 'vitest'
import { AWAITED_NICENESS, NICENESS } from '#src/postgres/priority.ts'
import { startConsoleServer } from '#src/testing/console-server.ts'
import { type Database, openDatabase } from './database.ts'

const PROCESS = 'select pg_backend_pid() as pid'

/** Of the process that answers the pool's statements. */
async function poolNiceness({ db }: Database): Promise<number> {
  const { rows } = await sql<{ pid: number }>`${sql.raw(PROCESS)}`.execute(db)
  return os.getPriority(rows[0]!.pid)
}

test('§9 spreadsheets, counts and commands that read or write whole tables give way to requests', async () => {
  const server = await startConsoleServer()
  onTestFinished(() => server.stop())
  expect(await poolNiceness(server.database)).toBe(os.getPriority())
  for (const isAwaited of [false, true]) {
    const niceness = isAwaited ? AWAITED_NICENESS : NICENESS
    await server.database.snapshot(
      async ({ query }) => {
        const [{ pid }] = (await query<{ pid: number }>(PROCESS)) as [{ pid: number }]
        expect(os.getPriority(pid)).toBe(niceness)
        // Not every Linux groups by sessions.
        const session = await readFile(`/proc/${pid}/autogroup`, 'utf8').catch(() => `nice ${niceness}`)
        expect(session.trim()).toMatch(new RegExp(`nice ${niceness}$`))
      },
      { isAwaited },
    )
  }
  const log = pino({ level: 'silent' })
  const bulk = await openDatabase({ dataDir: server.dataDir, log, use: 'command', givesWay: true })
  onTestFinished(() => bulk.close())
  await expect.poll(() => poolNiceness(bulk)).toBe(NICENESS)
})

test('§9 what compresses and hashes gives way to the thread that answers requests', async () => {
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
