/**
 * Reads pages of a list by number (§9: 50 rows). Rows are counted by counters where possible. A page of a search is sorted out of the rows
 * that its indexes find, if they are few enough; otherwise pages are read along the order.
 */
import { type RawBuilder, sql } from 'kysely'
import type { FilterOf, List, SortName } from '@arcade/contract/entity'
import { type CallContext, type JsonText, signedIn } from '#src/calls.ts'
import type { Database } from '#src/db/database.ts'
import { columnName, selectList, storedNames } from '#src/db/entities.ts'
import type { TextRow } from '#src/db/reads.ts'
import { jsonArray, rowWriter } from './json-rows.ts'
import { type ListRow, orderSql, type ServedList, type Where, whereFilter } from './list.ts'

/** The most rows that are counted and sorted at once; a page of more rows is read along the order. */
const MAX_HITS = 10_000

export type NumberedQuery<L extends List> = { page: number; sort: SortName<L>; reversed: boolean } & FilterOf<L>

export interface NumberedPage<L extends List> {
  rows: JsonText<ListRow<L>[]>
  page: number
  pageSize: number
  pageCount: number
  total: number
}

interface Read<L extends List> {
  rows: JsonText<ListRow<L>[]>
  /** The number of rows; unknown if the page has no rows. */
  total: number | undefined
}

/** Returns a function that reads pages of a list. The statements of the list in its own order are prepared. */
export function numberedPages<L extends List>(
  database: Database,
  served: ServedList<L>,
): (query: NumberedQuery<L>, context: CallContext) => Promise<NumberedPage<L>> {
  const { reads } = database
  const { list, entity, derived, within = 'true', hidden, counted } = served
  const [pageSize] = list.pageSizes
  const table = sql.table(entity.table)
  const fields = selectList(entity, { derived, moments: 'utc' })
  const writeRow = rowWriter(entity.fields, 1)
  const columns = sql.raw(
    storedNames(entity.fields)
      .map((name) => columnName(entity, name))
      .join(', '),
  )
  const readFirstPage = reads.preparedTexts(`${list.name}-first`, plainPageSql(), toRead)
  const readPlainPage = reads.preparedTexts(
    `${list.name}-page`,
    `${plainPageSql()} offset ${hidden === undefined ? '$1' : '$2'}`,
    toRead,
  )

  return async ({ page, sort, reversed, ...rest }, context) => {
    const filter = rest as unknown as FilterOf<L>
    const where = whereFilter(served, filter, context)
    const offset = (page - 1) * pageSize
    const read = await readRows()
    const total = read.total ?? (await countRows(totalSql(where, filter)))
    return { rows: read.rows, page, pageSize, pageCount: Math.max(1, Math.ceil(total / pageSize)), total }

    async function readRows(): Promise<Read<L>> {
      if (where.isEmpty && sort === list.ownSort && !reversed) {
        const parameters = hidden === undefined ? [] : [signedIn(context).id]
        return offset === 0 ? readFirstPage(parameters) : readPlainPage([...parameters, offset])
      }
      const order = sql.raw(orderSql(served, sort, reversed))
      const select = async (from: RawBuilder<unknown>, counting: RawBuilder<unknown>): Promise<Read<L>> =>
        toRead(
          await reads.texts(sql`select ${counting} as total, ${sql.raw(fields)} from ${from}
            order by ${order} limit ${pageSize} offset ${offset}`),
        )
      const hits = where.conditions && (await findHits(where.conditions))
      return hits ? select(hits.rows, hits.total) : select(sql`${table} where ${where.matches}`, totalSql(where, filter))
    }
  }

  function toRead(rows: readonly TextRow[]): Read<L> {
    return { rows: jsonArray(rows.map(writeRow)), total: rows[0] === undefined ? undefined : Number(rows[0][0]) }
  }

  /** Finds the rows of a search by its indexes, if they are few enough to be sorted. */
  async function findHits(conditions: NonNullable<Where['conditions']>) {
    const found = sql.join(
      conditions.map((condition) => sql`(select ${columns} from ${table} where ${condition})`),
      sql` union all `,
    )
    const total = await countRows(
      sql`(select count(*) from (select from (${found}) as found limit ${sql.lit(MAX_HITS + 1)}) as hits)`,
    )
    if (total > MAX_HITS) return undefined
    // The offset keeps the planner from reading along the order, which it wrongly estimates to be faster.
    return { rows: sql`(select * from (${found}) as found offset 0) as ${table}`, total: sql.lit(total) }
  }

  async function countRows(expression: RawBuilder<unknown>): Promise<number> {
    const [row] = await reads.rows(sql<{ total: number }>`select ${expression} as total`)
    return row?.total ?? 0
  }

  /** Counts the rows that the filter matches. Counters include hidden rows, which are subtracted. */
  function totalSql(where: Where, filter: FilterOf<L>): RawBuilder<unknown> {
    if (counted === undefined || where.hasSearch) return sql`(select count(*) from ${table} where ${where.matches})`
    const total = sql.raw(counted(filter))
    if (!where.hides) return total
    return sql`greatest(0, ${total} - (select count(*) from ${table} where ${where.hides}))`
  }

  /**
   * Prepares the first page of the whole list. If the list hides rows, the parameter is the operator's id. The limit is literal and there is
   * no offset, because PostgreSQL plans a statement anew on each call if it must guess how many rows are needed.
   */
  function plainPageSql(): string {
    const shown = hidden === undefined ? within : `${within} and not (${hidden})`
    const countSql = (condition: string): string => `(select count(*) from ${entity.table} where ${condition})`
    const everything = counted?.({}) ?? countSql(within)
    const total = hidden === undefined ? everything : `greatest(0, ${everything} - ${countSql(`${within} and ${hidden}`)})`
    return `select ${total} as total, ${fields} from ${entity.table} where ${shown}
      order by ${orderSql(served, list.ownSort as SortName<L>, false)} limit ${pageSize}`
  }
}
