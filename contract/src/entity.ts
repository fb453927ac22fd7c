/**
 * How an entity and its list are declared: once, as plain data with types. Whatever uses a field, filter or sort is derived from the
 * declaration or is a `Record` over its keys, so that one that is forgotten somewhere does not compile.
 */

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

export interface KindTypes {
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
export function fieldNames<Fs extends Fields>(fields: Fs): (keyof Fs & string)[] {
  return Object.keys(fields)
}

/**
 * What narrows a list down. `min` and `max` are the bounds of an amount; `from` and `before` are bounds of a moment that people choose as
 * days, or `isToTheMinute` as days with a time (the last one included, so `before` is the midnight or minute after it); `choice` is one of the options; `text` is any text, of which some
 * are offered. A filter with a `field` is a bound of that field or a value that it has; what a filter without one means, the server says.
 */
export type Filter<FieldName extends string = string> = { label: string } & (
  | { kind: 'min' | 'max'; field: FieldName }
  | { kind: 'from'; field: FieldName; isToTheMinute?: true }
  /** `dayName` is the filter's name in the page's address, where it holds the last day or minute. */
  | { kind: 'before'; field: FieldName; dayName: string; isToTheMinute?: true }
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
  /** What one row and several rows are called, as in `No user matches.` and `Search users`. */
  noun: { one: string; many: string }
  /** This text stands in place of the rows when there are none at all. */
  emptyText: string
  /** The name of the list's spreadsheets. */
  fileName: string
  fields: Fields
  filters: Filters
  sorts: Readonly<Record<string, Sort>>
  /** The order it has unless another one is asked for. */
  ownSort: string
  pageSizes: readonly [number, ...number[]]
  /** A page begins after or ends before a row (§7) instead of being a number of pages away from the first one. */
  isPagedByCursor?: true
  /** Its search finds one or two letters at the beginnings of words alone (`findsBeginningsOnly`). */
  findsPeople?: true
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
  noun: List['noun']
  emptyText: string
  fileName: string
  fields: Fs
  filters: Filts
  sorts: Readonly<Record<Order, Sort<keyof Fs & string>>>
  ownSort: NoInfer<Order>
  /** The first one is the page size unless another one is asked for. */
  pageSizes: Sizes
  isPagedByCursor?: true
  findsPeople?: true
}) {
  return list
}

/** Up to here a double holds every whole number exactly. Larger numbers are refused (design §5). */
export const MAX_NUMBER = 2 ** 53
export const SEARCH_MAX_LENGTH = 100
/** The value of a filter of the kind `text` has at most so many characters. */
export const FILTER_TEXT_MAX_LENGTH = 64
/** The largest number of a page that can be asked for. */
export const MAX_PAGE = 1_000_000_000
/** One call takes at most so many picked rows; more rows than that are named by a filter. */
export const BULK_MAX_IDS = 10_000

export type SortName<L extends List> = keyof L['sorts'] & string

/** What narrows a list down, on the wire: a text that is looked for, and the list's filters. */
export type FilterOf<L extends List> = { search?: string | undefined } & {
  -readonly [Name in keyof L['filters']]?: FilterValue<L['filters'][Name]> | undefined
}
