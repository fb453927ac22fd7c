/** Connections to PostgreSQL as the rest of db/ wants them: numbers parsed, dead ones noticed, none able to hang for good. */
import pg from 'pg'
import type { Logger } from 'pino'

/** Where the database is; the port of an embedded one may change when it has to be started again. */
export type Address =
  | { connectionString: string }
  | { host: string; port: number; user: string; password: string; database: string }

export interface Pool {
  pool: pg.Pool
  /** For the connections opened from now on. */
  moveTo(address: Address): void
  /** Waits for what runs, then cuts it off. */
  end(timeoutMs: number): Promise<void>
}

export function openPool(address: Address, { size, log }: { size: number; log: Logger }): Pool {
  const clients = new Set<pg.ClientBase>()
  const pool = new pg.Pool({
    ...configFor(address),
    Client: Connection as unknown as new () => pg.ClientBase, // the pool passes its options on
    max: size,
    idleTimeoutMillis: 60_000,
    connectionTimeoutMillis: ACQUIRE_TIMEOUT_MS,
    statement_timeout: STATEMENT_TIMEOUT_MS,
    idle_in_transaction_session_timeout: STATEMENT_TIMEOUT_MS,
    application_name: 'arcade pool',
  })
  pool.on('connect', (client) => clients.add(client))
  pool.on('remove', (client) => clients.delete(client))
  // An idle connection broke: the pool has dropped it already.
  pool.on('error', (error) => log.debug({ err: error }, 'An idle database connection was lost'))
  return {
    pool,
    moveTo(next) {
      Object.assign(pool.options, next)
    },
    async end(timeoutMs) {
      const timer = setTimeout(() => clients.forEach(destroy), timeoutMs)
      await pool.end().finally(() => clearTimeout(timer))
    },
  }
}

/** A connection of one's own, without time limits on its statements. */
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

/** Closes the socket at once, whatever is going on; the server notices. */
export function destroy(client: pg.ClientBase): void {
  socketOf(client).destroy()
}

export function isConnectTimeout(error: unknown): boolean {
  return error instanceof Error && error.message === 'timeout expired'
}

/** So that a request fails fast while the database is away or its pool is exhausted. */
const ACQUIRE_TIMEOUT_MS = 3_000
const CONNECT_TIMEOUT_MS = 5_000
const STATEMENT_TIMEOUT_MS = 30_000
/** The server has answered long before, unless the network between is gone. */
const ANSWER_TIMEOUT_MS = STATEMENT_TIMEOUT_MS + 5_000

/** A pg client that survives losing its server at any moment, gives up a silent one, and queues what comes at once. */
export class Connection extends pg.Client {
  /** Whether its 'end' has been emitted. */
  isEnded = false
  readonly #answerTimeoutMs: number
  #unanswered = 0
  #last: Promise<unknown> = Promise.resolve()

  constructor(config: pg.ClientConfig) {
    super(config)
    this.#answerTimeoutMs = config.statement_timeout ? ANSWER_TIMEOUT_MS : 0
    // Between two statements of a transaction nobody else listens, and an unheard 'error' ends the process.
    this.on('error', () => undefined)
    this.once('end', () => (this.isEnded = true))
    // pg's own signature has eight overloads; ours passes everything through.
    this.query = this.#queue.bind(this, super.query.bind(this)) as typeof this.query
  }

  /** pg is about to give up queueing itself; only promises are ours, its pool calls with callbacks. */
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
    const result = query(...args)
    if (this.#answerTimeoutMs === 0 || !(result instanceof Promise)) return result
    const message = `The database did not answer within ${this.#answerTimeoutMs} ms`
    const timer = setTimeout(() => socketOf(this).destroy(new Error(message)), this.#answerTimeoutMs)
    return result.finally(() => clearTimeout(timer))
  }
}

function configFor(address: Address): pg.ClientConfig {
  // An embedded cluster is ours: PGSSLMODE of the environment is about others.
  const ssl = 'host' in address ? { ssl: false } : {}
  return { ...address, ...ssl, types, keepAlive: true, keepAliveInitialDelayMillis: 10_000 }
}

/** Public in pg, missing in its types. */
function socketOf(client: pg.ClientBase): { destroy(error?: Error): void } {
  return (client as unknown as { connection: { stream: { destroy(error?: Error): void } } }).connection.stream
}

/** Every bigint and numeric of ours fits a double (design §5), so they are numbers; the rest as pg does it. */
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
