/**
 * The turn to work on backups: the servers of a database make or verify one backup at a time, and `arcade backup` waits for its turn, too.
 * PostgreSQL ends the turn of a process that has died.
 */
import type { Transaction } from 'kysely'
import type { Database } from '#src/db/database.ts'
import type { Tables } from '#src/db/tables.ts'
import { tryTakeLock } from '#src/db/transaction-locks.ts'
import { type Connection, destroy } from '#src/postgres/connections.ts'
import { isLockTimeout, StartError } from '#src/postgres/errors.ts'
import { advisoryLockHolder, LOCKS, LOCK_SPACE } from '#src/postgres/lock-holder.ts'

export interface Turn {
  /** Aborts when the turn is lost, because its connection broke. */
  readonly signal: AbortSignal
  end(): Promise<void>
}

/** The error while somebody else has the turn. */
export class TurnTakenError extends StartError {}

/** Milliseconds to wait for the turn: PostgreSQL ends that of a process that has died shortly after its connection has closed. */
const WAIT_MS = 2_000

/** The locks of the turn. A server of the previous version takes the first for its schedule, the second only while it makes a backup. */
const TURN = ['backupSchedule', 'backup'] as const

/** Takes the turn until the transaction ends, unless somebody else has it. Returns whether it did. */
export async function tryTakeTurn(tx: Transaction<Tables>): Promise<boolean> {
  for (const name of TURN) if (!(await tryTakeLock(tx, name))) return false
  return true
}

/** @throws TurnTakenError */
export async function takeTurn(database: Pick<Database, 'connect'>, { waitMs = WAIT_MS } = {}): Promise<Turn> {
  const client = await database.connect('arcade backup')
  try {
    await lock(client, waitMs)
  } catch (error) {
    destroy(client)
    throw error
  }
  const lost = new AbortController()
  client.once('end', () => lost.abort(new StartError('The connection to the database was lost meanwhile.')))
  return {
    signal: lost.signal,
    async end() {
      await client.query('select pg_advisory_unlock_all()').catch(() => undefined)
      destroy(client)
    },
  }
}

async function lock(client: Connection, waitMs: number): Promise<void> {
  try {
    const takes = TURN.map((name) => `select pg_advisory_lock(${LOCK_SPACE}, ${LOCKS[name]})`)
    await client.query(`begin; set local lock_timeout = ${waitMs}; ${takes.join('; ')}; commit`)
    return
  } catch (error) {
    if (!isLockTimeout(error)) throw error
    await client.query('rollback')
  }
  const holder = (await advisoryLockHolder(client, LOCKS.backup)) ?? (await advisoryLockHolder(client, LOCKS.backupSchedule))
  throw new TurnTakenError(
    `Another backup of this database is being made or verified (${holder?.name ?? 'it has just finished'}): try again later.`,
  )
}
