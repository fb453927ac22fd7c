/** Finds processes of this machine, by /proc on Linux and by `ps` elsewhere. */
import { execFile } from 'node:child_process'
import { readFile, readdir, readlink } from 'node:fs/promises'
import { promisify } from 'node:util'

export interface Process {
  pid: number
  parent: number
  /** The command line; PostgreSQL's children show a title instead, such as "postgres: writer". */
  command: string
  /** The working directory; undefined for other users' processes and outside Linux. */
  cwd: string | undefined
}

/** Returns the process, or undefined if it does not exist or is a zombie. */
export async function findProcess(pid: number): Promise<Process | undefined> {
  if (!Number.isSafeInteger(pid) || pid <= 0) return undefined
  if (!HAS_PROC) return (await listWithPs(['-p', String(pid)]))[0]
  const fields = await statFields(pid)
  const [state, parent] = fields
  if (state === undefined || state === 'Z' || state === 'X') return undefined
  const [command, cwd] = await Promise.all([
    readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => ''),
    readlink(`/proc/${pid}/cwd`).catch(() => undefined),
  ])
  return { pid, parent: Number(parent), command: command.replaceAll('\0', ' ').trim(), cwd }
}

export async function findProcesses(isWanted: (found: Process) => boolean): Promise<Process[]> {
  if (!HAS_PROC) return (await listWithPs(['-A'])).filter(isWanted)
  const pids = (await readdir('/proc')).map(Number).filter((pid) => pid > 0)
  const found = await Promise.all(pids.map(findProcess))
  return found.filter((process_) => process_ !== undefined).filter(isWanted)
}

/** Returns an opaque text without '-' that, with the process number, identifies a process for good; empty if it does not exist. */
export async function processStartTime(pid: number): Promise<string> {
  if (!Number.isSafeInteger(pid) || pid <= 0) return ''
  if (HAS_PROC) return (await statFields(pid))[19] ?? ''
  return (await ps(['-o', 'lstart=', '-p', String(pid)])).trim().replaceAll(/\W+/g, '')
}

/** Returns the process that accepts TCP connections on this port, if we may see it. */
export async function findListener(port: number): Promise<number | undefined> {
  if (!HAS_PROC) return Number(await output('lsof', ['-nP', `-iTCP:${port}`, '-sTCP:LISTEN', '-t'])) || undefined
  const tables = await Promise.all(['tcp', 'tcp6'].map((name) => readFile(`/proc/net/${name}`, 'utf8').catch(() => '')))
  const sockets = tables
    .flatMap((table) => table.split('\n').slice(1))
    .map((line) => line.trim().split(/\s+/))
    .filter(([, local, , state]) => state === LISTENING && Number.parseInt(local?.split(':')[1] ?? '', 16) === port)
    .map((fields) => `socket:[${fields[9]}]`)
  const pids = (await readdir('/proc')).map(Number).filter((pid) => pid > 0)
  const owners = await Promise.all(pids.map(async (pid) => ((await hasOpen(pid, sockets)) ? pid : undefined)))
  return owners.find((pid) => pid !== undefined)
}

/** Sends a signal. Returns false if the process has ended. */
export function signal(pid: number, name: NodeJS.Signals): boolean {
  try {
    return process.kill(pid, name)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return false
    throw error
  }
}

const HAS_PROC = process.platform === 'linux'
const LISTENING = '0A' // TCP_LISTEN of the kernel's net/tcp_states.h

async function hasOpen(pid: number, links: string[]): Promise<boolean> {
  if (links.length === 0) return false
  const files = await readdir(`/proc/${pid}/fd`).catch(() => [])
  const targets = await Promise.all(files.map((file) => readlink(`/proc/${pid}/fd/${file}`).catch(() => '')))
  return targets.some((target) => links.includes(target))
}

/** Returns the fields of /proc/PID/stat from the third on. The second one, the program's name, may contain spaces and parentheses. */
async function statFields(pid: number): Promise<string[]> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => '')
  return stat
    .slice(stat.lastIndexOf(')') + 2)
    .split(' ')
    .filter(Boolean)
}

async function listWithPs(selection: string[]): Promise<Process[]> {
  const found: Process[] = []
  for (const line of (await ps([...selection, '-o', 'pid=,ppid=,state=,command='])).split('\n')) {
    const match = /^\s*(\d+)\s+(\d+)\s+(\S+)\s+(.*)$/.exec(line)
    if (match === null || match[3]?.startsWith('Z')) continue
    found.push({ pid: Number(match[1]), parent: Number(match[2]), command: match[4] ?? '', cwd: undefined })
  }
  return found
}

function ps(args: string[]): Promise<string> {
  return output('ps', args)
}

/** Returns the program's output; empty if it found nothing, for which it exits with 1. */
async function output(program: 'ps' | 'lsof', args: string[]): Promise<string> {
  return promisify(execFile)(program, args, { maxBuffer: 16 * 1024 * 1024 }).then(
    ({ stdout }) => stdout,
    () => '',
  )
}
