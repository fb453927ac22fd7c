/** Cursors of lists that are paged by key (§7 startAfter, endBefore): the sort key and id of a row as opaque text, and back. */
import { Failure } from '#src/calls.ts'

/** What a cursor holds: the list and order it belongs to, then the values of a row's key in that order. */
export type Cursor = readonly [list: string, ...key: (string | number | null)[]]

export function writeCursor(cursor: Cursor): string {
  return Buffer.from(JSON.stringify(cursor)).toString('base64url')
}

/**
 * The key in a cursor of this list, each part checked by the test at its place.
 * @throws Failure INVALID_INPUT for anything that `writeCursor` did not make for this list
 */
export function readCursor<Key extends (string | number | null)[]>(
  text: string,
  list: string,
  tests: { [I in keyof Key]: (part: unknown) => part is Key[I] },
): Key {
  const parts = parse(text)
  if (!Array.isArray(parts) || parts.length !== tests.length + 1 || parts[0] !== list) throw badCursor()
  const key: unknown[] = parts.slice(1)
  if (!tests.every((test, index) => test(key[index]))) throw badCursor()
  return key as Key
}

/** A number in SQL's notation, exact however many digits it has. */
export const isDecimal = (part: unknown): part is string => typeof part === 'string' && /^-?\d{1,40}(\.\d{1,40})?$/.test(part)
/** Microseconds since 1970, in what PostgreSQL can express as a moment. */
export const isMicroseconds = (part: unknown): part is string => typeof part === 'string' && /^-?\d{1,17}$/.test(part)
export const isId = (part: unknown): part is number => Number.isSafeInteger(part)
export const isText = (part: unknown): part is string => typeof part === 'string' && part.isWellFormed() && !part.includes('\0')

/** Which way from which row; neither is given for the first page. */
export interface KeysetPage<Row> {
  rows: readonly Row[]
  after: string | null
  before: string | null
}

/**
 * A page out of up to `size` + 1 rows that were read from a cursor on, nearest first: the one too many only tells that there are more.
 * @param direction the way they were read; `undefined` from the beginning
 */
export function keysetPage<Row>(
  read: readonly Row[],
  { size, direction, toCursor }: { size: number; direction: 'after' | 'before' | undefined; toCursor: (row: Row) => string },
): KeysetPage<Row> {
  const hasMore = read.length > size
  const nearest = hasMore ? read.slice(0, size) : read
  const rows = direction === 'before' ? nearest.toReversed() : nearest
  const first = rows[0]
  const last = rows.at(-1)
  return {
    rows,
    after: last !== undefined && (direction === 'before' || hasMore) ? toCursor(last) : null,
    before: first !== undefined && (direction === 'after' || (direction === 'before' && hasMore)) ? toCursor(first) : null,
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(Buffer.from(text, 'base64url').toString('utf8')) as unknown
  } catch {
    return undefined
  }
}

function badCursor(): Failure {
  return new Failure('INVALID_INPUT', { message: 'This page no longer exists in this list. Please start from the first one.' })
}
