/**
 * Reads of the database, and those of them that a replica may answer (ADR 17): in a call that says so its answer may be a second old, but
 * never older than what its caller has written. Hides pooled connections, sharing, and that what fails at the replica is asked again.
 */
import { AsyncLocalStorage } from 'node:async_hooks'
import { type CompiledQuery, DummyDriver, Kysely, PostgresAdapter, PostgresIntrospector, PostgresQueryCompiler } from 'kysely'
import type pg from 'pg'
import type { Address, Pool } from '#src/postgres/connections.ts'
import { isOfPostgres, isTimeout, isUnavailable } from '#src/postgres/errors.ts'
import type { ReplicaWatch } from '#src/postgres/replica-watch.ts'
import { sharedReads } from './shared-reads.ts'
import { type Snapshot, type SnapshotOptions, withSnapshot } from './snapshot.ts'

export type TextRow = readonly (string | null)[]

/** A query of Kysely's, or its `sql`. */
interface Query<Row> {
  compile(executor: Kysely<never>): CompiledQuery<Row>
}

/** By their names. */
type Settings = Readonly<Record<string, string>>

export interface Reads {
  /**
   * For the hottest reads: PostgreSQL parses and plans the SQL once a connection, and those who ask for the same at once share what is read.
   * A `name` must always mean the same SQL.
   */
  prepared<Row>(name: string, sql: string): (params: unknown[]) => Promise<readonly Row[]>
  /** The same for what `from` makes of rows as PostgreSQL sends them: a text or null for each column, by its place. */
  preparedTexts<T>(name: string, sql: string, from: (rows: TextRow[]) => T): (params: unknown[]) => Promise<T>
  /** The rows of a query that is not prepared. */
  rows<Row>(query: Query<Row>): Promise<Row[]>
  /**
   * The same as texts, shared by those who ask for the same at once.
   * @param settings of PostgreSQL for this query alone
   */
  texts(query: Query<unknown>, settings?: Settings): Promise<readonly TextRow[]>
  /** A consistent view without a time limit, on a connection outside the pool. `begin` may run again from the start, `goOn` only once. */
  snapshot<Begun, T>(
    begin: (snapshot: Snapshot) => Promise<Begun>,
    goOn: (begun: Begun) => Promise<T>,
    options?: SnapshotOptions,
  ): Promise<T>
}

const compiler = new Kysely<never>({
  dialect: {
    createAdapter: () => new PostgresAdapter(),
    createDriver: () => new DummyDriver(),
    createIntrospector: (db) => new PostgresIntrospector(db),
    createQueryCompiler: () => new PostgresQueryCompiler(),
  },
})
const asTexts = { rowMode: 'array', types: { getTypeParser: () => (text: string) => text } }

/** Reads from one PostgreSQL. */
export function readsFrom(pool: Pool, address: () => Address): Reads {
  const sharedTexts = sharedReads(async (asked) => {
    const [text, values, settings] = asked as [string, unknown[], Settings]
    return runWith<TextRow>(pool, settings, { text, values, ...asTexts })
  })
  return {
    prepared: (name, text) => sharedReads((values) => runQuery(pool, { name, text, values })),
    preparedTexts: (name, text, from) =>
      sharedReads(async (values) => from(await runQuery(pool, { name, text, values, ...asTexts }))),
    rows(query) {
      const { sql: text, parameters } = query.compile(compiler)
      return runQuery(pool, { text, values: [...parameters] })
    },
    texts(query, settings = {}) {
      const { sql: text, parameters } = query.compile(compiler)
      return sharedTexts([text, parameters, settings])
    },
    snapshot: (begin, goOn, options) => withSnapshot(address(), async (snapshot) => goOn(await begin(snapshot)), options),
  }
}

/** Runs a query on a connection of the pool. */
export async function runQuery<Row>(pool: Pool, query: pg.QueryConfig): Promise<Row[]> {
  const client = await pool.connect()
  try {
    const { rows } = await client.query(query)
    client.release()
    return rows as Row[]
  } catch (error) {
    // A change of the tables makes a prepared statement unusable ("cached plan must not change result type"); a new connection plans anew.
    const isStale = (error as { code?: unknown }).code === '0A000'
    client.release(isStale)
    if (isStale) return runQuery(pool, query)
    throw error
  }
}

async function runWith<Row>(pool: Pool, settings: Settings, query: pg.QueryConfig): Promise<Row[]> {
  const changes = Object.entries(settings).map(([name, value]) => `set local ${name} = '${value}'`)
  if (changes.length === 0) return runQuery(pool, query)
  const client = await pool.connect()
  try {
    await client.query(['begin read only', ...changes].join('; '))
    const { rows } = await client.query(query)
    await client.query('commit')
    client.release()
    return rows as Row[]
  } catch (error) {
    client.release(true) // ends its transaction
    throw error
  }
}

/** Who may be answered by a replica. */
const askers = new AsyncLocalStorage<{ position: string | undefined }>()

/** Runs a call whose reads may be a second old. @param position what its caller has written is before it, as `Replica.position` says */
export function allowReplica<T>(position: string | undefined, work: () => T): T {
  return askers.run({ position }, work)
}

/** How new the present caller's reads have to be: equal for those who may share one. */
export function requiredPosition(): string {
  const asker = askers.getStore()
  return asker === undefined ? 'now' : (asker.position ?? 'any')
}

/** Reads from the replica where who asks may have them from there and it keeps up, otherwise and after any failure from the database. */
export function followedReads(database: Reads, replica: Reads, watch: ReplicaWatch): Reads {
  const from = { database, replica }
  type Source = keyof typeof from

  async function ask<T>(read: (source: Source) => Promise<T>): Promise<T> {
    const asker = askers.getStore()
    if (asker === undefined || !watch.isCurrent(asker.position)) return read('database')
    try {
      const answer = await read('replica')
      watch.count('answered')
      return answer
    } catch (error) {
      if (!isMendedElsewhere(error)) throw error
      watch.count('failed')
      return read('database')
    }
  }

  /** What is prepared once for each. */
  function asking<T>(prepare: (reads: Reads) => (params: unknown[]) => Promise<T>): (params: unknown[]) => Promise<T> {
    const prepared = { database: prepare(database), replica: prepare(replica) }
    return (params) => ask((source) => prepared[source](params))
  }

  return {
    prepared: <Row>(name: string, text: string) => asking((reads) => reads.prepared<Row>(name, text)),
    preparedTexts: (name, text, toRows) => asking((reads) => reads.preparedTexts(name, text, toRows)),
    rows: (query) => ask((source) => from[source].rows(query)),
    texts: (query, settings) => ask((source) => from[source].texts(query, settings)),
    snapshot<Begun, T>(
      begin: (snapshot: Snapshot) => Promise<Begun>,
      goOn: (begun: Begun) => Promise<T>,
      options?: SnapshotOptions,
    ) {
      const atReplica = async (): Promise<() => Promise<T>> => {
        const begun = Promise.withResolvers<() => Promise<T>>()
        // A replica that falls silent would be waited for as long as the network lets one.
        const stopWaiting = watch.onSilence(() => begun.reject(new SilentReplicaError()))
        let isGivenUp = false
        const whole = replica.snapshot(
          async (snapshot) => {
            const value = await begin(snapshot)
            if (isGivenUp) throw new SilentReplicaError()
            return value
          },
          (value) => {
            begun.resolve(() => whole)
            return goOn(value)
          },
          options,
        )
        whole.catch(begun.reject)
        return begun.promise
          .catch((error: unknown) => {
            isGivenUp = true
            throw error
          })
          .finally(stopWaiting)
      }
      const atDatabase = async () => () => database.snapshot(begin, goOn, options)
      return ask((source) => (source === 'replica' ? atReplica() : atDatabase())).then((rest) => rest())
    },
  }
}

class SilentReplicaError extends Error {
  readonly code = 'ETIMEDOUT'
}

/** What PostgreSQL or the way to it says; a statement that took too long would take as long again. */
function isMendedElsewhere(error: unknown): boolean {
  return (isOfPostgres(error) && !isTimeout(error)) || isUnavailable(error)
}
