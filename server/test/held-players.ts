/** Locks the table of players, so that a backup stops in the middle. */
import type { Database } from '#src/db/database.ts'
import { destroy } from '#src/postgres/connections.ts'

/** Makes everything that reads players wait until `work` has ended. */
export async function holdingPlayers(database: Pick<Database, 'connect'>, work: () => Promise<void>): Promise<void> {
  const holder = await database.connect('holder')
  try {
    await holder.query('begin; lock table telegram_users in access exclusive mode')
    await work()
  } finally {
    await holder.query('rollback')
    destroy(holder)
  }
}
