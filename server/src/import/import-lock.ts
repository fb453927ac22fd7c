/** Keeps imports and move-ins apart. */
import type { Database } from '#src/db/database.ts'
import type { Connection } from '#src/postgres/connections.ts'
import { StartError } from '#src/postgres/errors.ts'
import { LOCKS, tryLock } from '#src/postgres/lock-holder.ts'

/**
 * Keeps move-ins away until the connection that it returns ends: one that is under way would remember documents that these rows replace.
 * @throws StartError if one is under way
 */
export async function keepMoveInsAway(database: Database): Promise<Connection> {
  const client = await database.connect('arcade import')
  if (await tryLock(client, 'pg_try_advisory_lock_shared', LOCKS.moveIn)) return client
  await client.end()
  throw new StartError('An `arcade move-in` is under way: wait until it has ended.')
}
