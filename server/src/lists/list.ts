/**
 * A list of the contract in terms of the database: its table, the SQL of its filters, and its rows. Pages, counts, exports and acts on many
 * rows use the same conditions.
 */
import { type RawBuilder, sql } from 'kysely'
import type { Target } from '@arcade/contract/bulk'
import type { Field, FilterOf, FilterValue, List, RowOf, SortName } from '@arcade/contract/entity'
import { readGroups } from '@arcade/contract/filter-groups'
import { personalNames } from '@arcade/contract/personal'
import { type CallContext, signedIn } from '#src/calls.ts'
import { aToZSql, idOrderSql } from '#src/db/collations.ts'
import { columnName, isBeside, type DerivedSql, type Entity, type Masks } from '#src/db/entities.ts'
import { momentParameter, momentText } from '#src/db/moments.ts'
import { personalMasks, refusePersonalFilters, seesPersonal } from './personal.ts'
import type { ListSheet } from './sheet.ts'

/** The most matching rows that are sorted for a page, which takes some ten milliseconds; also the highest exact count of a filter. */
export const MAX_HITS = 10_000

/** A condition on the rows of a list. */
export type Condition = RawBuilder<boolean>

/** The conditions of a search in a list. */
export interface SearchCondition {
  /** The condition for the rows that the search finds. */
  matches: Condition
  /** Disjoint conditions, each with its own index, that together find all of these rows. */
  conditions?: Condition[]
  /** The same rows, by conditions whose number of rows the planner can estimate; absent if estimating is not worthwhile. */
  estimatedConditions?: Condition[]
  /** Whether the text has a part that few rows are likely to contain. */
  isDistinctive?: boolean
}

/** A condition that looks up rows of another table by the id of the list's row. */
export interface Lookup {
  /** The condition as the planner checks it for one row after the other, which keeps the order of the rows. */
  ofRow: Condition
  /** The same condition as a join, which the planner may begin with the other table. */
  asJoin: Condition
}

/** A condition for each filter that names no field; the conditions of the others follow from their fields, or from those of a group. */
type FilterConditions<L extends List> = {
  readonly [Name in keyof L['filters'] as L['filters'][Name] extends { field: string } | { kind: 'groups' } ? never : Name]: (
    value: FilterValue<L['filters'][Name]>,
  ) => Condition | Lookup
}

export interface ServedList<L extends List = List> {
  list: L
  entity: Entity & { fields: L['fields'] }
  /** SQL for each derived field. */
  derived: DerivedSql<{ table: string; fields: L['fields']; columnNames: Record<string, string>; id: string }>
  conditions: FilterConditions<L>
  sheet: ListSheet<L['fields']>
  /** Returns the condition of a search; its text is not empty. */
  search: (text: string) => SearchCondition | undefined
  /** What people see instead who may not see personal fields of players, if the list has any. `servedTo` makes a list of it. */
  withoutPersonal?: { search: ServedList<L>['search']; masks?: Masks }
  /** SQL that is selected instead of fields. */
  masks?: Masks | undefined
  /** A condition for the rows of this list, if several lists share a table. */
  within?: string
  /** A condition for rows that no filter matches, with $1 for the operator's id: the list of users omits the operator. */
  hidden?: string
  /**
   * Filters by equality for which there is an index on (column, the value of the list's own sort, id), with timestamps in UTC. Only for lists
   * that are paged by cursors in the order of a timestamp.
   */
  indexedFilters?: readonly (keyof L['filters'] & string)[]
  /** A condition on rows that is not a field, such as being blocked. Pages by cursors list the ids of the rows for which it holds. */
  markCondition?: string
  /** SQL for the number of rows, hidden ones included, that a filter without a search matches, if counters know it. */
  counted?: (filter: FilterOf<L>) => string
}

/**
 * Returns its argument. Its type makes the compiler refuse a list with a filter that has no condition.
 * @throws Error for a list with personal fields that does not say how it is searched without them
 */
export function serveList<const L extends List>(served: ServedList<L>): ServedList<L> {
  if (personalNames(served.list.fields).length > 0 && !served.withoutPersonal)
    throw new Error(`the list ${served.list.name} has personal fields, but no withoutPersonal`)
  return served
}

/** The copies of lists without personal fields that were made so far. The key is the whole list. */
const copiesWithoutPersonal = new WeakMap<object, unknown>()

/**
 * Returns a list as it is for callers who see personal fields, or do not.
 * @param sees what `seesPersonal` returns
 */
export function servedTo<L extends List>(served: ServedList<L>, sees: boolean): ServedList<L> {
  const { withoutPersonal, ...rest } = served
  if (!withoutPersonal || sees) return served
  const known = copiesWithoutPersonal.get(served) as ServedList<L> | undefined
  if (known) return known
  const { search, masks } = withoutPersonal
  const made: ServedList<L> = { ...rest, search, masks: { ...personalMasks(served.list.fields), ...masks } }
  copiesWithoutPersonal.set(served, made)
  return made
}

/** The type of a list's rows in the API. */
export type ListRow<L extends List> = RowOf<L['fields']>

/** A filter as conditions on the list's table. */
export interface Where {
  /** Whether the filter matches every row of the list. */
  isEmpty: boolean
  hasSearch: boolean
  /** Whether there is a search and no other filter, in a list with all its fields: its statement is worth keeping. */
  isSearchAlone: boolean
  /** Whether the search has a part that few rows are likely to contain. */
  isDistinctive: boolean
  /** Whether the filter looks up rows of other tables. */
  looksUp: boolean
  /** The given filters and their values, if one index contains their matches in the list's own order. */
  indexed: { filters: readonly string[]; values: readonly unknown[] } | undefined
  /** The condition for the rows that the filter matches. */
  matches: Condition
  /** Disjoint conditions, each with its own index, that together find all of these rows. */
  conditions: Condition[] | undefined
  /** The same rows, by conditions whose number of rows the planner can estimate. */
  estimatedConditions: Condition[]
  /** The condition for rows that the filter would match if they were not hidden. */
  hides: Condition | undefined
  /** The joined table, if the filter uses its fields only; undefined if the filter needs the entity's own table. */
  joinedTable: string | undefined
  /** Whether the filter can be checked without the entity's own table: by the joined table, and rows of others with the same id. */
  isOfJoined: boolean
  /** Returns the condition for the bounds that the filter sets to this field. It narrows the range of the index that a sort by it reads. */
  withinBounds: (field: string) => Condition
}

/** What `whereFilter` knows of a filter without its SQL. */
interface Asked {
  /** The given filters with their values. */
  given: [string, unknown][]
  searched: SearchCondition | undefined
  context: CallContext | undefined
}

/**
 * Translates a filter of the contract into SQL. For filters that have an index, its SQL is written when it is first used, because pages need none.
 * @param context the call's context; undefined for the server itself, from which no row and no field is hidden
 * @throws Failure FORBIDDEN for a filter by personal fields that the caller may not see
 */
export function whereFilter<L extends List>(whole: ServedList<L>, filter: FilterOf<L>, context: CallContext | undefined): Where {
  refusePersonalFilters(whole.list, filter, context)
  const served = servedTo(whole, seesPersonal(context))
  const { search = '', ...values } = filter as { search?: string } & Record<string, unknown>
  const given = Object.entries(values).filter(([, value]) => value !== undefined)
  const { within, hidden } = served
  const text = search.trim()
  const searched = text === '' ? undefined : served.search(text)
  const indexed = searched || within !== undefined || hidden !== undefined ? undefined : indexedFilter(served, given)
  const write = (): WhereSql => whereSql(served, { given, searched, context })
  let written = indexed ? undefined : write()
  const conditions = (): WhereSql => (written ??= write())
  return {
    isEmpty: given.length === 0 && searched === undefined,
    hasSearch: searched !== undefined,
    isSearchAlone: searched !== undefined && given.length === 0 && served.masks === undefined,
    isDistinctive: searched?.isDistinctive === true,
    indexed,
    get looksUp() {
      return conditions().looksUp
    },
    get matches() {
      return conditions().matches
    },
    get conditions() {
      return conditions().conditions
    },
    get estimatedConditions() {
      return conditions().estimatedConditions
    },
    get hides() {
      return conditions().hides
    },
    get joinedTable() {
      return conditions().joinedTable
    },
    get isOfJoined() {
      return conditions().isOfJoined
    },
    withinBounds: (field) => conditions().withinBounds(field),
  }
}

type WhereSql = Omit<Where, 'isEmpty' | 'hasSearch' | 'isSearchAlone' | 'isDistinctive' | 'indexed'>

function whereSql<L extends List>(served: ServedList<L>, { given, searched, context }: Asked): WhereSql {
  const filters = given.map(([name, value]) => filterCondition(served, name, value))
  const joins = combinations(filters.map(({ asJoins }) => asJoins))
  const { entity, within, hidden } = served
  const withinList = within === undefined ? [] : [sql.raw<boolean>(within)]
  const others = [...withinList, ...filters.map(({ condition }) => condition)]
  const hiddenRows = hidden === undefined || !context ? undefined : sql<boolean>`(${bindSql(hidden, [signedIn(context).id])})`
  const shownRows = hiddenRows ? [sql<boolean>`not ${hiddenRows}`] : []
  const matching = [...(searched ? [searched.matches] : []), ...others]
  const narrowed = (condition: Condition): Condition => all([condition, ...others, ...shownRows])
  return {
    looksUp: filters.some(({ looksUp }) => looksUp),
    matches: all([...matching, ...shownRows]),
    conditions: searched?.conditions?.map(narrowed),
    estimatedConditions: searched
      ? (searched.estimatedConditions ?? searched.conditions ?? [searched.matches]).map(narrowed)
      : joins.map((joined) => all([...withinList, ...joined, ...shownRows])),
    hides: hiddenRows && all([...matching, hiddenRows]),
    joinedTable:
      !searched &&
      others.length === filters.length &&
      hidden === undefined &&
      filters.every(({ field }) => field && isBeside(entity, field))
        ? entity.beside?.table
        : undefined,
    isOfJoined: !searched && others.length === filters.length && hidden === undefined && filters.every((one) => one.isOfJoined),
    withinBounds: (field) => all(filters.flatMap((one) => (one.field === field ? one.condition : []))),
  }
}

/** Returns the given filters if one index serves them all: at most one filter with an index of its own, plus bounds of the list's own sort. */
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
  /** The field that the filter compares, unless the server has a condition of its own for the filter. */
  field: string | undefined
  condition: Condition
  /** Disjoint conditions for the same rows; those that look up rows of other tables are joins. */
  asJoins: Condition[]
  looksUp: boolean
  /** Whether a row of the joined table tells if the condition holds. */
  isOfJoined: boolean
}

function filterCondition<L extends List>(served: ServedList<L>, name: string, value: unknown): FilterCondition {
  const { list, conditions } = served
  const filter = list.filters[name]
  if (!filter) throw new Error(`The list ${list.name} has no filter ${name}`)
  if (filter.kind === 'groups') return groupsCondition(served, value as string)
  const { field } = filter
  if (field !== undefined) {
    const condition = fieldCondition(served, { ...filter, field }, value)
    return { field, condition, asJoins: [condition], looksUp: false, isOfJoined: isBeside(served.entity, field) }
  }
  const meaning = (conditions as Readonly<Record<string, (given: unknown) => Condition | Lookup>>)[name]!(value)
  if (!('ofRow' in meaning)) return { field, condition: meaning, asJoins: [meaning], looksUp: false, isOfJoined: false }
  return { field, condition: meaning.ofRow, asJoins: [meaning.asJoin], looksUp: true, isOfJoined: true }
}

function fieldCondition(
  { entity }: Pick<ServedList, 'entity'>,
  { kind, field }: { kind: List['filters'][string]['kind']; field: string },
  value: unknown,
): Condition {
  const column = sql.raw(columnName(entity, field))
  if (kind === 'from') return sql`${column} >= ${momentParameter(new Date(value as string))}`
  if (kind === 'before') return sql`${column} < ${momentParameter(new Date(value as string))}`
  if (kind === 'days') return sql`${column} >= ${daysAgo(value as number)}`
  if (kind === 'min') return sql`${column} >= ${value}::numeric`
  if (kind === 'max') return sql`${column} <= ${value}::numeric`
  return sql`${column} = ${value}`
}

const DAY_MS = 24 * 60 * 60 * 1000

/** Returns the moment this number of days before now, as a parameter. */
export function daysAgo(days: number): RawBuilder<unknown> {
  return momentParameter(new Date(Date.now() - days * DAY_MS))
}

/** The condition for rows that match one of the groups. @throws Error for a text that the contract would refuse */
function groupsCondition<L extends List>(served: ServedList<L>, text: string): FilterCondition {
  const groups = readGroups(served.list, text)
  if (!groups) throw new Error(`The list ${served.list.name} cannot read these groups of filters`)
  const parts = groups.map((group) => Object.entries(group).map(([name, value]) => filterCondition(served, name, value)))
  const ofRow = parts.map((part) => sql<boolean>`(${all(part.map(({ condition }) => condition))})`)
  const joined = parts.map((part) => all(part.flatMap(({ asJoins }) => asJoins)))
  return {
    field: undefined,
    condition: sql<boolean>`(${sql.join(ofRow, sql` or `)})`,
    asJoins: disjoint(joined, ofRow),
    looksUp: parts.flat().some(({ looksUp }) => looksUp),
    isOfJoined: parts.flat().every(({ isOfJoined }) => isOfJoined),
  }
}

/** Returns each combination of one condition from each list. */
function combinations(lists: readonly Condition[][]): Condition[][] {
  return lists.reduce<Condition[][]>((made, list) => made.flatMap((one) => list.map((condition) => [...one, condition])), [[]])
}

/** Makes conditions disjoint: excludes from each the rows for which one of the `earlier` conditions holds. */
export function disjoint(conditions: readonly Condition[], earlier: readonly Condition[] = conditions): Condition[] {
  return conditions.map(
    (condition, index) => sql<boolean>`${sql.join([condition, ...earlier.slice(0, index).map(isNot)], sql` and `)}`,
  )
}

function isNot(condition: Condition): Condition {
  return sql<boolean>`(${condition}) is not true`
}

/** Returns the condition for the rows that a call acts on. Selected rows may be hidden ones, which the call itself must refuse. */
export function whereTarget<L extends List>(served: ServedList<L>, target: Target<FilterOf<L>>, context: CallContext): Condition {
  if (!('ids' in target)) return whereFilter(served, target.filter, context).matches
  const picked = wherePicked(served, target.ids)
  return served.within === undefined ? picked : sql<boolean>`${sql.raw(served.within)} and ${picked}`
}

/**
 * Returns disjoint conditions for the same rows, so that a search uses its indexes instead of scanning the whole table.
 * @param isEstimated whether the planner may use the index of another condition instead of the search's
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

/** Returns the SQL value of a sort; texts are ordered from A to Z. */
function sortSql<L extends List>({ list, entity, derived }: ServedList<L>, sort: SortName<L>): string {
  const name = list.sorts[sort]!.field
  const field = entity.fields[name]!
  if (field.isDerived) return (derived as Readonly<Record<string, string>>)[name]!
  const column = columnName(entity, name)
  return isText(field) ? aToZSql(column) : column
}

/** Returns the ORDER BY of a sort, with ties ordered by id. Missing values come last, or first in a reversed order. */
export function orderSql<L extends List>(served: ServedList<L>, sort: SortName<L>, reversed: boolean): string {
  const { list, entity } = served
  const { field, isDescending = false } = list.sorts[sort]!
  const isOptional = entity.fields[field]?.isOptional ?? false
  const value = `${sortSql(served, sort)}${isDescending === reversed ? '' : ' desc'}`
  const missing = isOptional ? ` nulls ${reversed ? 'first' : 'last'}` : ''
  const id = columnName(entity, entity.id)
  const idOrder = isText(entity.fields[entity.id]!) ? idOrderSql(id) : id
  return `${value}${missing}, ${idOrder}${reversed ? ' desc' : ''}`
}

function isText({ kind }: Field): boolean {
  return kind === 'text' || kind === 'choice'
}

export function all(conditions: Condition[]): Condition {
  return conditions.length === 0 ? sql<boolean>`true` : sql<boolean>`${sql.join(conditions, sql` and `)}`
}

/** Returns SQL text in which $1, $2 … stand for these parameters. */
export function bindSql(text: string, parameters: readonly unknown[]): RawBuilder<unknown> {
  const parts = text
    .split(/\$(\d)/)
    .map((part, index) => (index % 2 === 0 ? sql.raw(part) : sql`${parameters[Number(part) - 1]}`))
  return sql.join(parts, sql``)
}
