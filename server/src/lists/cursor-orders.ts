/**
 * The orders of a list that is paged by cursors. For each order: the ranges of its index after and before a position, and the cursors of
 * positions. An order sorts by the value of a field, then by the row's id.
 */
import type { Field, List, SortName } from '@arcade/contract/entity'
import { aToZSql, lowerSql } from '#src/db/collations.ts'
import { columnName, sourceSql } from '#src/db/entities.ts'
import { microsecondsOfUtc, microsecondsSql, momentSql, utcSql } from '#src/db/moments.ts'
import { isDecimal, isId, isMicroseconds, isText, readCursor, writeCursor } from './cursors.ts'
import type { ServedList } from './list.ts'

/** A row's position in an order: the value that the order sorts by, null if it is missing, and the id, which decides between equal values. */
export interface RowPosition {
  key: string | null
  id: number
}

/** Where reading starts: at an end of the list, next to a row, or next to a row without a value (those come last). */
export type Start = 'first' | 'last' | 'after' | 'before' | 'afterMissing' | 'beforeMissing'

/** Whether reading from this start follows the order. */
export function isForwards(start: Start): boolean {
  return start === 'first' || start === 'after' || start === 'afterMissing'
}

interface SentKey {
  text: string
  toKey: (sent: string) => string
}

export interface CursorOrder {
  /** A name that is unique among the orders of all lists. A cursor is valid for one order only. */
  name: string
  /** The SQL source of the rows in this order. */
  source: string
  /** The column that the order sorts by; undefined for the order by id alone. */
  column: string | undefined
  /** SQL for the value that the order sorts by. */
  value: string
  /** SQL for that value as exact text, for cursors. */
  keyText: string
  /** SQL that PostgreSQL sends faster than `keyText`, and the function that turns its result into `keyText`. */
  sentKey: SentKey
  isKey: (part: unknown) => boolean
  starts: Partial<Record<Start, Ranges>>
  /** SQL for $1 with the type of `value`. */
  parameter: string
  /** The same for the indexes of single filters; undefined if no filter has an index in this order. */
  filtered: Pick<CursorOrder, 'value' | 'parameter' | 'starts'> | undefined
}

/** Disjoint parts of the table, the nearest first. */
export interface Ranges {
  /** In the conditions, $1 is the value and $2 the id; next to a row without a value, $1 is the id. */
  parts: { where: string; orderBy: string }[]
  /** The same order, for rows that were selected with their `order_value` and `order_id`. */
  outerOrderBy: string
}

/** SQL by which values of one kind are compared and written to cursors. */
interface Comparison {
  /** SQL for the value, as the index contains it. */
  value: string
  keyText: string
  sentKey?: SentKey
  /** SQL for $1 with the value's type. */
  parameter: string
  isKey: (part: unknown) => boolean
  /** Value and parameter as in the indexes of single filters. Nothing else is ordered by them, so the planner can use no other index. */
  filtered?: { value: string; parameter: string }
}

const comparisons: Record<Exclude<Field['kind'], 'flag'>, (column: string) => Comparison> = {
  number: compareNumbers,
  integer: compareNumbers,
  moment: (column) => ({
    value: column,
    keyText: microsecondsSql(column),
    sentKey: { text: utcSql(column), toKey: microsecondsOfUtc },
    parameter: momentSql('$1'),
    isKey: isMicroseconds,
    filtered: { value: `(${utcSql(column)})`, parameter: `(${utcSql(momentSql('$1'))})` },
  }),
  text: compareTexts,
  choice: compareTexts,
}

function asItIs(text: string): SentKey {
  return { text, toKey: (sent) => sent }
}

function compareNumbers(column: string): Comparison {
  return { value: column, keyText: `${column}::text`, parameter: '$1::numeric', isKey: isDecimal }
}

function compareTexts(column: string): Comparison {
  return { value: aToZSql(column), keyText: lowerSql(column), parameter: '$1::text', isKey: isText }
}

/** Returns the order of a sort that the contract declares. */
export function cursorOrder<L extends List>({ list, entity }: ServedList<L>, sort: SortName<L>): CursorOrder {
  const { field, isDescending = false } = list.sorts[sort]!
  const named = { name: `${list.name}:${sort}`, source: sourceSql(entity, field) }
  const idColumn = columnName(entity, entity.id)
  if (field === entity.id) return { ...named, ...orderById(idColumn) }
  const { kind, isOptional = false } = entity.fields[field]!
  if (kind === 'flag') throw new Error(`${field}: a list cannot be paged in the order of a flag`)
  const column = columnName(entity, field)
  const { keyText, sentKey = asItIs(keyText), isKey, filtered, ...comparison } = comparisons[kind](column)
  const options = { idColumn, isDescending, isOptional }
  return {
    ...named,
    column,
    value: comparison.value,
    keyText,
    sentKey,
    isKey,
    starts: orderByField({ ...comparison, ...options }),
    parameter: comparison.parameter,
    filtered: filtered && { ...filtered, starts: orderByField({ ...filtered, ...options }) },
  }
}

function orderById(column: string): Omit<CursorOrder, 'name' | 'source'> {
  const [up, down] = [column, `${column} desc`]
  const [outerUp, outerDown] = ['order_id', 'order_id desc']
  return {
    column: undefined,
    value: 'null::text',
    keyText: 'null::text',
    sentKey: asItIs('null::text'),
    isKey: () => false,
    starts: {
      first: { parts: [{ where: 'true', orderBy: up }], outerOrderBy: outerUp },
      last: { parts: [{ where: 'true', orderBy: down }], outerOrderBy: outerDown },
      afterMissing: { parts: [{ where: `${column} > $1`, orderBy: up }], outerOrderBy: outerUp },
      beforeMissing: { parts: [{ where: `${column} < $1`, orderBy: down }], outerOrderBy: outerDown },
    },
    parameter: '$1',
    filtered: undefined,
  }
}

interface OrderOptions extends Omit<Comparison, 'keyText' | 'sentKey' | 'isKey' | 'filtered'> {
  idColumn: string
  isDescending: boolean
  isOptional: boolean
}

/** Uses two exact ranges instead of an OR, so that reading takes a few steps down an index even among a million equal values. */
function orderByField({ value, parameter, idColumn, isDescending, isOptional }: OrderOptions): CursorOrder['starts'] {
  const [down, up] = isOptional ? [' desc nulls last', ' nulls first'] : [' desc', '']
  // The planner uses the index only if equal and missing values are ordered by all of its columns as well.
  const forwards = isDescending ? `${value}${down}, ${idColumn}` : `${value}, ${idColumn}`
  const backwards = isDescending ? `${value}${up}, ${idColumn} desc` : `${value} desc, ${idColumn} desc`
  const missing = (where: string, order: string) => ({ where: `${value} is null${where}`, orderBy: order })
  const after = isDescending
    ? [
        { where: `${value} = ${parameter} and ${idColumn} > $2`, orderBy: idColumn },
        { where: `${value} < ${parameter}`, orderBy: forwards },
      ]
    : [{ where: `(${value}, ${idColumn}) > (${parameter}, $2::bigint)`, orderBy: forwards }]
  const before = isDescending
    ? [
        { where: `${value} = ${parameter} and ${idColumn} < $2`, orderBy: `${idColumn} desc` },
        { where: `${value} > ${parameter}`, orderBy: backwards },
      ]
    : [{ where: `(${value}, ${idColumn}) < (${parameter}, $2::bigint)`, orderBy: backwards }]
  const outer = {
    forwards: `order_value${isDescending ? down : ''}, order_id`,
    backwards: `order_value${isDescending ? up : ' desc'}, order_id desc`,
  }
  const starts: CursorOrder['starts'] = {
    first: { parts: [{ where: 'true', orderBy: forwards }], outerOrderBy: outer.forwards },
    last: { parts: [{ where: 'true', orderBy: backwards }], outerOrderBy: outer.backwards },
    after: { parts: [...after, ...(isOptional ? [missing('', forwards)] : [])], outerOrderBy: outer.forwards },
    before: { parts: before, outerOrderBy: outer.backwards },
  }
  if (isOptional) {
    starts.afterMissing = { parts: [missing(` and ${idColumn} > $1`, forwards)], outerOrderBy: outer.forwards }
    starts.beforeMissing = {
      parts: [missing(` and ${idColumn} < $1`, backwards), { where: `${value} is not null`, orderBy: backwards }],
      outerOrderBy: outer.backwards,
    }
  }
  return starts
}

/** One of the list's orders, possibly reversed. */
export interface Ordering<L extends List> {
  sort: SortName<L>
  reversed: boolean
}

/** A position and the direction in which to read from it, in terms of the order that is not reversed. */
export interface Scan<L extends List> {
  sort: SortName<L>
  start: Start
  /** The parameters of the ranges of `start`. */
  parameters: (string | number)[]
}

/** Returns the scan from a position, or from an end of the list. A reversed list is read in the opposite direction. */
export function scanFrom<L extends List>(
  { sort, reversed }: Ordering<L>,
  way: 'after' | 'before',
  position?: RowPosition,
): Scan<L> {
  const goesForwards = (way === 'after') !== reversed
  if (position === undefined) return { sort, start: goesForwards ? 'first' : 'last', parameters: [] }
  const { key, id } = position
  if (key === null) return { sort, start: goesForwards ? 'afterMissing' : 'beforeMissing', parameters: [id] }
  return { sort, start: goesForwards ? 'after' : 'before', parameters: [key, id] }
}

/** @throws Failure INVALID_INPUT for a cursor of another list or order */
export function readPosition(cursor: string, order: CursorOrder, reversed: boolean): RowPosition {
  const { isKey, starts } = order
  const isKeyHere = (part: unknown): part is string | null => isKey(part) || (part === null && starts.afterMissing !== undefined)
  const [key, id] = readCursor<[string | null, number]>(cursor, cursorName(order, reversed), [isKeyHere, isId])
  return { key, id }
}

export function writePosition({ key, id }: RowPosition, order: CursorOrder, reversed: boolean): string {
  return writeCursor([cursorName(order, reversed), key, id])
}

function cursorName({ name }: CursorOrder, reversed: boolean): string {
  return reversed ? `${name} reversed` : name
}
