/**
 * Reads a page of a list of millions from any position in any order, filtered or not (design §9). The planner's guess of how many rows a
 * filter matches is not reliable, so the strategies below are tried one after the other, from the cheapest to the most expensive.
 */
import { type RawBuilder, sql } from 'kysely'
import type { List, SortName } from '@arcade/contract/entity'
import type { Database } from '#src/db/database.ts'
import { type CursorOrder, isForwards, type RowPosition, type Scan, scanFrom } from './cursor-orders.ts'
import { bindSql, MAX_HITS, type ServedList } from './list.ts'
import { BITMAP_SETTINGS, type KeyedRow, type PageRequest, PageQueries, type CursorRead } from './page-queries.ts'
import type { Where } from './where.ts'

export interface CursorPages<L extends List> {
  orders: Record<SortName<L>, CursorOrder>
  read(where: Where, scan: Scan<L>, limit: number): Promise<CursorRead>
  /** Returns the number of all rows of the list. */
  countAll(): Promise<number>
}

/** Matches whose positions in the order of a joined table are looked up one by one. With more, checking rows of the order takes less time. */
const FEW_HITS = 200
/** Matches that are collected and looked up among the next rows of the order. With more, the next rows are checked themselves. */
const COLLECTED_HITS = 3_000
/** Estimated matches above which a search is taken to have more than MAX_HITS: the margin allows for the error of a sample. */
const TOO_MANY_HITS = 1.5 * MAX_HITS
/** Rows of the order that are checked for matches that are not near the position. */
const DISTANT_ROWS_CHECKED = 20_000
/** Safety factor on the number of rows that should complete the page, which is estimated by the share of matches so far. */
const WALK_MARGIN = 1.5
/** Rows of the larger sample. It tells whether a search matches very many rows, and finds a match near the position. */
const SAMPLE_ROWS = 2_000
/** Rows of the sample that is checked first. Most searches match so few rows that it contains none, and need no larger sample. */
const FIRST_SAMPLE_ROWS = 300
/** Matches that a sample must contain before its share is used: with fewer the error is too large. */
const MIN_SAMPLE_HITS = 30
/** Matches expected before the sampled row at which reading ends, in pages. With fewer, the page may be incomplete. */
const LIKELY_END_PAGES = 20
/** Rows of a table that PostgreSQL keeps in memory, about 1 GB of pages; above this, random reads cost what the planner assumes. */
const ROWS_CACHED_BY_POSTGRES = 5_000_000
/**
 * Settings for a cached table. Reading its rows costs less than the planner assumes: by default it reads most of an index rather than a
 * tenth of the rows.
 */
const CACHED_TABLE_SETTINGS = {
  ...BITMAP_SETTINGS,
  random_page_cost: '0.3',
  enable_indexscan: 'off', // reads the rows of a bitmap page by page, instead of one by one in the order of the index
}

interface PageLimits {
  /** The first number of rows of the order to check for a page of `limit` rows. */
  rowsNear: (limit: number) => number
  /** How many rows of the order are walked at first. */
  rowsWalked: number
  /** How many rows are walked at most, as a share of those that one step of collecting all matches is expected to read. */
  walkedShare: number
}

/** A row of the order is looked up by indexes, which takes several times as long as reading one of many rows for a join. */
const LIMITS: PageLimits = { rowsNear: (limit) => Math.max(200, 30 * limit), rowsWalked: 10_000, walkedShare: 0.25 }

/** The factor by which more rows are checked next if the first ones contained a sixth of a page. */
const MORE_ROWS = 20

/** A page to find, and what the strategies so far have learned. */
interface PageLookup<L extends List> {
  limits: PageLimits
  where: Where
  page: PageRequest<L>
  queries: PageQueries<L>
  /** How many next rows of the order were checked, and which of them match. */
  checkedRows: number
  nearRows: readonly KeyedRow[]
  /** Whether a small sample contains a match, once it was searched. */
  hasMatchInSample?: boolean
  /** Whether the matches have been collected. */
  isCollected?: boolean
  /** A matching row at or before which the page ends, if one is known. */
  end?: KeyedRow | undefined
}

/** Looks for the page in one way. Returns undefined if this way does not apply or has not found the whole page. */
type Strategy = <L extends List>(lookup: PageLookup<L>) => Promise<CursorRead | undefined>

const strategies: readonly Strategy[] = [
  wholeList, // no filter: a prepared statement, some index steps
  byIndex, // filters with an index in this order: the same
  distinctive, // searches for a number with no hit in a small sample: `collected`, without trying the next rows first
  nearby, // many matches: up to 30 rows of the order for each row of the page, or 600
  bySample, // a search with very many matches: two samples, then two indexes combined
  collected, // up to 3,000 matches in the order of a joined table: looked up among the next rows of the order
  walked, // filters that are expensive to search: further rows of the order, if the next ones contain some matches
  sorted, // up to 10,000 matches: all of them are found by their indexes and sorted
  distant, // more matches, but none near: two indexes combined over the whole order
]

export function cursorPages<L extends List>(database: Database, served: ServedList<L>, limits = LIMITS): CursorPages<L> {
  const queries = new PageQueries(database, served)
  return {
    orders: queries.orders,
    countAll: () => queries.countAll(),
    async read(where, scan, limit) {
      const lookup: PageLookup<L> = { where, page: { scan, limit }, queries, limits, checkedRows: 0, nearRows: [] }
      for (const strategy of strategies) {
        const read = await strategy(lookup)
        if (read) return read
      }
      return { rows: lookup.nearRows }
    },
  }
}

/** Without a filter, one of the prepared statements reads the page. */
async function wholeList<L extends List>({ where, page, queries }: PageLookup<L>): Promise<CursorRead | undefined> {
  if (!where.isEmpty) return undefined
  return (await queries.whole(page)) ?? { rows: await queries.nearby(where, page, page.limit) }
}

/** For filters that have an index in this order, a prepared statement reads the page. */
async function byIndex<L extends List>({ where, page, queries }: PageLookup<L>): Promise<CursorRead | undefined> {
  return where.indexed && queries.indexed(where.indexed, page)
}

/** Checks the next rows of the order: finds the page at once if many rows match. */
async function nearby<L extends List>(lookup: PageLookup<L>): Promise<CursorRead | undefined> {
  const { limit } = lookup.page
  const count = lookup.limits.rowsNear(limit)
  const first = await checkNext(lookup, count)
  if (first || lookup.nearRows.length * 6 < limit) return first
  return checkNext(lookup, MORE_ROWS * count)
}

/** Checks the next `count` rows of the order. Returns the page if they contain all of it. */
async function checkNext<L extends List>(lookup: PageLookup<L>, count: number): Promise<CursorRead | undefined> {
  const { where, page, queries } = lookup
  lookup.checkedRows = count
  lookup.nearRows = await queries.nearby(where, page, count)
  return lookup.nearRows.length === page.limit ? { rows: lookup.nearRows } : undefined
}

/**
 * Estimates by a sample what share of the rows a search matches. If very many do, the sample also shows where the page ends at the latest,
 * and only the matches before that row are read. If the share is moderate, the next rows of the order are likely to contain the page.
 */
async function bySample<L extends List>(lookup: PageLookup<L>): Promise<CursorRead | undefined> {
  const { where, page } = lookup
  if (!where.hasSearch) return undefined
  const { share, ends } = await takeSample(lookup)
  for (const end of ends) {
    const rows = await matchesBefore(lookup, end)
    if (rows.length === page.limit) return { rows }
  }
  return checkShare(lookup, share)
}

/** Finds the page of a search for a number by the matches alone, because the next rows of the order hardly contain any. */
async function distinctive<L extends List>(lookup: PageLookup<L>): Promise<CursorRead | undefined> {
  if (!lookup.where.isDistinctive || (await hasMatchInSample(lookup))) return undefined
  return collected(lookup)
}

/**
 * Finds all matches by their indexes and then the first of them in the order of a joined table. If there are too many, the next rows of the
 * order are likely to contain the page.
 */
async function collected<L extends List>(lookup: PageLookup<L>): Promise<CursorRead | undefined> {
  const { where, page, queries } = lookup
  const { conditions } = where.sql
  if (lookup.isCollected || !conditions || !queries.isJoined(page.scan.sort)) return undefined
  lookup.isCollected = true
  const hits = await queries.collected(where, page, {
    conditions,
    fewHits: FEW_HITS,
    maxHits: COLLECTED_HITS,
    checkedRows: DISTANT_ROWS_CHECKED,
  })
  if (hits.total <= FEW_HITS || (hits.total <= COLLECTED_HITS && hits.rows.length === page.limit)) return hits
  if (hits.total <= COLLECTED_HITS) return undefined
  return checkShare(lookup, COLLECTED_HITS / (await queries.countAll()))
}

/** If this share of rows matches, the page ends within `rowsOfPage` rows: checks these, unless they are more than MAX_HITS. */
async function checkShare<L extends List>(lookup: PageLookup<L>, share: number): Promise<CursorRead | undefined> {
  const rowsOfPage = Math.ceil((2 * lookup.page.limit) / share)
  return rowsOfPage > lookup.checkedRows && rowsOfPage <= MAX_HITS ? checkNext(lookup, rowsOfPage) : undefined
}

/**
 * Checks further rows of the order if collecting all matches would read most of a table, as for players who did not take part in an item.
 */
async function walked<L extends List>({ where, page, queries, limits }: PageLookup<L>): Promise<CursorRead | undefined> {
  if (where.hasSearch) return undefined
  const { scan, limit } = page
  const { sort } = scan
  const mostRows = limits.walkedShare * (await queries.rowsCollected(where))
  const rows: KeyedRow[] = []
  let [from, walkedRows, nextRows] = [scan, 0, limits.rowsWalked]
  while (walkedRows + nextRows <= mostRows) {
    rows.push(...(await queries.walked(where, { scan: from, limit: limit - rows.length }, nextRows)))
    if (rows.length === limit) return { rows }
    const last = await queries.positionAfter(where, from, nextRows)
    if (!last) return { rows } // the order ends there
    from = scanFrom({ sort, reversed: false }, isForwards(scan.start) ? 'after' : 'before', last)
    walkedRows += nextRows
    const rowsOfMatch = walkedRows / rows.length // infinite without a match, which ends the walk
    nextRows = Math.ceil(WALK_MARGIN * rowsOfMatch * (limit - rows.length))
  }
  return undefined
}

/** Finds all matches by their indexes and sorts them, if there are few enough. */
async function sorted<L extends List>(lookup: PageLookup<L>): Promise<CursorRead | undefined> {
  const { where, page, queries, limits } = lookup
  const conditions = where.sql.conditions ?? where.sql.estimatedConditions
  const hits = await queries.among(conditions, { ...page, maxHits: MAX_HITS, isNarrow: !where.hasSearch })
  if (hits.total <= MAX_HITS) return hits
  lookup.end = hits.rows[page.limit - 1]
  const isEnd = (await queries.positionAfter(where, page.scan, limits.rowsNear(page.limit))) === undefined
  return isEnd ? { rows: lookup.nearRows } : undefined
}

/** Finds the page of a filter that matches more than MAX_HITS rows, none of them near the position. */
async function distant<L extends List>(lookup: PageLookup<L>): Promise<CursorRead> {
  const { where, page, queries, end } = lookup
  if (!end) {
    const rows = await queries.nearby(where, page, DISTANT_ROWS_CHECKED)
    if (rows.length === page.limit) return { rows }
  }
  return { rows: await matchesBefore(lookup, end) }
}

interface Sample {
  /** The share of rows that match. */
  share: number
  /** Matching rows up to which to read: a near one, before which the page is probably complete, then one before which it surely is. */
  ends: KeyedRow[]
}

/** Whether a small sample contains a match. False for a list that is too short to have too many. */
async function hasMatchInSample<L extends List>(lookup: PageLookup<L>): Promise<boolean> {
  const { where, queries } = lookup
  const all = await queries.countAll()
  lookup.hasMatchInSample ??= all >= TOO_MANY_HITS && (await queries.matchesInSample(where, { size: FIRST_SAMPLE_ROWS, all }))
  return lookup.hasMatchInSample
}

async function takeSample<L extends List>(lookup: PageLookup<L>): Promise<Sample> {
  if (!(await hasMatchInSample(lookup))) return { share: 0, ends: [] }
  const { where, page, queries } = lookup
  const all = await queries.countAll()
  const { rows, total } = await queries.sampled(where, page, { size: SAMPLE_ROWS, all })
  const share = total / SAMPLE_ROWS
  if (total < MIN_SAMPLE_HITS || share * all < TOO_MANY_HITS) return { share, ends: [] }
  const likelyEnd = Math.ceil((LIKELY_END_PAGES * page.limit * SAMPLE_ROWS) / all)
  const sizes = new Set([Math.min(likelyEnd, page.limit), page.limit])
  return { share, ends: [...sizes].flatMap((size) => rows[size - 1] ?? []) }
}

/**
 * Reads the page from the matches between the position and `end`, which matches, too. One index finds the matches and another one the rows
 * in that range; only rows that both find are read.
 */
async function matchesBefore<L extends List>(
  { where, page, queries }: PageLookup<L>,
  end: KeyedRow | undefined,
): Promise<readonly KeyedRow[]> {
  const { sort, start, parameters } = page.scan
  const after = queries.orders[sort].starts[start]!.parts.map((part) => bindSql(part.where, parameters))
  const within = end
    ? after.flatMap((part) => rangesBefore(end, page.scan, queries).map((before) => sql`(${part} and ${before})`))
    : after
  const conditions = where.sql.estimatedConditions.map(
    (condition) => sql<boolean>`(${condition}) and (${sql.join(within, sql` or `)})`,
  )
  const isCached = !queries.isJoined(sort) && (await queries.countAll()) <= ROWS_CACHED_BY_POSTGRES
  const { rows } = await queries.among(conditions, {
    ...page,
    options: { settings: isCached ? CACHED_TABLE_SETTINGS : BITMAP_SETTINGS },
  })
  return end ? [...rows, end].slice(0, page.limit) : rows
}

/** Conditions of the ranges that come before a row when reading towards it. */
function rangesBefore<L extends List>(
  row: RowPosition,
  { sort, start }: Scan<L>,
  queries: PageQueries<L>,
): RawBuilder<unknown>[] {
  const back = scanFrom<L>({ sort, reversed: false }, isForwards(start) ? 'before' : 'after', row)
  return queries.orders[sort].starts[back.start]!.parts.map(({ where }) => bindSql(where, back.parameters))
}
