/**
 * Reads pages of a list by number (§9: 50 rows). Rows are counted by counters where possible. For a search, the rows that its indexes find
 * are sorted, if they are few enough; otherwise rows are read in the list's order.
 */
import { type RawBuilder, sql } from 'kysely'
import type { FilterOf, List, SortName } from '@arcade/contract/entity'
import { type CallContext, type JsonText, signedIn } from '#src/calls.ts'
import type { Database } from '#src/db/database.ts'
import { columnName, selectList, storedNames } from '#src/db/entities.ts'
import type { TextRow } from '#src/db/reads.ts'
import { jsonArray, rowWriter } from './json-rows.ts'
import { type Condition, type ListRow, MAX_HITS, orderSql, type ServedList, servedTo } from './list.ts'
import { forPersonalAccess, statementName } from './personal.ts'
import { type Where, whereFilter } from './where.ts'

export type NumberedQuery<L extends List> = { page: number; sort: SortName<L>; reversed: boolean } & FilterOf<L>

export interface NumberedPage<L extends List> {
  rows: JsonText<ListRow<L>[]>
  page: number
  pageSize: number
  pageCount: number
  total: number
}

interface NumberedRead<L extends List> {
  rows: JsonText<ListRow<L>[]>
  /** The number of rows; unknown if the page has no rows. */
  total: number | undefined
}

interface PageOptions {
  orderBy: string
  offset: number
  /** SQL for the number of rows. */
  totalSql: RawBuilder<unknown>
}

type PreparedPage<L extends List> = (parameters: unknown[]) => Promise<NumberedRead<L>>

/** Returns a function that reads pages of a list. The statements of the list in its own order are prepared. */
export function numberedPages<L extends List>(
  database: Database,
  served: ServedList<L>,
): (query: NumberedQuery<L>, context: CallContext) => Promise<NumberedPage<L>> {
  const pages = forPersonalAccess((sees) => new NumberedPages(database, servedTo(served, sees)))
  return (query, context) => pages(context).read(query, context)
}

class NumberedPages<L extends List> {
  readonly #reads: Database['reads']
  readonly #served: ServedList<L>
  readonly #pageSize: number
  readonly #table: RawBuilder<unknown>
  /** SQL that selects the fields. */
  readonly #fields: string
  /** SQL for the stored columns. */
  readonly #columns: RawBuilder<unknown>
  readonly #writeRow: (row: TextRow) => string
  readonly #readFirstPage: PreparedPage<L>
  readonly #readWholePage: PreparedPage<L>

  constructor({ reads }: Database, served: ServedList<L>) {
    const { list, entity, derived, hidden, masks } = served
    const columns = storedNames(entity.fields).map((name) => columnName(entity, name))
    this.#reads = reads
    this.#served = served
    this.#pageSize = list.pageSizes[0]
    this.#table = sql.table(entity.table)
    this.#fields = selectList(entity, { derived, moments: 'utc', masks })
    this.#columns = sql.raw(columns.join(', '))
    this.#writeRow = rowWriter(entity.fields, 1)
    const text = this.#wholePageSql()
    const offset = hidden === undefined ? '$1' : '$2'
    const toRead = (rows: readonly TextRow[]): NumberedRead<L> => this.#toRead(rows)
    this.#readFirstPage = reads.preparedTexts(`${statementName(served)}-first`, text, toRead)
    this.#readWholePage = reads.preparedTexts(`${statementName(served)}-page`, `${text} offset ${offset}`, toRead)
  }

  async read({ page, sort, reversed, ...rest }: NumberedQuery<L>, context: CallContext): Promise<NumberedPage<L>> {
    const filter = rest as unknown as FilterOf<L>
    const where = whereFilter(this.#served, filter, context)
    const offset = (page - 1) * this.#pageSize
    const isWhole = where.isEmpty && sort === this.#served.list.defaultSort && !reversed
    const totalSql = this.#totalSql(where, filter)
    const read = isWhole
      ? await this.#wholePage(offset, context)
      : await this.#selectedPage(where, { orderBy: orderSql(this.#served, sort, reversed), offset, totalSql })
    const total = read.total ?? (await this.#countRows(totalSql))
    return { rows: read.rows, page, pageSize: this.#pageSize, pageCount: Math.max(1, Math.ceil(total / this.#pageSize)), total }
  }

  /** Reads a page of the whole list in its own order. */
  async #wholePage(offset: number, context: CallContext): Promise<NumberedRead<L>> {
    const parameters = this.#served.hidden === undefined ? [] : [signedIn(context).id]
    return offset === 0 ? this.#readFirstPage(parameters) : this.#readWholePage([...parameters, offset])
  }

  /** Reads a page of a filter, or of the whole list in another order. */
  async #selectedPage(where: Where, { orderBy, offset, totalSql }: PageOptions): Promise<NumberedRead<L>> {
    const hits = where.sql.conditions && (await this.#findHits(where.sql.conditions))
    const rows = hits?.rows ?? sql`${this.#table} where ${where.sql.matches}`
    const total = hits?.total ?? totalSql
    const read = await this.#reads.texts(sql`select ${total} as total, ${sql.raw(this.#fields)} from ${rows}
      order by ${sql.raw(orderBy)} limit ${this.#pageSize} offset ${offset}`)
    return this.#toRead(read)
  }

  /** Finds the rows of a search by its indexes, if they are few enough to be sorted. */
  async #findHits(conditions: readonly Condition[]) {
    const found = sql.join(
      conditions.map((condition) => sql`(select ${this.#columns} from ${this.#table} where ${condition})`),
      sql` union all `,
    )
    const total = await this.#countRows(
      sql`(select count(*) from (select from (${found}) as found limit ${sql.lit(MAX_HITS + 1)}) as hits)`,
    )
    if (total > MAX_HITS) return undefined
    // The offset keeps the planner from reading along the order, which it wrongly estimates to be faster.
    return { rows: sql`(select * from (${found}) as found offset 0) as ${this.#table}`, total: sql.lit(total) }
  }

  async #countRows(expression: RawBuilder<unknown>): Promise<number> {
    const [row] = await this.#reads.rows(sql<{ total: number }>`select ${expression} as total`)
    return row?.total ?? 0
  }

  /** Returns SQL for the number of rows that the filter matches. Counters include hidden rows, which are subtracted. */
  #totalSql({ hasSearch, sql: { matches, hides } }: Where, filter: FilterOf<L>): RawBuilder<unknown> {
    const counted = hasSearch ? undefined : this.#served.counted?.(filter)
    if (counted === undefined) return sql`(select count(*) from ${this.#table} where ${matches})`
    const total = sql.raw(counted)
    if (!hides) return total
    return sql`greatest(0, ${total} - (select count(*) from ${this.#table} where ${hides}))`
  }

  /**
   * Returns the SQL of the first page of the whole list. If the list hides rows, $1 is the operator's id. The limit is literal and there is
   * no offset, because PostgreSQL plans a statement again on each call if it must guess how many rows are needed.
   */
  #wholePageSql(): string {
    const { list, entity, baseCondition = 'true', hidden, counted } = this.#served
    const shown = hidden === undefined ? baseCondition : `${baseCondition} and not (${hidden})`
    const countSql = (condition: string): string => `(select count(*) from ${entity.table} where ${condition})`
    const everything = counted?.({}) ?? countSql(baseCondition)
    const total = hidden === undefined ? everything : `greatest(0, ${everything} - ${countSql(`${baseCondition} and ${hidden}`)})`
    return `select ${total} as total, ${this.#fields} from ${entity.table} where ${shown}
      order by ${orderSql(this.#served, list.defaultSort as SortName<L>, false)} limit ${this.#pageSize}`
  }

  #toRead(rows: readonly TextRow[]): NumberedRead<L> {
    return { rows: jsonArray(rows.map(this.#writeRow)), total: rows[0] === undefined ? undefined : Number(rows[0][0]) }
  }
}
