/**
 * Searches for a part of a text, regardless of the case, width and diacritics of its letters. Hides which index serves a search, and that a
 * frequent text must not be looked up in an index, but compared with the rows of the page. Players and users have a column `searched_text`
 * with two indexes (db/searched-text.ts).
 */
import { type RawBuilder, sql } from 'kysely'
import {
  findsBeginningsOnly,
  foldsToNothing,
  searchedText,
  searchedWords,
  SPACES_BETWEEN_ARABIC,
  withoutArabicSpaces,
} from '@arcade/contract/search'
import { lower } from '#src/db/collations.ts'
import { foldedSql } from '#src/db/folded-text.ts'
import { bindSql, type Condition, type SearchCondition } from './list.ts'

/** The conditions of a search in `searched_text`. */
export interface SearchTerm {
  /** The condition for rows whose `searched_text` contains the text. */
  matches: Condition
  /** The condition that the index serves: it holds for these rows and some others. */
  inIndex: Condition
  /** A condition for the same rows as `matches` for which the planner always uses the index. */
  indexed: Condition
  /** A condition for the same rows for which the planner estimates how many rows the index finds. */
  estimated: Condition
  /** Whether the index is searched for a number, which few rows are likely to contain. */
  isDistinctive?: boolean
}

const never = sql<boolean>`false`

/** A number of at least this many characters is searched by every third trigram; a shorter one has too few trigrams to be distinctive. */
const LONG_NUMBER = 7

/**
 * Returns the conditions of a search in `searched_text`, or undefined for an empty text. A leading `@` is ignored, because people write it
 * before a username.
 * @param texts the folded texts, each after a space, that `matches` searches instead. `inIndex` always uses `searched_text`
 */
export function searchTerm(search: string, texts?: RawBuilder<string>): SearchTerm | undefined {
  const text = searchedText(search)
  if (text === '')
    return foldsToNothing(search) ? { matches: never, inIndex: never, indexed: never, estimated: never } : undefined
  const { searched, question } = withSpacesAsTyped(texts ?? sql.ref('searched_text'), text)
  const part = texts ? folded(question) : asStored(question)
  const isWordStart = findsBeginningsOnly(search)
  const matches = isWordStart
    ? sql<boolean>`(strpos(${searched}, ' ' || ${part}) > 0 or strpos(${searched}, '@' || ${part}) > 0)`
    : sql<boolean>`strpos(${searched}, ${part}) > 0`
  // Only the index that finds fewer rows is used: two consecutive letters are rarer than most single characters.
  const hasWord = !hasUnindexedCharacters(text) || /[a-z0-9_.#-]{2}/i.test(text)
  const conditionInIndex = (value: Value): Condition =>
    hasWord ? inWordIndex(text, isWordStart, value) : inCharacterIndex(text, value)
  const [inIndex, inIndexEstimated] = [conditionInIndex(hidden), conditionInIndex(shown)]
  return {
    matches,
    inIndex,
    indexed: sql<boolean>`(${inIndex} and ${matches})`,
    estimated: sql<boolean>`(${inIndexEstimated} and ${matches})`,
    isDistinctive: rarestPart(text) !== undefined,
  }
}

/**
 * Returns what to search and what to look for in it. If the text has spaces, runs of spaces count as one, because people see one space where a
 * name has several. If some are between Arabic letters, no such space counts.
 */
function withSpacesAsTyped(searched: RawBuilder<string>, text: string): { searched: RawBuilder<string>; question: string } {
  if (!text.includes(' ')) return { searched, question: text }
  const single = sql<string>`regexp_replace(${searched}, ' +', ' ', 'g')`
  const question = withoutArabicSpaces(text)
  if (question === text) return { searched: single, question }
  return { searched: sql<string>`regexp_replace(${single}, ${sql.lit(SPACES_BETWEEN_ARABIC)}, '', 'g')`, question }
}

/** How a searched value is written in a statement. */
type Value = (value: RawBuilder<unknown>) => RawBuilder<unknown>

/** Writes the value as a subquery, which hides it from the planner: the planner takes an unknown pattern for a rare one and uses the index. */
const hidden: Value = (value) => sql`(select ${value})`
const shown: Value = (value) => sql`(${value})`

/** Whether a text contains characters that trigrams do not contain. */
function hasUnindexedCharacters(text: string): boolean {
  return /[^a-zA-Z0-9_.#@ -]/.test(text)
}

/**
 * Folds the text in PostgreSQL, once for each statement, as the rows were folded. On a Citus cluster a subquery would cost a further step.
 * @param text a result of `searchedText` or `searchedWords`: ASCII is folded already, and leaving the SQL out saves parsing several thousand characters
 */
function folded(text: string): RawBuilder<string> {
  return isAscii(text) ? sql<string>`${text}::text` : foldedInSql(text)
}

function isAscii(text: string): boolean {
  return Buffer.byteLength(text) === text.length
}

function foldedInSql(text: string): RawBuilder<string> {
  return sql<string>`(${bindSql(foldedSql('$1::text'), [text])})`
}

/** Returns the text with the replacements of `searched_text`. */
function asStored(text: string): RawBuilder<string> {
  return sql<string>`translate(${folded(text)}, '_.-#', 'QXZJ')`
}

function inWordIndex(text: string, isWordStart: boolean, value: Value): Condition {
  if (isWordStart) return sql<boolean>`searched_text ~ ${value(sql`'[ @]' || ${asStored(text)}`)}`
  const number = rarestPart(text)
  const patterns = number ? sparsePatterns(number) : [likePattern(text)]
  const isLike = patterns.map((pattern) => sql<boolean>`searched_text like ${value(sql`'%' || ${asStored(pattern)} || '%'`)}`)
  return sql<boolean>`${sql.join(isLike, sql` and `)}`
}

/** Returns the pattern of a text in which a space stands for several, and one between Arabic letters for none, too. */
function likePattern(text: string): string {
  const escaped = text.replaceAll(/[\\%]/g, String.raw`\$&`)
  const words = escaped.split(new RegExp(SPACES_BETWEEN_ARABIC))
  return words.map((word) => word.replaceAll(' ', ' %')).join('%')
}

/** Returns the longest number of a text, with the character before it. Numbers tell names apart better than words: the trigrams of `moon_` in `moon_4711` cost ten times as much. */
function rarestPart(text: string): string | undefined {
  const numbers = text.match(/[a-z_.#-]?\d{3,}/gi) ?? []
  return numbers.toSorted((a, b) => b.length - a.length)[0]
}

/**
 * Returns patterns that together contain every third trigram of a long number and its last one. Hardly more rows have these than have all
 * of its trigrams, and each trigram costs reading its list of rows, which grows with the table.
 */
function sparsePatterns(number: string): string[] {
  if (number.length < LONG_NUMBER) return [number]
  const triples = number.match(/.{3}/g)!
  const isWhole = number.length % 3 === 0
  return [triples.join('%'), ...(isWhole ? [] : [number.slice(-3)])]
}

function inCharacterIndex(text: string, value: Value): Condition {
  const characters = sql`string_to_array(regexp_replace(${folded(text)}, '[a-z0-9_.#@ -]+', '', 'g'), null)`
  return sql<boolean>`searched_text ~ '[^a-zA-Z0-9@ ]' and string_to_array(regexp_replace(searched_text, '[a-zA-Z0-9@ ]+', '', 'g'), null)
    @> ${value(characters)}`
}

/** Returns the condition for values that begin with a text, in any case. It is a range, because for LIKE the planner uses an index only if it knows the pattern. */
export function startsWithInIndex(value: RawBuilder<unknown>, prefix: string): Condition {
  const start = lower(sql`${prefix}::text`)
  return sql<boolean>`(${value} ~>=~ ${start} and ${value} ~<~ (${start} || chr(1114111)))`
}

/** Returns the condition of a search in a table of some thousand rows, for which no index is needed. `text` is the SQL of the searched text. */
export function searchWithoutIndex(text: string, search: string): SearchCondition {
  if (foldsToNothing(search)) return { matches: never }
  const { searched, question } = withSpacesAsTyped(sql.raw(foldedSql(`(${text})`)), searchedWords(search))
  return { matches: sql<boolean>`strpos(${searched}, ${folded(question)}) > 0` }
}
