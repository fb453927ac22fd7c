/** Brings the tables to this version of the code. Steps only go forward, each in a transaction, and one process at a time runs them. */
import { readdir } from 'node:fs/promises'
import { type Kysely, sql } from 'kysely'
import type { Logger } from 'pino'
import { LOCKS, LOCK_SPACE } from '#src/postgres/lock-holder.ts'
import type { Connection } from '#src/postgres/connections.ts'
import { StartError } from '#src/postgres/errors.ts'
import type { Tables } from './tables.ts'

export interface Migration {
  /** The file's name without its extension. Steps run in the order of their names. */
  name: string
  up: (db: Kysely<unknown>) => Promise<void>
}

export interface MigrateOptions {
  db: Kysely<Tables>
  /** Holds the lock for which other processes wait meanwhile. */
  lockConnection: Connection | undefined
  log: Logger
  migrations?: Migration[] | undefined
}

export async function migrate({ db, lockConnection, log, migrations }: MigrateOptions): Promise<void> {
  const steps = migrations ?? (await loadMigrations())
  if (lockConnection === undefined) throw new Error('Connection terminated before the migration')
  await lockConnection.query(`select pg_advisory_lock(${LOCK_SPACE}, ${LOCKS.migration})`)
  try {
    await sql`create table if not exists migrations (name text primary key, applied_at timestamptz not null default now())`.execute(
      db,
    )
    const applied = await appliedNames(db)
    refuseNewer(applied, steps)
    for (const { name, up } of steps) {
      if (applied.has(name)) continue
      await db.transaction().execute(async (tx) => {
        await sql`set local statement_timeout = 0`.execute(tx)
        await up(tx as unknown as Kysely<unknown>)
        await sql`insert into migrations (name) values (${name})`.execute(tx)
      })
      log.info({ migration: name }, 'Database migrated')
    }
  } finally {
    await lockConnection.query(`select pg_advisory_unlock(${LOCK_SPACE}, ${LOCKS.migration})`).catch(() => undefined) // losing the connection has released the lock, too
  }
}

async function loadMigrations(): Promise<Migration[]> {
  const folder = new URL('./migrations/', import.meta.url)
  const files = (await readdir(folder)).filter((file) => /^\d{4}_\w+\.ts$/.test(file)).toSorted()
  return Promise.all(
    files.map(async (file) => {
      const { up } = (await import(/* @vite-ignore */ new URL(file, folder).href)) as Pick<Migration, 'up'>
      return { name: file.replace(/\.ts$/, ''), up }
    }),
  )
}

async function appliedNames(db: Kysely<Tables>): Promise<Set<string>> {
  const { rows } = await sql<{ name: string }>`select name from migrations`.execute(db)
  return new Set(rows.map(({ name }) => name))
}

/** Older code must not run on a newer database, because it would write what the newer tables do not expect. */
function refuseNewer(applied: Set<string>, steps: Migration[]): void {
  const known = new Set(steps.map(({ name }) => name))
  const unknown = [...applied].filter((name) => !known.has(name)).toSorted()
  if (unknown.length > 0) {
    throw new StartError(
      `The database was written by a newer Arcade Console (its migration ${unknown.join(', ')} is unknown here): start that version, or restore a backup made before it.`,
    )
  }
}
