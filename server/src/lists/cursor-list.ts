/** A list that is paged by cursors in both directions (§7 startAfter, endBefore): its pages, its count, and a row's neighbours. */
import { type RawBuilder, sql } from 'kysely'
import type { FilterOf, List, SortName } from '@arcade/contract/entity'
import type { Count } from '@arcade/contract/field-schemas'
import { Failure, type JsonText, unlessGone } from '#src/calls.ts'
import type { Database } from '#src/db/database.ts'
import { columnName, sampleSql, sourceSql } from '#src/db/entities.ts'
import { requiredPosition } from '#src/db/reads.ts'
import type { Snapshot } from '#src/db/snapshot.ts'
import { isTimeout } from '#src/postgres/errors.ts'
import { countQueue } from './count-queue.ts'
import { provesMore } from './counted-sample.ts'
import { type Ordering, type Place, readFrom, readPlace, writePlace } from './cursor-orders.ts'
import { type CursorPages, cursorPages } from './cursor-pages.ts'
import { BITMAP_SETTINGS, type KeyedRow } from './page-queries.ts'
import { directionOf, keysetPage } from './cursors.ts'
import { jsonArray } from './json-rows.ts'
import { type ListRow, MAX_HITS, type ServedList, type Where, whereFilter } from './list.ts'

/** Counts that run at the same time: each holds a database connection until it ends. */
const COUNTS_AT_ONCE = 4
/** Counts that may wait: four at a time, at half a second each, finish this many within the longest wait. */
const COUNTS_WAITING = 80
const COUNT_WAIT_MS = 10_000
const COUNT_TIMEOUT_SECONDS = 30
/** Rows of the first, smaller sample, which suffices for most filters to tell whether they match too many rows to be counted. */
const FIRST_COUNT_SAMPLE_ROWS = 2_000
const COUNT_SAMPLE_ROWS = 20_000

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
  page(query: CursorQuery<L>): Promise<CursorPage<L>>
  /**
   * Counts the matching rows, exactly up to 10,000. Stops when the client leaves.
   * @throws Failure UNAVAILABLE if it takes too long, or if too many other counts are waiting
   */
  count(filter: FilterOf<L>, signal: AbortSignal): Promise<Count>
  /** Returns the ids of the rows before and after this one, or undefined if there is no row with this id. */
  neighbours(id: number, query: Ordering<L> & FilterOf<L>): Promise<Neighbours | undefined>
}

/** The ids of the rows before and after a row; null where it is the first or the last one. */
export interface Neighbours {
  previous: number | null
  next: number | null
}

export function cursorList<L extends List>(database: Database, served: ServedList<L>): CursorList<L> {
  return new KeysetList(database, served)
}

class KeysetList<L extends List> implements CursorList<L> {
  readonly #database: Database
  readonly #served: ServedList<L>
  readonly #table: RawBuilder<unknown>
  readonly #id: RawBuilder<unknown>
  readonly #pages: CursorPages<L>
  readonly #countInTurn = countQueue<Count>({
    atOnce: COUNTS_AT_ONCE,
    mayWait: COUNTS_WAITING,
    waitMs: COUNT_WAIT_MS,
    refusal: () => tooSlow(),
  })

  constructor(database: Database, served: ServedList<L>) {
    this.#database = database
    this.#served = served
    this.#table = sql.raw(sourceSql(served.entity))
    this.#id = sql.ref(columnName(served.entity, served.entity.id))
    this.#pages = cursorPages(database, served)
  }

  async page({ sort, reversed, pageSize, after, before, ...filter }: CursorQuery<L>): Promise<CursorPage<L>> {
    const order = this.#pages.orders[sort]
    const where = whereFilter(this.#served, filter as unknown as FilterOf<L>)
    const cursor = after ?? before
    const direction = directionOf({ after, before })
    const place = cursor === undefined ? undefined : readPlace(cursor, order, reversed)
    const read = await this.#pages.read(where, readFrom({ sort, reversed }, direction ?? 'after', place), pageSize + 1)
    const total = read.total ?? (where.isEmpty ? await this.#pages.countAll() : null)
    const cursorAt = (row: KeyedRow): string => writePlace(row, order, reversed)
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

  async count(filter: FilterOf<L>, signal: AbortSignal): Promise<Count> {
    const where = whereFilter(this.#served, filter)
    if (where.isEmpty) return { total: await this.#pages.countAll(), isMore: false }
    const key = JSON.stringify([filter, requiredPosition()])
    return this.#countInTurn({ key, signal, count: (whileWanted) => this.#countMatches(where, whileWanted) })
  }

  async neighbours(id: number, { sort, reversed, ...filter }: Ordering<L> & FilterOf<L>): Promise<Neighbours | undefined> {
    const where = whereFilter(this.#served, filter as unknown as FilterOf<L>)
    const place = await this.#findPlace(id, sort)
    if (!place) return undefined
    const [previous, next] = await Promise.all(
      (['before', 'after'] as const).map((way) => this.#pages.read(where, readFrom({ sort, reversed }, way, place), 1)),
    )
    return { previous: previous?.rows[0]?.id ?? null, next: next?.rows[0]?.id ?? null }
  }

  async #findPlace(id: number, sort: SortName<L>): Promise<Place | undefined> {
    const keyText = sql.raw(this.#pages.orders[sort].keyText)
    const [place] = await this.#database.reads.rows(sql<Place>`
      select ${this.#id} as id, ${keyText} as key from ${this.#table} where ${this.#id} = ${id}`)
    return place
  }

  async #countMatches(where: Where, signal: AbortSignal): Promise<Count> {
    try {
      const all = await this.#pages.countAll()
      const countIn = async (snapshot: Snapshot): Promise<number> => {
        await snapshot.query(`set statement_timeout = '${COUNT_TIMEOUT_SECONDS}s'; set work_mem = '${BITMAP_SETTINGS.work_mem}'`)
        const ask = askIn(snapshot, this.#database, signal)
        return (await this.#isSurelyMore(where, all, ask)) ? MAX_HITS + 1 : this.#countHits(where, ask)
      }
      const found = await this.#database.reads.snapshot(countIn, async (total) => total, { isAwaited: true })
      return { total: Math.min(found, MAX_HITS), isMore: found > MAX_HITS }
    } catch (error) {
      throw isTimeout(error) ? tooSlow(error) : error
    }
  }

  /** Whether a sample proves that far more rows match than are counted. */
  async #isSurelyMore({ matches }: Where, all: number, ask: Ask): Promise<boolean> {
    const sampled = (size: number) => sql.raw(`(${sampleSql(this.#served.entity, size, all)}) as sample`)
    const pagesOfHits = sql`count(distinct sampled_page) filter (where ${matches}) as hits`
    const first = await ask<{ rows: number; pages: number; hits: number }>(
      sql`select count(*) as rows, count(distinct sampled_page) as pages, ${pagesOfHits} from ${sampled(FIRST_COUNT_SAMPLE_ROWS)}`,
    )
    const rowsOfPage = first.rows / first.pages
    const isMore = ({ rows, hits }: { rows: number; hits: number }): boolean =>
      provesMore({ pages: rows / rowsOfPage, hits, allPages: all / rowsOfPage, max: MAX_HITS })
    if (isMore(first)) return true
    const times = COUNT_SAMPLE_ROWS / FIRST_COUNT_SAMPLE_ROWS
    const mayProveIt = isMore({ rows: first.rows * times, hits: (first.hits + 2 * Math.sqrt(first.hits)) * times })
    if (!mayProveIt) return false
    return isMore(
      await ask<{ rows: number; hits: number }>(sql`select count(*) as rows, ${pagesOfHits} from ${sampled(COUNT_SAMPLE_ROWS)}`),
    )
  }

  /** Counts the matching rows up to MAX_HITS + 1. */
  async #countHits({ conditions, estimatedConditions, joinedTable }: Where, ask: Ask): Promise<number> {
    const most = sql.lit(MAX_HITS + 1)
    // Each row has exactly one row in the joined table: a condition on that table alone is counted there, without the join.
    const from = joinedTable === undefined ? this.#table : sql.raw(joinedTable)
    const found = (conditions ?? estimatedConditions).map(
      (condition) => sql`(select ${this.#id} from ${from} where ${condition} limit ${most})`,
    )
    const { total } = await ask<{ total: number }>(
      sql`select count(*) as total from (select * from (${sql.join(found, sql` union all `)}) as hits limit ${most}) as counted`,
    )
    return total
  }
}

/** Runs a query that returns one row. */
type Ask = <Row>(question: RawBuilder<unknown>) => Promise<Row>

/** Returns a function that runs queries in a snapshot. @param signal aborted when no client waits for the answer any more */
function askIn(snapshot: Snapshot, { db }: Database, signal: AbortSignal): Ask {
  return async <Row>(question: RawBuilder<unknown>): Promise<Row> => {
    const query = question.compile(db)
    const [row] = await unlessGone(snapshot.query<Row>(query.sql, [...query.parameters]), signal)
    return row!
  }
}

function tooSlow(cause?: unknown): Failure {
  return new Failure('UNAVAILABLE', {
    message: 'Counting takes too long right now. Please narrow the filter down, or try again later.',
    retryAfterSeconds: 5,
    cause,
  })
}
