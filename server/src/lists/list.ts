/**
 * A list of the contract as the database serves it: the table, what a filter means there, and what its rows look like. Pages, counts,
 * exports and acts on many rows all ask the same conditions of it.
 */
import { sql } from 'kysely'
import type { FilterOf, FilterValue, List, RowOf, SortName } from '@arcade/contract/entity'
import { type CallContext, signedIn } from '#src/calls.ts'
import { columnName, isBeside, type DerivedSql, type Entity } from '#src/db/entities.ts'
import { momentParameter, momentText } from '#src/db/moments.ts'
import { all, bindSql, type Condition } from './conditions.ts'
import type { SearchCondition } from './search.ts'
import type { ListSheet } from './sheet.ts'

/** A condition for each filter that names no field; for the others the field says what they mean. */
type FilterConditions<L extends List> = {
  readonly [Name in keyof L['filters'] as L['filters'][Name] extends { field: string } ? never : Name]: (
    value: FilterValue<L['filters'][Name]>,
  ) => Condition
}

export interface ServedList<L extends List = List> {
  list: L
  entity: Entity & { fields: L['fields'] }
  /** SQL for each field that the server works out. */
  derived: DerivedSql<{ table: string; fields: L['fields']; columnNames: Record<string, string>; id: string }>
  conditions: FilterConditions<L>
  sheet: ListSheet<L['fields']>
  /** What a searched text means; it is not empty. */
  search: (text: string) => SearchCondition | undefined
  /** SQL that holds for the rows of this list, where several lists share a table. */
  within?: string
  /** SQL that holds for rows which filters never match, with $1 for the id of who asks: the list of users leaves oneself out. */
  hidden?: string
  /**
   * Filters by equality that have an index each: (column, what the list's own sort goes by, id), with a moment as it is in UTC. For a list
   * that is paged by cursors in the order of a moment.
   */
  indexedFilters?: readonly (keyof L['filters'] & string)[]
  /** SQL that is true for rows whose ids a page of a list that is paged by cursors tells beside them: what is no field of theirs. */
  markCondition?: string
  /** SQL for the number of rows that a filter without a search matches, hidden ones included, where counters know it. */
  counted?: (filter: FilterOf<L>) => string
}

/** Checks that a list is served completely: a filter without a condition does not compile. */
export function serveList<const L extends List>(served: ServedList<L>): ServedList<L> {
  return served
}

/** The type of a list's rows on the wire. */
export type ListRow<L extends List> = RowOf<L['fields']>

/** A filter as conditions on the list's table. */
export interface Where {
  /** The filter matches every row of the list. */
  isEmpty: boolean
  hasSearch: boolean
  /** The filters that are given and their parameters, if one index gives what they match in the list's own order. */
  indexed: { filters: readonly string[]; values: readonly unknown[] } | undefined
  /** True for the rows that the filter matches. */
  matches: Condition
  /** Each finds some of these rows by an index of its own; together they find all of them, and none twice. */
  conditions: Condition[] | undefined
  /** The same, or all that the filter matches, for the planner to guess how many rows each finds. */
  estimatedConditions: Condition[]
  /** True for the rows that the filter would match if they were not hidden. */
  hides: Condition | undefined
  /** The table beside the entity's own that alone says which rows match; undefined where more than its fields are asked for. */
  joinedTable: string | undefined
  /** True for rows within the bounds that the filter sets to this field: they narrow down the index which a sort by it reads. */
  withinBounds: (field: string) => Condition
}

/**
 * What a filter of the contract means in SQL.
 * @param context of who asks; without it nothing is hidden
 */
export function whereFilter<L extends List>(served: ServedList<L>, filter: FilterOf<L>, context?: CallContext): Where {
  const { search = '', ...values } = filter as { search?: string } & Record<string, unknown>
  const given = Object.entries(values).filter(([, value]) => value !== undefined)
  const filters = given.map(([name, value]) => filterCondition(served, name, value))
  const { entity, within, hidden } = served
  const text = search.trim()
  const searched = text === '' ? undefined : served.search(text)
  const others = [...(within === undefined ? [] : [sql.raw<boolean>(within)]), ...filters.map(({ condition }) => condition)]
  const hiddenRows = hidden === undefined || !context ? undefined : sql<boolean>`(${bindSql(hidden, [signedIn(context).id])})`
  const shownRows = hiddenRows ? [sql<boolean>`not ${hiddenRows}`] : []
  const matching = [...(searched ? [searched.matches] : []), ...others]
  const narrowed = (way: Condition): Condition => all([way, ...others, ...shownRows])
  return {
    isEmpty: given.length === 0 && searched === undefined,
    hasSearch: searched !== undefined,
    indexed: searched || within !== undefined || hidden !== undefined ? undefined : indexedFilter(served, given),
    matches: all([...matching, ...shownRows]),
    conditions: searched?.conditions?.map(narrowed),
    estimatedConditions: searched
      ? (searched.estimatedConditions ?? searched.conditions ?? [searched.matches]).map(narrowed)
      : [narrowed(all([]))],
    hides: hiddenRows && all([...matching, hiddenRows]),
    joinedTable:
      !searched &&
      others.length === filters.length &&
      hidden === undefined &&
      filters.every(({ field }) => field && isBeside(entity, field))
        ? entity.beside?.table
        : undefined,
    withinBounds: (field) => all(filters.flatMap((one) => (one.field === field ? one.condition : []))),
  }
}

/** At most one filter with an index, and bounds to what the list's own sort goes by. */
function indexedFilter<L extends List>({ list, indexedFilters }: ServedList<L>, given: [string, unknown][]): Where['indexed'] {
  if (indexedFilters === undefined) return undefined
  const isBound = (name: string): boolean => {
    const { kind, field } = list.filters[name]!
    return (kind === 'from' || kind === 'before') && field === list.sorts[list.ownSort]!.field
  }
  const bounds = given.filter(([name]) => isBound(name))
  const others = given.filter(([name]) => !isBound(name))
  if (others.length > 1 || others.some(([name]) => !indexedFilters.includes(name))) return undefined
  return {
    filters: [...others, ...bounds].map(([name]) => name),
    values: [...others.map(([, value]) => value), ...bounds.map(([, value]) => momentText(new Date(value as string)))],
  }
}

interface FilterCondition {
  /** The field that the filter is about, unless only the server knows what it means. */
  field: string | undefined
  condition: Condition
}

function filterCondition<L extends List>(served: ServedList<L>, name: string, value: unknown): FilterCondition {
  const { list, entity, conditions } = served
  const filter = list.filters[name]
  if (!filter) throw new Error(`The list ${list.name} has no filter ${name}`)
  const { field, kind } = filter
  if (field === undefined) {
    const meaning = (conditions as Readonly<Record<string, (given: unknown) => Condition>>)[name]!
    return { field, condition: meaning(value) }
  }
  const column = sql.raw(columnName(entity, field))
  if (kind === 'from') return { field, condition: sql`${column} >= ${momentParameter(new Date(value as string))}` }
  if (kind === 'before') return { field, condition: sql`${column} < ${momentParameter(new Date(value as string))}` }
  if (kind === 'min') return { field, condition: sql`${column} >= ${value}::numeric` }
  if (kind === 'max') return { field, condition: sql`${column} <= ${value}::numeric` }
  return { field, condition: sql`${column} = ${value}` }
}

/** Picked rows of a list, or those that a filter matches. */
export type Target<Filter> = { ids: string[] } | { filter: Filter }

/** True for the rows that a call is to act on. Picked rows may be hidden ones: whoever acts on them says why not. */
export function whereTarget<L extends List>(served: ServedList<L>, target: Target<FilterOf<L>>, context: CallContext): Condition {
  if (!('ids' in target)) return whereFilter(served, target.filter, context).matches
  const picked = wherePicked(served, target.ids)
  return served.within === undefined ? picked : sql<boolean>`${sql.raw(served.within)} and ${picked}`
}

/**
 * The same as ways to find these rows, of which each finds others: one that is searched for is not looked for along the whole table.
 * @param isEstimated whether the planner may take an index that another condition has instead of the search's
 */
export function targetConditions<L extends List>(
  served: ServedList<L>,
  target: Target<FilterOf<L>>,
  { context, isEstimated }: { context: CallContext; isEstimated: boolean },
): Condition[] {
  if ('ids' in target) return [whereTarget(served, target, context)]
  const { conditions, estimatedConditions } = whereFilter(served, target.filter, context)
  return isEstimated ? estimatedConditions : (conditions ?? estimatedConditions)
}

function wherePicked({ entity }: Pick<ServedList, 'entity'>, ids: string[]): Condition {
  const id = sql.raw(columnName(entity, entity.id))
  if (entity.fields[entity.id]?.kind !== 'integer') return sql`${id} = any(${ids})`
  const numbers = ids.filter((picked) => /^-?\d+$/.test(picked)).map(Number)
  return sql`${id} = any(${numbers.filter(Number.isSafeInteger)}::bigint[])`
}

/** What a sort goes by: texts whatever their case. */
function sortSql<L extends List>({ list, entity, derived }: ServedList<L>, sort: SortName<L>): string {
  const name = list.sorts[sort]!.field
  const field = entity.fields[name]!
  if (field.isDerived) return (derived as Readonly<Record<string, string>>)[name]!
  const column = columnName(entity, name)
  return field.kind === 'text' || field.kind === 'choice' ? `lower(${column})` : column
}

/** An order of the list, ties by id. Missing values come last, in a reversed order first. */
export function orderSql<L extends List>(served: ServedList<L>, sort: SortName<L>, reversed: boolean): string {
  const { list, entity } = served
  const { field, isDescending = false } = list.sorts[sort]!
  const isOptional = entity.fields[field]?.isOptional ?? false
  const value = `${sortSql(served, sort)}${isDescending === reversed ? '' : ' desc'}`
  const missing = isOptional ? ` nulls ${reversed ? 'first' : 'last'}` : ''
  return `${value}${missing}, ${columnName(entity, entity.id)}${reversed ? ' desc' : ''}`
}
