/**
 * A consistent view of the database for as long as an export takes: a repeatable-read, read-only transaction with server-side cursors
 * on a connection of its own. The connection is closed however the work ends.
 */
import { type Address, type Connection, connect, destroy } from '#src/postgres/connections.ts'
import { beginAtOneMoment } from './one-moment.ts'

export interface Snapshot {
  query: <Row>(sql: string, params?: unknown[]) => Promise<Row[]>
  /** The rows in batches; the next batch is fetched while the last one is worked on. Leaving the loop early closes the cursor. */
  rows: <Row>(sql: string, params: unknown[], batchSize: number) => AsyncGenerator<Row[]>
}

export interface SnapshotOptions {
  /** Whether all servers of a cluster are seen at one moment, for which changes of many players wait some milliseconds, rather than each at its own. */
  isOneMoment?: boolean
}

export async function withSnapshot<T>(
  address: Address,
  work: (snapshot: Snapshot) => Promise<T>,
  options?: SnapshotOptions,
): Promise<T> {
  const client = await begin(address, options)
  let cursors = 0
  try {
    return await work({
      async query<Row>(sql: string, params: unknown[] = []) {
        return (await client.query(sql, params)).rows as Row[]
      },
      rows: (sql, params, batchSize) => cursorRows(client, { name: `rows_${(cursors += 1)}`, sql, params, batchSize }),
    })
  } finally {
    destroy(client) // a read-only transaction has nothing to commit, and a query may still run for a reader who left
  }
}

/** The rows of one query from a snapshot that lasts from the first to the last step of the iteration. */
export async function* snapshotRows<Row>(address: Address, query: Omit<Cursor, 'name'>): AsyncGenerator<Row[]> {
  const client = await begin(address)
  try {
    yield* cursorRows<Row>(client, { ...query, name: 'rows' })
  } finally {
    destroy(client)
  }
}

async function begin(address: Address, { isOneMoment = false }: SnapshotOptions = {}): Promise<Connection> {
  const client = await connect(address, 'arcade snapshot')
  try {
    // PostgreSQL then cancels a query whose client is gone; not every platform can, hence the catch.
    await client.query(`set client_connection_check_interval = '1s'`).catch(() => undefined)
    // By default the planner assumes that a cursor reads a tenth of its rows; here all are read.
    await client.query('set cursor_tuple_fraction = 1; set statement_timeout = 0; set idle_in_transaction_session_timeout = 0')
    if (isOneMoment) await beginAtOneMoment([client])
    else await client.query('begin isolation level repeatable read read only')
    return client
  } catch (error) {
    destroy(client)
    throw error
  }
}

/** A query whose rows are fetched in batches; `name` is that of the cursor in its transaction. */
interface Cursor {
  name: string
  sql: string
  params: unknown[]
  batchSize: number
}

/** The rows of a query in the transaction of a connection; the next batch is fetched while the last one is worked on. */
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
    // This is not awaited, because a batch that nobody wants any more may be on its way. After a failure the cursor is closed already.
    void client.query(`close ${name}`).catch(() => undefined)
  }
}
