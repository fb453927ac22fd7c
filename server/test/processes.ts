/** Real processes on data directories of their own, for tests that kill things. All are gone when the test ends. */
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { chmod, mkdtemp, readFile, rm } from 'node:fs/promises'
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
  /** Resolves when it has opened the database, to the milliseconds since it was started; rejects when it was refused. */
  opened: Promise<number>
  /** Resolves to how it ended, with all it logged. */
  ended: Promise<{ code: number | null; signal: string | null; log: string }>
  events: ProcessEvent[]
  query(sql: string): Promise<Record<string, unknown>[]>
  listen(channel: string): Promise<void>
  freeSpaceLow(): Promise<boolean>
  kill(signalName: NodeJS.Signals): void
}

export interface SpawnAs {
  uid?: number
  gid?: number
}

/** A query that failed in the other process. */
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
  const ask = (request: { sql: string } | { listen: string } | { asks: 'freeSpaceLow' }) =>
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
    async freeSpaceLow() {
      return (await ask({ asks: 'freeSpaceLow' }))[0]?.['freeSpaceLow'] === true
    },
    kill: (signalName) => void child.kill(signalName),
  }
}

/** An empty DATA_DIR that is removed after the test, together with the PostgreSQL in it. */
export async function temporaryDataDir(parent = os.tmpdir()): Promise<string> {
  const base = await mkdtemp(path.join(parent, 'arcade-test-'))
  await chmod(base, 0o711) // as root, PostgreSQL's user goes through it
  const dataDir = path.join(base, 'data')
  onTestFinished(async () => {
    await endPostgres(dataDir)
    await rm(base, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 })
  })
  return dataDir
}

let template: Promise<string> | undefined

/** A DATA_DIR like temporaryDataDir, with a cluster that was made, migrated and stopped before: a copy, which is faster. */
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
  return dataDir
}

/** To be called when the file's tests are over. */
export async function removePrepared(): Promise<void> {
  if (template !== undefined) await rm(path.dirname(await template), { recursive: true, force: true })
  template = undefined
}

/** The postmaster of the data directory, as its lock file says. */
export async function postmasterPid(dataDir: string): Promise<number> {
  return Number((await readFile(path.join(dataDir, 'postgres/postmaster.pid'), 'utf8')).split('\n')[0])
}

/** Waits for a condition; the error says what was waited for. The time is far beyond what anything needs, also on a busy machine. */
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

/** Asks again until the answer is no error. */
export async function waitForQuery(asked: DatabaseProcess, sql: string): Promise<void> {
  const attempt = () =>
    asked.query(sql).then(
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
