/** Starts real processes on their own data directories, for tests that kill them. All are gone when the test ends. */
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { appendFile, chmod, mkdtemp, readFile, rm } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { pino } from 'pino'
import { onTestFinished } from 'vitest'
import { openDatabase } from '#src/db/database.ts'
import { findProcess, findProcesses, signal } from '#src/postgres/processes.ts'
import type { ProcessAnswer, ProcessEvent, ProcessOptions } from './cluster-process.ts'

export interface DatabaseProcess {
  pid: number
  /** Resolves when the process has opened the database, to the milliseconds since its start. Rejects if it could not. */
  opened: Promise<number>
  /** Resolves when the process has ended, to its exit code or signal and its log. */
  ended: Promise<{ code: number | null; signal: string | null; log: string }>
  events: ProcessEvent[]
  query(sql: string): Promise<Record<string, unknown>[]>
  listen(channel: string): Promise<void>
  isSpaceLow(): Promise<boolean>
  kill(signalName: NodeJS.Signals): void
}

export interface SpawnAs {
  uid?: number
  gid?: number
}

/** The error of a query that failed in the other process. */
export class RemoteError extends Error {
  readonly isUnavailable: boolean
  readonly isDiskFull: boolean

  constructor({ message, isUnavailable, isDiskFull }: { message: string; isUnavailable: boolean; isDiskFull: boolean }) {
    super(message)
    this.isUnavailable = isUnavailable
    this.isDiskFull = isDiskFull
  }
}

export function startProcess(options: ProcessOptions, as: SpawnAs = {}): DatabaseProcess {
  const startedAt = performance.now()
  const child = spawn(process.execPath, [PROGRAM, JSON.stringify(options)], { stdio: ['pipe', 'pipe', 'pipe'], ...as })
  const events: ProcessEvent[] = []
  const waiting = new Map<number, { resolve: (rows: Record<string, unknown>[]) => void; reject: (error: Error) => void }>()
  const opened = Promise.withResolvers<number>()
  const ended = Promise.withResolvers<{ code: number | null; signal: string | null; log: string }>()
  opened.promise.catch(() => undefined)
  let log = ''
  let lastId = 0
  child.stderr.on('data', (chunk: Buffer) => (log += chunk.toString()))
  child.stdin.on('error', () => undefined)
  createInterface(child.stdout).on('line', (text) => {
    const line = JSON.parse(text) as ProcessAnswer | ProcessEvent
    if ('event' in line) {
      events.push(line)
      if (line.event === 'opened') opened.resolve(performance.now() - startedAt)
      if (line.event === 'refused') opened.reject(new Error(line.message))
      return
    }
    const asker = waiting.get(line.id)
    waiting.delete(line.id)
    if ('rows' in line) asker?.resolve(line.rows)
    else asker?.reject(new RemoteError(line.error))
  })
  child.on('close', (code, signalName) => {
    opened.reject(new Error(`ended before it opened the database (${signalName ?? code}): ${log}`))
    for (const { reject } of waiting.values()) reject(new Error('the process ended'))
    ended.resolve({ code, signal: signalName, log })
  })
  const ask = (request: { sql: string } | { listen: string } | { asks: 'isSpaceLow' }) =>
    new Promise<Record<string, unknown>[]>((resolve, reject) => {
      lastId += 1
      waiting.set(lastId, { resolve, reject })
      child.stdin.write(`${JSON.stringify({ id: lastId, ...request })}\n`)
    })
  onTestFinished(() => endChild(child))
  return {
    pid: child.pid ?? 0,
    opened: opened.promise,
    ended: ended.promise,
    events,
    query: (sql) => ask({ sql }),
    async listen(channel) {
      await ask({ listen: channel })
    },
    async isSpaceLow() {
      return (await ask({ asks: 'isSpaceLow' }))[0]?.['isSpaceLow'] === true
    },
    kill: (signalName) => void child.kill(signalName),
  }
}

/** Returns a DATA_DIR that does not exist yet. After the test it is removed and PostgreSQL processes in it are killed. */
export async function temporaryDataDir(parent = os.tmpdir()): Promise<string> {
  const base = await mkdtemp(path.join(parent, 'arcade-test-'))
  await chmod(base, 0o711) // when tests run as root, PostgreSQL's own user must be able to pass through
  const dataDir = path.join(base, 'data')
  onTestFinished(async () => {
    await endPostgres(dataDir)
    await rm(base, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 })
  })
  return dataDir
}

let template: Promise<string> | undefined

/**
 * Like temporaryDataDir, but with an embedded PostgreSQL that is migrated and stopped. It is a copy, which is faster than a new one. It
 * does not wait for the disk: a killed process loses nothing by that, only a power failure would.
 */
export async function preparedDataDir(): Promise<string> {
  template ??= prepare()
  const dataDir = await temporaryDataDir()
  await run('cp', ['-a', await template, dataDir])
  return dataDir
}

async function prepare(): Promise<string> {
  const base = await mkdtemp(path.join(os.tmpdir(), 'arcade-test-'))
  await chmod(base, 0o711)
  const dataDir = path.join(base, 'data')
  const database = await openDatabase({ dataDir, use: 'command', log: pino({ level: 'silent' }) })
  await database.close()
  await appendFile(path.join(dataDir, 'postgres/postgresql.auto.conf'), 'fsync = off\n')
  return dataDir
}

/** Removes the directory that preparedDataDir copies. setup.ts calls it after each test file. */
export async function removePrepared(): Promise<void> {
  if (template !== undefined) await rm(path.dirname(await template), { recursive: true, force: true })
  template = undefined
}

/** Reads the process id of PostgreSQL's postmaster from its lock file. */
export async function postmasterPid(dataDir: string): Promise<number> {
  return Number((await readFile(path.join(dataDir, 'postgres/postmaster.pid'), 'utf8')).split('\n')[0])
}

/** Polls until `get` returns neither undefined nor false. The timeout is generous, for busy machines. The error quotes `what`. */
export async function waitFor<T>(
  what: string,
  get: () => Promise<T> | T,
  timeoutMs = 60_000,
): Promise<Exclude<T, undefined | false>> {
  const deadline = performance.now() + timeoutMs
  for (;;) {
    const value = await get()
    if (value !== undefined && value !== false) return value as Exclude<T, undefined | false>
    if (performance.now() > deadline) throw new Error(`waited ${timeoutMs} ms in vain for ${what}`)
    await pause(10)
  }
}

/** Repeats a query until it succeeds. */
export async function waitForQuery(database: DatabaseProcess, sql: string): Promise<void> {
  const attempt = () =>
    database.query(sql).then(
      () => true,
      () => false,
    )
  await waitFor(`an answer to ${sql}`, attempt)
}

export async function isRunning(pid: number): Promise<boolean> {
  return (await findProcess(pid)) !== undefined
}

const run = promisify(execFile)
const PROGRAM = fileURLToPath(new URL('./cluster-process.ts', import.meta.url))

async function endChild(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const gone = new Promise((resolve) => child.once('close', resolve))
  child.kill('SIGKILL')
  await gone
}

async function endPostgres(dataDir: string): Promise<void> {
  const inside = () =>
    findProcesses(
      ({ cwd, command }) =>
        (cwd?.startsWith(dataDir) ?? false) || (/^\S*(postgres|initdb)\b/.test(command) && command.includes(dataDir)),
    )
  await waitFor('PostgreSQL to be gone', async () => {
    const found = await inside()
    for (const { pid } of found) signal(pid, 'SIGKILL')
    return found.length === 0
  })
}
