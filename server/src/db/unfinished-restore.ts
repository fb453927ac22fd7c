/**
 * Marks a database that is being restored: by a table in it, and for the embedded PostgreSQL by a file in its folder. A marked database is
 * never served, and only another restore may clear it.
 */
import { access } from 'node:fs/promises'
import { join } from 'node:path'
import { type Kysely, sql } from 'kysely'
import { StartError } from '#src/postgres/errors.ts'

export const UNFINISHED_RESTORE = 'unfinished_restore'

export function unfinishedRestoreFile(dataDir: string): string {
  return join(dataDir, 'unfinished-restore')
}

/** Refuses a marked folder. Call it before the embedded PostgreSQL is created or started. */
export async function refuseUnfinishedFolder(dataDir: string): Promise<void> {
  const isThere = await access(unfinishedRestoreFile(dataDir)).then(
    () => true,
    () => false,
  )
  if (isThere) throw refusal(`DATA_DIR ${dataDir}`)
}

export async function refuseUnfinishedDatabase(db: Kysely<unknown>): Promise<void> {
  const { rows } = await sql<{ found: boolean }>`
    select to_regclass(${UNFINISHED_RESTORE}) is not null as found`.execute(db)
  if (rows[0]?.found) throw refusal('The database')
}

function refusal(what: string): StartError {
  return new StartError(
    `${what} is being restored from a backup, or that was cut off before it was finished: wait for it, or run the same \`npm run arcade -- restore\` again, which begins anew.`,
  )
}
