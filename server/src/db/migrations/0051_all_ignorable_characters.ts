/**
 * Searches ignore the characters without width of all planes, such as the selectors of variants of Chinese characters, and take all hyphens
 * for one. A new column gets its indexes beside running servers before it takes the place and the name of the old one.
 */
import { type Kysely, sql } from 'kysely'
import { searchedNotes, searchedTables, searchIndexes } from '#src/db/searched-text.ts'

export const isResumable = true

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const [table, column] of Object.entries({ ...searchedTables, notes: searchedNotes })) {
    if (await ignoresAllPlanes(db, table)) continue
    const statements = [`alter table ${table} add column if not exists ${column}`, ...searchIndexes(table)]
    for (const statement of statements) await sql.raw(beforeSwap(statement)).execute(db)
    const indexes = ['words', 'characters'].map((kind) => `${table}_searched_${kind}`)
    const swap = [
      `alter table ${table} drop column searched_text`,
      `alter table ${table} rename column ${beforeSwap('searched_text')} to searched_text`,
      ...indexes.map((index) => `alter index ${beforeSwap(index)} rename to ${index}`),
    ]
    await sql.raw(swap.join('; ')).execute(db) // statements that are sent together are one transaction
  }
}

/** Returns SQL in which the column and its indexes have the names that they have until the old ones are gone. */
function beforeSwap(statement: string): string {
  return statement.replaceAll(/searched_(text|words|characters)\b/g, 'newly_searched_$1')
}

/** Whether the column was made by this migration, or in a new database, where an earlier migration has made it as it is now. */
async function ignoresAllPlanes(db: Kysely<unknown>, table: string): Promise<boolean> {
  const { rows } = await sql<{ isNew: boolean }>`
    select strpos(pg_get_expr(adbin, adrelid), ${String.raw`\U000e0fff`}) > 0 as "isNew"
      from pg_attrdef join pg_attribute on attrelid = adrelid and attnum = adnum
     where adrelid = ${table}::regclass and attname = 'searched_text'`.execute(db)
  return rows[0]?.isNew === true
}
