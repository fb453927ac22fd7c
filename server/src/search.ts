/**
 * Searching the `search_text` of a table (migration 0002). Hides which index serves a term, and that a common term must not be
 * looked up in one: `isMatch` filters rows at hand, `found` finds them in the index.
 */
import { type RawBuilder, sql } from 'kysely'

/** Shorter terms match the beginnings of words alone: there is no trigram in the middle of a word for them. */
const MIN_PART_LENGTH = 3

export interface SearchTerm {
  /** True for a row whose `search_text` holds the term. */
  isMatch: RawBuilder<boolean>
  /** Holds for these and some others, and leads to them by the index. */
  inIndex: RawBuilder<boolean>
  /** Both: the same as `isMatch`, and such that the planner has no better idea than the index whatever it believes of the term. */
  found: RawBuilder<boolean>
}

/**
 * The condition a search makes; none for an empty one. A leading `@` is how people write a handle, not part of it.
 * @param looksInto what `isMatch` looks into, in lower case, each part after a space; `inIndex` is always about `search_text`
 */
export function searchTerm(
  search: string | undefined,
  looksInto: RawBuilder<string> = sql.ref('search_text'),
): SearchTerm | undefined {
  const text = (search ?? '').trim().replace(/^@+/, '')
  if (text === '') return undefined
  const term = sql`lower(${text}::text)`
  const isWordStart = Array.from(text).length < MIN_PART_LENGTH && !hasOther(text)
  const isMatch = isWordStart
    ? sql<boolean>`(strpos(${looksInto}, ' ' || ${term}) > 0 or strpos(${looksInto}, '@' || ${term}) > 0)`
    : sql<boolean>`strpos(${looksInto}, ${term}) > 0`
  const indexes = [
    ...(!hasOther(text) || /[a-z0-9_.#-]{2}/i.test(text) ? [inWords(text, isWordStart)] : []),
    ...(hasOther(text) && !/[a-z0-9_.#-]{3}/i.test(text) ? [inCharacters(text)] : []),
  ]
  const inIndex = sql<boolean>`${sql.join(indexes, sql` and `)}`
  return { isMatch, inIndex, found: sql<boolean>`(${inIndex} and ${isMatch})` }
}

/** Characters that no trigram holds. */
function hasOther(text: string): boolean {
  return /[^a-zA-Z0-9_.#@ -]/.test(text)
}

/** A pattern out of a subquery is unknown while the statement is planned, and such a one is believed to be rare. */
function inWords(text: string, isWordStart: boolean): RawBuilder<boolean> {
  const words = text.replaceAll(/[_.#-]/g, 'q').replaceAll('@', ' ')
  const pattern = rarestPart(words) ?? words.replaceAll(/[\\%]/g, String.raw`\$&`)
  return sql<boolean>`translate(search_text, '_.-#@', 'qqqq ') like (select ${isWordStart ? '% ' : '%'} || lower(${pattern}::text) || '%')`
}

/** Numbers tell names apart, what stands before them is what many have in common: in `moon_4711` the trigrams of `moon` cost ten times the rest. */
function rarestPart(words: string): string | undefined {
  const numbers = words.match(/[a-z]{0,2}\d{3,}/gi) ?? []
  return numbers.toSorted((a, b) => b.length - a.length)[0]
}

function inCharacters(text: string): RawBuilder<boolean> {
  return sql<boolean>`search_text ~ '[^a-z0-9_.#@ -]' and string_to_array(regexp_replace(search_text, '[a-z0-9_.#@ -]+', '', 'g'), null)
    @> (select string_to_array(regexp_replace(lower(${text}::text), '[a-z0-9_.#@ -]+', '', 'g'), null))`
}
