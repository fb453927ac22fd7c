/**
 * The embedded PostgreSQL in DATA_DIR/postgres (design §4). Its postmaster survives a killed server, so every start first looks for a running
 * one to adopt. If two processes start one at the same time, PostgreSQL's lock file decides which one runs.
 */
import type { ChildProcess } from 'node:child_process'
import { open, readFile, readdir, realpath, rm, stat } from 'node:fs/promises'
import { createServer } from 'node:net'
import path from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import type { Logger } from 'pino'
import {
  type ClusterSettings,
  DATABASE,
  ROLE,
  initialise,
  isCluster,
  readPassword,
  replaceMissingPassword,
  writeSettings,
} from './cluster-init.ts'
import { type Programs, programsFor } from './cluster-run.ts'
import { makeDataDir } from './data-dir.ts'
import { StartError } from './errors.ts'
import { type Process, findProcess, findProcesses, signal } from './processes.ts'
import { removeSpareFile } from './spare-file.ts'

export interface ClusterOptions extends ClusterSettings {
  dataDir: string
  log: Logger
  /** Whether a start on a full disk may use the spare file's room; true for servers. */
  usesSpareFile?: boolean
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
  /** Creates the data directory if there is none, then adopts the running postmaster or starts one. Rejects with a StartError. */
  ensureRunning(abort?: AbortSignal): Promise<Running>
  /** Returns the postmaster if it accepts connections. Changes nothing. */
  find(): Promise<Running | undefined>
  /** Asks the postmaster to shut down and waits. Returns false if it has not ended in time, though it will later. */
  stop(pid: number, timeoutMs: number): Promise<boolean>
}

export function embeddedCluster(options: ClusterOptions): Cluster {
  const { log } = options
  const dir = path.resolve(options.dataDir, 'postgres')
  let lastPort: number | undefined

  async function describe({ pid, port }: Postmaster): Promise<Running> {
    const password = await readPassword(dir)
    if (password === undefined) {
      throw new StartError(
        `PostgreSQL (process ${pid}) runs on ${dir}, but its password is gone (${dir}/arcade.password): end it with kill -INT ${pid} and start again, which makes a new password.`,
      )
    }
    return { pid, port, host: '127.0.0.1', user: ROLE, database: DATABASE, password }
  }

  return {
    async ensureRunning(abort) {
      await makeDataDir(path.dirname(dir))
      // A running PostgreSQL of another version is not adopted: an older console could not use a database that a newer one has migrated.
      await isCluster(dir)
      const found = (await adopt(dir, abort)) ?? (await start({ dir, settings: options, log, port: lastPort, abort }))
      lastPort = found.port
      return describe(found)
    },
    async find() {
      const file = await readPidFile(dir)
      return file?.status === 'ready' && (await isPostmaster(dir, file.pid)) ? describe(file) : undefined
    },
    async stop(pid, timeoutMs) {
      if (!(await isPostmaster(dir, pid))) return true
      signal(pid, 'SIGINT') // SIGINT means fast shutdown: PostgreSQL ends all sessions and writes a checkpoint
      return until(async () => !(await isPostmaster(dir, pid)), timeoutMs)
    },
  }
}

const POLL_MS = 20
/** Milliseconds to wait for a start: after a crash PostgreSQL replays its log, which can take long. */
const STARTING_MS = 120_000
const STOPPING_MS = 30_000
/** Milliseconds to wait for the children of a killed postmaster: they end at once, except busy ones. */
const ORPHANS_MS = 8_000
/** Milliseconds after which an incomplete lock file counts as a crash's remains: PostgreSQL writes it in much less. */
const WRITTEN_MS = 2_000

interface Postmaster {
  pid: number
  port: number
}

/** Waits until the running postmaster of this data directory accepts connections. Returns undefined if none runs. */
async function adopt(dir: string, abort: AbortSignal | undefined): Promise<Postmaster | undefined> {
  const deadlines = { starting: performance.now() + STARTING_MS, stopping: performance.now() + STOPPING_MS }
  for (;;) {
    abort?.throwIfAborted()
    const file = await readPidFile(dir)
    if (file === undefined || !(await isPostmaster(dir, file.pid))) return undefined
    if (file.status === 'ready') return { pid: file.pid, port: file.port }
    const phase = file.status === 'stopping' ? 'stopping' : 'starting'
    if (performance.now() > deadlines[phase]) {
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

/** Reads postmaster.pid, which PostgreSQL fills in line by line while it starts. */
async function readPidFile(dir: string): Promise<PidFile | undefined> {
  const text = await readFile(pidFile(dir), 'utf8').catch(() => undefined)
  if (text === undefined) return undefined
  const lines = text.split('\n')
  return { pid: Number(lines[0]), port: Number(lines[3]), status: lines[7]?.trim() || 'starting' }
}

function pidFile(dir: string): string {
  return path.join(dir, 'postmaster.pid')
}

/** Checks the process itself, because the system may have given the recorded process number to another program. */
async function isPostmaster(dir: string, pid: number): Promise<boolean> {
  const found = await findProcess(pid)
  return found !== undefined && isPostgres(found) && (await worksIn(dir, found))
}

/** Whether a process is a postmaster: only it shows its command line, and its children show a title such as "postgres: writer". */
function isPostgres({ command }: Process): boolean {
  return /^\S*postgres(\s|$)/.test(command)
}

async function worksIn(dir: string, { cwd, command }: Process): Promise<boolean> {
  if (cwd !== undefined) return cwd === (await realpath(dir).catch(() => dir))
  return command.includes(` ${dir} `) || command.endsWith(` ${dir}`)
}

interface StartOptions {
  dir: string
  settings: ClusterSettings & Pick<ClusterOptions, 'usesSpareFile'>
  log: Logger
  port: number | undefined
  abort: AbortSignal | undefined
}

async function start({ dir, settings, log, port: preferredPort, abort }: StartOptions): Promise<Postmaster> {
  const programs = await programsFor(dir)
  if (settings.usesSpareFile) await removeSpareFile(path.dirname(dir), log)
  await initialise(dir, programs, settings)
  await writeSettings(dir, programs, settings)
  await replaceMissingPassword(dir, programs)
  const [orphansGone, lockFileGone] = [performance.now() + ORPHANS_MS, performance.now() + STARTING_MS]
  for (let clashes = 0; ;) {
    abort?.throwIfAborted()
    await removeStalePidFile(dir)
    const port = clashes === 0 && preferredPort !== undefined ? preferredPort : await freePort()
    const outcome = await launch({ dir, port, programs, abort })
    if ('pid' in outcome) {
      log.info({ postmaster: outcome.pid, port }, 'PostgreSQL started')
      return outcome
    }
    const { problem } = outcome
    // A postmaster also ends by itself if another process has removed its lock file.
    if (/lock file "postmaster.pid"|data directory lock file is invalid/.test(problem) && performance.now() < lockFileGone) {
      const other = await adopt(dir, abort)
      if (other !== undefined) return other
    } else if (/pre-existing shared memory block/.test(problem) && performance.now() < orphansGone) {
      await endOrphans(dir)
    } else if (/could not bind|could not create any TCP/.test(problem) && clashes < 5) {
      clashes += 1
    } else {
      throw new StartError(`PostgreSQL did not start on ${dir}: ${problem}`)
    }
    await pause(5 * POLL_MS)
  }
}

interface LaunchOptions {
  dir: string
  port: number
  programs: Programs
  abort: AbortSignal | undefined
}

/** Starts a postmaster in its own process group, so that Ctrl-C in the terminal reaches only the server, which then stops the postmaster. */
async function launch({ dir, port, programs, abort }: LaunchOptions): Promise<Postmaster | { problem: string }> {
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
    const written = [await readStart(output), await logsSince(dir, before)].join('\n')
    return { problem: reasonIn(written) ?? (await ended) }
  } finally {
    await output.close()
  }
}

interface WaitOptions {
  dir: string
  child: ChildProcess
  ended: Promise<string>
  abort: AbortSignal | undefined
}

/** Waits until the postmaster is ready. Returns undefined if it ended instead. */
async function waitUntilReady({ dir, child, ended, abort }: WaitOptions): Promise<Postmaster | undefined> {
  let isRunning = true
  void ended.then(() => (isRunning = false))
  const deadline = performance.now() + STARTING_MS
  while (isRunning && child.pid !== undefined) {
    if (abort?.aborted) {
      child.kill('SIGINT')
      child.ref() // keeps this process alive until PostgreSQL has ended
      await ended
      abort.throwIfAborted()
    }
    const file = await readPidFile(dir)
    if (file?.pid === child.pid && file.status === 'ready') return { pid: file.pid, port: file.port }
    if (performance.now() > deadline)
      throw new StartError(`PostgreSQL (process ${child.pid}) on ${dir} is still not ready: see ${dir}/log.`)
    await pause(POLL_MS)
  }
  return undefined
}

/**
 * Removes a stale lock file whose process number now belongs to another program, for example after a reboot: PostgreSQL would refuse to
 * start. The file stays while a process of the old PostgreSQL is left. PostgreSQL itself handles the file of a dead process.
 */
async function removeStalePidFile(dir: string): Promise<void> {
  let file = await readPidFile(dir)
  // An empty file is just being written, unless a crash has interrupted that.
  for (const written = performance.now() + WRITTEN_MS; isEmpty(file) && performance.now() < written;) {
    await pause(POLL_MS)
    file = await readPidFile(dir)
  }
  if (file === undefined || (await isPostmaster(dir, file.pid))) return
  if (!isEmpty(file) && !pidExists(file.pid)) return
  await endOrphans(dir)
  if ((await processesOf(dir)).length > 0) return
  // Searching all processes takes a while. Another process may have started a postmaster in the meantime, whose file must stay.
  if (isDeepStrictEqual(await readPidFile(dir), file)) await rm(pidFile(dir), { force: true })
}

function isEmpty(file: PidFile | undefined): boolean {
  return file !== undefined && !(file.pid > 0)
}

/** Whether the process exists. True for a zombie, too, which PostgreSQL takes for a running server. */
function pidExists(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

/** Sends the children of a killed postmaster the quit signal that the postmaster would have sent. */
async function endOrphans(dir: string): Promise<void> {
  const ofCluster = await processesOf(dir)
  const members = new Set(ofCluster.map(({ pid }) => pid))
  for (const { pid, parent, command } of ofCluster) {
    if (isChild(command) && !members.has(parent)) signal(pid, 'SIGQUIT')
  }
}

/** Returns the processes of PostgreSQL that work in this data directory. Other programs may work there, too, such as a shell. */
async function processesOf(dir: string): Promise<Process[]> {
  const real = await realpath(dir)
  return findProcesses((found) => found.cwd === real && (isPostgres(found) || isChild(found.command)))
}

/** Whether a command line is the title of one of a postmaster's processes, such as "postgres: writer". */
function isChild(command: string): boolean {
  return command.startsWith('postgres: ')
}

/** Returns a free port. */
export async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(0, '127.0.0.1', resolve))
  const address = server.address()
  await new Promise((resolve) => server.close(resolve))
  if (address === null || typeof address === 'string') throw new Error('no port')
  return address.port
}

type FileHandle = Awaited<ReturnType<typeof open>>

/** Opens an unnamed file for the output before PostgreSQL's log collector runs. A crash cannot leave an unnamed file behind. */
async function unnamedFile(dir: string): Promise<FileHandle> {
  const file = path.join(dir, `.postgres-start-${process.pid}`)
  const handle = await open(file, 'w+', 0o600)
  await rm(file, { force: true })
  return handle
}

async function readStart(handle: FileHandle, from = 0): Promise<string> {
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
    text += await readStart(handle, from)
  }
  return text
}

/** Returns the lines that name a cause, or else the last five lines; undefined if the text is empty. */
function reasonIn(text: string): string | undefined {
  const lines = text.split('\n').filter((line) => line.trim() !== '')
  const reasons = lines.filter((line) => /(FATAL|PANIC|ERROR|could not bind.*):/.test(line))
  const chosen = reasons.length > 0 ? reasons : lines.slice(-5)
  return chosen.length === 0 ? undefined : chosen.join(' | ').slice(0, 2_000)
}

async function until(isDone: () => Promise<boolean>, timeoutMs: number): Promise<boolean> {
  const deadline = performance.now() + timeoutMs
  while (!(await isDone())) {
    if (performance.now() > deadline) return false
    await pause(POLL_MS)
  }
  return true
}
