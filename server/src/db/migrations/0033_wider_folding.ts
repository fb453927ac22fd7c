/**
 * Searches find `Straße` by `strasse`, `O’Brien` by `obrien`, and names with characters without width. `searched_text` replaces `folded_text`
 * (migration 0009) in the same way as that replaced its predecessor: a server of the previous version keeps searching the old column until
 * the new one has its indexes.
 */
import { type Kysely, sql } from 'kysely'
import { searchedTables, searchIndexes } from '#src/db/searched-text.ts'

export const isResumable = true

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const [table, column] of Object.entries(searchedTables)) {
    await sql.raw(`alter table ${table} add column if not exists ${column}`).execute(db)
    for (const statement of searchIndexes(table)) await sql.raw(statement).execute(db)
    await sql.raw(`alter table ${table} drop column if exists folded_text`).execute(db)
  }
}
