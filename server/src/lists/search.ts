/**
 * Searching for a part of a text. Hides which index serves a text, and that a common one must not be looked up in an index: then the
 * rows at hand are filtered. Players and users have a column `search_text` with two indexes for it (migration 0002).
 */
import { type RawBuilder, sql } from 'kysely'

type Condition = RawBuilder<boolean>

/** What a searched text means for a list. */
export interface SearchCondition {
  /** True for the rows that the search finds. */
  matches: Condition
  /** Each finds some of these rows by an index of its own; together they find all of them, and none twice. */
  ways?: Condition[]
}

/** Shorter texts match the beginnings of words alone: there is no trigram in the middle of a word for them. */
const MIN_PART_LENGTH = 3

export interface SearchTerm {
  /** True for a row whose `search_text` holds the text. */
  matches: Condition
  /** True for such rows and some others, which the index finds. */
  inIndex: Condition
  /** True for the same rows as `matches`; the planner always takes the index for it. */
  found: Condition
}

/**
 * The conditions for a text in `search_text`; undefined for an empty text. A leading `@` is not looked for: people write it before a handle.
 * @param names what `matches` looks into instead: names in lower case, each after a space. `inIndex` is always about `search_text`
 */
export function searchTerm(search: string, names?: RawBuilder<string>): SearchTerm | undefined {
  const text = search.trim().replace(/^@+/, '')
  if (text === '') return undefined
  const searched = names ?? sql.ref('search_text')
  const part = names ? sql`lower(${text}::text)` : asStored(text)
  const isWordStart = Array.from(text).length < MIN_PART_LENGTH && !hasUnindexedCharacters(text)
  const matches = isWordStart
    ? sql<boolean>`(strpos(${searched}, ' ' || ${part}) > 0 or strpos(${searched}, '@' || ${part}) > 0)`
    : sql<boolean>`strpos(${searched}, ${part}) > 0`
  // Only one index is asked, the one that finds fewer rows: two letters in succession are rarer than most single characters.
  const hasWord = !hasUnindexedCharacters(text) || /[a-z0-9_.#-]{2}/i.test(text)
  const inIndex = hasWord ? inWordIndex(text, isWordStart) : inCharacterIndex(text)
  return { matches, inIndex, found: sql<boolean>`(${inIndex} and ${matches})` }
}

/** Whether a text holds characters that no trigram has. */
function hasUnindexedCharacters(text: string): boolean {
  return /[^a-zA-Z0-9_.#@ -]/.test(text)
}

/** The text with the replacements that `search_text` has (migration 0002). */
function asStored(text: string): RawBuilder<string> {
  return sql<string>`translate(lower(${text}::text), '_.-#', 'QXZJ')`
}

/** The subquery hides the pattern from the planner, which believes an unknown pattern to be rare and takes the index. */
function inWordIndex(text: string, isWordStart: boolean): Condition {
  if (isWordStart) return sql<boolean>`search_text ~ (select '[ @]' || ${asStored(text)})`
  const part = rarestPart(text) ?? text.replaceAll(/[\\%]/g, String.raw`\$&`)
  return sql<boolean>`search_text like (select '%' || ${asStored(part)} || '%')`
}

/** Numbers tell names apart, the words before them are common: in `moon_4711` the trigrams of `moon_` cost ten times the others. */
function rarestPart(text: string): string | undefined {
  const numbers = text.match(/[a-z_.#-]?\d{3,}/gi) ?? []
  return numbers.toSorted((a, b) => b.length - a.length)[0]
}

function inCharacterIndex(text: string): Condition {
  return sql<boolean>`search_text ~ '[^a-zA-Z0-9@ ]' and string_to_array(regexp_replace(search_text, '[a-zA-Z0-9@ ]+', '', 'g'), null)
    @> (select string_to_array(regexp_replace(lower(${text}::text), '[a-z0-9_.#@ -]+', '', 'g'), null))`
}

/** For tables of some thousand rows, which no index makes faster: `text` is SQL for what is searched, in any case. */
export function searchWithoutIndex(text: string, search: string): SearchCondition {
  return { matches: sql<boolean>`strpos(lower(${sql.raw(text)}), lower(${search}::text)) > 0` }
}
