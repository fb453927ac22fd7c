/** A list that is paged by cursors in both directions (§7 startAfter, endBefore): its pages, its count, and a row's neighbours. */
import { type RawBuilder, sql } from 'kysely'
import type { FilterOf, List, SortName } from '@arcade/contract/entity'
import type { Count } from '@arcade/contract/field-schemas'
import { type CallContext, Failure, type JsonText, unlessGone } from '#src/calls.ts'
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
import { type ListRow, MAX_HITS, type ServedList, type Where, whereFilter, servedTo } from './list.ts'
import { forEachSight, statementName } from './personal.ts'

/** Counts that run at the same time: each holds a database connection until it ends. */
const COUNTS_AT_ONCE = 4
/** Counts that may wait: four at a time, at half a second each, finish this many within the longest wait. */
const COUNTS_WAITING = 80
const COUNT_WAIT_MS = 10_000
const COUNT_TIMEOUT_MS = 30_000
/** How long filters are counted exactly: a person who edits filters sees the number within 300 ms. */
const QUICK_COUNT_MS = 120
/** Matches in a sample from which their number is estimated, with an error of about a third; from fewer it would be a guess. */
const ESTIMATED_FROM_MATCHES = 10
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
  page(query: CursorQuery<L>, context: CallContext): Promise<CursorPage<L>>
  /**
   * Counts the matching rows, exactly up to 10,000, and estimates how many there are beyond. A filter that looks up rows of other tables,
   * or has groups, is estimated sooner if counting takes long. Stops when the client leaves.
   * @throws Failure UNAVAILABLE if it takes too long, or if too many other counts are waiting
   */
  count(filter: FilterOf<L>, context: CallContext): Promise<Count>
  /** Returns the ids of the rows before and after this one, or undefined if there is no row with this id. */
  neighbours(id: number, query: Ordering<L> & FilterOf<L>, context: CallContext): Promise<Neighbours | undefined>
}

/** The ids of the rows before and after a row; null where it is the first or the last one. */
export interface Neighbours {
  previous: number | null
  next: number | null
}

export function cursorList<L extends List>(database: Database, served: ServedList<L>): CursorList<L> {
  const countInTurn = countQueue<Count>({
    atOnce: COUNTS_AT_ONCE,
    mayWait: COUNTS_WAITING,
    waitMs: COUNT_WAIT_MS,
    refusal: () => tooSlow(),
  })
  const lists = forEachSight((sees) => new KeysetList(database, servedTo(served, sees), countInTurn))
  return {
    page: async (query, context) => lists(context).page(query, context),
    count: async (filter, context) => lists(context).count(filter, context),
    neighbours: async (id, query, context) => lists(context).neighbours(id, query, context),
  }
}

type CountInTurn = ReturnType<typeof countQueue<Count>>

class KeysetList<L extends List> implements CursorList<L> {
  readonly #database: Database
  readonly #served: ServedList<L>
  readonly #table: RawBuilder<unknown>
  readonly #id: RawBuilder<unknown>
  readonly #pages: CursorPages<L>
  readonly #countInTurn: CountInTurn

  constructor(database: Database, served: ServedList<L>, countInTurn: CountInTurn) {
    this.#countInTurn = countInTurn
    this.#database = database
    this.#served = served
    this.#table = sql.raw(sourceSql(served.entity))
    this.#id = sql.ref(columnName(served.entity, served.entity.id))
    this.#pages = cursorPages(database, served)
  }

  async page(
    { sort, reversed, pageSize, after, before, ...filter }: CursorQuery<L>,
    context: CallContext,
  ): Promise<CursorPage<L>> {
    const order = this.#pages.orders[sort]
    const where = whereFilter(this.#served, filter as unknown as FilterOf<L>, context)
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

  async count(filter: FilterOf<L>, context: CallContext): Promise<Count> {
    const where = whereFilter(this.#served, filter, context)
    if (where.isEmpty) return { total: await this.#pages.countAll(), isMore: false }
    const { signal } = context
    const key = JSON.stringify([statementName(this.#served), filter, requiredPosition()])
    return this.#countInTurn({ key, signal, count: (whileWanted) => this.#countMatches(where, whileWanted) })
  }

  async neighbours(
    id: number,
    { sort, reversed, ...filter }: Ordering<L> & FilterOf<L>,
    context: CallContext,
  ): Promise<Neighbours | undefined> {
    const where = whereFilter(this.#served, filter as unknown as FilterOf<L>, context)
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
      const countIn = async (snapshot: Snapshot): Promise<Count> => {
        await snapshot.query(`set work_mem = '${BITMAP_SETTINGS.work_mem}'`)
        return this.#countInSnapshot(where, all, { snapshot, ask: askIn(snapshot, this.#database, signal) })
      }
      return await this.#database.reads.snapshot(countIn, async (counted) => counted, { isAwaited: true })
    } catch (error) {
      throw isTimeout(error) ? tooSlow(error) : error
    }
  }

  /** Counts exactly, unless a sample proves that far too many rows match, or shows how many there are about while counting takes long. */
  async #countInSnapshot(where: Where, all: number, { snapshot, ask }: { snapshot: Snapshot; ask: Ask }): Promise<Count> {
    const limitTo = (milliseconds: number) => snapshot.query(`set statement_timeout = ${milliseconds}; savepoint counting`)
    await limitTo(COUNT_TIMEOUT_MS)
    const sample = await this.#sample(where, all, ask)
    if (sample.isSurelyMore) return { total: MAX_HITS, isMore: true, about: aboutOf(sample, all) }
    // Searches are counted by their indexes. A table that is no larger than the sample is counted, because the sample would read all of it.
    const mayEstimate = !where.hasSearch && all > COUNT_SAMPLE_ROWS
    if (mayEstimate) await limitTo(QUICK_COUNT_MS)
    try {
      return toCount(await this.#countHits(where, ask), sample, all)
    } catch (error) {
      if (!mayEstimate || !isTimeout(error)) throw error
    }
    await snapshot.query('rollback to savepoint counting')
    await limitTo(COUNT_TIMEOUT_MS)
    const large =
      sample.rows < COUNT_SAMPLE_ROWS / 2 ? await this.#takeSample(where, { size: COUNT_SAMPLE_ROWS, all }, ask) : sample
    if (large.matches < ESTIMATED_FROM_MATCHES) return toCount(await this.#countHits(where, ask), large, all)
    return { total: Math.min(large.matches, MAX_HITS), isMore: true, about: aboutOf(large, all) }
  }

  /** Whether a sample proves that far more rows match than are counted, and the sample. */
  async #sample(where: Where, all: number, ask: Ask): Promise<Sample & { isSurelyMore: boolean }> {
    const first = await this.#takeSample(where, { size: FIRST_COUNT_SAMPLE_ROWS, all }, ask)
    const rowsOfPage = first.rows / first.pages
    const isMore = ({ rows, hits }: { rows: number; hits: number }): boolean =>
      provesMore({ pages: rows / rowsOfPage, hits, allPages: all / rowsOfPage, max: MAX_HITS })
    if (isMore(first)) return { ...first, isSurelyMore: true }
    const times = COUNT_SAMPLE_ROWS / FIRST_COUNT_SAMPLE_ROWS
    const mayProveIt = isMore({ rows: first.rows * times, hits: (first.hits + 2 * Math.sqrt(first.hits)) * times })
    if (!mayProveIt) return { ...first, isSurelyMore: false }
    const second = await this.#takeSample(where, { size: COUNT_SAMPLE_ROWS, all }, ask)
    return { ...second, isSurelyMore: isMore(second) }
  }

  /** Counts by pages first, so that each row is checked once. */
  #takeSample({ matches }: Where, { size, all }: { size: number; all: number }, ask: Ask): Promise<Sample> {
    const sample = sql.raw(`(${sampleSql(this.#served.entity, size, all)}) as sample`)
    return ask<Sample>(sql`
      select coalesce(sum(sampled), 0) as rows, count(*) as pages, coalesce(sum(matching), 0) as matches,
             count(*) filter (where matching > 0) as hits
        from (select count(*) as sampled, count(*) filter (where ${matches}) as matching from ${sample} group by sampled_page) as pages`)
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

interface Sample {
  rows: number
  pages: number
  /** The number of sampled rows that match. */
  matches: number
  /** The number of sampled pages with a matching row. */
  hits: number
}

/** Returns the estimated number of matches, in two digits, because the sample shows no more. */
function aboutOf({ matches, rows }: Sample, all: number): number {
  return Number(((matches / Math.max(1, rows)) * all).toPrecision(2))
}

function toCount(found: number, sample: Sample, all: number): Count {
  if (found <= MAX_HITS) return { total: found, isMore: false }
  return { total: MAX_HITS, isMore: true, about: Math.max(MAX_HITS, aboutOf(sample, all)) }
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
