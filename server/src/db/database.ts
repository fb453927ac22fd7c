/**
 * The database's door (design §4): a PostgreSQL of our own in DATA_DIR, or the one DATABASE_URL names. Hides its life
 * cycle, the pool, migrations, retries and timeouts; what its errors mean is in errors.ts.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { Kysely, PostgresDialect, type Transaction } from 'kysely'
import type pg from 'pg'
import type { Logger } from 'pino'
import { embeddedCluster } from '#src/postgres/cluster.ts'
import { type Pool, openPool } from '#src/postgres/connections.ts'
import { StartError, isRetryable } from '#src/postgres/errors.ts'
import { type FreeSpace, watchFreeSpace } from '#src/postgres/free-space.ts'
import { type LockHolder, openLockHolder } from '#src/postgres/lock-holder.ts'
import { type Migration, migrate } from './migrate.ts'
import { type Snapshot, snapshotRows, withSnapshot } from './snapshot.ts'
import type { Tables } from './tables.ts'

export interface DatabaseOptions {
  /** Of an embedded cluster: its folder `postgres` is in there. */
  dataDir: string
  /** Any PostgreSQL from 15 on, instead of the embedded one. */
  url?: string | undefined
  log: Logger
  /** An embedded cluster has one server at a time, and any number of commands beside it. */
  use: 'server' | 'command'
  poolSize?: number | undefined
  /** Another server took the data directory over while the database was away: nothing is right but to exit, the default. */
  onFatal?: ((error: Error) => void) | undefined
  /** How long to wait for a database that is not there yet; 10 s. */
  giveUpAfterMs?: number | undefined
  /** For tests of migrating. */
  migrations?: Migration[] | undefined
}

export interface Database {
  readonly db: Kysely<Tables>
  /** All or nothing; run again from the start when PostgreSQL asks for it, so `work` touches nothing but `tx`. */
  transaction<T>(work: (tx: Transaction<Tables>) => Promise<T>): Promise<T>
  /** For the hottest reads: parsed and planned once a connection. `name` stands for exactly this SQL. */
  prepared<Row>(name: string, sql: string): (params: unknown[]) => Promise<Row[]>
  /** A consistent view without time limit, outside the pool; see Snapshot. */
  snapshot<T>(work: (snapshot: Snapshot) => Promise<T>): Promise<T>
  /** A snapshot for one query alone, in batches; its connection is freed when the iteration ends, however it does. */
  snapshotRows<Row>(sql: string, params: unknown[], batchSize: number): AsyncGenerator<Row[]>
  /** `onGap`: messages may have been missed, so drop what they keep fresh; on losing the connection and on its return. */
  listen(channel: string, onMessage: (payload: string) => void, onGap: () => void): Promise<void>
  /** Whether the database answers within a second. */
  isReady(): Promise<boolean>
  /** Whether changes should be refused to keep the disk's last reserve for PostgreSQL itself (507). */
  freeSpaceLow(): boolean
  /** Within 10 s. The last process to close an embedded cluster stops it. */
  close(): Promise<void>
}

/** Starts or adopts, connects and migrates. Rejects with a StartError where a person has to act. */
export async function openDatabase(options: DatabaseOptions): Promise<Database> {
  const { dataDir, url, log, use } = options
  let pool: Pool | undefined
  const lockHolder = await openLockHolder({
    target: url === undefined ? { cluster: embeddedCluster({ dataDir, log }), dataDir } : { url },
    use,
    log,
    giveUpAfterMs: options.giveUpAfterMs ?? GIVE_UP_MS,
    onConnected: (address) => pool?.moveTo(address),
    onFatal: options.onFatal ?? exit(log),
  })
  try {
    await refuseOldServer(lockHolder)
    pool = openPool(lockHolder.address(), { size: options.poolSize ?? DEFAULT_POOL_SIZE, log })
    const freeSpace = url === undefined ? await watchFreeSpace(dataDir) : undefined
    const database = door(pool, lockHolder, freeSpace)
    await migrate({ db: database.db, lockConnection: lockHolder.connection, log, migrations: options.migrations })
    return database
  } catch (error) {
    await pool?.end(0)
    await lockHolder.close(CLOSE_KEEPER_MS)
    throw error
  }
}

/** Two cores of PostgreSQL are busy with far fewer; many server processes share max_connections. */
const DEFAULT_POOL_SIZE = 16
const GIVE_UP_MS = 10_000
const CLOSE_POOL_MS = 2_000
const CLOSE_KEEPER_MS = 7_500
const READY_MS = 1_000
const ATTEMPTS = 6

function door(pool: Pool, lockHolder: LockHolder, freeSpace: FreeSpace | undefined): Database {
  const db = new Kysely<Tables>({ dialect: new PostgresDialect({ pool: pool.pool }) })
  let closed: Promise<void> | undefined
  return {
    db,
    transaction: (work) => withRetries(() => db.transaction().execute(work)),
    prepared: (name, text) => (values) => runPrepared(pool.pool, { name, text, values }),
    snapshot: (work) => withSnapshot(lockHolder.address(), work),
    snapshotRows: (sql, params, batchSize) => snapshotRows(lockHolder.address(), { sql, params, batchSize }),
    listen: (channel, onMessage, onGap) => lockHolder.listen({ channel, onMessage, onGap }),
    async isReady() {
      if (lockHolder.connection === undefined) return false
      const answer = pool.pool.query('select 1').then(
        () => true,
        () => false,
      )
      return Promise.race([answer, pause(READY_MS, false, { ref: false })])
    },
    freeSpaceLow: () => freeSpace?.isLow() ?? false,
    close() {
      freeSpace?.close()
      closed ??= pool.end(CLOSE_POOL_MS).then(() => lockHolder.close(CLOSE_KEEPER_MS))
      return closed
    },
  }
}

async function withRetries<T>(run: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await run()
    } catch (error) {
      if (attempt === ATTEMPTS || !isRetryable(error)) throw error
    }
    await pause(Math.random() * 10 * 2 ** attempt) // apart, so that the same two don't meet again
  }
}

async function runPrepared<Row>(pool: pg.Pool, query: pg.QueryConfig): Promise<Row[]> {
  const client = await pool.connect()
  try {
    const { rows } = await client.query(query)
    client.release()
    return rows as Row[]
  } catch (error) {
    // After a change of the tables "cached plan must not change result type": a fresh connection plans anew.
    const isStale = (error as { code?: unknown }).code === '0A000'
    client.release(isStale)
    if (isStale) return runPrepared(pool, query)
    throw error
  }
}

async function refuseOldServer({ connection }: LockHolder): Promise<void> {
  const { rows } = (await connection?.query<{ version: number }>(
    `select current_setting('server_version_num')::int as version`,
  )) ?? { rows: [] }
  const version = rows[0]?.version
  if (version !== undefined && version < 150_000)
    throw new StartError(`DATABASE_URL is PostgreSQL ${Math.floor(version / 10_000)}; Arcade Console needs 15 or later.`)
}

function exit(log: Logger): (error: Error) => void {
  return (error) => {
    log.fatal(error.message)
    process.exit(1)
  }
}
