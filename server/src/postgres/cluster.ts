/**
 * The embedded PostgreSQL cluster in DATA_DIR/postgres (design §4): one postmaster that outlives whoever started it, so
 * every start first looks for one to adopt. PostgreSQL's own lock file decides between two that start at once.
 */
import type { ChildProcess } from 'node:child_process'
import { mkdir, open, readFile, readdir, realpath, rm, stat } from 'node:fs/promises'
import { createServer } from 'node:net'
import path from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import type { Logger } from 'pino'
import { type ClusterSettings, DATABASE, ROLE, initialise, readPassword, writeSettings } from './cluster-init.ts'
import { type Programs, programsFor } from './cluster-run.ts'
import { StartError } from './errors.ts'
import { type Process, findProcess, findProcesses, signal } from './processes.ts'

export interface ClusterOptions extends ClusterSettings {
  dataDir: string
  log: Logger
}

/** A running postmaster and how to connect to it. */
export interface Running {
  pid: number
  host: string
  port: number
  user: string
  password: string
  database: string
}

export interface Cluster {
  /** Makes, starts, waits for or adopts the postmaster, whatever the data directory needs. Rejects with a StartError. */
  ensureRunning(abort?: AbortSignal): Promise<Running>
  /** The postmaster if it runs and accepts connections, without doing anything about it. */
  find(): Promise<Running | undefined>
  /** Shuts this postmaster down and waits; false when it is still busy after the time, where it goes on stopping alone. */
  stop(pid: number, timeoutMs: number): Promise<boolean>
}

export function embeddedCluster(options: ClusterOptions): Cluster {
  const { log } = options
  const dir = path.resolve(options.dataDir, 'postgres')
  let lastPort: number | undefined

  async function describe({ pid, port }: Postmaster): Promise<Running> {
    return { pid, port, host: '127.0.0.1', user: ROLE, database: DATABASE, password: await readPassword(dir) }
  }

  return {
    async ensureRunning(abort) {
      await mkdir(path.dirname(dir), { recursive: true, mode: process.getuid?.() === 0 ? 0o711 : 0o700 })
      const found = (await adopt(dir, abort)) ?? (await start({ dir, settings: options, log, port: lastPort, abort }))
      lastPort = found.port
      return describe(found)
    },
    async find() {
      const file = await readPidFile(dir)
      return file?.status === 'ready' && (await isPostmasterOf(dir, file.pid)) ? describe(file) : undefined
    },
    async stop(pid, timeoutMs) {
      if (!(await isPostmasterOf(dir, pid))) return true
      signal(pid, 'SIGINT') // fast shutdown: ends all sessions, then a checkpoint
      return until(async () => !(await isPostmasterOf(dir, pid)), timeoutMs)
    },
  }
}

const POLL_MS = 20
/** Replaying the log after a crash can take long; meanwhile the postmaster says so. */
const STARTING_MS = 120_000
const STOPPING_MS = 30_000
/** Children of a killed postmaster die within milliseconds unless they are busy. */
const ORPHANS_MS = 8_000

interface Postmaster {
  pid: number
  port: number
}

/** The live postmaster of this data directory once it accepts connections; undefined when there is none. */
async function adopt(dir: string, abort: AbortSignal | undefined): Promise<Postmaster | undefined> {
  const deadlines = { starting: Date.now() + STARTING_MS, stopping: Date.now() + STOPPING_MS }
  for (;;) {
    abort?.throwIfAborted()
    const file = await readPidFile(dir)
    if (file === undefined || !(await isPostmasterOf(dir, file.pid))) return undefined
    if (file.status === 'ready') return { pid: file.pid, port: file.port }
    const phase = file.status === 'stopping' ? 'stopping' : 'starting'
    if (Date.now() > deadlines[phase]) {
      throw new StartError(
        `PostgreSQL (process ${file.pid}) on ${dir} has been ${phase} for too long: see ${dir}/log, or end it with kill -QUIT ${file.pid}.`,
      )
    }
    await pause(POLL_MS)
  }
}

interface PidFile {
  pid: number
  port: number
  status: string
}

/** PostgreSQL's own record, filled in line by line as it starts. */
async function readPidFile(dir: string): Promise<PidFile | undefined> {
  const text = await readFile(pidFile(dir), 'utf8').catch(() => undefined)
  if (text === undefined) return undefined
  const lines = text.split('\n')
  return { pid: Number(lines[0]), port: Number(lines[3]), status: lines[7]?.trim() || 'starting' }
}

function pidFile(dir: string): string {
  return path.join(dir, 'postmaster.pid')
}

/** A process number may have been given to anything since it was written down. */
async function isPostmasterOf(dir: string, pid: number): Promise<boolean> {
  const found = await findProcess(pid)
  return found !== undefined && isServer(found) && (await worksIn(dir, found))
}

/** A postmaster shows its command line, its children a title. */
function isServer({ command }: Process): boolean {
  return /^\S*postgres(\s|$)/.test(command)
}

async function worksIn(dir: string, { cwd, command }: Process): Promise<boolean> {
  if (cwd !== undefined) return cwd === (await realpath(dir).catch(() => dir))
  return command.includes(` ${dir} `) || command.endsWith(` ${dir}`)
}

interface Start {
  dir: string
  settings: ClusterSettings
  log: Logger
  port: number | undefined
  abort: AbortSignal | undefined
}

async function start({ dir, settings, log, port: preferredPort, abort }: Start): Promise<Postmaster> {
  const programs = await programsFor(dir)
  await initialise(dir, programs, settings)
  await writeSettings(dir, programs, settings)
  const orphansGone = Date.now() + ORPHANS_MS
  for (let clashes = 0; ;) {
    abort?.throwIfAborted()
    await removeMisleadingPidFile(dir)
    const port = clashes === 0 && preferredPort !== undefined ? preferredPort : await freePort()
    const outcome = await launch({ dir, port, programs, abort })
    if ('pid' in outcome) {
      log.info({ postmaster: outcome.pid, port }, 'PostgreSQL started')
      return outcome
    }
    const { problem } = outcome
    if (/lock file "postmaster.pid"/.test(problem)) {
      const other = await adopt(dir, abort)
      if (other !== undefined) return other
    } else if (/pre-existing shared memory block/.test(problem) && Date.now() < orphansGone) {
      await endOrphans(dir)
    } else if (/could not bind|could not create any TCP/.test(problem) && clashes < 5) {
      clashes += 1
    } else {
      throw new StartError(`PostgreSQL did not start on ${dir}: ${problem}`)
    }
    await pause(5 * POLL_MS)
  }
}

interface Launch {
  dir: string
  port: number
  programs: Programs
  abort: AbortSignal | undefined
}

/** Starts a postmaster in a session of its own: Ctrl-C in our terminal is for us, we stop it in order. */
async function launch({ dir, port, programs, abort }: Launch): Promise<Postmaster | { problem: string }> {
  const before = await logSizes(dir)
  const output = await unnamedFile(path.dirname(dir))
  try {
    const child = programs.spawn('postgres', ['-D', dir, '-c', `port=${port}`], {
      detached: true,
      stdio: ['ignore', output.fd, output.fd],
    })
    const ended = new Promise<string>((resolve) => {
      child.once('error', (error) => resolve(error.message))
      child.once('exit', (code, killed) => resolve(`it ended with ${killed ?? `exit code ${code}`}`))
    })
    child.unref()
    const ready = await waitUntilReady({ dir, child, ended, abort })
    if (ready !== undefined) return ready
    const written = [await readWhole(output), await logsSince(dir, before)].join('\n')
    return { problem: summary(written) ?? (await ended) }
  } finally {
    await output.close()
  }
}

interface Wait {
  dir: string
  child: ChildProcess
  ended: Promise<string>
  abort: AbortSignal | undefined
}

/** undefined when it ended instead. */
async function waitUntilReady({ dir, child, ended, abort }: Wait): Promise<Postmaster | undefined> {
  let isRunning = true
  void ended.then(() => (isRunning = false))
  const deadline = Date.now() + STARTING_MS
  while (isRunning && child.pid !== undefined) {
    if (abort?.aborted) {
      child.kill('SIGINT')
      await ended
      abort.throwIfAborted()
    }
    const file = await readPidFile(dir)
    if (file?.pid === child.pid && file.status === 'ready') return { pid: file.pid, port: file.port }
    if (Date.now() > deadline)
      throw new StartError(`PostgreSQL (process ${child.pid}) on ${dir} is still not ready: see ${dir}/log.`)
    await pause(POLL_MS)
  }
  return undefined
}

/**
 * A stale lock file whose process number now belongs to a stranger (after a reboot, say) keeps PostgreSQL from starting.
 * It may go only when nothing of the old server is left. A dead process's file is PostgreSQL's to judge.
 */
async function removeMisleadingPidFile(dir: string): Promise<void> {
  const file = await readPidFile(dir)
  if (file === undefined || (await isPostmasterOf(dir, file.pid))) return
  const isEmpty = !(file.pid > 0)
  if (isEmpty) {
    // Either being written at this moment, or cut off by a crash.
    const { mtimeMs } = await stat(pidFile(dir)).catch(() => ({ mtimeMs: Date.now() }))
    if (Date.now() - mtimeMs < 2_000) return
  } else if (!isTaken(file.pid)) return
  await endOrphans(dir)
  if ((await findProcesses((found) => found.cwd === dir)).length === 0) await rm(pidFile(dir), { force: true })
}

/** Also true for a corpse nobody has collected yet, which PostgreSQL takes for a living server. */
function isTaken(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

/** Tells the children of a killed postmaster to quit, as it would have told them itself. */
async function endOrphans(dir: string): Promise<void> {
  const real = await realpath(dir)
  const ofCluster = await findProcesses((found) => found.cwd === real)
  const members = new Set(ofCluster.map(({ pid }) => pid))
  for (const { pid, parent, command } of ofCluster) {
    if (command.startsWith('postgres: ') && !members.has(parent)) signal(pid, 'SIGQUIT')
  }
}

async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(0, '127.0.0.1', resolve))
  const address = server.address()
  await new Promise((resolve) => server.close(resolve))
  if (address === null || typeof address === 'string') throw new Error('no port')
  return address.port
}

type FileHandle = Awaited<ReturnType<typeof open>>

/** For what PostgreSQL says before its log collector runs; nothing is left behind, whoever dies. */
async function unnamedFile(dir: string): Promise<FileHandle> {
  const file = path.join(dir, `.postgres-start-${process.pid}`)
  const handle = await open(file, 'w+', 0o600)
  await rm(file, { force: true })
  return handle
}

async function readWhole(handle: FileHandle, from = 0): Promise<string> {
  const buffer = Buffer.alloc(64 * 1024)
  const { bytesRead } = await handle.read(buffer, 0, buffer.length, from)
  return buffer.toString('utf8', 0, bytesRead)
}

async function logSizes(dir: string): Promise<Map<string, number>> {
  const sizes = new Map<string, number>()
  for (const name of await readdir(path.join(dir, 'log')).catch(() => [])) {
    const file = path.join(dir, 'log', name)
    sizes.set(file, (await stat(file)).size)
  }
  return sizes
}

async function logsSince(dir: string, before: Map<string, number>): Promise<string> {
  let text = ''
  for (const [file, size] of await logSizes(dir)) {
    const from = before.get(file) ?? 0
    if (size <= from) continue
    await using handle = await open(file, 'r')
    text += await readWhole(handle, from)
  }
  return text
}

/** The lines that say why, or the last ones; undefined when nothing was said. */
function summary(text: string): string | undefined {
  const lines = text.split('\n').filter((line) => line.trim() !== '')
  const reasons = lines.filter((line) => /(FATAL|PANIC|ERROR|could not bind.*):/.test(line))
  const chosen = reasons.length > 0 ? reasons : lines.slice(-5)
  return chosen.length === 0 ? undefined : chosen.join(' | ').slice(0, 2_000)
}

async function until(isDone: () => Promise<boolean>, timeoutMs: number): Promise<boolean> {
  const deadline = Date.now() + timeoutMs
  while (!(await isDone())) {
    if (Date.now() > deadline) return false
    await pause(POLL_MS)
  }
  return true
}
