/** Whether a word of a person who is being erased may mean somebody or something else: other people have it, or items. */
import { type RawBuilder, sql, type Transaction } from 'kysely'
import type { Tables } from '#src/db/tables.ts'
import { searchTerm, searchWithoutIndex } from '#src/lists/search.ts'

/** @param people the table of people that the person is not one of */
export async function isElsewhere(
  tx: Transaction<Tables>,
  { word, people }: { word: string; people: 'users' | 'telegram_users' },
): Promise<boolean> {
  const isPerson = searchTerm(word)?.indexed ?? sql`false`
  const isItem = searchWithoutIndex('title', word).matches
  const places: [string, RawBuilder<unknown>][] = [
    [people, isPerson],
    ['tasks', isItem],
    ['announcements', isItem],
  ]
  for (const [table, condition] of places) {
    const { rows } = await sql`select from ${sql.table(table)} where ${condition} limit 1`.execute(tx)
    if (rows.length > 0) return true
  }
  return false
}
