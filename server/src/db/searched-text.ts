/**
 * The column `searched_text` of players, users and notes: what searches look for, folded, with its two indexes (ADR 8). So that `moon_7` is one word
 * to the trigram index, `_.-#` are stored as the capitals QXZJ, which no folded text contains. The column has the collation "C", so the
 * locale of the database decides nothing.
 */
import { foldedSql } from './folded-text.ts'

const handles = ['twitter_username', 'instagram_username', 'linked_in_username', 'discord_username', 'youtube_username']
const phoneDigits = ` || coalesce(' ' || regexp_replace(phone_number, '[^0-9]+', '', 'g'), '')`

/** The tables that have the column, and its definition in each. */
export const searchedTables = {
  telegram_users: searchedText(['username', 'first_name', 'last_name', ...handles, 'email'], phoneDigits),
  users: searchedText(['fname', 'lname', 'email']),
}

/** The definition of the column of notes, a table that came later. */
export const searchedNotes = generatedFrom(`(' ' || text)`)

function searchedText(columns: string[], further = ''): string {
  return generatedFrom(`(${columns.map((column) => `' ' || coalesce(${column}, '')`).join(' || ')})`, further)
}

function generatedFrom(text: string, further = ''): string {
  return `searched_text text collate "C" generated always as (translate(${foldedSql(text)}, '_.-#', 'QXZJ')${further}) stored`
}

/** Returns statements that build the indexes of the column beside running servers. */
export function searchIndexes(table: string): string[] {
  return [
    `create index concurrently if not exists ${table}_searched_words on ${table} using gin (searched_text gin_trgm_ops)`,
    `create index concurrently if not exists ${table}_searched_characters on ${table}
       using gin (string_to_array(regexp_replace(searched_text, '[a-zA-Z0-9@ ]+', '', 'g'), null))
       where searched_text ~ '[^a-zA-Z0-9@ ]'`,
  ]
}
