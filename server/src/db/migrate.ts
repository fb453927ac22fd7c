/**
 * Migrates the tables to this version of the code. Migrations only go forward. One process at a time runs them, on a connection without time
 * limits; another process that starts at the same time waits and logs that.
 */
import { readdir } from 'node:fs/promises'
import { setTimeout as pause } from 'node:timers/promises'
import { type Kysely, sql } from 'kysely'
import type { Logger } from 'pino'
import { StartError, isLockTimeout, isRetryable } from '#src/postgres/errors.ts'
import { LOCKS, LOCK_SPACE, advisoryLockHolder } from '#src/postgres/lock-holder.ts'
import { makeCollations } from './collations.ts'
import { refuseUnfinishedDatabase } from './unfinished-restore.ts'
import { type MigrationConnection, type MigrationConnectionOptions, openMigrationConnection } from './migration-connection.ts'

export interface Migration {
  /** The file's name without its extension. Migrations run in the order of their names. */
  name: string
  up: (db: Kysely<unknown>) => Promise<void>
  /**
   * Whether the migration runs without a transaction, so that it holds no lock between statements and can build indexes concurrently. Each of
   * its statements must do nothing if it is done already (`if not exists`), because an interrupted migration runs again.
   */
  isResumable?: boolean | undefined
}

export interface MigrateOptions extends MigrationConnectionOptions {
  log: Logger
  /** Replaces the product's migrations in tests. */
  migrations?: Migration[] | undefined
  /** Whether the caller restores a backup into the database, which nobody else may use until then. */
  isRestoring?: boolean | undefined
}

export async function migrate(options: MigrateOptions): Promise<void> {
  const steps = options.migrations ?? (await loadMigrations())
  const connection = await openMigrationConnection(options)
  try {
    await waitForTurn(connection, options)
    const { db } = connection
    if (options.isRestoring !== true) await refuseUnfinishedDatabase(db)
    await sql`create table if not exists migrations (name text primary key, applied_at timestamptz not null default now())`.execute(
      db,
    )
    const applied = await appliedNames(db)
    refuseNewer(applied, steps)
    await makeCollations(db, options.log)
    for (const step of steps) {
      if (applied.has(step.name)) continue
      const seconds = await runStep(connection, step)
      options.log.info({ migration: step.name, seconds }, 'Database migrated')
    }
  } catch (error) {
    options.signal?.throwIfAborted()
    throw error
  } finally {
    connection.close()
  }
}

/** Returns the product's migrations in the order in which they run. */
export async function loadMigrations(): Promise<Migration[]> {
  const folder = new URL('./migrations/', import.meta.url)
  const files = (await readdir(folder)).filter((file) => /^\d{4}_\w+\.ts$/.test(file)).toSorted()
  return Promise.all(
    files.map(async (file) => {
      const { up, isResumable } = (await import(/* @vite-ignore */ new URL(file, folder).href)) as Omit<Migration, 'name'>
      return { name: file.replace(/\.ts$/, ''), up, isResumable }
    }),
  )
}

/** Takes the lock of migrations. Polls instead of waiting, so that it can log which process has the lock. */
async function waitForTurn(connection: MigrationConnection, { log, limits, signal }: MigrateOptions): Promise<void> {
  const start = performance.now()
  let reportAt = start
  for (;;) {
    const { rows } = await sql<{ taken: boolean }>`
      select pg_try_advisory_lock(${LOCK_SPACE}::int, ${LOCKS.migration}::int) as taken`.execute(connection.db)
    if (rows[0]?.taken) return
    if (performance.now() >= reportAt) {
      reportAt = performance.now() + limits.reportEveryMs
      const holder = await advisoryLockHolder(connection.client, LOCKS.migration)
      const seconds = Math.round((performance.now() - start) / 1000)
      log.warn(
        { seconds },
        `Waiting for another process that migrates the database (${holder?.name ?? 'it has just finished'}), for ${seconds} s`,
      )
    }
    await pause(limits.lockTimeoutMs / 4, undefined, { signal })
  }
}

/** Runs a migration, repeating it until it gets its locks. Returns how many seconds that took. */
async function runStep(connection: MigrationConnection, { name, up, isResumable }: Migration): Promise<number> {
  const { db } = connection
  const done = sql`insert into migrations (name) values (${name})`
  await connection.begin(name)
  if (isResumable) {
    await dropInvalidIndexes(db)
    await up(connection.repeatingDb)
    await done.execute(db)
    return connection.secondsOfStep()
  }
  for (;;) {
    try {
      await db.transaction().execute(async (tx) => {
        await up(tx)
        await done.execute(tx)
      })
      return connection.secondsOfStep()
    } catch (error) {
      if (!isLockTimeout(error) && !isRetryable(error)) throw error
      await connection.letOthersPass()
    }
  }
}

/** Drops indexes whose concurrent build was interrupted: they remain as invalid, and `if not exists` would take them for finished ones. */
async function dropInvalidIndexes(db: Kysely<unknown>): Promise<void> {
  const { rows } = await sql<{ name: string }>`
    select indexrelid::regclass::text as name from pg_index join pg_class on pg_class.oid = indexrelid
     where not indisvalid and relnamespace = current_schema()::regnamespace`.execute(db)
  for (const { name } of rows) await sql`drop index concurrently ${sql.raw(name)}`.execute(db)
}

async function appliedNames(db: Kysely<unknown>): Promise<Set<string>> {
  const { rows } = await sql<{ name: string }>`select name from migrations`.execute(db)
  return new Set(rows.map(({ name }) => name))
}

/** Refuses a database that a newer version has migrated: older code might write rows that the newer tables do not allow. */
function refuseNewer(applied: Set<string>, steps: Migration[]): void {
  const known = new Set(steps.map(({ name }) => name))
  const unknown = [...applied].filter((name) => !known.has(name)).toSorted()
  if (unknown.length > 0) {
    throw new StartError(
      `The database was written by a newer Arcade Console (its migration ${unknown.join(', ')} is unknown here): start that version, or restore a backup made before it.`,
    )
  }
}
