/** Connections to PostgreSQL. They parse numbers and notice a dead server, and in the pool no statement can wait for ever. */
import diagnostics from 'node:diagnostics_channel'
import pg from 'pg'
import type { Logger } from 'pino'
import { ONE_CONNECTION_A_SERVER } from './citus.ts'
import { createShares, type PoolUse } from './pool-shares.ts'
import { lowerProcessPriority } from './priority.ts'

/** The address of the database. The port of the embedded PostgreSQL may change when it is started again. */
export type Address =
  | { connectionString: string }
  | { host: string; port: number; user: string; password: string; database: string }

export interface Pool {
  /** Takes a connection from the pool; `release` returns it. Rejects if none is free for some seconds. */
  connect(): Promise<pg.PoolClient>
  use(): PoolUse
  /** Closes all connections and abandons their statements, because the database does not answer. */
  abandon(): void
  /** Sets the address for new connections. */
  moveTo(address: Address): void
  /** Waits for running statements up to this time, then closes their connections. */
  end(timeoutMs: number): Promise<void>
}

/** Limits of the pool's connections; 0 means no limit. */
export interface PoolLimits {
  size: number
  /** The time after which PostgreSQL cancels a statement, and ends an idle transaction. */
  statementTimeoutMs: number
  /** The time after which PostgreSQL cancels a statement that waits for a lock. */
  lockTimeoutMs: number
}

export interface PoolOptions extends PoolLimits {
  log: Logger
  /** Whether its statements have a lower priority than those of requests. */
  isLowPriority?: boolean | undefined
}

export function openPool(address: Address, options: PoolOptions): Pool {
  const { size, statementTimeoutMs, lockTimeoutMs, log, isLowPriority = false } = options
  const clients = new Set<pg.ClientBase>()
  const pool = new pg.Pool({
    ...configFor(address),
    Client: Connection as unknown as new () => pg.ClientBase, // the pool passes its options to the class
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
    if (isLowPriority) void lowerPriority(client, address)
  })
  pool.on('remove', (client) => clients.delete(client))
  // The pool has already removed the broken idle connection.
  pool.on('error', (error) => log.info({ err: error }, 'An idle database connection was lost'))
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

/** Opens a connection outside the pool, whose statements have no time limit. */
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

/** Lowers the priority of the connection's statements, if PostgreSQL is the embedded one on this machine. */
export async function lowerPriority(client: pg.ClientBase, address: Address, options?: { isAwaited?: boolean }): Promise<void> {
  const { processID } = client as unknown as { processID: number | null }
  if (!('connectionString' in address) && processID !== null) await lowerProcessPriority(processID, options)
}

/** Closes the socket at once, even while a statement runs. */
export function destroy(client: pg.ClientBase): void {
  socket(client).destroy()
}

export function isConnectTimeout(error: unknown): boolean {
  return error instanceof Error && error.message === 'timeout expired'
}

/** Milliseconds that a request waits for a connection: it fails fast if the database is away, but not before waits for locks time out. */
const WAIT_MS = 3_000
/** Milliseconds after which a call counts as slow: it waits for something, or reads very much. */
const SLOW_MS = 250
const CONNECT_TIMEOUT_MS = 5_000
/** The multiple of the statement timeout after which the network counts as broken: PostgreSQL would have cancelled the statement. */
const ANSWER_TIMEOUT_FACTOR = 7 / 6

/** The names of prepared statements, which each connection parses and plans once, by their text. */
const plannedOnce = new Map<string, string>()

/**
 * Makes a text a prepared statement, which each connection parses and plans once. For statements that are sent often and take longer to plan
 * than to run. They must not return rows: PostgreSQL would refuse them after a change of the table.
 */
export function planOnce(text: string): void {
  if (!plannedOnce.has(text)) plannedOnce.set(text, `planned-${plannedOnce.size + 1}`)
}

/** A statement with its parameters. Each connection plans one with a name once. */
export type SentStatement = Pick<pg.QueryConfig<unknown[]>, 'name' | 'text' | 'values'>

/** Publishes each sent statement (https://nodejs.org/api/diagnostics_channel.html). */
export const sentStatements = diagnostics.channel('arcade:statement') as diagnostics.Channel<unknown, SentStatement>

/** COPY is a query object of its own, without a text. */
function publish(query: unknown): void {
  const statement = query as Partial<SentStatement>
  if (statement.text !== undefined) sentStatements.publish(statement)
}

/** A pg client that survives the loss of the database at any time, gives up one that does not answer, and queues queries. */
export class Connection extends pg.Client {
  /** Whether the client has emitted 'end'. */
  isEnded = false
  readonly #answerTimeoutMs: number
  #unanswered = 0
  #last: Promise<unknown> = Promise.resolve()

  constructor(config: pg.ClientConfig) {
    super(config)
    this.#answerTimeoutMs = (config.statement_timeout || 0) * ANSWER_TIMEOUT_FACTOR
    // Without a listener, Node would end the process on 'error'; between two statements of a transaction there is no other listener.
    this.on('error', () => undefined)
    this.once('end', () => (this.isEnded = true))
    // The cast replaces pg's eight overloads, whose arguments are all passed on.
    this.query = this.#queue.bind(this, super.query.bind(this)) as typeof this.query
  }

  /** Sends queries one after the other, because pg will stop queueing them. Calls with callbacks come from pg's pool and are passed on. */
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

/** The formats of values that this code reads. A database or a role may have others. */
const FORMATS = ['datestyle=ISO', 'intervalstyle=postgres', 'timezone=UTC', 'extra_float_digits=1', 'bytea_output=hex']

/**
 * Settings of each connection. JIT compilation takes longer than any of the statements gains by it. A merge join would read both tables from
 * their beginnings, half of all players for a page in the middle, because the planner assumes that equal values are spread evenly.
 */
export const SETTINGS = ['jit=off', 'enable_mergejoin=off', ONE_CONNECTION_A_SERVER, ...FORMATS]
  .map((setting) => `-c ${setting}`)
  .join(' ')

function configFor(address: Address): pg.ClientConfig {
  // PGSSLMODE of the environment does not apply to the embedded PostgreSQL.
  const ssl = 'host' in address ? { ssl: false } : {}
  return { ...address, ...ssl, types, options: SETTINGS, keepAlive: true, keepAliveInitialDelayMillis: 10_000 }
}

/** pg's types omit the public property `connection`. */
function socket(client: pg.ClientBase): { destroy(error?: Error): void } {
  return (client as unknown as { connection: { stream: { destroy(error?: Error): void } } }).connection.stream
}

/** Parses bigint and numeric values to numbers, which pg does not do by default: all stored values fit a double (design §5). */
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
