/**
 * The database (design §4): the embedded PostgreSQL in DATA_DIR, or the one that DATABASE_URL names. Hides its start and stop, the
 * pool, migrations, retries and timeouts. postgres/errors.ts says what its errors mean.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { Kysely, PostgresDialect, type PostgresPool, type Transaction } from 'kysely'
import type { Logger } from 'pino'
import { embeddedCluster } from '#src/postgres/cluster.ts'
import { type Connection, type Pool, type PoolLimits, connect, openPool } from '#src/postgres/connections.ts'
import type { PoolUse } from '#src/postgres/pool-shares.ts'
import { StartError, isRetryable, isUnavailable } from '#src/postgres/errors.ts'
import { type FreeSpace, watchFreeSpace } from '#src/postgres/free-space.ts'
import { type LockHolder, openLockHolder } from '#src/postgres/lock-holder.ts'
import { type ReplicaState, watchReplica } from '#src/postgres/replica-watch.ts'
import { runCommitCheck } from './before-commit.ts'
import { ledgerTransaction, type RunStatement } from './ledger-transaction.ts'
import { type Migration, migrate } from './migrate.ts'
import { MIGRATION_LIMITS, type MigrationLimits } from './migration-connection.ts'
import { readReplicaFirst, type Reads, readsFrom, runQuery } from './reads.ts'
import { type Snapshot, type SnapshotOptions, withSnapshot } from './snapshot.ts'
import type { Tables } from './tables.ts'
import { refuseUnfinishedFolder } from './unfinished-restore.ts'

export interface DatabaseOptions {
  /** The folder in which the embedded PostgreSQL has its folder `postgres`. */
  dataDir: string
  /** A PostgreSQL, version 15 or later, to use instead of the embedded one. */
  url?: string | undefined
  /** A replica of the database at `url`, for reads that may be a second old. */
  replicaUrl?: string | undefined
  log: Logger
  /** The embedded PostgreSQL allows one server at a time, and any number of commands. */
  use: 'server' | 'command'
  /** Whether statements have a lower priority than requests, for commands that read or write whole tables. */
  isLowPriority?: boolean | undefined
  /** Overrides of SERVER_LIMITS or COMMAND_LIMITS. */
  limits?: Partial<PoolLimits> | undefined
  /** Called when another server took over the data directory while the database was away; by default the process exits. */
  onFatal?: ((error: Error) => void) | undefined
  /** How long to wait for a database that cannot be reached at the start; 10 s by default. */
  giveUpAfterMs?: number | undefined
  /** Aborts the start, even in the middle of a migration. */
  signal?: AbortSignal | undefined
  /** Replaces the product's migrations in tests. */
  migrations?: Migration[] | undefined
  /** Shorter times for tests. */
  migrationLimits?: MigrationLimits | undefined
  heartbeatMs?: number | undefined
}

export interface Database {
  readonly db: Kysely<Tables>
  /**
   * Runs `work` again from the start after a deadlock or serialization failure, so `work` may change nothing but `tx`. The
   * check that `withCommitCheck` has set runs just before the commit.
   */
  transaction<T>(work: (tx: Transaction<Tables>) => Promise<T>): Promise<T>
  readonly prepared: Reads['prepared']
  /**
   * Prepares a statement of the ledger on each connection: a transaction in one round trip. It runs again after a deadlock or serialization
   * failure. A `name` must always mean the same SQL. These statements have connections of their own with a lower priority, so that operators
   * can read however much the game writes (ADR 18).
   */
  statement<Row>(name: string, sql: string): (params: unknown[]) => Promise<Row[]>
  /**
   * Runs several of these statements in one transaction, on the same connections. It is rolled back if `work` returns undefined, and runs
   * again from the start after a deadlock or serialization failure, so `work` may change nothing else.
   */
  ledgerTransaction<T>(work: (run: RunStatement) => Promise<T | undefined>): Promise<T | undefined>
  /** Opens a snapshot without a time limit, on a connection outside the pool. */
  snapshot<T>(work: (snapshot: Snapshot) => Promise<T>, options?: SnapshotOptions): Promise<T>
  /**
   * Reads for lists, counts, figures and exports, which a replica may answer in calls that allow it (`allowReplica`). Never use them for
   * sessions or access, or for data that is changed next.
   */
  readonly reads: Reads
  /** The replica, if DATABASE_REPLICA_URL names one. */
  readonly replica: Replica | undefined
  /** Opens a connection outside the pool and without time limits, which the caller must close. */
  connect(applicationName: string): Promise<Connection>
  /** Listens to a channel. `onGap` is called when the connection is lost and when it is back: notifications may be missed, so caches must be cleared. */
  listen(channel: string, onMessage: (payload: string) => void, onGap?: () => void): Promise<void>
  /** Whether the database answers within a second. */
  isReady(): Promise<boolean>
  /** Whether the disk is so full that changes must be refused (507), because PostgreSQL itself needs the rest. */
  isSpaceLow(): boolean
  /** Whether so much of that rest is used that even small changes must be refused. */
  isSpaceNearlyGone(): boolean
  /** Returns how many bytes may be written until changes must be refused; Infinity for a database on another machine. */
  writableBytes(): Promise<number>
  /** Returns how many connections of the pool are in use. */
  poolUse(): PoolUse
  /** Closes all connections within 10 s. The last process to do so stops the embedded PostgreSQL. */
  close(): Promise<void>
}

export interface Replica {
  state(): ReplicaState
  /** Returns an LSN (a position in the write-ahead log) of the primary after everything that was written before this call. */
  lsn(): Promise<string>
}

/** Starts or adopts the embedded PostgreSQL, connects and migrates. Rejects with a StartError if an operator must act. */
export async function openDatabase(options: DatabaseOptions): Promise<Database> {
  const { dataDir, url, log, use } = options
  const pools: Pool[] = []
  if (url === undefined) await refuseUnfinishedFolder(dataDir)
  const lockHolder = await openLockHolder({
    target:
      url === undefined ? { cluster: embeddedCluster({ dataDir, log, usesSpareFile: use === 'server' }), dataDir } : { url },
    use,
    log,
    giveUpAfterMs: options.giveUpAfterMs ?? GIVE_UP_MS,
    heartbeatMs: options.heartbeatMs ?? HEARTBEAT_MS,
    signal: options.signal,
    onConnected(address) {
      for (const pool of pools) pool.moveTo(address)
    },
    // A command may wait longer, because no request waits for it.
    onSilent() {
      if (use === 'server') for (const pool of pools) pool.abandon()
    },
    onFatal: options.onFatal ?? exit(log),
  })
  try {
    await refuseUnsuitable(lockHolder)
    await migrateUntilDone(lockHolder, options)
    const limits = use === 'server' ? SERVER_LIMITS : COMMAND_LIMITS
    const poolOptions = { ...limits, ...options.limits, isLowPriority: options.isLowPriority, log }
    const pool = openPool(lockHolder.address(), poolOptions)
    const ledgerSize = Math.ceil(poolOptions.size * LEDGER_SHARE)
    const ledgerPool = openPool(lockHolder.address(), { ...poolOptions, size: ledgerSize, isLowPriority: true })
    pools.push(pool, ledgerPool)
    const freeSpace = url === undefined ? await watchFreeSpace(dataDir, { keepsSpareFile: use === 'server' }) : undefined
    const { replicaUrl } = options
    const replicaOptions = replicaUrl === undefined ? undefined : { ...poolOptions, url: replicaUrl }
    return databaseOn({ pool, ledgerPool, lockHolder, freeSpace, replicaOptions })
  } catch (error) {
    await Promise.all(pools.map((pool) => pool.end(0)))
    await lockHolder.close(CLOSE_LOCK_HOLDER_MS)
    throw error
  }
}

/** Limits of a server's pool. Far fewer connections keep two cores of PostgreSQL busy, and several servers share its max_connections. */
export const SERVER_LIMITS: PoolLimits = { size: 16, statementTimeoutMs: 30_000, lockTimeoutMs: 2_000 }
/** Limits of a command: only the operator who started it waits for it, and can end it. */
const COMMAND_LIMITS: PoolLimits = { size: 16, statementTimeoutMs: 0, lockTimeoutMs: 0 }
/** The ledger's connections as a share of the pool's size. Fewer connections would write less, because each waits for the disk. */
const LEDGER_SHARE = 0.75
const GIVE_UP_MS = 10_000
const HEARTBEAT_MS = 5_000
const CLOSE_POOL_MS = 2_000
const CLOSE_LOCK_HOLDER_MS = 7_500
const READY_MS = 1_000
const MAX_ATTEMPTS = 6
const MIGRATE_ATTEMPTS = 5
const RECONNECT_POLL_MS = 100

interface Parts {
  pool: Pool
  ledgerPool: Pool
  lockHolder: LockHolder
  freeSpace: FreeSpace | undefined
  replicaOptions: ReplicaOptions | undefined
}

function databaseOn({ pool, ledgerPool, lockHolder, freeSpace, replicaOptions }: Parts): Database {
  // Kysely's type requires more of a pool than its code uses.
  const kyselyPool = { connect: () => pool.connect(), end: async () => undefined } as unknown as PostgresPool
  const db = new Kysely<Tables>({ dialect: new PostgresDialect({ pool: kyselyPool }) })
  const primaryReads = readsFrom(pool, () => lockHolder.address())
  const replica = replicaOptions && openReplica(primaryReads, { ...replicaOptions, database: () => lockHolder.connection })
  let closed: Promise<void> | undefined
  return {
    db,
    transaction: (work) => withRetries(() => db.transaction().execute(async (tx) => runCommitCheck(tx, await work(tx)))),
    prepared: (name, text) => primaryReads.prepared(name, text),
    statement: (name, text) => (values) => withRetries(() => runQuery(ledgerPool, { name, text, values })),
    ledgerTransaction: (work) => withRetries(() => ledgerTransaction(ledgerPool, work)),
    snapshot: (work, options) => withSnapshot(lockHolder.address(), work, options),
    reads: replica?.reads ?? primaryReads,
    replica,
    connect: (applicationName) => connect(lockHolder.address(), applicationName),
    listen: (channel, onMessage, onGap = () => undefined) => lockHolder.listen({ channel, onMessage, onGap }),
    async isReady() {
      // The pool may be busy with slow calls, which does not make this server unready.
      const answer = lockHolder.connection?.query('select 1').then(
        () => true,
        () => false,
      )
      if (answer === undefined) return false
      return Promise.race([answer, pause(READY_MS, false, { ref: false })])
    },
    isSpaceLow: () => freeSpace?.isLow() ?? false,
    isSpaceNearlyGone: () => freeSpace?.isNearlyGone() ?? false,
    poolUse() {
      const [main, ledger] = [pool.use(), ledgerPool.use()]
      return { size: main.size + ledger.size, inUse: main.inUse + ledger.inUse, waiting: main.waiting + ledger.waiting }
    },
    writableBytes: async () => freeSpace?.writableBytes() ?? Infinity,
    close() {
      freeSpace?.close()
      closed ??= Promise.all([pool.end(CLOSE_POOL_MS), ledgerPool.end(CLOSE_POOL_MS), replica?.close()]).then(() =>
        lockHolder.close(CLOSE_LOCK_HOLDER_MS),
      )
      return closed
    },
  }
}

async function withRetries<T>(run: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await run()
    } catch (error) {
      if (attempt === MAX_ATTEMPTS || !isRetryable(error)) throw error
    }
    await pause(Math.random() * 10 * 2 ** attempt) // a random pause, so that the same two transactions do not conflict again
  }
}

interface ReplicaOptions extends PoolLimits {
  url: string
  log: Logger
}

/** Starts to watch a replica. A missing replica does not prevent the start. */
function openReplica(primaryReads: Reads, options: ReplicaOptions & { database: () => Connection | undefined }) {
  const { url, log, database } = options
  const address = { connectionString: url }
  const pool = openPool(address, options)
  const watch = watchReplica({ address, database, log })
  watch.onSilence(() => pool.abandon())
  const readLsn = primaryReads.prepared<{ lsn: string }>('position', 'select pg_current_wal_lsn()::text as lsn')
  return {
    reads: readReplicaFirst(
      primaryReads,
      readsFrom(pool, () => address),
      watch,
    ),
    state: () => watch.state(),
    lsn: async () => (await readLsn([]))[0]!.lsn,
    async close() {
      watch.close()
      await pool.end(CLOSE_POOL_MS)
    },
  }
}

/** Migrates. If the database stops in between, waits for it: an unfinished migration is rolled back or resumes. */
async function migrateUntilDone(lockHolder: LockHolder, options: DatabaseOptions): Promise<void> {
  const { log, migrations, migrationLimits: limits = MIGRATION_LIMITS, signal } = options
  const wait = () => pause(RECONNECT_POLL_MS, undefined, { signal }).catch(() => signal?.throwIfAborted())
  for (let attempt = 1; ; attempt += 1) {
    while (lockHolder.connection === undefined) await wait()
    try {
      return await migrate({
        address: lockHolder.address(),
        watcher: () => lockHolder.connection,
        limits,
        log,
        migrations,
        signal,
      })
    } catch (error) {
      signal?.throwIfAborted()
      if (!isUnavailable(error)) throw error
      if (attempt === MIGRATE_ATTEMPTS) {
        throw new StartError(
          `The connection to the database was lost ${attempt} times during its migration (${(error as Error).message}): look into the database's log for the reason, such as memory or disk, and start again, which goes on with the migration.`,
          { cause: error },
        )
      }
      log.warn({ err: error, attempt }, 'The connection to the database was lost during its migration, which is tried again')
    }
    await wait()
  }
}

/** Refuses a database whose version or encoding cannot work. Its locale decides nothing (ADR 25). */
async function refuseUnsuitable({ connection }: LockHolder): Promise<void> {
  const { rows } = (await connection?.query<{ version: number; encoding: string }>(
    `select current_setting('server_version_num')::int as version, current_setting('server_encoding') as encoding`,
  )) ?? { rows: [] }
  if (!connection || !rows[0]) return
  const { version, encoding } = rows[0]
  if (version < 150_000)
    throw new StartError(`DATABASE_URL is PostgreSQL ${Math.floor(version / 10_000)}; Arcade Console needs 15 or later.`)
  if (encoding !== 'UTF8')
    throw new StartError(
      `The database at DATABASE_URL has the encoding ${encoding}; Arcade Console needs UTF8. ${CREATE_DATABASE}`,
    )
}

const CREATE_DATABASE = "Create one with `create database NAME template template0 encoding 'UTF8'` and restore a backup into it."

function exit(log: Logger): (error: Error) => void {
  return (error) => {
    log.fatal(error.message)
    process.exit(1)
  }
}
