/** Starts the server and commands as processes on a test's data directory, so that the test can kill them at any time. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { expect, onTestFinished } from 'vitest'
import { sentStatements } from '#src/postgres/connections.ts'
import { findProcesses, signal } from '#src/postgres/processes.ts'
import { BASE_ENV } from '#test/base-env.ts'
import { waitFor } from '#test/processes.ts'
import { onServer } from '#test/test-server.ts'

const SOURCE = resolve(import.meta.dirname, '../../src')
const TELL_STATEMENTS = resolve(import.meta.dirname, '../tell-statements.ts')
export const ADMIN = { email: 'admin@example.org', password: 'correct horse' }

export interface ConsoleProcess {
  child: ChildProcess
  /** Resolves when the process has ended, to its exit code and output. */
  ended: Promise<{ code: number | null; output: string }>
}

export interface ServerProcess extends ConsoleProcess {
  /** Resolves to the server's address once it is ready. Rejects if it ends before that. */
  ready: Promise<string>
}

/** Starts a server whose first admin is `ADMIN`. */
export function startServer(dataDir: string, env: Record<string, string> = {}): ServerProcess {
  const admin = { ADMIN_EMAIL: ADMIN.email, ADMIN_PASSWORD: ADMIN.password }
  const started = start('main.ts', [], dataDir, { PORT: '0', RATE_LIMIT: 'off', ...admin, ...env })
  const ready = Promise.withResolvers<string>()
  ready.promise.catch(() => undefined)
  createInterface(started.child.stdout!).on('line', (line) => {
    const address = /^Arcade Console ready at (http:\S+)$/.exec(line)?.[1]
    if (address) ready.resolve(address)
  })
  void started.ended.then(({ code, output }) => ready.reject(new Error(`the server ended with ${code}:\n${output}`)))
  return { ...started, ready: ready.promise }
}

/** Runs `npm run arcade -- …`. */
export function startCommand(dataDir: string, ...args: string[]): ConsoleProcess {
  return startCommandWith({}, dataDir, ...args)
}

export function startCommandWith(env: Record<string, string>, dataDir: string, ...args: string[]): ConsoleProcess {
  return start('cli/arcade.ts', args, dataDir, { INIT_CWD: join(dataDir, '..'), ...env })
}

function start(program: string, args: string[], dataDir: string, env: Record<string, string>): ConsoleProcess {
  const child = spawn(process.execPath, ['--import', TELL_STATEMENTS, join(SOURCE, program), ...args], {
    env: { ...BASE_ENV, DATA_DIR: dataDir, ...env },
    stdio: ['ignore', 'pipe', 'pipe', 'ipc'],
  })
  // Publishes the statements of the other process as if this one had sent them.
  child.on('message', (statement) => sentStatements.publish(statement))
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream?.on('data', (chunk: Buffer) => (output += chunk.toString()))
  const ended = once(child, 'close').then(([code]) => ({ code: code as number | null, output }))
  onTestFinished(async () => {
    child.kill('SIGKILL')
    await ended
  })
  return { child, ended }
}

/** Sends SIGTERM and expects exit code 0. The error shows the process's output. */
export async function expectGoodEnd({ child, ended }: ServerProcess): Promise<void> {
  child.kill('SIGTERM')
  const { code, output } = await ended
  expect(code, output).toBe(0)
}

/** Signs `ADMIN` in and returns the cookies. */
export async function signInAdmin(url: string): Promise<string> {
  return signIn(url, ADMIN)
}

/** Signs a person in and returns the cookies. A server that answers 503 is busy, so the request is repeated, as the web app does it. */
export async function signIn(url: string, account: { email: string; password: string }): Promise<string> {
  const headers = { 'content-type': 'application/json' }
  const answer = await waitFor('an answer to signing in', async () => {
    const response = await fetch(`${url}/api/session`, { method: 'POST', headers, body: JSON.stringify(account) })
    return response.status === 503 ? undefined : response
  })
  expect(answer.status).toBe(200)
  return answer.headers
    .getSetCookie()
    .map((text) => text.split(';')[0])
    .join('; ')
}

/**
 * Waits until nobody but the caller is connected to a database. PostgreSQL still runs the last statements of a process that was killed, and
 * what holds its locks until then would meet the next process.
 */
export async function connectionsEnded(url: string): Promise<void> {
  await waitFor('the end of all connections', () =>
    onServer(url, async (run) => {
      const others = await run(`select from pg_stat_activity
        where datname = current_database() and backend_type = 'client backend' and pid <> pg_backend_pid()`)
      return others.length === 0
    }),
  )
}

export type Victim = 'server' | 'postmaster' | 'both'

/** Sends SIGKILL to the victim. During a first start there may be no postmaster yet. */
export async function kill(victim: Victim, { child }: ConsoleProcess, dataDir: string): Promise<void> {
  if (victim !== 'postmaster') child.kill('SIGKILL')
  if (victim === 'server') return
  const lockFile = await readFile(join(dataDir, 'postgres/postmaster.pid'), 'utf8').catch(() => '')
  const pid = Number(lockFile.split('\n')[0])
  if (pid > 0) signal(pid, 'SIGKILL')
}

/** Lists processes whose working directory is in the data directory or whose command line names it. */
export async function processesOf(dataDir: string): Promise<string[]> {
  const found = await findProcesses(({ cwd, command }) => (cwd?.startsWith(dataDir) ?? false) || command.includes(dataDir))
  return found.map(({ pid, command }) => `${pid} ${command}`)
}
