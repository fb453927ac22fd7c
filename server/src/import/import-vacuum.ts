/** What autovacuum would do minutes later: right statistics and visibility map at once after many rows. */
import { type Kysely, sql } from 'kysely'
import type { Database } from '#src/db/database.ts'
import type { Tables } from '#src/db/tables.ts'

/** Takes seconds a million new rows. That it fails is told and otherwise without consequence. */
export async function vacuum({ db }: Database, tables: readonly string[], log: (line: string) => void): Promise<void> {
  for (const table of tables) {
    try {
      await sql`vacuum (analyze) ${sql.table(table)}`.execute(db)
    } catch (error) {
      log(`${table}: left to autovacuum (${(error as Error).message})`)
    }
  }
}

/** In a transaction that adds many rows: lets the indexes of searches take them in larger portions. `vacuum` takes in the rest. */
export async function inLargePortions(tx: Kysely<Tables>): Promise<void> {
  await sql`set local gin_pending_list_limit = '32MB'`.execute(tx)
}
