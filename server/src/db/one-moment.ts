/**
 * Transactions that see one snapshot of the whole database. A single PostgreSQL provides this by itself. On a Citus cluster each
 * server takes its own snapshot. Transactions that commit on several servers therefore take the shared lock `changes`, and wait for the
 * milliseconds in which these snapshots are taken.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { IS_CITUS, ONE_CONNECTION_A_SERVER } from '#src/postgres/citus.ts'
import type { Connection } from '#src/postgres/connections.ts'
import { isLockTimeout } from '#src/postgres/errors.ts'
import { LOCKS, LOCK_SPACE } from '#src/postgres/lock-holder.ts'

/** Milliseconds to wait for the lock. Changes queue behind this wait and fail after two seconds, so it must be shorter. */
const GIVE_WAY_MS = 1_000
const MAX_ATTEMPTS = 60
/** A query that reaches every server: a server takes its snapshot at a transaction's first query. */
const ON_EVERY_SERVER = 'select user_id from balances limit 1'

/** Begins a transaction on each of these connections, all with the same snapshot of every server. */
export async function beginAtOneMoment(
  [first, ...others]: readonly [Connection, ...Connection[]],
  access: 'read only' | 'read write' = 'read only',
): Promise<void> {
  const clients = [first, ...others]
  const begin = `begin isolation level repeatable read ${access}`
  const { rows: answers } = await first.query<{ isCluster: boolean }>(`select ${IS_CITUS} as "isCluster"`)
  const isCluster = answers[0]!.isCluster
  if (isCluster) {
    for (const client of clients) await client.query(`set ${ONE_CONNECTION_A_SERVER}`)
    await holdChanges(first)
  }
  await first.query(begin)
  if (others.length > 0) {
    const { rows } = await first.query<{ id: string }>('select pg_export_snapshot() as id')
    for (const client of others) await client.query(`${begin}; set transaction snapshot '${rows[0]?.id}'`)
  }
  if (!isCluster) return
  for (const client of clients) await client.query(ON_EVERY_SERVER)
  await first.query(`select pg_advisory_unlock(${LOCK_SPACE}, ${LOCKS.changes})`)
}

/** Waits for running changes, and makes the next ones wait until the connection releases the lock or closes. */
async function holdChanges(client: Connection): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      await client.query(
        `begin; set local lock_timeout = ${GIVE_WAY_MS}; select pg_advisory_lock(${LOCK_SPACE}, ${LOCKS.changes}); commit`,
      )
      return
    } catch (error) {
      if (!isLockTimeout(error) || attempt === MAX_ATTEMPTS) throw error
      await client.query('rollback')
    }
    await pause(Math.random() * GIVE_WAY_MS)
  }
}
