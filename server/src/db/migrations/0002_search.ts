/**
 * Searching and sorting lists. `search_text` is the text that searches read, in lower case. Trigrams contain ASCII letters and digits only
 * (under some locales of DATABASE_URL others, too). So that `moon_7` is one word to them, `_.-#` are written as the capitals QXZJ, which no
 * text in lower case contains; characters that trigrams leave out have an index of their own. Players' wallets would double the text, so
 * they are not in it and are found by their beginning. On a table of millions this takes minutes, so each statement runs by itself, and the
 * indexes are built while others read and write; only adding the column makes them wait.
 */
import { type Kysely, sql } from 'kysely'

export const isResumable = true

export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db)
}

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

/** Returns the definition of `search_text`, with a space before each text. It cannot use concat_ws, which is not immutable. */
function searchText(columns: string[]): string {
  const joined = columns.map((column) => `' ' || coalesce(${column}, '')`).join(' || ')
  return `search_text text generated always as (translate(lower(${joined}), '_.-#', 'QXZJ')) stored`
}

function searchIndexes(table: string): string[] {
  return [
    `create index concurrently if not exists ${table}_words on ${table} using gin (search_text gin_trgm_ops)`,
    `create index concurrently if not exists ${table}_characters on ${table}
       using gin (string_to_array(regexp_replace(search_text, '[a-zA-Z0-9@ ]+', '', 'g'), null))
       where search_text ~ '[^a-zA-Z0-9@ ]'`,
  ]
}

const statements = [
  `alter table telegram_users add column if not exists ${searchText(playerTexts)}`,
  ...searchIndexes('telegram_users'),
  `create index concurrently if not exists telegram_users_ton_wallet on telegram_users (lower(ton_wallet_address) text_pattern_ops)
     where ton_wallet_address is not null`,
  `create index concurrently if not exists telegram_users_bsc_wallet on telegram_users (lower(bsc_wallet) text_pattern_ops) where bsc_wallet is not null`,
  `create index concurrently if not exists telegram_users_by_created_at on telegram_users (created_at desc nulls last, user_id)`,
  `create index concurrently if not exists telegram_users_by_username on telegram_users (lower(username), user_id)`,

  `alter table users add column if not exists ${searchText(['fname', 'lname', 'email'])}`,
  ...searchIndexes('users'),
  `create index concurrently if not exists users_by_first_name on users (lower(fname), id)`,
  `create index concurrently if not exists users_by_last_name on users (lower(lname), id)`,
  `create index concurrently if not exists users_by_email on users (lower(email), id)`,
]
