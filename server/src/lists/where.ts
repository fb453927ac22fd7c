/** Filters of a list as SQL conditions on its table: of a whole filter, its groups, and the rows that an act names. */
import { type RawBuilder, sql } from 'kysely'
import type { Target } from '@arcade/contract/bulk'
import type { FilterOf, List } from '@arcade/contract/entity'
import { readGroups } from '@arcade/contract/filter-values'
import { type CallContext, signedIn } from '#src/calls.ts'
import { columnName, isJoinedField } from '#src/db/entities.ts'
import { momentParameter, microsecondsText } from '#src/db/moments.ts'
import { bindSql, type Condition, type Lookup, type SearchCondition, type ServedList, servedTo } from './list.ts'
import { refusePersonalFilters, seesPersonal } from './personal.ts'

/** What a filter matches in a list. */
export interface Where {
  /** Whether the filter matches every row of the list. */
  isEmpty: boolean
  hasSearch: boolean
  /** Whether there is a search and no other filter, in a list with all its fields: its statement is worth keeping. */
  isSearchAlone: boolean
  /** Whether the search has a part that few rows are likely to contain. */
  isDistinctive: boolean
  /** The given filters and their values, if one index contains their matches in the list's own order. */
  indexed: { filters: readonly string[]; values: readonly unknown[] } | undefined
  /** The filter's SQL. It is written when it is first used, because pages of an indexed filter need none. */
  readonly sql: WhereSql
}

/** A filter as conditions on the list's table. */
export interface WhereSql {
  /** The condition for the rows that the filter matches. */
  matches: Condition
  /** Whether it looks up rows of other tables. */
  looksUp: boolean
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
 * Translates a filter of the contract.
 * @param context the call's context; undefined for the server itself, from which no row and no field is hidden
 * @throws Failure FORBIDDEN for a filter by personal fields that the caller may not see
 */
export function whereFilter<L extends List>(whole: ServedList<L>, filter: FilterOf<L>, context: CallContext | undefined): Where {
  refusePersonalFilters(whole.list, filter, context)
  const served = servedTo(whole, seesPersonal(context))
  const { search = '', ...values } = filter as { search?: string } & Record<string, unknown>
  const given = Object.entries(values).filter(([, value]) => value !== undefined)
  const { baseCondition, hidden } = served
  const text = search.trim()
  const searched = text === '' ? undefined : served.search(text)
  const indexed = searched || baseCondition !== undefined || hidden !== undefined ? undefined : indexedFilter(served, given)
  const write = (): WhereSql => whereSql(served, { given, searched, context })
  let written = indexed ? undefined : write()
  return {
    isEmpty: given.length === 0 && searched === undefined,
    hasSearch: searched !== undefined,
    isSearchAlone: searched !== undefined && given.length === 0 && served.masks === undefined,
    isDistinctive: searched?.isDistinctive === true,
    indexed,
    get sql() {
      return (written ??= write())
    },
  }
}

function whereSql<L extends List>(served: ServedList<L>, { given, searched, context }: Asked): WhereSql {
  const filters = given.map(([name, value]) => filterCondition(served, name, value))
  const joins = combinations(filters.map(({ asJoins }) => asJoins))
  const { entity, baseCondition, hidden } = served
  const withinList = baseCondition === undefined ? [] : [sql.raw<boolean>(baseCondition)]
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
      filters.every(({ field }) => field && isJoinedField(entity, field))
        ? entity.joined?.table
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
    return (kind === 'from' || kind === 'before') && field === list.sorts[list.defaultSort]!.field
  }
  const bounds = given.filter(([name]) => isBound(name))
  const others = given.filter(([name]) => !isBound(name))
  if (others.length > 1 || others.some(([name]) => !indexedFilters.includes(name))) return undefined
  return {
    filters: [...others, ...bounds].map(([name]) => name),
    values: [...others.map(([, value]) => value), ...bounds.map(([, value]) => microsecondsText(new Date(value as string)))],
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
    return { field, condition, asJoins: [condition], looksUp: false, isOfJoined: isJoinedField(served.entity, field) }
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
  if (!('ids' in target)) return whereFilter(served, target.filter, context).sql.matches
  const picked = wherePicked(served, target.ids)
  return served.baseCondition === undefined ? picked : sql<boolean>`${sql.raw(served.baseCondition)} and ${picked}`
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
  const { conditions, estimatedConditions } = whereFilter(served, target.filter, context).sql
  return isEstimated ? estimatedConditions : (conditions ?? estimatedConditions)
}

function wherePicked({ entity }: Pick<ServedList, 'entity'>, ids: string[]): Condition {
  const id = sql.raw(columnName(entity, entity.id))
  if (entity.fields[entity.id]?.kind !== 'integer') return sql`${id} = any(${ids})`
  const numbers = ids.filter((picked) => /^-?\d+$/.test(picked)).map(Number)
  return sql`${id} = any(${numbers.filter(Number.isSafeInteger)}::bigint[])`
}

export function all(conditions: Condition[]): Condition {
  return conditions.length === 0 ? sql<boolean>`true` : sql<boolean>`${sql.join(conditions, sql` and `)}`
}
