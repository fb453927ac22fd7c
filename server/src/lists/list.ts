/**
 * A list of the contract in terms of the database: its table, the conditions of its filters, and its orders. Pages, counts, exports and acts
 * on many rows use the same ones.
 */
import { type RawBuilder, sql } from 'kysely'
import type { Field, FilterOf, FilterValue, List, RowOf, SortName } from '@arcade/contract/entity'
import { personalNames } from '@arcade/contract/personal'
import { aToZSql, idOrderSql } from '#src/db/collations.ts'
import { columnName, type DerivedSql, type Entity, type Masks } from '#src/db/entities.ts'
import { personalMasks } from './personal.ts'
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
  baseCondition?: string
  /** A condition for rows that no filter matches, with $1 for the operator's id: the list of users omits the operator. */
  hidden?: string
  /**
   * Filters by equality for which there is an index on (column, the value of the list's own sort, id), with timestamps in UTC. Only for lists
   * that are paged by cursors in the order of a timestamp.
   */
  indexedFilters?: readonly (keyof L['filters'] & string)[]
  /** A condition on rows that is not a field, such as being blocked. Pages by cursors list the ids of the rows for which it holds. */
  markCondition?: string
  /** Returns SQL for the number of rows, hidden ones included, that a filter without a search matches; undefined if no counter knows it. */
  counted?: (filter: FilterOf<L>) => string | undefined
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

/** Returns `text` as SQL with `parameters[0]` bound for $1, and so on; at most nine. */
export function bindSql(text: string, parameters: readonly unknown[]): RawBuilder<unknown> {
  const parts = text
    .split(/\$(\d)/)
    .map((part, index) => (index % 2 === 0 ? sql.raw(part) : sql`${parameters[Number(part) - 1]}`))
  return sql.join(parts, sql``)
}
