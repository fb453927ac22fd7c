/**
 * Searching for a part of a text, whatever the case, width and diacritics of its letters. Hides which index serves a text, and that a
 * common one must not be looked up in an index: then the rows at hand are filtered. Players and users have a column `folded_text` with
 * two indexes for it (migrations 0002 and 0009).
 */
import { type RawBuilder, sql } from 'kysely'
import { findsBeginningsOnly, foldsToNothing, searchedText } from '@arcade/contract/search'
import { foldedSql } from '#src/db/folded-text.ts'
import { bindSql, type Condition } from './conditions.ts'

/** What a searched text means for a list. */
export interface SearchCondition {
  /** True for the rows that the search finds. */
  matches: Condition
  /** Each finds some of these rows by an index of its own; together they find all of them, and none twice. */
  conditions?: Condition[]
  /** The same for the planner to guess how many rows they find. Without them it is not worth a guess. */
  estimatedConditions?: Condition[]
}

export interface SearchTerm {
  /** True for a row whose `folded_text` holds the text. */
  matches: Condition
  /** True for such rows and some others, which the index finds. */
  inIndex: Condition
  /** True for the same rows as `matches`; the planner always takes the index for it. */
  found: Condition
  /** The same; the planner guesses how many rows the index finds. */
  guessed: Condition
}

const never = sql<boolean>`false`

/** Characters; with fewer, three trigrams would be all there are, or would be found in many rows that have no such number. */
const LONG_NUMBER = 7

/**
 * The conditions for a text in `folded_text`; undefined for an empty text. A leading `@` is not looked for: people write it before a handle.
 * @param texts what `matches` looks into instead: folded texts, each after a space. `inIndex` is always about `folded_text`
 */
export function searchTerm(search: string, texts?: RawBuilder<string>): SearchTerm | undefined {
  const text = searchedText(search)
  if (text === '') return foldsToNothing(search) ? { matches: never, inIndex: never, found: never, guessed: never } : undefined
  const searched = withSingleSpaces(texts ?? sql.ref('folded_text'), text)
  const part = texts ? folded(text) : asStored(text)
  const isWordStart = findsBeginningsOnly(search)
  const matches = isWordStart
    ? sql<boolean>`(strpos(${searched}, ' ' || ${part}) > 0 or strpos(${searched}, '@' || ${part}) > 0)`
    : sql<boolean>`strpos(${searched}, ${part}) > 0`
  // Only one index is asked, the one that finds fewer rows: two letters in succession are rarer than most single characters.
  const hasWord = !hasUnindexedCharacters(text) || /[a-z0-9_.#-]{2}/i.test(text)
  const indexed = (value: Value): Condition => (hasWord ? inWordIndex(text, isWordStart, value) : inCharacterIndex(text, value))
  const [inIndex, guessed] = [indexed(hidden), indexed(shown)]
  return {
    matches,
    inIndex,
    found: sql<boolean>`(${inIndex} and ${matches})`,
    guessed: sql<boolean>`(${guessed} and ${matches})`,
  }
}

/** What a text with spaces is looked for in: people see one space where a name has several, or where one ends with a space before the next. */
function withSingleSpaces(searched: RawBuilder<string>, text: string): RawBuilder<string> {
  return text.includes(' ') ? sql<string>`regexp_replace(${searched}, ' +', ' ', 'g')` : searched
}

/** How a value that is looked for in an index stands in a statement. */
type Value = (value: RawBuilder<unknown>) => RawBuilder<unknown>

/** A subquery hides it from the planner, which believes an unknown pattern to be rare and takes the index. */
const hidden: Value = (value) => sql`(select ${value})`
const shown: Value = (value) => sql`(${value})`

/** Whether a text holds characters that no trigram has. */
function hasUnindexedCharacters(text: string): boolean {
  return /[^a-zA-Z0-9_.#@ -]/.test(text)
}

/** PostgreSQL folds what is looked for as it has folded the rows, once a statement. A subquery would cost a cluster a step of its own. */
function folded(text: string): RawBuilder<string> {
  return sql<string>`(${bindSql(foldedSql('$1::text'), [text])})`
}

/** The text with the replacements that `folded_text` has (migration 0009). */
function asStored(text: string): RawBuilder<string> {
  return sql<string>`translate(${folded(text)}, '_.-#', 'QXZJ')`
}

function inWordIndex(text: string, isWordStart: boolean, value: Value): Condition {
  if (isWordStart) return sql<boolean>`folded_text ~ ${value(sql`'[ @]' || ${asStored(text)}`)}`
  const number = rarestPart(text)
  const patterns = number ? sparsePatterns(number) : [text.replaceAll(/[\\%]/g, String.raw`\$&`).replaceAll(' ', ' %')]
  const isLike = patterns.map((pattern) => sql<boolean>`folded_text like ${value(sql`'%' || ${asStored(pattern)} || '%'`)}`)
  return sql<boolean>`${sql.join(isLike, sql` and `)}`
}

/** Numbers tell names apart, the words before them are common: in `moon_4711` the trigrams of `moon_` cost ten times the others. */
function rarestPart(text: string): string | undefined {
  const numbers = text.match(/[a-z_.#-]?\d{3,}/gi) ?? []
  return numbers.toSorted((a, b) => b.length - a.length)[0]
}

/**
 * Patterns that together hold every third trigram of a long number, and its last one. The rows that have these are hardly more than those that
 * have all of its trigrams, and each trigram costs reading its list of rows, which grows with the table.
 */
function sparsePatterns(number: string): string[] {
  if (number.length < LONG_NUMBER) return [number]
  const triples = number.match(/.{3}/g)!
  const isWhole = number.length % 3 === 0
  return [triples.join('%'), ...(isWhole ? [] : [number.slice(-3)])]
}

function inCharacterIndex(text: string, value: Value): Condition {
  const characters = sql`string_to_array(regexp_replace(${folded(text)}, '[a-z0-9_.#@ -]+', '', 'g'), null)`
  return sql<boolean>`folded_text ~ '[^a-zA-Z0-9@ ]' and string_to_array(regexp_replace(folded_text, '[a-zA-Z0-9@ ]+', '', 'g'), null)
    @> ${value(characters)}`
}

/** True for rows whose value, in any case, begins with a text. A range instead of LIKE: for that the planner would have to know the pattern to take the index. */
export function startsWithInIndex(value: RawBuilder<unknown>, prefix: string): Condition {
  return sql<boolean>`(${value} ~>=~ lower(${prefix}::text) and ${value} ~<~ (lower(${prefix}::text) || chr(1114111)))`
}

/** Ways to find rows, each without those that `earlier`, the conditions before it, are true for: together they find no row twice. */
export function disjoint(conditions: readonly Condition[], earlier: readonly Condition[] = conditions): Condition[] {
  return conditions.map(
    (condition, index) => sql<boolean>`${sql.join([condition, ...earlier.slice(0, index).map(isNot)], sql` and `)}`,
  )
}

function isNot(condition: Condition): Condition {
  return sql<boolean>`(${condition}) is not true`
}

/** For tables of some thousand rows, which no index makes faster: `text` is SQL for what is searched, in any case. */
export function searchWithoutIndex(text: string, search: string): SearchCondition {
  if (foldsToNothing(search)) return { matches: never }
  const words = search.replaceAll(/\s+/g, ' ').trim()
  return { matches: sql<boolean>`strpos(${withSingleSpaces(sql.raw(foldedSql(`(${text})`)), words)}, ${folded(words)}) > 0` }
}
