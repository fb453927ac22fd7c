/**
 * How the entities of the contract are stored: the table of each entity and the columns of its fields. SELECT lists, spreadsheets, the import
 * and the seed are derived from this, so a field that the contract declares is read and written everywhere.
 */
import { type AliasedRawBuilder, sql } from 'kysely'
import { announcementFields } from '@arcade/contract/announcements/fields'
import { auditFields } from '@arcade/contract/audit/fields'
import type { DerivedName, Field, Fields, FieldValue, StoredName } from '@arcade/contract/entity'
import { type HistoryKind, historyItemFields, participantFields } from '@arcade/contract/history/fields'
import { playerFields } from '@arcade/contract/players/fields'
import { taskFields } from '@arcade/contract/tasks/fields'
import { trashFields } from '@arcade/contract/trash/fields'
import { userFields } from '@arcade/contract/users/fields'
import { isoSql, millisecondsSql, utcSql } from './moments.ts'

/** An entity and its table. `defineEntity` checks that the names fit together. */
export interface Entity {
  table: string
  fields: Fields
  /** The names of columns that are not their field's name in snake_case. */
  columnNames: Readonly<Record<string, string>>
  /** The field that identifies a row. */
  id: string
  /** Fields that are in a joined table, which has one row for each row of this table, with the same id. */
  joined?: JoinedTable | undefined
  /** The table from which samples are taken, if `table` is a view. */
  sampled?: string | undefined
}

interface JoinedTable {
  table: string
  fields: readonly string[]
  /** Columns that filters use and that are not fields. */
  filteredBy: readonly string[]
}

/** The type of `columnNames`: only stored fields have columns. */
export function defineEntity<
  const Fs extends Fields,
  const Names extends { readonly [Name in StoredName<Fs>]?: string },
>(entity: {
  table: string
  fields: Fs
  columnNames: Names & { readonly [Other in Exclude<keyof Names, StoredName<Fs>>]: never }
  id: StoredName<Fs>
  joined?: JoinedTable & { fields: readonly StoredName<Fs>[] }
  sampled?: string
}): {
  table: string
  fields: Fs
  columnNames: Names & Readonly<Record<string, string>>
  id: StoredName<Fs>
  joined?: JoinedTable
  sampled?: string
} {
  return entity
}

export const userEntity = defineEntity({ table: 'users', fields: userFields, columnNames: {}, id: 'id' })
export const playerEntity = defineEntity({
  table: 'telegram_users',
  fields: playerFields,
  columnNames: {},
  id: 'userId',
  joined: { table: 'balances', fields: ['balance'], filteredBy: ['blocked_at'] },
})
export const taskEntity = defineEntity({ table: 'tasks', fields: taskFields, columnNames: { type: 'image' }, id: 'id' }) // image: §3
export const announcementEntity = defineEntity({
  table: 'announcements',
  fields: announcementFields,
  columnNames: { image: 'image_key', icon: 'icon_key' },
  id: 'id',
})
/** The entity of each kind of item, and the condition for its rows. */
export const itemSources: Readonly<Record<HistoryKind, { entity: Entity; where: string }>> = {
  social: { entity: taskEntity, where: `collection = 'social'` },
  daily: { entity: taskEntity, where: `collection = 'daily'` },
  announcement: { entity: announcementEntity, where: 'true' },
}
export const auditEntity = defineEntity({
  table: 'audit_trail',
  fields: auditFields,
  columnNames: {},
  id: 'seq',
  sampled: 'audit_entries',
})
export const trashEntity = defineEntity({ table: 'trash', fields: trashFields, columnNames: {}, id: 'id' })
export const historyItemEntity = defineEntity({
  table: 'history_items',
  fields: historyItemFields,
  columnNames: { id: 'item_id' },
  id: 'id',
})
export const participantEntity = defineEntity({
  table: 'participations',
  fields: participantFields,
  columnNames: { id: 'user_id', timestamp: 'at' },
  id: 'id',
})

/** PostgreSQL's type for each kind of field. A column may also be a smaller `integer`. */
export const columnTypes = {
  text: 'text',
  choice: 'text',
  number: 'numeric',
  integer: 'bigint',
  moment: 'timestamptz',
  flag: 'boolean',
} as const satisfies Record<Field['kind'], string>

/** Returns the stored fields of an entity, in the order of their declaration. */
export function storedNames<Fs extends Fields>(fields: Fs): StoredName<Fs>[] {
  return (Object.keys(fields) as StoredName<Fs>[]).filter((name) => !fields[name]?.isDerived)
}

/** Whether a field is in the joined table. */
export function isJoinedField({ joined }: Entity, name: string): boolean {
  return joined?.fields.includes(name) ?? false
}

/**
 * Returns the FROM item for rows of an entity. Rows in the order of a field are read from the table that has the field and its index. If no
 * field of the other table is used, that table is not read.
 */
export function sourceSql(entity: Entity, orderedBy?: string): string {
  const { table, joined } = entity
  if (!joined) return table
  const id = columnName(entity, entity.id)
  if (orderedBy !== undefined && isJoinedField(entity, orderedBy)) return `(${joined.table} join ${table} using (${id}))`
  return `(${table} left join ${joined.table} using (${id}))`
}

/** Returns a subquery for a column of the joined table, for each selected row: with a join, the planner would read all of that table. */
export function lookedUpSql(entity: Entity, column: string): string {
  const { table, joined } = entity
  const id = columnName(entity, entity.id)
  return `(select joined.${column} from ${joined!.table} as joined where joined.${id} = ${table}.${id}) as ${column}`
}

/**
 * Returns a subquery for about `size` of an entity's `all` rows, with all columns and with the page of each row as `sampled_page`. The sample
 * consists of whole pages of the table, always the same ones, so that they stay in memory. No other rows of either table are read.
 * On a Citus cluster each shard has its own pages. The statement that a worker gets names the shard, whose number is then the seed: with
 * one seed for all, either the first pages of all shards were chosen or none of them.
 */
export function sampleSql(entity: Entity, size: number, all: number): string {
  const { table, joined, sampled = table } = entity
  const columns = joined ? [...joined.fields.map((field) => columnName(entity, field)), ...joined.filteredBy] : []
  // A ctid such as (12,3) begins with the page.
  const page = `${sampled}.tableoid || split_part(${sampled}.ctid::text, ',', 1) as sampled_page`
  const selected = [`${sampled}.*`, page, ...columns.map((column) => lookedUpSql(entity, column))].join(', ')
  const seed = `coalesce(substring(current_query() from '${sampled}_([0-9]+)')::float8, 0)`
  const percent = Math.min(100, (100 * size) / Math.max(1, all))
  return `select ${selected} from ${sampled} tablesample system (${percent.toFixed(6)}) repeatable (${seed})`
}

/** Returns the name of a stored field's column. */
export function columnName({ columnNames }: Entity, name: string): string {
  return columnNames[name] ?? name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
}

/**
 * The format of timestamps in a SELECT: ISO 8601 texts in UTC for the API, PostgreSQL's own texts in UTC for rows that are written from
 * those, or milliseconds since 1970 for reading millions of rows.
 */
type Moments = 'iso' | 'utc' | 'milliseconds'

const momentFormats: Record<Moments, (column: string) => string> = { iso: isoSql, utc: utcSql, milliseconds: millisecondsSql }

/** SQL for each derived field of an entity. */
export type DerivedSql<E extends Entity> = Readonly<Record<DerivedName<E['fields']>, string>>

interface SelectOptions<E extends Entity> {
  derived: DerivedSql<E>
  moments?: Moments
  /** The fields to select; all of them by default. */
  only?: readonly (keyof E['fields'] & string)[]
  /** SQL that is selected instead of a field, as in the API, where the caller may not see the field. */
  masks?: Masks | undefined
}

/** SQL that is selected instead of fields, by the fields' names. */
export type Masks = Readonly<Record<string, string>>

/** Returns the select list for rows of the entity as in the API: `first_name as "firstName", …`. */
export function selectList<E extends Entity>(entity: E, options: SelectOptions<E>): string {
  return expressions(entity, options)
    .map(([name, expression]) => `${expression} as "${name}"`)
    .join(', ')
}

type SelectedField<Fs extends Fields> = {
  [Name in keyof Fs & string]: AliasedRawBuilder<FieldValue<Fs[Name]>, Name>
}[keyof Fs & string]

/** Returns all fields as expressions for `select` and `returning`. */
export function selectedFields<E extends Entity>(entity: E, derived: DerivedSql<E>): SelectedField<E['fields']>[] {
  const selected = expressions(entity, { derived }).map(([name, expression]) => sql.raw(expression).as(name))
  return selected as SelectedField<E['fields']>[]
}

/** Returns the stored fields as expressions for `select` and `returning`. */
export function storedFields<E extends Entity>(entity: E): SelectedField<Pick<E['fields'], StoredName<E['fields']>>>[] {
  const only = storedNames(entity.fields) as StoredName<E['fields']>[]
  const selected = expressions(entity, { derived: {} as DerivedSql<E>, only }).map(([name, expression]) =>
    sql.raw(expression).as(name),
  )
  return selected as unknown as SelectedField<Pick<E['fields'], StoredName<E['fields']>>>[]
}

/** Returns each field's name with the SQL for its value as in the API. */
function expressions<E extends Entity>(
  entity: E,
  { derived, moments = 'iso', only, masks = {} }: SelectOptions<E>,
): [name: string, expression: string][] {
  const names = only ?? Object.keys(entity.fields)
  return names.map((name) => {
    const field = entity.fields[name]!
    const mask = masks[name]
    if (mask !== undefined) return [name, mask]
    const value = field.isDerived ? (derived as Readonly<Record<string, string>>)[name]! : columnName(entity, name)
    return [name, field.kind === 'moment' ? momentFormats[moments](value) : value]
  })
}
