/** Cursors of lists that are paged by key (§7 startAfter, endBefore): the sort key and id of a row as opaque text, and back. */
import { isStorable } from '@arcade/contract/text'
import { Failure } from '#src/calls.ts'

/** The content of a cursor: the list and order it belongs to, then the values of a row's key in that order. */
export type Cursor = readonly [list: string, ...key: (string | number | null)[]]

export function writeCursor(cursor: Cursor): string {
  return Buffer.from(JSON.stringify(cursor)).toString('base64url')
}

/**
 * Returns the key in a cursor of this list, after checking each part with the test at the same index.
 * @throws Failure INVALID_INPUT for a text that `writeCursor` did not make for this list
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

/** Whether a part is a number in SQL's notation, which is exact with any number of digits. */
export const isDecimal = (part: unknown): part is string => typeof part === 'string' && /^-?\d{1,40}(\.\d{1,40})?$/.test(part)
/** Whether a part is a number of microseconds since 1970 that PostgreSQL can express as a timestamp. */
export const isMicroseconds = (part: unknown): part is string => typeof part === 'string' && /^-?\d{1,17}$/.test(part)
export const isId = (part: unknown): part is number => Number.isSafeInteger(part)
export const isText = (part: unknown): part is string => typeof part === 'string' && isStorable(part)

/** The direction in which a page is read from a cursor; undefined for the first page. */
export type Direction = 'after' | 'before' | undefined

export function directionOf({ after, before }: { after?: string | undefined; before?: string | undefined }): Direction {
  return after !== undefined ? 'after' : before !== undefined ? 'before' : undefined
}

export interface KeysetPage<Row> {
  rows: readonly Row[]
  after: string | null
  before: string | null
}

/**
 * Makes a page of up to `size` + 1 rows that were read from a cursor, nearest first. The extra row only shows that there are more.
 * @param direction the direction in which they were read; `undefined` from the beginning
 */
export function keysetPage<Row>(
  read: readonly Row[],
  { size, direction, toCursor }: { size: number; direction: Direction; toCursor: (row: Row) => string },
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
