/**
 * Searches find `Zoë` by `Zoe`, and players by their phone numbers. `folded_text` replaces `search_text` (migration 0002). It is made in
 * the same way, but from texts without case, width and diacritics, and from the digits of a phone number only. A server of the previous
 * version keeps searching the old column until the new one has its indexes.
 */
import { type Kysely, sql } from 'kysely'

export const isResumable = true

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db)
}

/** What folding was until migration 0033. */
const MARKS = String.raw`\u0300-\u036f\u0483-\u0487\u0591-\u05bd\u05bf\u05c1\u05c2\u05c4\u05c5\u05c7\u0610-\u061a\u064b-\u065f\u0670\u06d6-\u06dc\u06df-\u06e4\u06e7\u06e8\u06ea-\u06ed\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff\ufe20-\ufe2f`
const foldedSql = (text: string): string => `case when octet_length(${text}) = char_length(${text}) then lower(${text})
    else translate(lower(regexp_replace(normalize(${text}, NFKD), '[${MARKS}]', '', 'g')), 'øđħıłŧς', 'odhiltσ') end`

const playerTexts = [
  'username',
  'first_name',
  'last_name',
  'twitter_username',
  'instagram_username',
  'linked_in_username',
  'discord_username',
  'youtube_username',
  'email',
]

const phoneDigits = ` || coalesce(' ' || regexp_replace(phone_number, '[^0-9]+', '', 'g'), '')`

function foldedText(columns: string[], further = ''): string {
  const joined = `(${columns.map((column) => `' ' || coalesce(${column}, '')`).join(' || ')})`
  return `folded_text text generated always as (translate(${foldedSql(joined)}, '_.-#', 'QXZJ')${further}) stored`
}

function searchIndexes(table: string): string[] {
  return [
    `create index concurrently if not exists ${table}_folded_words on ${table} using gin (folded_text gin_trgm_ops)`,
    `create index concurrently if not exists ${table}_folded_characters on ${table}
       using gin (string_to_array(regexp_replace(folded_text, '[a-zA-Z0-9@ ]+', '', 'g'), null))
       where folded_text ~ '[^a-zA-Z0-9@ ]'`,
  ]
}

const statements = [
  `alter table telegram_users add column if not exists ${foldedText(playerTexts, phoneDigits)}`,
  ...searchIndexes('telegram_users'),
  `alter table telegram_users drop column if exists search_text`,
  `alter table users add column if not exists ${foldedText(['fname', 'lname', 'email'])}`,
  ...searchIndexes('users'),
  `alter table users drop column if exists search_text`,
]
