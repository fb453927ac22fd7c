/**
 * The connection on which migrations run. Its statements have no time limit, but wait only briefly for a lock and then let others pass,
 * because all other statements queue behind one that waits for an exclusive lock. Long statements are reported.
 */
import { setTimeout as pause } from 'node:timers/promises'
import type { Kysely } from 'kysely'
import type { QueryResult } from 'pg'
import type { Logger } from 'pino'
import { type Address, type Connection, connect, destroy } from '#src/postgres/connections.ts'
import { isLockTimeout } from '#src/postgres/errors.ts'
import { kyselyOn } from './kysely-on.ts'

export interface MigrationLimits {
  /** How long a statement waits for a lock before it lets others pass. */
  lockTimeoutMs: number
  /** The interval of reports about a running statement. The first report comes after a fifth of it. */
  reportEveryMs: number
}

export const MIGRATION_LIMITS: MigrationLimits = { lockTimeoutMs: 1_000, reportEveryMs: 10_000 }

export interface MigrationConnectionOptions {
  address: Address
  log: Logger
  limits: MigrationLimits
  /** A second connection that watches the running statement; undefined while there is none. */
  watcher: () => Connection | undefined
  /** Closes the connection, even while a statement runs. */
  signal?: AbortSignal | undefined
}

export interface MigrationConnection {
  /** Kysely for statements in a transaction, which fails if one of them does not get its lock. */
  db: Kysely<unknown>
  /** Kysely for statements outside a transaction: one that does not get its lock is repeated until it does. */
  repeatingDb: Kysely<unknown>
  client: Connection
  /** Sets the name of the running migration, for reports and for other processes that wait for it. */
  begin(step: string): Promise<void>
  secondsOfStep(): number
  /** Pauses after a failed attempt to get a lock, longer than several attempts take, so that others rarely wait. */
  letOthersPass(): Promise<void>
  close(): void
}

const APPLICATION_NAME = 'arcade migration'
const PAUSE_ATTEMPTS = 3

export async function openMigrationConnection(options: MigrationConnectionOptions): Promise<MigrationConnection> {
  options.signal?.throwIfAborted()
  const client = await connect(options.address, APPLICATION_NAME)
  try {
    const { rows } = await client.query<{ pid: number }>(
      `select pg_backend_pid() as pid, set_config(name, '0', false) from pg_settings where name = any($1)`,
      [['statement_timeout', 'idle_in_transaction_session_timeout', 'transaction_timeout']],
    )
    await setLockTimeout(client, options.limits.lockTimeoutMs)
    options.signal?.throwIfAborted() // only the returned connection listens to the signal
    return new BrieflyWaitingConnection(client, { ...options, pid: rows[0]?.pid ?? 0 })
  } catch (error) {
    destroy(client)
    throw error
  }
}

async function setLockTimeout(client: Connection, ms: number): Promise<void> {
  await client.query(`set lock_timeout = ${ms}`)
}

interface OpenedOptions extends MigrationConnectionOptions {
  /** The PostgreSQL process of the connection. */
  pid: number
}

class BrieflyWaitingConnection implements MigrationConnection {
  readonly db = kyselyOn<unknown>((text, params) => this.#query(text, params))
  readonly repeatingDb = kyselyOn<unknown>((text, params) => this.#queryUntilLocked(text, params))
  readonly client: Connection
  readonly #options: OpenedOptions
  readonly #reporter: Reporter
  readonly #handleAbort = (): void => this.#abort()

  constructor(client: Connection, options: OpenedOptions) {
    this.client = client
    this.#options = options
    this.#reporter = createReporter(options)
    options.signal?.addEventListener('abort', this.#handleAbort)
  }

  async begin(step: string): Promise<void> {
    this.#reporter.begin(step)
    await this.client.query(`select set_config('application_name', $1, false)`, [`${APPLICATION_NAME} ${step}`])
  }

  secondsOfStep(): number {
    return this.#reporter.seconds()
  }

  async letOthersPass(): Promise<void> {
    const { limits, signal } = this.#options
    await pause(PAUSE_ATTEMPTS * limits.lockTimeoutMs, undefined, { signal })
  }

  close(): void {
    this.#options.signal?.removeEventListener('abort', this.#handleAbort)
    destroy(this.client) // also releases the lock of migrations
  }

  #abort(): void {
    const { watcher, pid } = this.#options
    destroy(this.client)
    // On some platforms PostgreSQL would notice the closed connection only after the statement.
    watcher()
      ?.query('select pg_terminate_backend($1::int)', [pid])
      .catch(() => undefined)
  }

  async #query(text: string, params: readonly unknown[]): Promise<QueryResult> {
    // A concurrent index build also waits for older transactions, but lets others read and write.
    const isPatient = /^\s*(create|create unique|drop|reindex) index concurrently/i.test(text)
    if (isPatient) await setLockTimeout(this.client, 0)
    const stopWatching = this.#reporter.watch(text)
    try {
      return await this.client.query(text, [...params])
    } finally {
      stopWatching()
      if (isPatient) await setLockTimeout(this.client, this.#options.limits.lockTimeoutMs)
    }
  }

  async #queryUntilLocked(text: string, params: readonly unknown[]): Promise<QueryResult> {
    const [, index] = /^\s*create (?:unique )?index concurrently if not exists (\w+)/i.exec(text) ?? []
    // Citus would mark an index that exists already as invalid, and the next migration would then drop it.
    const statement = index !== undefined && (await this.#exists(index)) ? '' : text
    for (;;) {
      try {
        return await this.#query(statement, params)
      } catch (error) {
        this.#options.signal?.throwIfAborted()
        if (!isLockTimeout(error)) throw error
        await this.letOthersPass()
      }
    }
  }

  async #exists(index: string): Promise<boolean> {
    const { rows } = await this.client.query<{ exists: boolean }>('select to_regclass($1) is not null as exists', [index])
    return rows[0]!.exists
  }
}

interface Reporter {
  begin(step: string): void
  /** Returns the seconds since the step began. */
  seconds(): number
  /** Reports from time to time that a statement runs, until the returned function is called. */
  watch(text: string): () => void
}

/** Reports what a long migration does: the statement, the rows of its tables, the progress of an index, and who holds a lock it waits for. */
function createReporter({ log, limits, watcher, pid }: OpenedOptions): Reporter {
  let step = ''
  let startedAt = performance.now()
  let reportAt = Infinity

  async function report(text: string): Promise<void> {
    reportAt = performance.now() + limits.reportEveryMs
    const client = watcher()
    if (client === undefined) return
    const statement = text.replaceAll(/\s+/g, ' ').trim().slice(0, STATEMENT_SHOWN)
    const { rows } = await client.query<Observation>(OBSERVE, [pid, text.match(/\w+/g)])
    const { tables, phase, percent, blockedBy } = rows[0] ?? {}
    const facts = [
      tables && `rows: ${tables}`,
      phase && `${phase} ${percent ?? 0} %`,
      blockedBy && `waiting for a lock that ${blockedBy} holds`,
    ]
    const seconds = secondsOfStep()
    const known = facts.filter(Boolean).join('; ')
    log.warn(
      { migration: step, seconds, statement },
      `Migrating the database, ${step} for ${seconds} s${known && ` (${known})`}: ${statement}`,
    )
  }

  const secondsOfStep = () => Math.round((performance.now() - startedAt) / 100) / 10
  return {
    begin(name: string) {
      step = name
      startedAt = performance.now()
      reportAt = startedAt + limits.reportEveryMs / 5
    },
    seconds: secondsOfStep,
    watch(text: string): () => void {
      const timer = setInterval(() => {
        if (performance.now() >= reportAt) report(text).catch(() => undefined) // the step goes on without a line of progress
      }, limits.lockTimeoutMs / 2)
      return () => clearInterval(timer)
    },
  }
}

const STATEMENT_SHOWN = 120

interface Observation {
  /** The statement's tables with their approximate numbers of rows: "telegram_users 1200000". */
  tables: string | null
  /** The phase of an index build. */
  phase: string | null
  percent: number | null
  /** The holders of locks that the statement waits for. */
  blockedBy: string | null
}

const OBSERVE = `
  select progress.phase,
         floor(100 * greatest(blocks_done::numeric / nullif(blocks_total, 0), tuples_done::numeric / nullif(tuples_total, 0))) as percent,
         (select string_agg(relname || ' ' || reltuples::bigint, ', ') from pg_class
           where relkind = 'r' and relnamespace = current_schema()::regnamespace and reltuples > 0 and relname = any($2::text[])) as tables,
         (select string_agg('process ' || pid || ' (' || application_name || ')', ', ') from pg_stat_activity
           where pid = any(pg_blocking_pids($1))) as "blockedBy"
    from (values ($1::int)) as migrating (pid) left join pg_stat_progress_create_index progress using (pid)`
