/**
 * The data directory of the embedded PostgreSQL (design §4). It is made in a temporary sibling directory, which is renamed when complete, so
 * an incomplete one never has the final name. The settings are code and are written again at each start.
 */
import { randomBytes } from 'node:crypto'
import { mkdir, open, readFile, readdir, rename, rm, statfs, writeFile } from 'node:fs/promises'
import os from 'node:os'
import path from 'node:path'
import { engineVersion, type Programs } from './cluster-run.ts'
import { StartError } from './errors.ts'
import { findProcesses, processStartTime, signal } from './processes.ts'

export const ROLE = 'arcade'
export const DATABASE = 'arcade'

export interface ClusterSettings {
  /** Whether the role may create databases and connect to any, as tests need. */
  isForTests?: boolean | undefined
  /** Overrides of postgresql.conf. */
  overrides?: Record<string, string> | undefined
}

/** Creates the data directory unless it exists. If two processes try at the same time, one succeeds and both return. */
export async function initialise(dir: string, programs: Programs, settings: ClusterSettings): Promise<void> {
  await removeUnfinished(dir)
  if (await isCluster(dir)) return
  const temporary = `${dir}${UNFINISHED}${process.pid}-${await processStartTime(process.pid)}`
  try {
    await mkdir(temporary, { mode: 0o700 })
    await programs.giveToPostgres(temporary)
    await programs.run('initdb', [`--pgdata=${temporary}`, ...INITDB_OPTIONS])
    await createRoleAndDatabase(temporary, programs, settings)
    await writeSettings(temporary, programs, settings)
    await programs.run('initdb', [`--pgdata=${temporary}`, '--sync-only'])
    await rename(temporary, dir).catch(async (error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOTEMPTY' && error.code !== 'EEXIST') throw error
      await rm(temporary, { recursive: true, force: true }) // another process has created it in the meantime
    })
    await sync(path.dirname(dir))
  } catch (error) {
    await rm(temporary, { recursive: true, force: true })
    throw error
  }
}

/** Writes postgresql.conf and pg_hba.conf if they differ, so that existing data directories get the settings of a newer version. */
export async function writeSettings(dir: string, programs: Programs, settings: ClusterSettings): Promise<void> {
  const disk = await statfs(dir)
  const conf = configuration(os.totalmem(), disk.blocks * disk.bsize, settings.overrides)
  await writeOwned(path.join(dir, 'postgresql.conf'), conf, programs)
  await writeOwned(path.join(dir, 'pg_hba.conf'), hostAccess(settings.isForTests ?? false), programs)
}

/** Returns the password of ROLE, or undefined if its file is missing. */
export async function readPassword(dir: string): Promise<string | undefined> {
  return readFile(passwordFile(dir), 'utf8').then(
    (text) => text.trim(),
    (error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return undefined
      throw error
    },
  )
}

/** Gives ROLE a new password if the file with the old one is missing. PostgreSQL must not be running. */
export async function replaceMissingPassword(dir: string, programs: Programs): Promise<void> {
  if ((await readPassword(dir)) !== undefined) return
  const password = newPassword()
  await runAsSuperuser(dir, programs, [`alter role ${ROLE} password '${password}'`])
  await writeOwned(passwordFile(dir), `${password}\n`, programs)
}

const UNFINISHED = '.unfinished-'

/** The options of initdb. A later option overrides one of these. */
export const INITDB_OPTIONS = [
  '--username=postgres',
  '--auth=reject',
  '--encoding=UTF8',
  '--locale-provider=builtin',
  '--builtin-locale=C.UTF-8',
  '--locale=C',
  '--no-sync',
  '--no-instructions',
]

function passwordFile(dir: string): string {
  return path.join(dir, 'arcade.password')
}

/** Whether the data directory exists. @throws StartError, before it changes anything, if this PostgreSQL cannot run it or the folder is not ours */
export async function isCluster(dir: string): Promise<boolean> {
  const version = await readFile(path.join(dir, 'PG_VERSION'), 'utf8').catch(() => undefined)
  if (version === undefined) {
    const files = await readdir(dir).catch(() => [])
    if (files.length === 0) return false
    throw new StartError(`${dir} is not a PostgreSQL data directory: move it away, or choose another DATA_DIR.`)
  }
  const [made, brought] = [version.trim(), await engineVersion()]
  if (made !== brought) {
    throw new StartError(
      `${dir} was made by PostgreSQL ${made}, and this Arcade Console brings ${brought}. Nothing was changed. ` +
        'Make a backup with the version of the console that made it (npm run arcade -- backup PLACE), restore that with this version ' +
        'into another DATA_DIR (npm run arcade -- restore PLACE), and keep the old folder until the new one serves.',
    )
  }
  return true
}

function newPassword(): string {
  return randomBytes(32).toString('base64url')
}

async function createRoleAndDatabase(dir: string, programs: Programs, settings: ClusterSettings): Promise<void> {
  const password = newPassword()
  await writeOwned(passwordFile(dir), `${password}\n`, programs)
  await runAsSuperuser(dir, programs, [
    `create role ${ROLE} login ${settings.isForTests ? 'createdb ' : ''}password '${password}'`,
    `create database ${DATABASE} owner ${ROLE}`,
  ])
}

/** Runs SQL in PostgreSQL's single-user mode, because the superuser has no password and cannot connect over the network. */
async function runAsSuperuser(dir: string, programs: Programs, statements: string[]): Promise<void> {
  const output = await programs.run(
    'postgres',
    ['--single', '-D', dir, '-c', 'log_checkpoints=off', 'postgres'],
    `${statements.join('\n')}\n`,
  )
  const problem = /^.*(ERROR|FATAL|PANIC):.*$/m.exec(output)
  if (problem !== null) throw new Error(`initializing the embedded PostgreSQL failed: ${problem[0]}`)
}

/** Removes data directories whose creation was interrupted by a kill or a power failure. */
async function removeUnfinished(dir: string): Promise<void> {
  const parent = path.dirname(dir)
  const prefix = path.basename(dir) + UNFINISHED
  for (const name of await readdir(parent)) {
    if (!name.startsWith(prefix)) continue
    const [pid = '', startTime = ''] = name.slice(prefix.length).split('-')
    if ((await processStartTime(Number(pid))) === startTime && Number(pid) !== process.pid) continue
    const leftover = path.join(parent, name)
    // The initdb of a killed server keeps running.
    for (const orphan of await findProcesses((found) => found.command.includes(leftover))) signal(orphan.pid, 'SIGKILL')
    await rm(leftover, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 })
  }
}

/** Replaces a file atomically, and only if it differs, so that the database also starts on a full disk. */
async function writeOwned(file: string, content: string, programs: Programs): Promise<void> {
  if ((await readFile(file, 'utf8').catch(() => undefined)) === content) return
  const temporary = `${file}.${process.pid}`
  await writeFile(temporary, content, { mode: 0o600, flush: true })
  await programs.giveToPostgres(temporary)
  await rename(temporary, file)
}

async function sync(dir: string): Promise<void> {
  await using handle = await open(dir, 'r')
  await handle.sync()
}

function hostAccess(isForTests: boolean): string {
  return `# Written by Arcade Console at each start.\nhost ${isForTests ? 'all' : DATABASE} ${ROLE} 127.0.0.1/32 scram-sha-256\n`
}

const MB = 1024 * 1024

/** Returns the settings; sizes depend on the machine's memory. PostgreSQL logs no statements or values, because they contain personal data. */
function configuration(memoryBytes: number, diskBytes: number, overrides: Record<string, string> = {}): string {
  const maxWalMb = clamp(diskBytes / 16 / MB, 64, 1024)
  const values: Record<string, string> = {
    listen_addresses: '127.0.0.1',
    unix_socket_directories: '',
    max_connections: '100',
    password_encryption: 'scram-sha-256',
    shared_buffers: `${clamp(memoryBytes / 16 / MB, 128, 1024)}MB`,
    maintenance_work_mem: `${clamp(memoryBytes / 64 / MB, 64, 256)}MB`,
    effective_cache_size: `${clamp(memoryBytes / 2 / MB, 256, 65536)}MB`,
    work_mem: '8MB',
    // Every search reads the whole pending list of a GIN index, and the write that fills it must empty it.
    gin_pending_list_limit: '1MB',
    jit: 'off',
    random_page_cost: '1.1',
    fsync: 'on',
    synchronous_commit: 'on',
    max_wal_size: `${maxWalMb}MB`,
    min_wal_size: `${clamp(maxWalMb / 8, 32, 128)}MB`,
    checkpoint_timeout: '10min',
    max_wal_senders: '0',
    client_connection_check_interval: process.platform === 'linux' ? '1s' : '0',
    timezone: 'UTC',
    log_timezone: 'UTC',
    lc_messages: 'C',
    datestyle: 'iso, mdy',
    default_text_search_config: 'pg_catalog.simple',
    logging_collector: 'on',
    log_directory: 'log',
    log_filename: 'postgres-%a.log',
    log_file_mode: '0600',
    log_rotation_age: '1d',
    log_rotation_size: '0',
    log_truncate_on_rotation: 'on',
    log_error_verbosity: 'terse',
    log_min_error_statement: 'panic',
    log_checkpoints: 'off',
    ...overrides,
  }
  const lines = Object.entries(values).map(([name, value]) => `${name} = '${value}'`)
  return `# Written by Arcade Console at each start.\n${lines.join('\n')}\n`
}

function clamp(value: number, least: number, most: number): number {
  return Math.round(Math.min(most, Math.max(least, value)))
}
