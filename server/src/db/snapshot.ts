/**
 * One consistent view of the database for as long as an export takes, on a connection of its own: a repeatable-read,
 * read-only transaction with server-side cursors. Everything is freed however the work ends.
 */
import { type Address, type Connection, connect, destroy } from '#src/postgres/connections.ts'

export interface Snapshot {
  query: <Row>(sql: string, params?: unknown[]) => Promise<Row[]>
  /** The rows in batches, the next one fetched while the last is worked on. Leaving the loop early frees the cursor. */
  rows: <Row>(sql: string, params: unknown[], batchSize: number) => AsyncGenerator<Row[]>
}

export async function withSnapshot<T>(address: Address, work: (snapshot: Snapshot) => Promise<T>): Promise<T> {
  const client = await begin(address)
  let cursors = 0
  try {
    return await work({
      async query<Row>(sql: string, params: unknown[] = []) {
        return (await client.query(sql, params)).rows as Row[]
      },
      rows: (sql, params, batchSize) => cursorRows(client, { name: `rows_${(cursors += 1)}`, sql, params, batchSize }),
    })
  } finally {
    end(client)
  }
}

/** A snapshot for one query alone, which lasts from the first to the last step of the iteration. */
export async function* snapshotRows<Row>(address: Address, query: Omit<Cursor, 'name'>): AsyncGenerator<Row[]> {
  const client = await begin(address)
  try {
    yield* cursorRows<Row>(client, { ...query, name: 'rows' })
  } finally {
    end(client)
  }
}

async function begin(address: Address): Promise<Connection> {
  const client = await connect(address, 'arcade snapshot')
  try {
    // The server cancels what it computes for a client that is gone (not on every platform).
    await client.query(`set client_connection_check_interval = '1s'`).catch(() => undefined)
    // All rows will be read: plan for the last one, not the first.
    await client.query('set cursor_tuple_fraction = 1; set statement_timeout = 0; set idle_in_transaction_session_timeout = 0')
    await client.query('begin isolation level repeatable read read only')
    return client
  } catch (error) {
    destroy(client)
    throw error
  }
}

/** Read-only: nothing to commit, and no waiting for a query whose reader has left. */
function end(client: Connection): void {
  destroy(client)
}

interface Cursor {
  name: string
  sql: string
  params: unknown[]
  batchSize: number
}

async function* cursorRows<Row>(client: Connection, { name, sql, params, batchSize }: Cursor): AsyncGenerator<Row[]> {
  await client.query(`declare ${name} no scroll cursor for ${sql}`, params)
  const fetch = async () => (await client.query(`fetch ${batchSize} from ${name}`)).rows as Row[]
  let next = fetch()
  try {
    for (;;) {
      const batch = await next
      if (batch.length > 0 && batch.length === batchSize) {
        next = fetch()
        next.catch(() => undefined) // reported where it is awaited, if it still is
      }
      if (batch.length > 0) yield batch
      if (batch.length < batchSize) return
    }
  } finally {
    // Not waited for: a batch nobody reads any more may still be on its way. A failed transaction has closed it already.
    void client.query(`close ${name}`).catch(() => undefined)
  }
}
