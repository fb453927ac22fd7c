/**
 * Transactions that see one moment of the whole database (design §4). One PostgreSQL gives that by itself. The servers of a cluster each
 * take a snapshot of their own, so whoever commits on several of them shares the turn `changes`, and is kept waiting for the
 * milliseconds in which these are taken.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { CITUS_SQL, type Connection } from '#src/postgres/connections.ts'
import { isLockTimeout } from '#src/postgres/errors.ts'
import { LOCKS, LOCK_SPACE } from '#src/postgres/lock-holder.ts'

/** Meanwhile changes wait, too, so this gives way to them in good time: they are given up after two seconds. */
const GIVE_WAY_MS = 1_000
const MAX_ATTEMPTS = 60
/** Through one connection to each server all of its shards are seen at one moment. */
const ONE_CONNECTION_A_SERVER = 'set citus.max_adaptive_executor_pool_size = 1'
/** A cluster takes a server's snapshot when a transaction first asks it for something. */
const ON_EVERY_SERVER = 'select user_id from balances limit 1'

/** Begins a transaction on each of these connections, all of which see the same moment of every server. */
export async function beginAtOneMoment(
  [first, ...others]: readonly [Connection, ...Connection[]],
  access: 'read only' | 'read write' = 'read only',
): Promise<void> {
  const clients = [first, ...others]
  const begin = `begin isolation level repeatable read ${access}`
  const { rows: extensions } = await first.query(CITUS_SQL)
  const isCluster = extensions.length > 0
  if (isCluster) {
    for (const client of clients) await client.query(ONE_CONNECTION_A_SERVER)
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

/** Waits for the changes that are being made, and keeps the next ones waiting until the connection gives the lock back or closes. */
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
