/**
 * Reading a list of millions from any place in any order, filtered or not (design §9). Hides how a page is found among them whatever
 * share of them the filter matches, and without believing the planner's guess of that share.
 */
import { type RawBuilder, sql } from 'kysely'
import type { List, SortName } from '@arcade/contract/entity'
import type { Database } from '#src/db/database.ts'
import { columnName, isBeside, lookedUpSql, sampleSql, selectList, sourceSql } from '#src/db/entities.ts'
import type { TextRow } from '#src/db/reads.ts'
import { bindSql, type Condition } from './conditions.ts'
import {
  type CursorOrder,
  cursorOrder,
  isForwards,
  type Place,
  type Ranges,
  readFrom,
  type Reading,
  type Start,
} from './cursor-orders.ts'
import { rowWriter } from './json-rows.ts'
import type { ServedList, Where } from './list.ts'

/** A row as JSON, and its place in the order. */
export interface KeyedRow extends Place {
  json: string
  /** True for what the list marks. */
  isMarked: boolean
}

export interface Read {
  /** The nearest first, up to `limit` of them. */
  rows: readonly KeyedRow[]
  /** The number of all rows that the filter matches, where reading found it out. */
  total?: number | undefined
}

interface HitsOptions<L extends List> {
  reading: Reading<L>
  limit: number
  maxHits?: number
  /** SQL for the rows that are looked through; all by default. */
  from?: string
  settings?: Record<string, string>
}

type Page = (parameters: unknown[]) => Promise<Read>

export interface CursorPages<L extends List> {
  orders: Record<SortName<L>, CursorOrder>
  read(where: Where, reading: Reading<L>, limit: number): Promise<Read>
  /** The number of all rows of the list. */
  countAll(): Promise<number>
}

/** Rows next in the order that are looked at before indexes are asked for all that match; more of them if one in six wanted rows came. */
const lookedAtFirst = (limit: number): number => Math.max(200, 30 * limit)
const lookedAtAgain = (limit: number): number => 20 * lookedAtFirst(limit)
/** That many rows are sorted in some ten milliseconds. */
export const MAX_HITS = 10_000
/** A search is taken to find more than that if a sample says so many, which is no exact number. */
const TOO_MANY_HITS = 1.5 * MAX_HITS
/** Rows that are looked at where a filter matches many rows, of which few are near the place. */
const LOOKED_AT_FAR = 20_000
/** So many rows tell whether a search finds very many, and where one of the nearest of those is. */
const SAMPLE = 2_000
/** If none of so few matches, the search finds but few: most searches do. */
const SAMPLE_FIRST = 300
/** So many times a page is expected before the row of a sample that is taken for its end: it may be less, as chance has it. */
const LIKELY_PAGES = 20
/** Of so few of them the share says too little. */
const SAMPLE_LEAST = 30
/** Room for where each of ten million rows lies, which an index has found: without it PostgreSQL remembers pages and reads all their rows. */
export const ROOM_FOR_HITS = { work_mem: '64MB' }
/** So many rows lie in memory, about 1 GB of them. */
const MOST_IN_MEMORY = 5_000_000
/** They cost less than the planner thinks, who would rather list nine tenths of an order than read a tenth of all rows. */
const ROWS_IN_MEMORY = {
  ...ROOM_FOR_HITS,
  random_page_cost: '0.3',
  enable_indexscan: 'off', // nor read a row at a time, in the order of the index
  max_parallel_workers_per_gather: '0',
}

/** What a sample tells of a search. */
interface Sampled {
  /** The share of rows that match. */
  share: number
  /**
   * Rows where the page can end, if so many match that an index would find more than can be sorted: first a near one, before which the page
   * most likely is whole, then one before which it certainly is.
   */
  ends: KeyedRow[]
}

const NOTHING_SAMPLED: Sampled = { share: 0, ends: [] }

/** Before its fields a row has the number of all rows, and its own place, id and mark. */
const FIRST_FIELD = 4

export function cursorPages<L extends List>(database: Database, served: ServedList<L>): CursorPages<L> {
  const { reads } = database
  const { list, entity, derived, counted } = served
  const table = sql.raw(sourceSql(entity))
  const idColumn = columnName(entity, entity.id)
  const fields = selectList(entity, { derived, moments: 'utc' })
  const names = Object.keys(entity.fields).map((name) => `"${name}"`)
  const writeRow = rowWriter(entity.fields, FIRST_FIELD)
  const sorts = Object.keys(list.sorts) as SortName<L>[]
  const orders = Object.fromEntries(sorts.map((sort) => [sort, cursorOrder(served, sort)])) as Record<SortName<L>, CursorOrder>
  const everything = counted?.({}) ?? `(select count(*) from ${entity.table})`
  const prepared = preparePages()
  const readTotal = reads.prepared<{ total: number }>(`${list.name}-total`, `select ${everything} as total`)

  return {
    orders,
    countAll,
    async read(where, reading, limit) {
      const near = (lookedAt: number) => matchesNear(where, { reading, limit, lookedAt })
      if (where.isEmpty) {
        const read = prepared.get(statementName(reading, limit))
        return read ? await read(reading.parameters) : { rows: await near(limit) }
      }
      const indexed = where.indexed && indexedPage(reading, limit, where.indexed.filters)
      if (indexed) return { rows: (await indexed([...reading.parameters, ...where.indexed!.values])).rows }
      let lookedAt = lookedAtFirst(limit)
      let rows = await near(lookedAt)
      if (rows.length < limit && rows.length * 6 >= limit) rows = await near((lookedAt = lookedAtAgain(limit)))
      if (rows.length === limit) return { rows }
      const { share, ends } = where.hasSearch ? await matchesInSample(where, reading, limit) : NOTHING_SAMPLED
      for (const farthest of ends) {
        const found = await amongMany(where, { reading, limit, farthest })
        if (found.length === limit) return { rows: found }
      }
      const holdsPage = Math.ceil((2 * limit) / share)
      if (holdsPage > lookedAt && holdsPage <= MAX_HITS) rows = await near(holdsPage)
      if (rows.length === limit) return { rows }
      const hits = await amongHits(where.ways ?? [where.matches], { reading, limit, maxHits: MAX_HITS })
      if (hits.total <= MAX_HITS) return hits
      if (await endsWithin({ reading, lookedAt: lookedAtFirst(limit) }, where)) return { rows }
      const farthest = hits.rows[limit - 1]
      if (!farthest) {
        const further = await near(LOOKED_AT_FAR)
        if (further.length === limit) return { rows: further }
      }
      return { rows: await amongMany(where, { reading, limit, farthest }) }
    },
  }

  /** A statement a sort, start and page size, each a few steps down an index: literal limits let the planner know that. */
  function preparePages(): Map<string, Page> {
    const pages = new Map<string, Page>()
    for (const sort of sorts) {
      for (const [start, { parts, outerOrderBy }] of Object.entries(orders[sort].starts) as [Start, Ranges][]) {
        for (const pageSize of list.pageSizes) {
          const limit = pageSize + 1
          const name = statementName({ sort, start }, limit)
          const page = pageSql({ parts, outerOrderBy }, { sort, limit })
          pages.set(name, reads.preparedTexts(name, `select ${selected(everything)} from ${page}`, toRead))
        }
      }
    }
    return pages
  }

  /** The same for rows that filters match which an index gives in this order, prepared when it is asked for first; undefined if there is none. */
  function indexedPage({ sort, start }: Reading<L>, limit: number, filters: readonly string[]): Page | undefined {
    const name = `${statementName({ sort, start }, limit)}-${filters.join('-')}`
    const known = prepared.get(name)
    if (known) return known
    const isBound = (filter: string): boolean => list.filters[filter]!.field === list.sorts[sort]!.field
    const order = filters.every(isBound) ? orders[sort] : orders[sort].filtered
    const ranges = order?.starts[start]
    if (!ranges) return undefined
    const numbers = Array.from(
      ranges.parts
        .map(({ where }) => where)
        .join(' ')
        .matchAll(/\$(\d)/g),
      ([, number]) => Number(number),
    )
    const conditions = filters.map((filter, index) => {
      const parameter = `$${Math.max(0, ...numbers) + index + 1}`
      if (!isBound(filter)) return `${columnName(entity, list.filters[filter]!.field!)} = ${parameter}`
      return `${order.value} ${list.filters[filter]!.kind === 'from' ? '>=' : '<'} ${order.parameter.replace('$1', parameter)}`
    })
    const parts = ranges.parts.map(({ where, orderBy }) => ({ where: [where, ...conditions].join(' and '), orderBy }))
    const page = pageSql({ ...ranges, parts }, { sort, limit })
    const read = reads.preparedTexts(name, `select ${selected('null')} from ${page}`, toRead)
    prepared.set(name, read)
    return read
  }

  function pageSql({ parts, outerOrderBy }: Ranges, { sort, limit }: { sort: SortName<L>; limit: number }): string {
    const { source } = orders[sort]
    const ranges = parts.map((part) => `(select ${placed(sort)} from (${nearest({ ...part, source, limit })}) as near)`)
    return `(${ranges.join(' union all ')}) as page order by ${outerOrderBy} limit ${limit}`
  }

  /** Rows are ordered before their fields are selected: a field with the name of its column would hide that, and its index, from the order. */
  function nearest(range: { source: string; where: string; orderBy: string; limit: number }): string {
    const { source, where, orderBy, limit } = range
    return `select * from ${source} where ${where} order by ${orderBy} limit ${limit}`
  }

  /** What is selected of the table's rows: the fields, and what tells a row's place in this order. */
  function placed(sort: SortName<L>): string {
    const { keyText, value } = orders[sort]
    return `${keyText} as place_key, ${value} as place_value, ${idColumn} as place_id, ${served.marked ?? 'false'} as place_mark, ${fields}`
  }

  /** What is selected of such rows in the end. */
  function selected(total: string): string {
    return [total, 'place_key', 'place_id', 'place_mark', ...names].join(', ')
  }

  function toRead(texts: readonly TextRow[]): Read {
    const rows = texts.map((row) => ({ key: row[1] ?? null, id: Number(row[2]), isMarked: row[3] === 't', json: writeRow(row) }))
    return { rows, total: texts[0]?.[0] == null ? undefined : Number(texts[0][0]) }
  }

  function statementName({ sort, start }: Pick<Reading<L>, 'sort' | 'start'>, limit: number): string {
    return `${list.name}-${sort}-${start}-${limit - 1}`
  }

  async function countAll(): Promise<number> {
    return (await readTotal([]))[0]?.total ?? 0
  }

  /** Those of the next rows in the order that match. */
  async function matchesNear(
    where: Where,
    { reading, limit, lookedAt }: { reading: Reading<L>; limit: number; lookedAt: number },
  ): Promise<readonly KeyedRow[]> {
    const found = await reads.texts(sql`
      select ${sql.raw(selected('null'))} from (
        select ${sql.raw(placed(reading.sort))} from ${nextRows({ reading, lookedAt }, where, '*')} as looked
          where ${where.matches} limit ${sql.lit(limit)}
      ) as page order by ${sql.raw(orders[reading.sort].starts[reading.start]!.outerOrderBy)}`)
    return toRead(found).rows
  }

  /** Whether the order ends within that many rows. */
  async function endsWithin(range: { reading: Reading<L>; lookedAt: number }, where: Where): Promise<boolean> {
    const rows = await reads.rows(sql`
      select 1 from ${nextRows(range, where, idColumn)} as looked offset ${sql.lit(range.lookedAt - 1)}`)
    return rows.length === 0
  }

  /** The next rows in the order, whether they match or not; only within the bounds that the filter sets to the order's own field. */
  function nextRows(
    { reading, lookedAt }: { reading: Reading<L>; lookedAt: number },
    { withinBounds }: Where,
    columns: string,
  ): RawBuilder<unknown> {
    const { sort, start, parameters } = reading
    const bounds = withinBounds(list.sorts[sort]!.field)
    const { source, starts } = orders[sort]
    const parts = starts[start]!.parts.map(
      ({
        where,
        orderBy,
      }) => sql`(select ${sql.raw(columns)} from ${sql.raw(source)} where ${bindSql(where, parameters)} and ${bounds}
        order by ${sql.raw(orderBy)} limit ${sql.lit(lookedAt)})`,
    )
    if (parts.length === 1) return parts[0]!
    return sql`(select * from (${sql.join(parts, sql` union all `)}) as ranges limit ${sql.lit(lookedAt)})`
  }

  async function matchesInSample({ matches }: Where, reading: Reading<L>, limit: number): Promise<Sampled> {
    const all = await countAll()
    if (all < TOO_MANY_HITS) return NOTHING_SAMPLED
    const sample = (size: number) =>
      amongHits([matches], { reading, limit, from: `(${sampleSql(entity, size, all)}) as ${entity.table}` })
    if ((await sample(SAMPLE_FIRST)).total === 0) return NOTHING_SAMPLED
    const { rows, total } = await sample(SAMPLE)
    const share = total / SAMPLE
    if (total < SAMPLE_LEAST || share * all < TOO_MANY_HITS) return { share, ends: [] }
    const likely = Math.ceil((LIKELY_PAGES * limit * SAMPLE) / all)
    return { share, ends: [...new Set([Math.min(likely, limit), limit])].flatMap((size) => rows[size - 1] ?? []) }
  }

  /**
   * The page where very many rows match and none of them is near. One index finds the rows that match, another those that can be on the page;
   * only what both find is read.
   * @param farthest a row that matches, where the page ends at the latest
   */
  async function amongMany(
    { guessedWays }: Where,
    { reading, limit, farthest }: { reading: Reading<L>; limit: number; farthest: KeyedRow | undefined },
  ): Promise<readonly KeyedRow[]> {
    const { sort, start, parameters } = reading
    const from = orders[sort].starts[start]!.parts.map(({ where }) => bindSql(where, parameters))
    const within = farthest ? from.flatMap((part) => nearerThan(farthest, reading).map((end) => sql`(${part} and ${end})`)) : from
    const conditions = guessedWays.map((way) => sql<boolean>`(${way}) and (${sql.join(within, sql` or `)})`)
    const isOneTable = !isBeside(entity, list.sorts[sort]!.field)
    const settings = isOneTable && (await countAll()) <= MOST_IN_MEMORY ? ROWS_IN_MEMORY : ROOM_FOR_HITS
    const { rows } = await amongHits(conditions, { reading, limit, settings })
    return farthest ? [...rows, farthest].slice(0, limit) : rows
  }

  /** Each true for some of the rows that come before this one when they are read from there. */
  function nearerThan(row: Place, { sort, start }: Reading<L>): RawBuilder<unknown>[] {
    const back = readFrom<L>({ sort, reversed: false }, isForwards(start) ? 'before' : 'after', row)
    return orders[sort].starts[back.start]!.parts.map(({ where }) => bindSql(where, back.parameters))
  }

  /** All rows that match one of the conditions, up to one more than `maxHits`, and of them the page; in any order if there are too many. */
  async function amongHits(
    conditions: readonly Condition[],
    { reading, limit, maxHits, from, settings = ROOM_FOR_HITS }: HitsOptions<L>,
  ): Promise<{ rows: readonly KeyedRow[]; total: number }> {
    const { sort, start, parameters } = reading
    const { column, starts } = orders[sort]
    const { parts, outerOrderBy } = starts[start]!
    const most = maxHits === undefined ? sql`` : sql`limit ${sql.lit(maxHits + 1)}`
    const value = isBeside(entity, list.sorts[sort]!.field) ? lookedUpSql(entity, column!) : column
    const columns = sql.raw(value === undefined ? idColumn : `${idColumn}, ${value}`)
    const found = conditions.map(
      (condition) => sql`(select ${columns} from ${from === undefined ? table : sql.raw(from)} where ${condition} ${most})`,
    )
    const beyondPlace = parts.map(({ where }) => bindSql(where, parameters))
    const read = await reads.texts(
      sql`
      with hits as materialized (select * from (${sql.join(found, sql` union all `)}) as parts ${most}),
      next as (
        select ${sql.raw(idColumn)} as next_id from hits where (${sql.join(beyondPlace, sql`) or (`)})
         order by ${sql.raw(parts.at(-1)!.orderBy)} limit ${sql.lit(limit)})
      select ${sql.raw(selected('counted.total'))} from (select count(*) as total from hits) as counted left join (
        select ${sql.raw(placed(sort))} from next join ${table} on ${sql.raw(idColumn)} = next_id
      ) as page on true order by ${sql.raw(outerOrderBy)}`,
      settings,
    )
    // If the page is empty, its columns are null in the one row that has the total.
    const { rows } = toRead(read.filter((row) => row[2] !== null))
    return { rows, total: Number(read[0]?.[0] ?? 0) }
  }
}
