/**
 * Runs the child processes of the scripts. Each leads a process group, so that its own children end with it. SIGINT, SIGTERM and SIGHUP are
 * passed on to every running child (SIGHUP as SIGTERM), and this process ends when they have ended.
 */
import { spawn, type ChildProcess } from 'node:child_process'
import { constants } from 'node:os'
import { resolve } from 'node:path'
import { createInterface } from 'node:readline'

export const root = resolve(import.meta.dirname, '..')

const KILL_AFTER_MS = 12_000 // the server may take 10 s to drain
const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
const running = new Set<ChildProcess>()
let ending = false

interface Options {
  cwd?: string
  env?: Record<string, string | undefined>
  /** `inherit` shows the output, `capture` returns it, `prefix` shows it with a prefix on each line, `onLine` gets each line of stdout. */
  output?: 'inherit' | 'capture' | { prefix: string } | { onLine: (line: string) => void }
  /** The child's standard input; without it the input is empty. */
  input?: string
  /** Milliseconds after which the child is killed, which counts as a failure. */
  timeoutMs?: number
}

export interface Outcome {
  /** The exit code: 128 + n after signal n, 127 if the command could not be started. */
  code: number
  /** Standard output and standard error in the order written; empty unless captured. */
  output: string
}

/** Runs a command to its end. Never rejects: a command that cannot be started has the code 127. */
export function run(command: string, args: readonly string[], options: Options = {}): Promise<Outcome> {
  const { cwd = root, env = {}, output = 'inherit', input, timeoutMs } = options
  if (ending) return new Promise(() => {}) // nothing starts while this process is ending
  if (running.size === 0) for (const signal of signals) process.on(signal, endAll)
  const child = spawn(command, args, {
    cwd,
    env: { ...process.env, ...env },
    stdio: [
      input === undefined ? 'ignore' : 'pipe',
      output === 'inherit' ? 'inherit' : 'pipe',
      output === 'inherit' || (typeof output === 'object' && 'onLine' in output) ? 'inherit' : 'pipe',
    ],
    detached: true,
  })
  running.add(child)
  child.stdin?.once('error', () => {}) // the child ended without reading its input
  child.stdin?.end(input)
  const timer = timeoutMs === undefined ? undefined : setTimeout(() => killGroup(child), timeoutMs)

  let captured = ''
  for (const stream of [child.stdout, child.stderr]) {
    if (!stream) continue
    if (typeof output === 'object')
      createInterface({ input: stream }).on('line', (line) => {
        if ('onLine' in output) output.onLine(line)
        else console.log(`${output.prefix}${line}`)
      })
    else stream.setEncoding('utf8').on('data', (chunk: string) => (captured += chunk))
  }

  const done = Promise.withResolvers<Outcome>()
  const settle = (code: number): void => {
    clearTimeout(timer)
    running.delete(child)
    if (running.size === 0 && !ending) for (const signal of signals) process.off(signal, endAll)
    done.resolve({ code, output: captured })
  }
  child.once('error', (error) => {
    captured += error.message
    if (output !== 'capture') console.error(error.message)
    settle(127)
  })
  child.once('exit', () => killGroup(child)) // its own children may outlive it
  child.once('close', (code, signal) => settle(code ?? 128 + constants.signals[signal ?? 'SIGKILL']))
  return done.promise
}

/** Passes a signal on to every child, waits until all have ended, then ends this process. A second signal changes nothing. */
export function endAll(signal: (typeof signals)[number]): void {
  void exitAfterChildren(128 + constants.signals[signal], signal === 'SIGHUP' ? 'SIGTERM' : signal)
}

/** Whether this process is ending, and the children with it. */
export const isEnding = (): boolean => ending

/** Ends all children, then this process with `code`. No child can start any more, and a second call changes nothing. */
export async function exitAfterChildren(code: number, signal: 'SIGINT' | 'SIGTERM' = 'SIGTERM'): Promise<void> {
  if (ending) return
  ending = true
  const exits = [...running].map((child) => new Promise((ended) => child.once('close', ended)))
  for (const child of running) child.kill(signal)
  setTimeout(() => {
    for (const child of running) killGroup(child)
  }, KILL_AFTER_MS).unref()
  await Promise.all(exits)
  process.exit(code)
}

function killGroup(child: ChildProcess): void {
  if (child.pid === undefined) return
  try {
    process.kill(-child.pid, 'SIGKILL')
  } catch {
    // The whole group has already ended.
  }
}
