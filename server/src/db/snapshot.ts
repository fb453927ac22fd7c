/**
 * A snapshot of the database for as long as an export takes: a repeatable-read, read-only transaction on its own connection, with a lower
 * priority than requests. The connection is closed in any case. Also reads the rows of a query by a cursor on a given connection.
 */
import { type Address, type Connection, connect, destroy, lowerPriority } from '#src/postgres/connections.ts'
import { copyOut, copyStatement } from '#src/postgres/copy.ts'
import { beginAtOneMoment } from './one-moment.ts'

export interface Snapshot {
  query: <Row>(sql: string, params?: unknown[]) => Promise<Row[]>
  /** Yields the rows as COPY text, in chunks of complete rows, reading ahead. Leaving the loop early ends the snapshot. */
  copy: (sql: string, params?: unknown[]) => AsyncGenerator<Buffer>
}

export interface SnapshotOptions {
  /** Whether all servers of a Citus cluster are seen in one snapshot, for which changes wait some milliseconds, instead of one for each server. */
  isOneMoment?: boolean
  /** Whether an operator waits for the answer: then its priority is lowered less. */
  isAwaited?: boolean
  /** Whether PostgreSQL may use parallel workers, whose priority is not lowered. */
  hasHelpers?: boolean
}

const CHUNK_BYTES = 128 * 1024

export async function withSnapshot<T>(
  address: Address,
  work: (snapshot: Snapshot) => Promise<T>,
  options?: SnapshotOptions,
): Promise<T> {
  const client = await begin(address, options)
  try {
    return await work({
      async query<Row>(sql: string, params: unknown[] = []) {
        return (await client.query(sql, params)).rows as Row[]
      },
      copy: (sql, params = []) => copyOut(client, copyStatement(sql, params), CHUNK_BYTES),
    })
  } finally {
    destroy(client) // a read-only transaction has nothing to commit, and a query may still run although its reader has left
  }
}

async function begin(
  address: Address,
  { isOneMoment = false, isAwaited = false, hasHelpers = false }: SnapshotOptions = {},
): Promise<Connection> {
  const client = await connect(address, 'arcade snapshot')
  try {
    await lowerPriority(client, address, { isAwaited })
    // Makes PostgreSQL cancel a query whose client has gone. Not every platform supports this, hence the catch.
    await client.query(`set client_connection_check_interval = '1s'`).catch(() => undefined)
    const helpers = hasHelpers ? '' : '; set max_parallel_workers_per_gather = 0'
    await client.query(`set statement_timeout = 0; set idle_in_transaction_session_timeout = 0${helpers}`)
    if (isOneMoment) await beginAtOneMoment([client])
    else await client.query('begin isolation level repeatable read read only')
    return client
  } catch (error) {
    destroy(client)
    throw error
  }
}

/** A query whose rows are fetched in batches; `name` is the name of the cursor in its transaction. */
interface Cursor {
  name: string
  sql: string
  params: unknown[]
  batchSize: number
}

/** Yields the rows of a query in the transaction of a connection, fetching the next batch while the previous one is processed. */
export async function* cursorRows<Row>(client: Connection, { name, sql, params, batchSize }: Cursor): AsyncGenerator<Row[]> {
  await client.query(`declare ${name} no scroll cursor for ${sql}`, params)
  const fetch = async () => (await client.query(`fetch ${batchSize} from ${name}`)).rows as Row[]
  let next = fetch()
  try {
    for (;;) {
      const batch = await next
      if (batch.length > 0 && batch.length === batchSize) {
        next = fetch()
        next.catch(() => undefined) // the error is reported where `next` is awaited, unless the reader has left
      }
      if (batch.length > 0) yield batch
      if (batch.length < batchSize) return
    }
  } finally {
    // This is not awaited, because an unneeded batch may still be on its way. After a failure the cursor is closed already.
    void client.query(`close ${name}`).catch(() => undefined)
  }
}
