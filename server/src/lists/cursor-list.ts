/** A list that is paged by cursors in both directions (§7 startAfter, endBefore): its pages, its count, and a row's neighbours. */
import { type RawBuilder, sql } from 'kysely'
import type { FilterOf, List, SortName } from '@arcade/contract/entity'
import type { Count } from '@arcade/contract/field-schemas'
import type { CallContext, JsonText } from '#src/calls.ts'
import type { Database } from '#src/db/database.ts'
import { columnName, sourceSql } from '#src/db/entities.ts'
import { requiredLsn } from '#src/db/reads.ts'
import { countQueue } from './count-queue.ts'
import { MatchCounts, tooSlow } from './counts.ts'
import { type Ordering, readPosition, type RowPosition, scanFrom, writePosition } from './cursor-orders.ts'
import { type CursorPages, cursorPages } from './cursor-pages.ts'
import type { KeyedRow } from './page-queries.ts'
import { directionOf, keysetPage } from './cursors.ts'
import { jsonArray } from './json-rows.ts'
import { type ListRow, type ServedList, servedTo } from './list.ts'
import { forPersonalAccess, statementName } from './personal.ts'
import { whereFilter } from './where.ts'

/** Counts that run at the same time: each holds a database connection until it ends. */
const COUNTS_AT_ONCE = 4
/** Exact counts that run at the same time. They may take seconds, so they have a queue of their own, and no estimate waits for one. */
const EXACT_COUNTS_AT_ONCE = 2
/** Counts that may wait in each queue: four estimates at a time, at half a second each, finish this many within the longest wait. */
const COUNTS_WAITING = 80
const COUNT_WAIT_MS = 10_000

export type CursorQuery<L extends List> = Ordering<L> &
  FilterOf<L> & { pageSize: number; after?: string | undefined; before?: string | undefined }

export interface CursorPage<L extends List> {
  rows: JsonText<ListRow<L>[]>
  pageSize: number
  /** The number of pages; null, like `total`, for a filtered list that is too long to be counted at once. */
  pageCount: number | null
  total: number | null
  after: string | null
  before: string | null
  /** The ids of those rows that the list marks, if there are any. */
  markedIds?: number[]
}

export interface CursorList<L extends List> {
  /** @throws Failure INVALID_INPUT for a cursor of another list or order */
  page(query: CursorQuery<L>, context: CallContext): Promise<CursorPage<L>>
  /**
   * Counts the matching rows, up to 10,000, or estimates how many there are if that takes long and `isExact` is not set. Beyond 10,000 there is
   * an estimate in any case. Stops when the client leaves.
   * @throws Failure UNAVAILABLE if it takes too long, or if too many other counts are waiting
   */
  count(filter: FilterOf<L>, context: CallContext, options?: CountOptions): Promise<Count>
  /** Returns the ids of the rows before and after this one, or undefined if there is no row with this id. */
  neighbours(id: number, query: Ordering<L> & FilterOf<L>, context: CallContext): Promise<Neighbours | undefined>
}

interface CountOptions {
  isExact?: boolean
}

/** The ids of the rows before and after a row; null where it is the first or the last one. */
export interface Neighbours {
  previous: number | null
  next: number | null
}

export function cursorList<L extends List>(database: Database, served: ServedList<L>): CursorList<L> {
  const queue = (atOnce: number) =>
    countQueue<Count>({ atOnce, mayWait: COUNTS_WAITING, waitMs: COUNT_WAIT_MS, refusal: () => tooSlow() })
  const inTurn = { quick: queue(COUNTS_AT_ONCE), exact: queue(EXACT_COUNTS_AT_ONCE) }
  const lists = forPersonalAccess((sees) => new KeysetList(database, servedTo(served, sees), inTurn))
  return {
    page: async (query, context) => lists(context).page(query, context),
    count: async (filter, context, options) => lists(context).count(filter, context, options),
    neighbours: async (id, query, context) => lists(context).neighbours(id, query, context),
  }
}

type CountsInTurn = Readonly<Record<'quick' | 'exact', ReturnType<typeof countQueue<Count>>>>

class KeysetList<L extends List> implements CursorList<L> {
  readonly #database: Database
  readonly #served: ServedList<L>
  readonly #table: RawBuilder<unknown>
  readonly #id: RawBuilder<unknown>
  readonly #pages: CursorPages<L>
  readonly #inTurn: CountsInTurn
  readonly #counts: MatchCounts<L>

  constructor(database: Database, served: ServedList<L>, inTurn: CountsInTurn) {
    this.#inTurn = inTurn
    this.#database = database
    this.#served = served
    this.#table = sql.raw(sourceSql(served.entity))
    this.#id = sql.ref(columnName(served.entity, served.entity.id))
    this.#pages = cursorPages(database, served)
    this.#counts = new MatchCounts(database, served)
  }

  async page(
    { sort, reversed, pageSize, after, before, ...filter }: CursorQuery<L>,
    context: CallContext,
  ): Promise<CursorPage<L>> {
    const order = this.#pages.orders[sort]
    const where = whereFilter(this.#served, filter as unknown as FilterOf<L>, context)
    const cursor = after ?? before
    const direction = directionOf({ after, before })
    const position = cursor === undefined ? undefined : readPosition(cursor, order, reversed)
    const read = await this.#pages.read(where, scanFrom({ sort, reversed }, direction ?? 'after', position), pageSize + 1)
    const total = read.total ?? (where.isEmpty ? await this.#pages.countAll() : null)
    const cursorAt = (row: KeyedRow): string => writePosition(row, order, reversed)
    const page = keysetPage(read.rows, { size: pageSize, direction, toCursor: cursorAt })
    const marked = page.rows.filter(({ isMarked }) => isMarked)
    return {
      rows: jsonArray(page.rows.map(({ json }) => json)),
      pageSize,
      pageCount: total === null ? null : Math.max(1, Math.ceil(total / pageSize)),
      total,
      after: page.after,
      before: page.before,
      ...(marked.length > 0 && { markedIds: marked.map((row) => row.id) }),
    }
  }

  async count(filter: FilterOf<L>, context: CallContext, { isExact = false }: CountOptions = {}): Promise<Count> {
    const where = whereFilter(this.#served, filter, context)
    const all = await this.#pages.countAll()
    if (where.isEmpty) return { total: all, isMore: false }
    const key = JSON.stringify([statementName(this.#served), filter, requiredLsn()])
    return this.#inTurn[isExact ? 'exact' : 'quick']({
      key,
      signal: context.signal,
      count: (signal) => this.#counts.count(where, { all, isExact, signal }),
    })
  }

  async neighbours(
    id: number,
    { sort, reversed, ...filter }: Ordering<L> & FilterOf<L>,
    context: CallContext,
  ): Promise<Neighbours | undefined> {
    const where = whereFilter(this.#served, filter as unknown as FilterOf<L>, context)
    const position = await this.#findPosition(id, sort)
    if (!position) return undefined
    const [previous, next] = await Promise.all(
      (['before', 'after'] as const).map((way) => this.#pages.read(where, scanFrom({ sort, reversed }, way, position), 1)),
    )
    return { previous: previous?.rows[0]?.id ?? null, next: next?.rows[0]?.id ?? null }
  }

  async #findPosition(id: number, sort: SortName<L>): Promise<RowPosition | undefined> {
    const keyText = sql.raw(this.#pages.orders[sort].keyText)
    const [position] = await this.#database.reads.rows(sql<RowPosition>`
      select ${this.#id} as id, ${keyText} as key from ${this.#table} where ${this.#id} = ${id}`)
    return position
  }
}
