/** Vacuums tables right after many rows were written; autovacuum would update statistics and visibility map only minutes later. */
import { type Kysely, sql } from 'kysely'
import type { Database } from '#src/db/database.ts'
import type { Tables } from '#src/db/tables.ts'

/** Vacuums and analyzes tables, which takes seconds for a million new rows. A failure is logged and has no other consequence. */
export async function vacuum({ db }: Database, tables: readonly string[], log: (line: string) => void): Promise<void> {
  for (const table of tables) {
    try {
      await sql`vacuum (analyze) ${sql.table(table)}`.execute(db)
    } catch (error) {
      log(`${table}: left to autovacuum (${(error as Error).message})`)
    }
  }
}

/** Makes a transaction that adds many rows write to the GIN indexes of searches in larger portions. `vacuum` writes the rest. */
export async function inLargePortions(tx: Kysely<Tables>): Promise<void> {
  await sql`set local gin_pending_list_limit = '32MB'`.execute(tx)
}
