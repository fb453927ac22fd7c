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
 * @param names what `isMatch` looks into instead, in lower case, each part after a space; `inIndex` is always about `search_text`
 */
export function searchTerm(search: string | undefined, names?: RawBuilder<string>): SearchTerm | undefined {
  const text = (search ?? '').trim().replace(/^@+/, '')
  if (text === '') return undefined
  const looksInto = names ?? sql.ref('search_text')
  const term = names ? sql`lower(${text}::text)` : written(text)
  const isWordStart = Array.from(text).length < MIN_PART_LENGTH && !hasOther(text)
  const isMatch = isWordStart
    ? sql<boolean>`(strpos(${looksInto}, ' ' || ${term}) > 0 or strpos(${looksInto}, '@' || ${term}) > 0)`
    : sql<boolean>`strpos(${looksInto}, ${term}) > 0`
  // Two letters or digits in succession are rarer than most characters; from both, the planner would read the wrong index alone.
  const isInWords = !hasOther(text) || /[a-z0-9_.#-]{2}/i.test(text)
  const inIndex = isInWords ? inWords(text, isWordStart) : inCharacters(text)
  return { isMatch, inIndex, found: sql<boolean>`(${inIndex} and ${isMatch})` }
}

/** Characters that no trigram holds. */
function hasOther(text: string): boolean {
  return /[^a-zA-Z0-9_.#@ -]/.test(text)
}

/** As `search_text` has it. */
function written(text: string): RawBuilder<string> {
  return sql<string>`translate(lower(${text}::text), '_.-#', 'QXZJ')`
}

/** A pattern out of a subquery is unknown while the statement is planned, and such a one is believed to be rare. */
function inWords(text: string, isWordStart: boolean): RawBuilder<boolean> {
  if (isWordStart) return sql<boolean>`search_text ~ (select '[ @]' || ${written(text)})`
  const part = rarestPart(text) ?? text.replaceAll(/[\\%]/g, String.raw`\$&`)
  return sql<boolean>`search_text like (select '%' || ${written(part)} || '%')`
}

/** Numbers tell names apart, what stands before them is what many have in common: in `moon_4711` the trigrams of `moon_` cost ten times the rest. */
function rarestPart(text: string): string | undefined {
  const numbers = text.match(/[a-z_.#-]?\d{3,}/gi) ?? []
  return numbers.toSorted((a, b) => b.length - a.length)[0]
}

function inCharacters(text: string): RawBuilder<boolean> {
  return sql<boolean>`search_text ~ '[^a-zA-Z0-9@ ]' and string_to_array(regexp_replace(search_text, '[a-zA-Z0-9@ ]+', '', 'g'), null)
    @> (select string_to_array(regexp_replace(lower(${text}::text), '[a-z0-9_.#@ -]+', '', 'g'), null))`
}
