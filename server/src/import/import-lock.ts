/** Keeps imports and move-ins apart. */
import type { Database } from '#src/db/database.ts'
import type { Connection } from '#src/postgres/connections.ts'
import { StartError } from '#src/postgres/errors.ts'
import { LOCKS, tryLock } from '#src/postgres/lock-holder.ts'

/**
 * A move-in runs alone: two would move the same files in twice, and one that is under way would remember documents that an import
 * replaces. Imports may run beside each other.
 */
const locks = {
  'move-in': {
    take: 'pg_try_advisory_lock',
    refusal: 'Another `arcade move-in` or an import is under way: wait until it has ended.',
  },
  import: { take: 'pg_try_advisory_lock_shared', refusal: 'An `arcade move-in` is under way: wait until it has ended.' },
}

/**
 * Takes the lock of a move-in or an import. The connection that it returns holds the lock until it ends.
 * @throws StartError if another process has it
 */
export async function takeImportLock(database: Database, by: keyof typeof locks): Promise<Connection> {
  const { take, refusal } = locks[by]
  const client = await database.connect(`arcade ${by}`)
  try {
    if (!(await tryLock(client, take, LOCKS.moveIn))) throw new StartError(refusal)
    return client
  } catch (error) {
    await client.end()
    throw error
  }
}
