/** Connections to PostgreSQL. They parse its numbers, notice a dead server, and in the pool no statement can wait for ever. */
import diagnostics from 'node:diagnostics_channel'
import pg from 'pg'
import type { Logger } from 'pino'
import { createShares, type PoolUse } from './pool-shares.ts'
import { letGiveWay } from './priority.ts'

/** Where the database is. The port of an embedded one may change when it is started again. */
export type Address =
  | { connectionString: string }
  | { host: string; port: number; user: string; password: string; database: string }

export interface Pool {
  /** A connection of the pool, to be given back by its `release`. Rejects when none is free for some seconds. */
  connect(): Promise<pg.PoolClient>
  use(): PoolUse
  /** Gives up all its connections, with the statements that run on them, because the database does not answer. */
  abandon(): void
  /** Changes the address for connections opened from now on. */
  moveTo(address: Address): void
  /** Waits for running statements at most this long, then closes their connections. */
  end(timeoutMs: number): Promise<void>
}

/** Limits of the pool's connections; a time of 0 is none. */
export interface PoolLimits {
  size: number
  /** PostgreSQL cancels a statement after this time, and ends a transaction that does nothing for as long. */
  statementTimeoutMs: number
  /** PostgreSQL cancels a statement that waits for a lock for this time. */
  lockTimeoutMs: number
}

export interface PoolOptions extends PoolLimits {
  log: Logger
  /** Its statements are no requests, which go first. */
  givesWay?: boolean | undefined
}

export function openPool(address: Address, options: PoolOptions): Pool {
  const { size, statementTimeoutMs, lockTimeoutMs, log, givesWay = false } = options
  const clients = new Set<pg.ClientBase>()
  const pool = new pg.Pool({
    ...configFor(address),
    Client: Connection as unknown as new () => pg.ClientBase, // the pool passes its options on
    max: size,
    idleTimeoutMillis: 60_000,
    connectionTimeoutMillis: WAIT_MS,
    statement_timeout: statementTimeoutMs,
    lock_timeout: lockTimeoutMs,
    idle_in_transaction_session_timeout: statementTimeoutMs,
    application_name: 'arcade pool',
  })
  pool.on('connect', (client) => {
    clients.add(client)
    if (givesWay) void giveWay(client, address)
  })
  pool.on('remove', (client) => clients.delete(client))
  // The pool has already dropped the idle connection that broke.
  pool.on('error', (error) => log.debug({ err: error }, 'An idle database connection was lost'))
  const shares = createShares({ size, waitMs: WAIT_MS, slowMs: SLOW_MS })
  return {
    async connect() {
      const giveBack = await shares.take()
      try {
        const client = await pool.connect()
        const release = client.release.bind(client)
        client.release = (error) => {
          release(error)
          giveBack()
        }
        return client
      } catch (error) {
        giveBack()
        throw error
      }
    },
    use: () => shares.use(),
    abandon() {
      for (const client of clients) destroy(client)
    },
    moveTo(next) {
      Object.assign(pool.options, next)
    },
    async end(timeoutMs) {
      const timer = setTimeout(() => clients.forEach(destroy), timeoutMs)
      await pool.end().finally(() => clearTimeout(timer))
    },
  }
}

/** Opens a connection outside the pool, without time limits on its statements. */
export async function connect(address: Address, applicationName: string): Promise<Connection> {
  const client = new Connection({
    ...configFor(address),
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    application_name: applicationName,
  })
  try {
    await client.connect()
    return client
  } catch (error) {
    destroy(client)
    throw error
  }
}

/** Lets what runs on this connection give way to requests, if PostgreSQL is our own, on this machine. */
export async function giveWay(client: pg.ClientBase, address: Address, options?: { isAwaited?: boolean }): Promise<void> {
  const { processID } = client as unknown as { processID: number | null }
  if (!('connectionString' in address) && processID !== null) await letGiveWay(processID, options)
}

/** Closes the socket at once, even while a statement runs. */
export function destroy(client: pg.ClientBase): void {
  socket(client).destroy()
}

export function isConnectTimeout(error: unknown): boolean {
  return error instanceof Error && error.message === 'timeout expired'
}

/** A request fails fast when the database is away or the pool is exhausted, though not before waits for locks have ended. */
const WAIT_MS = 3_000
/** A call that holds a connection for longer waits for something, or reads very much. */
const SLOW_MS = 250
const CONNECT_TIMEOUT_MS = 5_000
/** After so many times its time limit PostgreSQL has cancelled a statement itself, unless the network between is gone. */
const ANSWER_TIMEOUT_FACTOR = 7 / 6

/** Statements that each connection has PostgreSQL parse and plan once: the name of each by its text. */
const plannedOnce = new Map<string, string>()

/**
 * Makes this text a statement that is parsed and planned once a connection, for one that is sent often and takes longer to plan than to run.
 * It may return no rows: those of a table that was changed since would be refused.
 */
export function planOnce(text: string): void {
  if (!plannedOnce.has(text)) plannedOnce.set(text, `planned-${plannedOnce.size + 1}`)
}

/** A statement with its parameters; one with a name is planned once a connection. */
export type SentStatement = Pick<pg.QueryConfig<unknown[]>, 'name' | 'text' | 'values'>

/** Each statement that is sent, for those who subscribe (https://nodejs.org/api/diagnostics_channel.html). */
export const sentStatements = diagnostics.channel('arcade:statement') as diagnostics.Channel<unknown, SentStatement>

/** COPY has no text here: it is a query object of its own. */
function publish(query: unknown): void {
  const statement = query as Partial<SentStatement>
  if (statement.text !== undefined) sentStatements.publish(statement)
}

/** A pg client that survives the loss of its server at any moment, gives up a server that does not answer, and queues queries. */
export class Connection extends pg.Client {
  /** Whether its 'end' has been emitted. */
  isEnded = false
  readonly #answerTimeoutMs: number
  #unanswered = 0
  #last: Promise<unknown> = Promise.resolve()

  constructor(config: pg.ClientConfig) {
    super(config)
    this.#answerTimeoutMs = (config.statement_timeout || 0) * ANSWER_TIMEOUT_FACTOR
    // Node ends the process on an 'error' without a listener, and between two statements of a transaction there is no other.
    this.on('error', () => undefined)
    this.once('end', () => (this.isEnded = true))
    // The cast stands for pg's eight overloads, all of which are passed through.
    this.query = this.#queue.bind(this, super.query.bind(this)) as typeof this.query
  }

  /** Sends queries one after the other, because pg will stop queueing them. Calls with callbacks come from pg's pool and pass. */
  #queue(query: (...args: unknown[]) => unknown, ...args: unknown[]): unknown {
    if (this.#unanswered > 0) this.#last = this.#last.then(() => this.#send(query, args))
    else {
      const result = this.#send(query, args)
      if (!(result instanceof Promise)) return result
      this.#last = result
    }
    this.#unanswered += 1
    const answer = this.#last.finally(() => (this.#unanswered -= 1))
    this.#last = answer.catch(() => undefined)
    return answer
  }

  #send(query: (...args: unknown[]) => unknown, args: unknown[]): unknown {
    const [text, values] = args
    const name = typeof text === 'string' ? plannedOnce.get(text) : undefined
    if (sentStatements.hasSubscribers) publish(typeof text === 'string' ? { name, text, values } : text)
    const result = name === undefined ? query(...args) : query({ name, text, values })
    if (this.#answerTimeoutMs === 0 || !(result instanceof Promise)) return result
    const message = `The database did not answer within ${this.#answerTimeoutMs} ms`
    const timer = setTimeout(() => socket(this).destroy(new Error(message)), this.#answerTimeoutMs)
    return result.finally(() => clearTimeout(timer))
  }
}

/**
 * To compile an expression takes longer than any of the statements gains by it. A merge join begins with both tables at their beginnings: the
 * planner, who believes equal values to lie anywhere, would walk along half of all players to the first of a page. A cluster would open more
 * connections to a server for each statement of more than 10 ms, which takes longer than the statement; others than clusters know nothing of
 * that setting (docs/scaling.md).
 */
const SETTINGS = '-c jit=off -c enable_mergejoin=off -c citus.max_adaptive_executor_pool_size=1'

/** Has a row where the database is one of a cluster. */
export const CITUS_SQL = `select from pg_extension where extname = 'citus'`

function configFor(address: Address): pg.ClientConfig {
  // PGSSLMODE of the environment is meant for other databases than the embedded one.
  const ssl = 'host' in address ? { ssl: false } : {}
  return { ...address, ...ssl, types, options: SETTINGS, keepAlive: true, keepAliveInitialDelayMillis: 10_000 }
}

/** pg's types leave out its public property `connection`. */
function socket(client: pg.ClientBase): { destroy(error?: Error): void } {
  return (client as unknown as { connection: { stream: { destroy(error?: Error): void } } }).connection.stream
}

/** All stored bigint and numeric values fit a double (design §5), so they are parsed to numbers, which pg does not do. */
const numberParsers = new Map<number, (text: string) => unknown>([
  [pg.types.builtins.INT8, Number],
  [pg.types.builtins.NUMERIC, Number],
  [1016, parseNumbers], // bigint[]
  [1231, parseNumbers], // numeric[]
])

const types: pg.CustomTypesConfig = {
  getTypeParser: ((oid: number, format?: 'text' | 'binary') =>
    (format !== 'binary' && numberParsers.get(oid)) ||
    pg.types.getTypeParser(oid, format ?? 'text')) as typeof pg.types.getTypeParser,
}

function parseNumbers(array: string): (number | null)[] {
  const items = array.slice(1, -1)
  return items === '' ? [] : items.split(',').map((item) => (item === 'NULL' ? null : Number(item)))
}
