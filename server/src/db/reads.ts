/**
 * Reads from the database or, in calls that allow it, from a replica (ADR 17): the answer may be a second old, but never older than what the
 * caller has written. Hides pooled connections, sharing, and that a read that fails at the replica is repeated at the primary.
 */
import { AsyncLocalStorage } from 'node:async_hooks'
import { type CompiledQuery, DummyDriver, Kysely, PostgresAdapter, PostgresIntrospector, PostgresQueryCompiler } from 'kysely'
import type pg from 'pg'
import { IS_CITUS } from '#src/postgres/citus.ts'
import type { Address, Pool } from '#src/postgres/connections.ts'
import { isOfPostgres, isStalePlan, isTimeout, isUnavailable } from '#src/postgres/errors.ts'
import type { ReplicaWatch } from '#src/postgres/replica-watch.ts'
import { sharedReads } from './shared-reads.ts'
import { type Snapshot, type SnapshotOptions, withSnapshot } from './snapshot.ts'

export type TextRow = readonly (string | null)[]

/** A query of Kysely, or one of its `sql` template. */
interface Query<Row> {
  compile(executor: Kysely<never>): CompiledQuery<Row>
}

/** Settings of PostgreSQL, by name. */
type Settings = Readonly<Record<string, string>>

export interface TextsOptions {
  /** Settings of PostgreSQL for this query only. */
  settings?: Settings
  /** Whether the same SQL is often run with other parameters: then each connection parses and plans it once. */
  isRepeated?: boolean
  /** Whether its plan depends on none of the parameters, so that a connection need not plan it again for other ones. */
  hasOnePlan?: boolean
}

export interface Reads {
  /**
   * Prepares a frequent read: each connection parses and plans the SQL once, and simultaneous calls with the same parameters share one result.
   * A `name` must always mean the same SQL.
   */
  prepared<Row>(name: string, sql: string): (params: unknown[]) => Promise<readonly Row[]>
  /** Prepares a read whose rows `from` converts: a text or null for each column, by position. */
  preparedTexts<T>(name: string, sql: string, from: (rows: TextRow[]) => T): (params: unknown[]) => Promise<T>
  /** Runs a query that is not prepared. */
  rows<Row>(query: Query<Row>): Promise<Row[]>
  /** Runs a query that is not prepared and returns its rows as texts. Simultaneous calls of the same query share one result. */
  texts(query: Query<unknown>, options?: TextsOptions): Promise<readonly TextRow[]>
  /** Opens a snapshot without a time limit, on a connection outside the pool. `begin` may run again from the start, `goOn` runs once. */
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

/** Repeated statements that each connection keeps, with some 100 kB each. Further ones are planned at every run. */
const REPEATED_KEPT = 50

/** Reads from a single PostgreSQL. */
export function readsFrom(pool: Pool, address: () => Address): Reads {
  const names = new Map<string, string>()
  const nameOf = (text: string): string | undefined => {
    if (!names.has(text) && names.size < REPEATED_KEPT) names.set(text, `repeated-${names.size}`)
    return names.get(text)
  }
  const sharedTexts = sharedReads(async (asked) => {
    const [text, values, { settings = {}, isRepeated = false, hasOnePlan = false }] = asked as [string, unknown[], TextsOptions]
    const name = isRepeated ? nameOf(text) : undefined
    return runWith<TextRow>(pool, [...settingStatements(settings), ...(hasOnePlan ? [PLAN_ONCE] : [])], {
      ...(name !== undefined && { name }),
      text,
      values,
      ...asTexts,
    })
  })
  return {
    prepared: (name, text) => sharedReads((values) => runQuery(pool, { name, text, values })),
    preparedTexts: (name, text, from) =>
      sharedReads(async (values) => from(await runQuery(pool, { name, text, values, ...asTexts }))),
    rows(query) {
      const { sql: text, parameters } = query.compile(compiler)
      return runQuery(pool, { text, values: [...parameters] })
    },
    texts(query, options = {}) {
      const { sql: text, parameters } = query.compile(compiler)
      return sharedTexts([text, parameters, options])
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
    const isStale = isStalePlan(error)
    client.release(isStale)
    if (isStale) return runQuery(pool, query)
    throw error
  }
}

function settingStatements(settings: Settings): string[] {
  return Object.entries(settings).map(([name, value]) => `set local ${name} = '${value}'`)
}

/** A Citus cluster refuses to plan a statement for all shards without its parameters. */
const PLAN_ONCE = `select set_config('plan_cache_mode', 'force_generic_plan', true) where not ${IS_CITUS}`

/** @param changes statements that change settings until the end of the transaction */
async function runWith<Row>(pool: Pool, changes: readonly string[], query: pg.QueryConfig): Promise<Row[]> {
  if (changes.length === 0) return runQuery(pool, query)
  const client = await pool.connect()
  try {
    await client.query(['begin read only', ...changes].join('; '))
    const { rows } = await client.query(query)
    await client.query('commit')
    client.release()
    return rows as Row[]
  } catch (error) {
    client.release(true) // closes the connection, which ends its transaction
    throw error
  }
}

/** The context of calls that a replica may answer. */
const replicaContext = new AsyncLocalStorage<{ lsn: string | undefined }>()

/** Runs a call whose reads may be a second old. @param lsn an LSN of `Replica.lsn` after everything that the caller has written */
export function allowReplica<T>(lsn: string | undefined, work: () => T): T {
  return replicaContext.run({ lsn }, work)
}

/** Returns the LSN that the current call's reads must have reached. Calls with equal LSNs may share a read. */
export function requiredLsn(): string {
  const context = replicaContext.getStore()
  return context === undefined ? 'now' : (context.lsn ?? 'any')
}

/** Reads from the replica if the call allows it and the replica keeps up; otherwise, and after any failure, from the primary. */
export function readReplicaFirst(database: Reads, replica: Reads, watch: ReplicaWatch): Reads {
  const from = { database, replica }
  type Source = keyof typeof from

  async function readFromEither<T>(read: (source: Source) => Promise<T>): Promise<T> {
    const context = replicaContext.getStore()
    if (context === undefined || !watch.isCurrent(context.lsn)) return read('database')
    try {
      const answer = await read('replica')
      watch.count('answered')
      return answer
    } catch (error) {
      if (!shouldRepeatAtPrimary(error)) throw error
      watch.count('failed')
      return read('database')
    }
  }

  /** Prepares a read on both databases, and reads from either. */
  function prepareOnBoth<T>(prepare: (reads: Reads) => (params: unknown[]) => Promise<T>): (params: unknown[]) => Promise<T> {
    const prepared = { database: prepare(database), replica: prepare(replica) }
    return (params) => readFromEither((source) => prepared[source](params))
  }

  return {
    prepared: <Row>(name: string, text: string) => prepareOnBoth((reads) => reads.prepared<Row>(name, text)),
    preparedTexts: (name, text, toRows) => prepareOnBoth((reads) => reads.preparedTexts(name, text, toRows)),
    rows: (query) => readFromEither((source) => from[source].rows(query)),
    texts: (query, options) => readFromEither((source) => from[source].texts(query, options)),
    async snapshot(begin, goOn, options) {
      const rest = await readFromEither(async (source) =>
        source === 'replica'
          ? beginUnlessSilent(replica, watch, { begin, goOn, options })
          : () => database.snapshot(begin, goOn, options),
      )
      return rest()
    },
  }
}

interface SnapshotSteps<Begun, T> {
  begin: (snapshot: Snapshot) => Promise<Begun>
  goOn: (begun: Begun) => Promise<T>
  options?: SnapshotOptions | undefined
}

/** Opens a snapshot at the replica. Returns a function for the result once it has begun, or rejects when the replica falls silent. */
async function beginUnlessSilent<Begun, T>(
  replica: Reads,
  watch: ReplicaWatch,
  { begin, goOn, options }: SnapshotSteps<Begun, T>,
): Promise<() => Promise<T>> {
  const begun = Promise.withResolvers<() => Promise<T>>()
  // Without this, a read would wait for a silent replica until the network times out.
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
  try {
    return await begun.promise
  } catch (error) {
    isGivenUp = true
    throw error
  } finally {
    stopWaiting()
  }
}

class SilentReplicaError extends Error {
  readonly code = 'ETIMEDOUT'
}

/** Whether to repeat a failed read at the primary: not after a timeout, which would take as long again. */
function shouldRepeatAtPrimary(error: unknown): boolean {
  return (isOfPostgres(error) && !isTimeout(error)) || isUnavailable(error)
}
