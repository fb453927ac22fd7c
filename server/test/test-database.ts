/** Each test worker's own database, a copy of the migrated template. setup.ts empties it after each test and closes it after each file. */
import os from 'node:os'
import { sql, type Transaction } from 'kysely'
import { pino } from 'pino'
import { inject, onTestFinished } from 'vitest'
import { type Database, type DatabaseOptions, openDatabase } from '#src/db/database.ts'
import type { Tables } from '#src/db/tables.ts'
import { citusUrl, createDistributedDatabase, dropClusterDatabase } from './citus.ts'
import { dropDatabase, onServer, withDatabase } from './test-server.ts'

let opened: Promise<Database> | undefined
/** Another kind of database for this test file, and the settings of `create database` for it. */
let kind: { name: string; settings: string } | undefined

/** Lets this test file have a database of other settings. Call it before anything opens the database. */
export function setDatabaseKind(settings: typeof kind): void {
  kind = settings
}

/** Returns the worker's database: the same one for the whole file, empty at the start of each test. */
export function testDatabase(): Promise<Database> {
  opened ??= open()
  return opened
}

/** Opens the worker's database a second time, as another server process would. Closes it when the test ends. */
export async function openAgain(options: Partial<DatabaseOptions> = {}): Promise<Database> {
  await testDatabase()
  const database = await openDatabase({ ...workerOptions(), ...options, limits: limitsOf(options) })
  onTestFinished(() => database.close())
  return database
}

/** The address of the worker's database, for a server process. */
export function workerUrl(): string {
  return withDatabase(inject('testServer').url, workerName())
}

/**
 * Creates another database on the tests' server and returns its address. It has no tables unless `isMigrated`. Dropped after the run.
 * @param options.settings SQL after the name, such as the encoding and the locale
 */
export async function createDatabase(name: string, options: { isMigrated?: boolean; settings?: string } = {}): Promise<string> {
  const { url, template } = inject('testServer')
  const database = `${template}_${name}`
  if (citusUrl && options.isMigrated) {
    await dropClusterDatabase(url, database)
    return createDistributedDatabase(url, database)
  }
  await onServer(url, async (run) => {
    await dropDatabase(run, database)
    await run(`create database ${database} ${options.isMigrated ? `template ${template}` : (options.settings ?? '')}`)
  })
  return withDatabase(url, database)
}

/** Counts all deadlocks so far in the worker's database. PostgreSQL adds those of a connection when the connection ends. */
export async function countDeadlocks(): Promise<number> {
  const { db } = await testDatabase()
  const { rows } = await sql<{ deadlocks: number }>`
    select deadlocks from pg_stat_database where datname = current_database()`.execute(db)
  return rows[0]!.deadlocks
}

/** Counts the statements that wait for a lock in the database, on each server of a cluster. `like` is a pattern of the statement's text. */
export async function countLockWaits(db: Database['db'], like = '%'): Promise<number> {
  const counting = `select count(*) from pg_stat_activity
    where datname = current_database() and wait_event_type = 'Lock' and query like '${like}'`
  const { rows } = await sql
    .raw<{ count: number }>(
      citusUrl ? `select sum(result::int) as count from run_command_on_all_nodes($$${counting}$$)` : counting,
    )
    .execute(db)
  return rows[0]!.count
}

/** Functions that end what an app still does in the background and would hold locks on the tables, such as a backup. */
let endings: (() => Promise<void>)[] = []

/** Calls a function before the tables are emptied after this test. `onTestFinished` would call it after that. */
export function beforeTablesAreEmptied(end: () => Promise<void>): void {
  endings.push(end)
}

export async function emptyTables(): Promise<void> {
  if (opened === undefined) return
  const due = endings
  endings = []
  await Promise.all(due.map((end) => end()))
  const database = await opened
  const { db } = database
  // A server that still runs moves rows between tables (it seals audit entries and folds counters), so repeat until all are empty.
  for (;;) {
    const filled = await filledTables(db)
    if (filled.length === 0) break
    // That server may take locks in another order. `transaction` runs this again after a deadlock.
    await database.transaction((tx) => removeRows(tx, filled))
  }
  await sql`update status_epoch set epoch = 0 where epoch <> 0`.execute(db)
  await sql`update audit_head set seq = 0, hash = sha256(''), base_seq = 0, base_hash = sha256('') where seq + base_seq > 0`.execute(
    db,
  )
}

interface FilledTable {
  name: string
  /** Whether its rows fit one page and the planner has no statistics of them, which only `truncate` would reset. */
  isSmall: boolean
}

/** Deletes the rows of small tables, which takes a tenth of the time of `truncate`: that replaces the files of a table and its indexes. */
async function removeRows(tx: Transaction<Tables>, filled: readonly FilledTable[]): Promise<void> {
  const [small, large] = [true, false].map((size) =>
    filled.filter(({ isSmall }) => isSmall === size).map(({ name }) => sql.table(name)),
  )
  if (large!.length > 0) await sql`truncate ${sql.join(large!)} cascade`.execute(tx)
  if (small!.length === 0) return
  // One statement, because foreign keys are checked at its end.
  const deletions = small!.map((table, place) => sql`${sql.id(`deletion_${place}`)} as (delete from ${table})`)
  await sql`with ${sql.join(deletions)} select 1`.execute(tx)
}

/** Lists the tables that have rows, except those whose only rows come from migrations. */
async function filledTables(db: Database['db']): Promise<FilledTable[]> {
  const { rows: tables } = await sql<FilledTable>`
    select relname as name, ${citusUrl === undefined}::boolean and pg_relation_size(oid) <= 8192 and reltuples <= 0 as "isSmall"
      from pg_class
     where relkind = 'r' and relnamespace = 'public'::regnamespace
       and relname not in ('migrations', 'status_epoch', 'audit_head')
       and (${citusUrl !== undefined}::boolean or pg_relation_size(oid) > 0)`.execute(db)
  if (tables.length === 0) return []
  const checks = tables.map(({ name }) => sql`select ${sql.lit(name)} as name where exists (select 1 from ${sql.table(name)})`)
  const { rows } = await sql<{ name: string }>`${sql.join(checks, sql` union all `)}`.execute(db)
  const filled = new Set(rows.map(({ name }) => name))
  return tables.filter(({ name }) => filled.has(name))
}

export async function closeTestDatabase(): Promise<void> {
  const database = await opened
  if (database === undefined) return
  await emptyTables()
  await database.close()
  opened = undefined
}

async function open(): Promise<Database> {
  const { url, template } = inject('testServer')
  const name = workerName()
  await onServer(url, async (run) => {
    const [found] = await run(`select 1 from pg_database where datname = '${name}'`)
    if (found !== undefined) return
    if (citusUrl) await createDistributedDatabase(url, name)
    else await run(`create database ${name} ${kind?.settings ?? `template ${template}`}`)
  })
  const database = await openDatabase(workerOptions())
  opened = Promise.resolve(database)
  await emptyTables() // an earlier test file may have been killed before it emptied them
  return database
}

function workerName(): string {
  const name = `${inject('testServer').template}_worker_${process.env['VITEST_POOL_ID']}`
  return kind ? `${name}_${kind.name}` : name
}

function workerOptions(): DatabaseOptions {
  const limits = limitsOf({})
  return { dataDir: os.tmpdir(), url: workerUrl(), log: pino({ level: 'silent' }), use: 'server', limits }
}

/** On a busy machine a lock that a server needs may be held for longer than the product's two seconds, without anything being wrong. */
function limitsOf({ use = 'server', limits }: Partial<DatabaseOptions>): DatabaseOptions['limits'] {
  return { size: 8, ...(use === 'server' && { lockTimeoutMs: 60_000 }), ...limits }
}
