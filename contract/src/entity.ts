/**
 * How an entity and its list are declared: once, as plain data with types. Whatever uses a field, filter or sort is derived from the
 * declaration or is a `Record` over its keys, so that one that is forgotten somewhere does not compile.
 */
import { z } from 'zod'
import { bulkTarget } from './bulk.ts'
import { MAX_NUMBER, reversedField, searchField } from './fields.ts'

interface FieldBase {
  /** The specification's header of the field's column (§2), also in spreadsheets. */
  label: string
  /** The field may be missing: null on the wire, and the specification's word for it on the page. */
  isOptional?: true
  /** The server works the field out: the entity's table has no such column, and an import no such field. */
  isDerived?: true
  /** How many characters wide the field's column in a spreadsheet is. A field without a width is in no spreadsheet. */
  sheetWidth?: number
}

/** `integer` is exact up to 2^53, `number` an exact decimal, `moment` an ISO 8601 text in UTC, `choice` one of the keys of `options`. */
export type Field = FieldBase &
  (
    | { kind: 'text' | 'number' | 'integer' | 'moment' | 'flag' }
    /** Each option's value with the text that people read. */
    | { kind: 'choice'; options: Readonly<Record<string, string>> }
  )
export type Fields = Readonly<Record<string, Field>>

interface KindTypes {
  text: string
  number: number
  integer: number
  moment: string
  flag: boolean
}

/** A field's type on the wire. */
export type FieldValue<F extends Field> =
  | (F extends { options: infer Options }
      ? keyof Options & string
      : F['kind'] extends keyof KindTypes
        ? KindTypes[F['kind']]
        : never)
  | (F extends { isOptional: true } ? null : never)

/** A row of an entity on the wire. */
export type RowOf<Fs extends Fields> = { -readonly [Name in keyof Fs]: FieldValue<Fs[Name]> }

/** Fields that are columns of the entity's own table. */
export type StoredName<Fs extends Fields> = {
  [Name in keyof Fs & string]: Fs[Name] extends { isDerived: true } ? never : Name
}[keyof Fs & string]

/** Fields that the server works out. */
export type DerivedName<Fs extends Fields> = Exclude<keyof Fs & string, StoredName<Fs>>

/** Fields that stand in spreadsheets. */
export type SheetName<Fs extends Fields> = {
  [Name in keyof Fs & string]: Fs[Name] extends { sheetWidth: number } ? Name : never
}[keyof Fs & string]

/** The names of an entity's fields in the order of their declaration. */
export function namesOf<Fs extends Fields>(fields: Fs): (keyof Fs & string)[] {
  return Object.keys(fields)
}

/** The schema of an entity's row on the wire. */
export function rowSchema<const Fs extends Fields>(fields: Fs) {
  const shape = Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, fieldSchema(field)]))
  return z.object(shape as { [Name in keyof Fs]: z.ZodType<FieldValue<Fs[Name]>> })
}

function fieldSchema(field: Field): z.ZodType {
  const schema = presentSchema(field)
  return field.isOptional ? schema.nullable() : schema
}

function presentSchema(field: Field): z.ZodType {
  if (field.kind === 'choice') return z.enum(Object.keys(field.options))
  return kindSchemas[field.kind]
}

const kindSchemas = {
  text: z.string(),
  number: z.number(),
  integer: z.int(),
  moment: z.iso.datetime(),
  flag: z.boolean(),
} satisfies { [Kind in keyof KindTypes]: z.ZodType<KindTypes[Kind]> }

/**
 * What narrows a list down. `min` and `max` are the bounds of an amount; `from` and `before` are bounds of a moment that people choose as
 * days (the last day included, so `before` is the midnight after it); `choice` is one of the options; `text` is any text, of which some
 * are offered. A filter with a `field` is a bound of that field or a value that it has; what a filter without one means, the server says.
 */
export type Filter<FieldName extends string = string> = { label: string } & (
  | { kind: 'min' | 'max' | 'from'; field: FieldName }
  /** `dayName` is the filter's name in the page's address, where it holds the last day. */
  | { kind: 'before'; field: FieldName; dayName: string }
  | { kind: 'choice' | 'text'; field?: FieldName; options: Readonly<Record<string, string>> }
)
export type Filters<FieldName extends string = string> = Readonly<Record<string, Filter<FieldName>>>

/** A filter's type on the wire. */
export type FilterValue<F extends Filter> = F extends { kind: 'min' | 'max' }
  ? number
  : F extends { kind: 'choice'; options: infer Options }
    ? keyof Options & string
    : string

/** An order of a list by one of its fields, the column whose header asks for it; ties go by id. Texts are ordered whatever their case. */
export interface Sort<FieldName extends string = string> {
  label: string
  field: FieldName
  /** The largest or latest comes first. */
  isDescending?: true
}

/** A list of an entity: which fields it shows, which filters narrow it down, which orders it has. */
export interface List {
  /** The list's name in calls, in the audit trail and in selections. */
  name: string
  fields: Fields
  filters: Filters
  sorts: Readonly<Record<string, Sort>>
  /** The order it has unless another one is asked for. */
  ownSort: string
  pageSizes: readonly [number, ...number[]]
}

/** Declares a list; filters and sorts can only name fields that there are. */
export function defineList<
  const Name extends string,
  const Fs extends Fields,
  const Filts extends Filters<keyof Fs & string>,
  const Order extends string,
  const Sizes extends readonly [number, ...number[]],
>(list: {
  name: Name
  fields: Fs
  filters: Filts
  sorts: Readonly<Record<Order, Sort<keyof Fs & string>>>
  ownSort: NoInfer<Order>
  /** The first one is the page size unless another one is asked for. */
  pageSizes: Sizes
}) {
  return list
}

export type SortName<L extends List> = keyof L['sorts'] & string

/** What narrows a list down, on the wire: a text that is looked for, and the list's filters. */
export type FilterOf<L extends List> = { search?: string | undefined } & {
  -readonly [Name in keyof L['filters']]?: FilterValue<L['filters'][Name]> | undefined
}

const amountField = z.coerce.number().min(-MAX_NUMBER).max(MAX_NUMBER)
const momentField = z.iso.datetime({ offset: true })
const offeredTextField = z.string().max(64)

/** The schema of what narrows a list down. */
export function filterSchema<const L extends List>(list: L) {
  const filters = Object.fromEntries(Object.entries(list.filters).map(([name, filter]) => [name, valueSchema(filter).optional()]))
  type Shape = { search: typeof searchField } & {
    [Name in keyof L['filters']]: z.ZodOptional<z.ZodType<FilterValue<L['filters'][Name]>>>
  }
  return z.strictObject({ search: searchField, ...filters } as Shape)
}

function valueSchema(filter: Filter): z.ZodType {
  if (filter.kind === 'choice') return z.enum(Object.keys(filter.options))
  if (filter.kind === 'text') return offeredTextField
  return filter.kind === 'min' || filter.kind === 'max' ? amountField : momentField
}

/** The order of a list, as fields of a query. */
export function orderFields<const L extends List>(list: L) {
  const sort = z.enum(Object.keys(list.sorts) as SortName<L>[]) as z.ZodType<SortName<L>>
  return { sort: sort.default(list.ownSort as z.util.NoUndefined<SortName<L>>), reversed: reversedField }
}

/** The rows of a list that a call acts on: picked ones, or all that a filter matches. */
export function targetSchema<const L extends List>(list: L) {
  return bulkTarget(filterSchema(list))
}
