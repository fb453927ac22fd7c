/** The orders of the list of players: the ranges of an index that lie after or before a place in it, and cursors for such places. */
import { type PlayersSort, playersSorts } from '@arcade/contract/entities/player'
import { microsecondsSql, momentSql } from '#src/db/moments.ts'
import { isDecimal, isId, isMicroseconds, isText, readCursor, writeCursor } from '#src/lists/cursors.ts'

/** A row's place in an order: its key there, null where it is missing, and the id that decides between equal ones. */
export interface Place {
  key: string | null
  userId: number
}

/** Where reading starts: at an end of the list, beside a row, or beside a row without a key (those come last). */
export type Start = 'first' | 'last' | 'after' | 'before' | 'afterMissing' | 'beforeMissing'

export interface Order {
  /** The column its key comes from; none in the order by the id alone. */
  source: string | undefined
  /** The key as exact text, for cursors. */
  keyText: string
  isKey: (part: unknown) => boolean
  starts: Partial<Record<Start, Ranges>>
}

/** `wheres` are disjoint, nearest first, with $1 for the key and $2 for the id, or $1 for the id alone beside a row without a key. */
interface Ranges {
  wheres: { where: string; orderBy: string }[]
  /** Of rows that are selected with `key` and "userId", in the direction of reading. */
  outerOrderBy: string
}

interface Given {
  source: string
  /** Of the source, as the index has it. */
  column: string
  keyText: string
  /** $1 as the column's type. */
  parameter: string
  /** The key among selected rows. */
  selected: string
  isDescending: boolean
  isOptional: boolean
  isKey: (part: unknown) => boolean
}

export const orders: Record<PlayersSort, Order> = {
  balance: orderBy({
    source: 'balance',
    column: 'balance',
    keyText: 'balance::text',
    parameter: '$1::numeric',
    selected: 'balance',
    isDescending: true,
    isOptional: false,
    isKey: isDecimal,
  }),
  'a-z': orderBy({ ...textOf('first_name'), isDescending: false, isOptional: true, isKey: isText }),
  username: orderBy({ ...textOf('username'), isDescending: false, isOptional: true, isKey: isText }),
  newest: orderBy({
    source: 'created_at',
    column: 'created_at',
    keyText: microsecondsSql('created_at'),
    parameter: momentSql('$1'),
    selected: 'key::bigint',
    isDescending: true,
    isOptional: true,
    isKey: isMicroseconds,
  }),
  'user-id': {
    source: undefined,
    keyText: 'null::text',
    isKey: () => false,
    starts: {
      first: { wheres: [{ where: 'true', orderBy: 'user_id' }], outerOrderBy: '"userId"' },
      last: { wheres: [{ where: 'true', orderBy: 'user_id desc' }], outerOrderBy: '"userId" desc' },
      afterMissing: { wheres: [{ where: 'user_id > $1', orderBy: 'user_id' }], outerOrderBy: '"userId"' },
      beforeMissing: { wheres: [{ where: 'user_id < $1', orderBy: 'user_id desc' }], outerOrderBy: '"userId" desc' },
    },
  },
}

function textOf(source: string) {
  const column = `lower(${source})`
  return { source, column, keyText: column, parameter: '$1::text', selected: 'key' }
}

/** Two exact ranges instead of an OR keep reading a few steps down an index, also among a million equal keys. */
function orderBy({ source, column, keyText, parameter, selected, isDescending, isOptional, isKey }: Given): Order {
  const [down, up] = isOptional ? [' desc nulls last', ' nulls first'] : [' desc', '']
  // To order even equal or missing keys by all columns of the index is what makes the planner take it.
  const forwards = isDescending ? `${column}${down}, user_id` : `${column}, user_id`
  const backwards = isDescending ? `${column}${up}, user_id desc` : `${column} desc, user_id desc`
  const missing = (where: string, order: string) => ({ where: `${column} is null${where}`, orderBy: order })
  const after = isDescending
    ? [
        { where: `${column} = ${parameter} and user_id > $2`, orderBy: 'user_id' },
        { where: `${column} < ${parameter}`, orderBy: forwards },
      ]
    : [{ where: `(${column}, user_id) > (${parameter}, $2::bigint)`, orderBy: forwards }]
  const before = isDescending
    ? [
        { where: `${column} = ${parameter} and user_id < $2`, orderBy: 'user_id desc' },
        { where: `${column} > ${parameter}`, orderBy: backwards },
      ]
    : [{ where: `(${column}, user_id) < (${parameter}, $2::bigint)`, orderBy: backwards }]
  const outer = {
    forwards: `${selected}${isDescending ? down : ''}, "userId"`,
    backwards: `${selected}${isDescending ? up : ' desc'}, "userId" desc`,
  }
  const starts: Order['starts'] = {
    first: { wheres: [{ where: 'true', orderBy: forwards }], outerOrderBy: outer.forwards },
    last: { wheres: [{ where: 'true', orderBy: backwards }], outerOrderBy: outer.backwards },
    after: { wheres: [...after, ...(isOptional ? [missing('', forwards)] : [])], outerOrderBy: outer.forwards },
    before: { wheres: before, outerOrderBy: outer.backwards },
  }
  if (isOptional) {
    starts.afterMissing = { wheres: [missing(' and user_id > $1', forwards)], outerOrderBy: outer.forwards }
    starts.beforeMissing = {
      wheres: [missing(' and user_id < $1', backwards), { where: `${column} is not null`, orderBy: backwards }],
      outerOrderBy: outer.backwards,
    }
  }
  return { source, keyText, isKey, starts }
}

/** A place to read from and the way from there, in the order as it is when it is not reversed. */
export interface Reading {
  sort: PlayersSort
  start: Start
  /** The parameters of the start's ranges. */
  parameters: (string | number)[]
}

/** From a place one way, or from an end of the list. A reversed list is the same one read the other way. */
export function readingOf(list: { sort: PlayersSort; reversed: boolean }, way: 'after' | 'before', place?: Place): Reading {
  const { sort, reversed } = list
  const isForwards = (way === 'after') !== reversed
  if (place === undefined) return { sort, start: isForwards ? 'first' : 'last', parameters: [] }
  const { key, userId } = place
  if (key === null) return { sort, start: isForwards ? 'afterMissing' : 'beforeMissing', parameters: [userId] }
  return { sort, start: isForwards ? 'after' : 'before', parameters: [key, userId] }
}

/** @throws Failure INVALID_INPUT for a cursor of another list or order */
export function placeAt(cursor: string, list: { sort: PlayersSort; reversed: boolean }): Place {
  const { isKey, starts } = orders[list.sort]
  const isOurs = (part: unknown): part is string | null => isKey(part) || (part === null && starts.afterMissing !== undefined)
  const [key, userId] = readCursor<[string | null, number]>(cursor, listName(list), [isOurs, isId])
  return { key, userId }
}

export function cursorAt({ key, userId }: Place, list: { sort: PlayersSort; reversed: boolean }): string {
  return writeCursor([listName(list), key, userId])
}

function listName({ sort, reversed }: { sort: PlayersSort; reversed: boolean }): string {
  return reversed ? `${sort} reversed` : sort
}

export const everyStart = playersSorts.flatMap((sort) =>
  (Object.entries(orders[sort].starts) as [Start, Ranges][]).map(([start, ranges]) => ({ sort, start, ranges })),
)
