/** Keeps a command that writes much data from filling the disk: PostgreSQL needs a reserve (security.md, Crash). */
import type { Database } from '#src/db/database.ts'
import { StartError } from '#src/postgres/errors.ts'

/**
 * Checks, before each batch, that the disk has room for it.
 * @param done how far the command has come, such as `2000 lines of users.ndjson`
 * @param batchBytes an upper bound of what the batch writes, including PostgreSQL's write-ahead log
 * @param isDryRun whether the batches are rolled back, which frees their room only when the database has cleaned up
 * @throws StartError if the batch may not fit
 */
export async function keepReserve(
  database: Database,
  { done, batchBytes, isDryRun = false }: { done: string; batchBytes: number; isDryRun?: boolean },
): Promise<void> {
  if ((await database.writableBytes()) >= batchBytes) return
  const [isKept, next] = isDryRun ? ['Nothing was changed', ''] : ['All that was done is kept', ', and it goes on']
  throw new StartError(
    `The disk is nearly full, so this stopped after ${done}, before the database ran out of space. ${isKept}: free some space and run the same command again${next}.`,
  )
}
