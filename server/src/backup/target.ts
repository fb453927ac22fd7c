/**
 * The target of a restore: an empty database and an empty file store. Hides how it verifies that both are empty before it changes anything,
 * how it tells an unfinished restore from a console's data and clears it, and how it keeps servers away from the database meanwhile.
 */
import { readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import type { Logger } from 'pino'
import type { Database } from '#src/db/database.ts'
import { kyselyOn } from '#src/db/kysely-on.ts'
import { loadMigrations, migrate } from '#src/db/migrate.ts'
import { MIGRATION_LIMITS } from '#src/db/migration-connection.ts'
import { withSnapshot } from '#src/db/snapshot.ts'
import type { Tables } from '#src/db/tables.ts'
import { UNFINISHED_RESTORE, unfinishedRestoreFile } from '#src/db/unfinished-restore.ts'
import { type FileStore, isKey } from '#src/files/disk.ts'
import { embeddedCluster } from '#src/postgres/cluster.ts'
import { type Connection, connect, destroy } from '#src/postgres/connections.ts'
import { makeDataDir } from '#src/postgres/data-dir.ts'
import { StartError } from '#src/postgres/errors.ts'
import { type LockHolder, LOCKS, openLockHolder, tryLock } from '#src/postgres/lock-holder.ts'
import { processStartTime } from '#src/postgres/processes.ts'
import { quote } from './saved-tables.ts'

export interface TargetOptions {
  dataDir: string
  /** The database to fill instead of the embedded one in `dataDir`. */
  url?: string | undefined
  /** The store for uploaded files; a verification does not restore them. */
  files?: { store: FileStore; address: string } | undefined
  log: Logger
  /** Overrides of the embedded PostgreSQL's settings. */
  overrides?: Record<string, string>
}

export interface Target {
  readonly client: Connection
  readonly database: Pick<Database, 'db' | 'transaction' | 'snapshot'>
  /** Runs the migrations with these names, or all of them. */
  migrate(names?: string[]): Promise<void>
  /** Releases the database for servers. */
  finish(): Promise<void>
  close(): Promise<void>
}

/** Opens an empty target. @throws StartError if it is not empty; nothing was changed then */
export async function openTarget(options: TargetOptions): Promise<Target> {
  const { dataDir, url, log, overrides } = options
  if (url === undefined) await takeFolder(options)
  const cluster = embeddedCluster({ dataDir, log, overrides })
  const lockHolder = await openLockHolder({
    target: url === undefined ? { cluster, dataDir } : { url },
    use: 'server',
    log,
    giveUpAfterMs: GIVE_UP_MS,
    heartbeatMs: HEARTBEAT_MS,
    onConnected: () => undefined,
    onFatal: () => undefined,
  })
  let client: Connection | undefined
  try {
    client = await connect(lockHolder.address(), 'arcade restore')
    await takeDatabase(client, options)
    return targetOn(client, lockHolder, options)
  } catch (error) {
    if (client !== undefined) destroy(client)
    await lockHolder.close(CLOSE_MS)
    throw error
  }
}

/** Returns the process that is restoring a backup into this folder, or undefined. */
async function findRestoring(dataDir: string): Promise<string | undefined> {
  const mark = await readFile(unfinishedRestoreFile(dataDir), 'utf8').catch(() => '')
  const [pid = '', startTime = ''] = mark.split('\n')
  return startTime !== '' && (await processStartTime(Number(pid))) === startTime ? pid : undefined
}

/** Whether a process is restoring a backup into this folder. */
export async function isRestoring(dataDir: string): Promise<boolean> {
  return (await findRestoring(dataDir)) !== undefined
}

/** @throws StartError if another process is restoring a backup into this folder */
export async function refuseOtherRestore(dataDir: string): Promise<void> {
  const pid = await findRestoring(dataDir)
  if (pid !== undefined) throw new StartError(`Another restore into ${dataDir} is under way (process ${pid}).`)
}

/** Removes a temporary embedded database, also one whose process was killed. */
export async function removeScratch(dataDir: string, log: Logger): Promise<void> {
  await stopCluster(dataDir, log)
  await rm(dataDir, { recursive: true, force: true })
}

const GIVE_UP_MS = 10_000
const HEARTBEAT_MS = 5_000
const CLOSE_MS = 30_000

function targetOn(client: Connection, lockHolder: LockHolder, { dataDir, url, log }: TargetOptions): Target {
  const db = kyselyOn<Tables>((text, params) => client.query(text, [...params]))
  let isFinished = false
  return {
    client,
    database: {
      db,
      transaction: (work) => db.transaction().execute(work),
      snapshot: (work) => withSnapshot(lockHolder.address(), work),
    },
    async migrate(names) {
      const steps = await loadMigrations()
      await migrate({
        address: lockHolder.address(),
        watcher: () => lockHolder.connection,
        limits: MIGRATION_LIMITS,
        log,
        isRestoring: true,
        migrations: steps.filter(({ name }) => names === undefined || names.includes(name)),
      })
    },
    async finish() {
      await client.query(`drop table ${UNFINISHED_RESTORE}`)
      isFinished = true
    },
    async close() {
      destroy(client)
      await lockHolder.close(CLOSE_MS)
      if (isFinished && url === undefined) await rm(unfinishedRestoreFile(dataDir), { force: true })
    },
  }
}

/** Refuses a DATA_DIR with a console in it, clears an unfinished restore, and marks the folder as the target of this process. */
async function takeFolder({ dataDir, files, log }: TargetOptions): Promise<void> {
  const names = await readdir(dataDir).catch((error: NodeJS.ErrnoException): string[] => {
    if (error.code === 'ENOENT') return []
    throw error.code === 'ENOTDIR' ? new StartError(`DATA_DIR ${dataDir} is a file: name a folder.`) : error
  })
  const markFile = unfinishedRestoreFile(dataDir)
  const mark = names.includes(basename(markFile)) ? await readFile(markFile, 'utf8') : undefined
  if (mark === undefined) {
    const other = names.find((name) => name !== 'files')
    if (other !== undefined) throw notEmpty(`DATA_DIR ${dataDir} is not empty (${other})`)
    await takeFiles(files, undefined)
  } else {
    await refuseOtherRestore(dataDir)
    await takeFiles(files, mark.split('\n')[2])
    await stopCluster(dataDir, log)
    await rm(join(dataDir, 'postgres'), { recursive: true, force: true })
  }
  await makeDataDir(dataDir)
  const lines = [process.pid, await processStartTime(process.pid), files?.address ?? '']
  await writeFile(markFile, lines.join('\n'), { mode: 0o600 })
}

async function stopCluster(dataDir: string, log: Logger): Promise<void> {
  const cluster = embeddedCluster({ dataDir, log })
  const running = await cluster.find()
  if (running !== undefined && !(await cluster.stop(running.pid, CLOSE_MS)))
    throw new StartError(`PostgreSQL (process ${running.pid}) on ${dataDir} does not end: end it with kill -9 ${running.pid}.`)
}

/**
 * Refuses a file store that is not empty, unless its files come from an unfinished restore; those are removed.
 * @param cutOff the address of the file store that the unfinished restore used
 */
async function takeFiles(files: TargetOptions['files'], cutOff: string | undefined): Promise<void> {
  if (files === undefined) return
  for await (const key of files.store.keys()) {
    if (cutOff !== files.address) throw notEmpty(`The file store ${files.address} is not empty (${key})`)
    if (isKey(key)) await files.store.remove(key)
  }
}

/** Refuses a database that is not empty, and marks it as being restored, so that no server uses it. */
async function takeDatabase(client: Connection, { url, files }: TargetOptions): Promise<void> {
  if (!(await tryLock(client, 'pg_try_advisory_lock', LOCKS.backup)))
    throw new StartError('Another restore into this database is under way.')
  const { rows } = await client.query<{ name: string; isView: boolean }>(RELATIONS)
  const names = rows.map(({ name }) => name)
  const isCutOff = names.includes(UNFINISHED_RESTORE)
  if (names.length > 0 && !isCutOff) throw notEmpty(`The database of DATABASE_URL is not empty (${names[0]})`)
  if (url !== undefined) {
    const marks = isCutOff ? await client.query<{ files: string }>(`select files from ${UNFINISHED_RESTORE}`) : undefined
    await takeFiles(files, marks?.rows[0]?.files)
  }
  // Dropping a table drops its views, too.
  const left = rows.filter(({ name, isView }) => !isView && name !== UNFINISHED_RESTORE).map(({ name }) => quote(name))
  if (left.length > 0) await client.query(`drop table ${left.join(', ')} cascade`)
  if (!isCutOff) await client.query(`create table ${UNFINISHED_RESTORE} as select $1::text as files`, [files?.address ?? ''])
}

/** All relations that a console may have created, without those of extensions. */
const RELATIONS = `
  select relname as name, relkind = 'v' as "isView" from pg_class c
   where relnamespace = current_schema()::regnamespace and relkind in ('r', 'p', 'v', 'm', 'S', 'f')
     and not exists (select from pg_depend where objid = c.oid and classid = 'pg_class'::regclass and deptype in ('e', 'a', 'i'))
   order by relname`

function notEmpty(what: string): StartError {
  return new StartError(`${what}, so nothing was restored: name a place that is empty or absent.`)
}
