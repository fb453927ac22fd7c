/**
 * Searches find `Straße` by `strasse`, `O’Brien` by `obrien`, and names with characters without width. `searched_text` replaces `folded_text`
 * (migration 0009) in the same way as that replaced its predecessor: a server of the previous version keeps searching the old column until
 * the new one has its indexes.
 */
import { type Kysely, sql } from 'kysely'
import { foldedSql } from '#src/db/folded-text.ts'

export const isResumable = true

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db)
}

const handles = ['twitter_username', 'instagram_username', 'linked_in_username', 'discord_username', 'youtube_username']
const playerTexts = ['username', 'first_name', 'last_name', ...handles, 'email']
const phoneDigits = ` || coalesce(' ' || regexp_replace(phone_number, '[^0-9]+', '', 'g'), '')`

function searchedText(columns: string[], further = ''): string {
  const joined = `(${columns.map((column) => `' ' || coalesce(${column}, '')`).join(' || ')})`
  return `searched_text text generated always as (translate(${foldedSql(joined)}, '_.-#', 'QXZJ')${further}) stored`
}

function searchIndexes(table: string): string[] {
  return [
    `create index concurrently if not exists ${table}_searched_words on ${table} using gin (searched_text gin_trgm_ops)`,
    `create index concurrently if not exists ${table}_searched_characters on ${table}
       using gin (string_to_array(regexp_replace(searched_text, '[a-zA-Z0-9@ ]+', '', 'g'), null))
       where searched_text ~ '[^a-zA-Z0-9@ ]'`,
  ]
}

const statements = [
  `alter table telegram_users add column if not exists ${searchedText(playerTexts, phoneDigits)}`,
  ...searchIndexes('telegram_users'),
  `alter table telegram_users drop column if exists folded_text`,
  `alter table users add column if not exists ${searchedText(['fname', 'lname', 'email'])}`,
  ...searchIndexes('users'),
  `alter table users drop column if exists folded_text`,
]
