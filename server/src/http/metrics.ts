/**
 * `GET /metrics` in Prometheus' format, for clients with METRICS_TOKEN: requests and their durations, the pool, exports, the event loop,
 * the database, the audit trail and backups. The server keeps its own metrics all the time, and reads those of the database on request.
 */
import { createHash, timingSafeEqual } from 'node:crypto'
import { sql } from 'kysely'
import { collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import type { Database } from '#src/db/database.ts'
import type { PoolUse } from '#src/postgres/pool-shares.ts'
import type { ReplicaState } from '#src/postgres/replica-watch.ts'

export interface Metrics {
  /** Counts an answered request, if metrics are served. */
  observe(request: { call: string; method: string; status: number; seconds: number }): void
  /** Whether metrics are served, which needs METRICS_TOKEN. */
  isServed: boolean
  /** Whether a request may read them. */
  isAllowed(request: Request): boolean
  read(): Promise<{ contentType: string; body: string }>
}

interface Sources {
  database: Database
  /** METRICS_TOKEN; without it no metrics are served. */
  token: string | undefined
  /** Returns the number of spreadsheets that are being written. */
  exportsRunning: () => number
}

/** Upper bounds of the histogram's buckets in seconds, around the budgets of design §9. */
const BUCKETS = [0.005, 0.015, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]

export function createMetrics({ database, token, exportsRunning }: Sources): Metrics {
  const registry = new Registry()
  if (token !== undefined) collectDefaultMetrics({ register: registry })
  const requests = createRequestHistogram(registry)
  const gauges = createGauges(registry, { hasReplica: database.replica !== undefined })

  return {
    observe({ call, method, status, seconds }) {
      if (token !== undefined) requests.observe({ call, method, status }, seconds)
    },

    isServed: token !== undefined,

    isAllowed(request) {
      const given = /^Bearer (\S+)$/i.exec(request.headers.get('authorization') ?? '')?.[1]
      return token !== undefined && given !== undefined && timingSafeEqual(hash(given), hash(token))
    },

    async read() {
      setPool(gauges.pool, database.poolUse())
      gauges.exports.set(exportsRunning())
      gauges.writableBytes.set(await database.writableBytes())
      if (gauges.replica && database.replica) setReplica(gauges.replica, database.replica.state())
      await askDatabase(gauges.database, database)
      return { contentType: registry.contentType, body: await registry.metrics() }
    },
  }
}

function createRequestHistogram(registry: Registry): Histogram {
  return new Histogram({
    name: 'arcade_request_duration_seconds',
    help: 'Time until a call was answered, by call, method and status.',
    labelNames: ['call', 'method', 'status'],
    buckets: BUCKETS,
    registers: [registry],
  })
}

type Gauges = ReturnType<typeof createGauges>

/** Creates the gauges, in the order in which `/metrics` lists them. */
function createGauges(registry: Registry, { hasReplica }: { hasReplica: boolean }) {
  const gauge: NewGauge = (name, help) => new Gauge({ name: `arcade_${name}`, help, registers: [registry] })
  return {
    pool: {
      size: gauge('pool_connections', 'Connections that the pool may have.'),
      inUse: gauge('pool_connections_in_use', 'Connections of the pool that calls hold.'),
      waiting: gauge('pool_waiting', 'Calls that wait for a connection.'),
    },
    exports: gauge('exports_running', 'Spreadsheets that are being written.'),
    replica: hasReplica ? createReplicaGauges(gauge) : undefined,
    writableBytes: gauge('disk_room_bytes', 'What may be written until changes are refused; +Inf for a database elsewhere.'),
    database: {
      databaseBytes: gauge('database_bytes', 'Size of the database.'),
      auditOpen: gauge('audit_open_entries', 'Entries of the audit trail that are not sealed yet.'),
      auditSealed: gauge('audit_sealed_entries', 'The number of the last sealed entry of the audit trail.'),
      broadcastsPaused: gauge('broadcasts_paused', 'Broadcasts that the console paused by itself.'),
      backupAge: gauge('backup_age_seconds', 'Time since the last backup that was whole; +Inf if there is none.'),
      isDatabaseUp: gauge('database_up', 'Whether the database answers.'),
    },
  }
}

type NewGauge = (name: string, help: string) => Gauge

function createReplicaGauges(gauge: NewGauge) {
  return {
    used: gauge('replica_used', 'Whether reads that may be a second old are answered by the replica.'),
    lag: gauge('replica_lag_seconds', 'The replica has all that was written longer ago than this; +Inf while that is not known.'),
    answered: gauge('replica_reads', 'Reads that the replica has answered.'),
    failed: gauge('replica_failed_reads', 'Reads that failed at the replica and were repeated at the primary.'),
  }
}

function setPool(gauges: Gauges['pool'], { size, inUse, waiting }: PoolUse): void {
  gauges.size.set(size)
  gauges.inUse.set(inUse)
  gauges.waiting.set(waiting)
}

function setReplica(
  gauges: ReturnType<typeof createReplicaGauges>,
  { isUsed, lagSeconds, answered, failed }: ReplicaState,
): void {
  gauges.used.set(isUsed ? 1 : 0)
  gauges.lag.set(lagSeconds)
  gauges.answered.set(answered)
  gauges.failed.set(failed)
}

/** Reads the metrics of the database. A failure is tolerated, because metrics are most needed when the database does not answer. */
async function askDatabase(gauges: Gauges['database'], database: Database): Promise<void> {
  const isUp = await database.isReady()
  gauges.isDatabaseUp.set(isUp ? 1 : 0)
  if (!isUp) return
  const { rows } = await sql<Figures>`
    select pg_database_size(current_database()) as "databaseBytes", (select count(*) from audit_open) as "auditOpen",
           (select seq from audit_head) as "auditSealed",
           (select count(*) from broadcasts where is_paused and problem is not null) as "broadcastsPaused",
           extract(epoch from now() - (select max(finished_at) from backups where error is null))::float8 as "backupAge"`.execute(
    database.db,
  )
  const { databaseBytes, auditOpen, auditSealed, broadcastsPaused, backupAge } = rows[0]!
  gauges.databaseBytes.set(databaseBytes)
  gauges.auditOpen.set(auditOpen)
  gauges.auditSealed.set(auditSealed)
  gauges.broadcastsPaused.set(broadcastsPaused)
  gauges.backupAge.set(backupAge ?? Infinity)
}

interface Figures {
  databaseBytes: number
  auditOpen: number
  auditSealed: number
  broadcastsPaused: number
  backupAge: number | null
}

/** Returns a hash, so that texts of different lengths can be compared in constant time. */
function hash(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}
