/** What other processes are: Linux's /proc where there is one, `ps` elsewhere. */
import { execFile } from 'node:child_process'
import { readFile, readdir, readlink } from 'node:fs/promises'
import { promisify } from 'node:util'

export interface Process {
  pid: number
  parent: number
  /** The command line; PostgreSQL's children show their title there ("postgres: writer"). */
  command: string
  /** The working directory; undefined where the system won't tell (another user's, not Linux). */
  cwd: string | undefined
}

/** undefined when there is no such process, or only its corpse. */
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

/** Tells a process from a later one with its number; '' when there is none. Opaque, without '-'. */
export async function processBirth(pid: number): Promise<string> {
  if (!Number.isSafeInteger(pid) || pid <= 0) return ''
  if (HAS_PROC) return (await statFields(pid))[19] ?? ''
  return (await ps(['-o', 'lstart=', '-p', String(pid)])).trim().replaceAll(/\W+/g, '')
}

/** Sends a signal; false when the process is gone. */
export function signal(pid: number, name: NodeJS.Signals): boolean {
  try {
    return process.kill(pid, name)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') return false
    throw error
  }
}

const HAS_PROC = process.platform === 'linux'

/** /proc/PID/stat from its third field on: the second, the name, may hold spaces and parentheses. */
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

/** ps exits 1 when it found nothing. */
async function ps(args: string[]): Promise<string> {
  return promisify(execFile)('ps', args, { maxBuffer: 16 * 1024 * 1024 }).then(
    ({ stdout }) => stdout,
    () => '',
  )
}
