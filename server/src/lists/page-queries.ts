/**
 * The statements that read a page of a list by its position in an order. cursor-pages.ts decides which of them to use. They return rows as
 * JSON text, because making objects of thousands of rows would take longer than reading them.
 */
import { type RawBuilder, sql } from 'kysely'
import type { List, SortName } from '@arcade/contract/entity'
import type { Database } from '#src/db/database.ts'
import { columnName, columnTypes, isJoinedField, lookedUpSql, sampleSql, selectList, sourceSql } from '#src/db/entities.ts'
import type { TextRow, TextsOptions } from '#src/db/reads.ts'
import { type CursorOrder, cursorOrder, type Ranges, type RowPosition, type Scan, type Start } from './cursor-orders.ts'
import { type Explained, mostRowsIn } from './explained.ts'
import { rowWriter } from './json-rows.ts'
import { bindSql, type Condition, type ServedList } from './list.ts'
import { statementName } from './personal.ts'
import type { Where } from './where.ts'

/** A row as JSON, and its position in the order. */
export interface KeyedRow extends RowPosition {
  json: string
  /** Whether the list's `markCondition` holds for the row. */
  isMarked: boolean
}

export interface CursorRead {
  /** Up to `limit` rows, the nearest first. */
  rows: readonly KeyedRow[]
  /** The number of all rows that the filter matches, if reading has found it out. */
  total?: number | undefined
}

/** A page to read: `limit` rows from a position on. */
export interface PageRequest<L extends List> {
  scan: Scan<L>
  limit: number
}

interface HitsOptions<L extends List> extends PageRequest<L> {
  maxHits?: number
  /** SQL for the rows to search; all rows by default. */
  from?: string | undefined
  /** Whether to read the value of the order only for rows that match, because an index may suffice to find these. */
  isNarrow?: boolean
  options?: TextsOptions
}

type PreparedPage = (parameters: unknown[]) => Promise<CursorRead>

/**
 * Memory for the positions of ten million rows that an index has found: with less, PostgreSQL keeps pages only and rechecks all their rows.
 * No parallel workers: starting them takes several milliseconds, also for a condition that finds nothing.
 */
export const BITMAP_SETTINGS = { work_mem: '64MB', max_parallel_workers_per_gather: '0' }

/**
 * Options for collecting the matches of a filter. The plan for a search alone depends on none of its values, because `indexed` hides them from
 * the planner (search.ts), so PostgreSQL plans it once for each connection.
 */
function optionsFor({ isSearchAlone }: Where): TextsOptions {
  return { settings: BITMAP_SETTINGS, isRepeated: isSearchAlone, hasOnePlan: isSearchAlone }
}

/** The number of columns before a row's fields: the total, and the row's key, id and mark. */
const FIRST_FIELD = 4

/** A row of a page. Only the keys of a page's ends are needed, so each is converted when it is asked for. */
class SentRow implements KeyedRow {
  readonly json: string
  readonly id: number
  readonly isMarked: boolean
  readonly #sentKey: string | null
  readonly #toKey: (sent: string) => string

  constructor(row: TextRow, json: string, toKey: (sent: string) => string) {
    this.json = json
    this.id = Number(row[2])
    this.isMarked = row[3] === 't'
    this.#sentKey = row[1] ?? null
    this.#toKey = toKey
  }

  get key(): string | null {
    return this.#sentKey === null ? null : this.#toKey(this.#sentKey)
  }
}

export class PageQueries<L extends List> {
  readonly orders: Record<SortName<L>, CursorOrder>
  readonly #reads: Database['reads']
  readonly #served: ServedList<L>
  readonly #table: RawBuilder<unknown>
  readonly #idColumn: string
  /** SQL that selects the fields. */
  readonly #fields: string
  readonly #fieldNames: string[]
  readonly #writeRow: (row: TextRow) => string
  /** SQL for the number of all rows. */
  readonly #countAllSql: string
  readonly #prepared = new Map<string, PreparedPage>()
  readonly #readTotal: (parameters: unknown[]) => Promise<readonly { total: number }[]>

  constructor({ reads }: Database, served: ServedList<L>) {
    const { list, entity, derived, counted, masks } = served
    this.#reads = reads
    this.#served = served
    this.#table = sql.raw(sourceSql(entity))
    this.#idColumn = columnName(entity, entity.id)
    this.#fields = selectList(entity, { derived, moments: 'utc', masks })
    this.#fieldNames = Object.keys(entity.fields).map((name) => `"${name}"`)
    this.#writeRow = rowWriter(entity.fields, FIRST_FIELD)
    this.#countAllSql = counted?.({}) ?? `(select count(*) from ${entity.table})`
    const sorts = Object.keys(list.sorts) as SortName<L>[]
    this.orders = Object.fromEntries(sorts.map((sort) => [sort, cursorOrder(served, sort)])) as Record<SortName<L>, CursorOrder>
    for (const sort of sorts) this.#preparePages(sort)
    this.#readTotal = reads.prepared<{ total: number }>(`${statementName(served)}-total`, `select ${this.#countAllSql} as total`)
  }

  /** Returns the number of all rows of the list. */
  async countAll(): Promise<number> {
    return (await this.#readTotal([]))[0]?.total ?? 0
  }

  /** Reads a page of the whole list. Returns undefined for a limit that is not prepared. */
  async whole({ scan, limit }: PageRequest<L>): Promise<CursorRead | undefined> {
    return this.#prepared.get(this.#statementName(scan, limit))?.(scan.parameters)
  }

  /** Reads a page of filters that have an index in this order. Returns undefined if there is no such index. */
  async indexed(filters: NonNullable<Where['indexed']>, { scan, limit }: PageRequest<L>): Promise<CursorRead | undefined> {
    const page = this.#indexedPage(scan, limit, filters.filters)
    return page && { rows: (await page([...scan.parameters, ...filters.values])).rows }
  }

  /** Reads the matching rows among the next `checkedRows` rows of the order. */
  async nearby(where: Where, { scan, limit }: PageRequest<L>, checkedRows: number): Promise<readonly KeyedRow[]> {
    // A filter that looks up other tables is checked inside the subquery, because Citus cannot join tables to the result of a LIMIT.
    const { looksUp } = where.sql
    const columns = looksUp ? sql`*, (${where.sql.matches}) as is_match` : sql`*`
    const matches = looksUp ? sql`is_match` : where.sql.matches
    const found = await this.#reads.texts(
      sql`
      select ${sql.raw(this.#columns('null'))} from (
        select ${sql.raw(this.#withPosition(scan.sort))} from ${this.#nextRows(where, scan, { count: checkedRows, columns })} as looked
          where ${matches} limit ${sql.lit(limit)}
      ) as page order by ${sql.raw(this.orders[scan.sort].starts[scan.start]!.outerOrderBy)}`,
      { isRepeated: where.isSearchAlone },
    )
    return this.#toRead(found, scan.sort).rows
  }

  /**
   * Reads the matching rows among the next `checkedRows` rows of the order, as `nearby` does, but for many rows. It reads other columns than
   * the id only of matching rows, so an index often suffices for the rest.
   */
  async walked(where: Where, page: PageRequest<L>, checkedRows: number): Promise<readonly KeyedRow[]> {
    const id = sql.raw(this.#idColumn)
    const columns = sql`${id}, (${where.sql.matches}) as is_match`
    const source = where.sql.isOfJoined && this.isJoined(page.scan.sort) ? this.#served.entity.joined!.table : undefined
    const hits = sql`select ${id} from ${this.#nextRows(where, page.scan, { count: checkedRows, columns, source })} as walked
      where is_match limit ${sql.lit(page.limit)}`
    return (await this.#pageOfHits(page.scan, { hits, next: sql`select ${id} as next_id from hits` })).rows
  }

  /** Returns about how many rows of a table or an index are read at once to collect all matches: the most in any step of the plan. */
  async rowsCollected({ sql: { estimatedConditions } }: Where): Promise<number> {
    const hits = this.#hits(estimatedConditions, { columns: this.#idColumn })
    const [explained] = await this.#reads.rows<Explained>(sql`explain (format json) ${hits}`)
    return mostRowsIn(explained!)
  }

  /** Returns the position of the row that is `number` rows further in the order, or undefined if the order ends before. */
  async positionAfter(where: Where, scan: Scan<L>, number: number): Promise<RowPosition | undefined> {
    const { column, keyText } = this.orders[scan.sort]
    const columns = sql.raw([this.#idColumn, ...(column === undefined ? [] : [column])].join(', '))
    const rows = this.#nextRows(where, scan, { count: number, columns })
    const [position] = await this.#reads.rows<RowPosition>(sql`
      select ${sql.raw(this.#idColumn)} as id, ${sql.raw(keyText)} as key
        from (select * from ${rows} as looked offset ${sql.lit(number - 1)}) as last`)
    return position
  }

  /** Whether a random sample of about `size` of the list's `all` rows contains a match. */
  async matchesInSample(
    { sql: { matches }, isSearchAlone }: Where,
    { size, all }: { size: number; all: number },
  ): Promise<boolean> {
    const sample = sql.raw(`(${sampleSql(this.#served.entity, size, all)}) as sample`)
    const found = await this.#reads.texts(sql`select 1 from ${sample} where ${matches} limit 1`, { isRepeated: isSearchAlone })
    return found.length > 0
  }

  /** Searches a random sample of about `size` of the list's `all` rows. */
  async sampled({ sql: { matches } }: Where, page: PageRequest<L>, { size, all }: { size: number; all: number }) {
    const { entity } = this.#served
    return this.among([matches], { ...page, from: `(${sampleSql(entity, size, all)}) as ${entity.table}` })
  }

  /**
   * Collects all rows that match one of the conditions, at most one more than `maxHits`, and sorts them for the page. With more than
   * `maxHits` rows the page is in no particular order. Returns the number of collected rows, too.
   */
  async among(
    conditions: readonly Condition[],
    { scan, limit, maxHits, from, isNarrow = false, options }: HitsOptions<L>,
  ): Promise<{ rows: readonly KeyedRow[]; total: number }> {
    const { sort, start, parameters } = scan
    const { parts } = this.orders[sort].starts[start]!
    const afterPosition = parts.map(({ where }) => bindSql(where, parameters))
    const id = sql.raw(this.#idColumn)
    const ordered = isNarrow
      ? sql`(select ${sql.raw(this.#orderColumns(sort))} from hits join ${sql.raw(this.#served.entity.table)} using (${id})) as ordered`
      : sql`hits`
    const next = sql`
      select ${id} as next_id from ${ordered} where (${sql.join(afterPosition, sql`) or (`)})
       order by ${sql.raw(parts.at(-1)!.orderBy)} limit ${sql.lit(limit)}`
    const hits = this.#hits(conditions, { columns: isNarrow ? this.#idColumn : this.#orderColumns(sort), from, maxHits })
    return this.#pageOfHits(scan, { hits, next, options })
  }

  /**
   * Finds the ids of rows that match any of the conditions, at most `maxHits` + 1, for an order by a field of the joined table. Looks up and
   * sorts up to `fewHits` of them. If there are more, it searches the next `checkedRows` rows of the order, and the page may be incomplete.
   */
  async collected(
    where: Where,
    { scan, limit }: PageRequest<L>,
    {
      conditions,
      fewHits,
      maxHits,
      checkedRows,
    }: { conditions: readonly Condition[]; fewHits: number; maxHits: number; checkedRows: number },
  ): Promise<{ rows: readonly KeyedRow[]; total: number }> {
    const { entity } = this.#served
    const { column, starts } = this.orders[scan.sort]
    const { parts } = starts[scan.start]!
    const id = sql.raw(this.#idColumn)
    const source = entity.joined!.table
    const isFew = sql`(select count(*) <= ${sql.lit(fewHits)} from hits)`
    // The literal limit shows the planner that a few rows are looked up one by one.
    const few = sql`select ${id} from hits where ${isFew} limit ${sql.lit(fewHits)}`
    const ordered = sql`select ${id}, ${sql.raw(column!)} from (${few}) as few join ${sql.raw(source)} using (${id})`
    const afterPosition = parts.map((part) => bindSql(part.where, scan.parameters))
    const checked = this.#nextRows(where, scan, { count: checkedRows, columns: id, source })
    // "is true" keeps the planner from a join, which would read and sort all rows to check instead of stopping when the page is complete.
    const next = sql`
      (select ${id} as next_id from (${ordered}) as ordered where (${sql.join(afterPosition, sql`) or (`)})
        order by ${sql.raw(parts.at(-1)!.orderBy)} limit ${sql.lit(limit)})
      union all (select ${id} from ${checked} as checked
        where not ${isFew} and (${id} in (select ${id} from hits)) is true limit ${sql.lit(limit)})`
    const hits = this.#hits(conditions, { columns: this.#idColumn, maxHits })
    return this.#pageOfHits(scan, { hits, next, options: optionsFor(where) })
  }

  /** SQL that selects the rows that match one of the conditions. */
  #hits(
    conditions: readonly Condition[],
    { columns, from, maxHits }: { columns: string; from?: string | undefined; maxHits?: number | undefined },
  ): RawBuilder<unknown> {
    const most = maxHits === undefined ? sql`` : sql`limit ${sql.lit(maxHits + 1)}`
    const source = from === undefined ? this.#table : sql.raw(from)
    const found = conditions.map((condition) => sql`(select ${sql.raw(columns)} from ${source} where ${condition} ${most})`)
    return sql`select * from (${sql.join(found, sql` union all `)}) as parts ${most}`
  }

  /** Reads the rows with the ids that `next` selects from the `hits`, and the number of the latter. */
  async #pageOfHits(
    { sort, start }: Scan<L>,
    { hits, next, options }: { hits: RawBuilder<unknown>; next: RawBuilder<unknown>; options?: TextsOptions | undefined },
  ): Promise<{ rows: readonly KeyedRow[]; total: number }> {
    const read = await this.#reads.texts(
      sql`
      with hits as materialized (${hits}), next as (${next})
      select ${sql.raw(this.#columns('counted.total'))} from (select count(*) as total from hits) as counted left join (
        select ${sql.raw(this.#withPosition(sort))} from next join ${this.#table} on ${sql.raw(this.#idColumn)} = next_id
      ) as page on true order by ${sql.raw(this.orders[sort].starts[start]!.outerOrderBy)}`,
      { settings: BITMAP_SETTINGS, ...options },
    )
    // If the page is empty, its columns are null in the one row that has the total.
    const { rows } = this.#toRead(
      read.filter((row) => row[2] !== null),
      sort,
    )
    return { rows, total: Number(read[0]?.[0] ?? 0) }
  }

  /** Whether the field of a sort is in a joined table instead of the entity's own. */
  isJoined(sort: SortName<L>): boolean {
    return isJoinedField(this.#served.entity, this.#served.list.sorts[sort]!.field)
  }

  /** The columns by which `among` sorts. */
  #orderColumns(sort: SortName<L>): string {
    const { column } = this.orders[sort]
    const value = this.isJoined(sort) ? lookedUpSql(this.#served.entity, column!) : column
    return value === undefined ? this.#idColumn : `${this.#idColumn}, ${value}`
  }

  /** Prepares the pages of the whole list. Literal limits show the planner that each is read a few steps down an index. */
  #preparePages(sort: SortName<L>): void {
    for (const [start, ranges] of Object.entries(this.orders[sort].starts) as [Start, Ranges][]) {
      for (const pageSize of this.#served.list.pageSizes) {
        const limit = pageSize + 1
        const name = this.#statementName({ sort, start }, limit)
        const text = `select ${this.#columns(this.#countAllSql)} from ${this.#pageSql(ranges, sort, limit)}`
        this.#prepared.set(
          name,
          this.#reads.preparedTexts(name, text, (texts) => this.#toRead(texts, sort)),
        )
      }
    }
  }

  /** Prepares a page of filters that have an index in this order, when it is first needed. */
  #indexedPage({ sort, start }: Scan<L>, limit: number, filters: readonly string[]): PreparedPage | undefined {
    const { list, entity } = this.#served
    const name = `${this.#statementName({ sort, start }, limit)}-${filters.join('-')}`
    const known = this.#prepared.get(name)
    if (known) return known
    const isBound = (filter: string): boolean => list.filters[filter]!.field === list.sorts[sort]!.field
    const order = filters.every(isBound) ? this.orders[sort] : this.orders[sort].filtered
    const ranges = order?.starts[start]
    if (!ranges) return undefined
    const firstParameter = 1 + highestParameter(ranges)
    // Subqueries hide the values: for a rare one, PostgreSQL would plan at every run because it expects fewer rows than for others.
    const conditions = filters.map((filter, index) => {
      const parameter = `$${firstParameter + index}`
      const { field, kind } = list.filters[filter]!
      if (!isBound(filter))
        return `${columnName(entity, field!)} = (select ${parameter}::${columnTypes[entity.fields[field!]!.kind]})`
      return `${order.value} ${kind === 'from' ? '>=' : '<'} (select ${order.parameter.replace('$1', parameter)})`
    })
    const parts = ranges.parts.map(({ where, orderBy }) => ({ where: [where, ...conditions].join(' and '), orderBy }))
    const text = `select ${this.#columns('null')} from ${this.#pageSql({ ...ranges, parts }, sort, limit)}`
    const page = this.#reads.preparedTexts(name, text, (texts) => this.#toRead(texts, sort))
    this.#prepared.set(name, page)
    return page
  }

  #pageSql({ parts, outerOrderBy }: Ranges, sort: SortName<L>, limit: number): string {
    const { source } = this.orders[sort]
    // Rows are ordered before their fields are selected: a field with the name of its column would hide the column, and its index.
    const nearest = parts.map(({ where, orderBy }) => `select * from ${source} where ${where} order by ${orderBy} limit ${limit}`)
    const ranges = nearest.map((rows) => `(select ${this.#withPosition(sort)} from (${rows}) as near)`)
    return `(${ranges.join(' union all ')}) as page order by ${outerOrderBy} limit ${limit}`
  }

  /** The next rows of the order, matching or not, within the bounds that the filter sets to the field of the order. */
  #nextRows(
    { sql: { withinBounds } }: Where,
    { sort, start, parameters }: Scan<L>,
    {
      count,
      columns,
      source = this.orders[sort].source,
    }: { count: number; columns: RawBuilder<unknown>; source?: string | undefined },
  ): RawBuilder<unknown> {
    const bounds = withinBounds(this.#served.list.sorts[sort]!.field)
    const parts = this.orders[sort].starts[start]!.parts.map(
      ({ where, orderBy }) => sql`(select ${columns} from ${sql.raw(source)} where ${bindSql(where, parameters)} and ${bounds}
        order by ${sql.raw(orderBy)} limit ${sql.lit(count)})`,
    )
    if (parts.length === 1) return parts[0]!
    return sql`(select * from (${sql.join(parts, sql` union all `)}) as ranges limit ${sql.lit(count)})`
  }

  /** The columns to select from the table: the fields, and the row's position in this order. */
  #withPosition(sort: SortName<L>): string {
    const { sentKey, value } = this.orders[sort]
    const mark = this.#served.markCondition ?? 'false'
    return `${sentKey.text} as order_key, ${value} as order_value, ${this.#idColumn} as order_id, ${mark} as is_marked, ${this.#fields}`
  }

  /** The columns of the result: FIRST_FIELD ones, then the fields. */
  #columns(total: string): string {
    return [total, 'order_key', 'order_id', 'is_marked', ...this.#fieldNames].join(', ')
  }

  #toRead(texts: readonly TextRow[], sort: SortName<L>): CursorRead {
    const { toKey } = this.orders[sort].sentKey
    const rows = texts.map((row) => new SentRow(row, this.#writeRow(row), toKey))
    return { rows, total: texts[0]?.[0] == null ? undefined : Number(texts[0][0]) }
  }

  #statementName({ sort, start }: Pick<Scan<L>, 'sort' | 'start'>, limit: number): string {
    return `${statementName(this.#served)}-${sort}-${start}-${limit - 1}`
  }
}

/** Returns the highest number of a parameter ($1, $2 …) in the conditions of ranges, or 0. */
function highestParameter({ parts }: Ranges): number {
  const numbers = parts.flatMap(({ where }) => Array.from(where.matchAll(/\$(\d)/g), ([, number]) => Number(number)))
  return Math.max(0, ...numbers)
}
