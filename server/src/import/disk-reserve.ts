/** Keeps a command that writes much from using up the room that PostgreSQL needs to go on (security.md, Crash). */
import type { Database } from '#src/db/database.ts'
import { StartError } from '#src/postgres/errors.ts'

/**
 * To be called before each batch.
 * @param done how far the command has come, say `2000 lines of users.ndjson`
 * @param batchBytes more than the batch writes, with PostgreSQL's log
 * @param isDryRun whether the batches are taken back, which leaves their room taken until the database has cleaned up
 * @throws StartError when the batch may not fit
 */
export async function keepReserve(
  database: Database,
  { done, batchBytes, isDryRun = false }: { done: string; batchBytes: number; isDryRun?: boolean },
): Promise<void> {
  if ((await database.roomBytes()) >= batchBytes) return
  const [isKept, next] = isDryRun ? ['Nothing was changed', ''] : ['All that was done is kept', ', and it goes on']
  throw new StartError(
    `The disk is nearly full, so this stopped after ${done}, before the database ran out of space. ${isKept}: free some space and run the same command again${next}.`,
  )
}
