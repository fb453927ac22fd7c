/**
 * Declares entities and their lists once, as typed plain data. Code that uses fields, filters or sorts is derived from the declaration or
 * is a `Record` over its keys, so that forgetting one is a type error.
 */

interface FieldBase {
  /** The specification's header for the column (§2), also in spreadsheets. */
  label: string
  /** The value may be missing: null in the API, and the specification's word on the page. */
  isOptional?: true
  /** The server computes the value: it is neither a column of the entity's table nor a field of an import. */
  isDerived?: true
  /** Only people with the permission `players.personal` see the whole value, and find or filter rows by it. */
  isPersonal?: true
  /** Width of the column in spreadsheets, in characters. A field without a width is not in spreadsheets. */
  sheetWidth?: number
}

/** `integer` is exact up to 2^53, `number` is an exact decimal, `moment` is ISO 8601 in UTC, `choice` is a key of `options`. */
export type Field = FieldBase &
  (
    | { kind: 'text' | 'number' | 'integer' | 'moment' | 'flag' }
    /** Values with their labels. */
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

/** A field's type in the API. */
export type FieldValue<F extends Field> =
  | (F extends { options: infer Options }
      ? keyof Options & string
      : F['kind'] extends keyof KindTypes
        ? KindTypes[F['kind']]
        : never)
  | (F extends { isOptional: true } ? null : never)

/** An entity's row in the API. */
export type RowOf<Fs extends Fields> = { -readonly [Name in keyof Fs]: FieldValue<Fs[Name]> }

/** The fields that are columns of the entity's own table. */
export type StoredName<Fs extends Fields> = {
  [Name in keyof Fs & string]: Fs[Name] extends { isDerived: true } ? never : Name
}[keyof Fs & string]

/** The fields that the server computes. */
export type DerivedName<Fs extends Fields> = Exclude<keyof Fs & string, StoredName<Fs>>

/** The fields in spreadsheets. */
export type SheetName<Fs extends Fields> = {
  [Name in keyof Fs & string]: Fs[Name] extends { sheetWidth: number } ? Name : never
}[keyof Fs & string]

/** The fields that a list can be sorted by: the order of a personal field would tell its values. */
type SortableName<Fs extends Fields> = {
  [Name in keyof Fs & string]: Fs[Name] extends { isPersonal: true } ? never : Name
}[keyof Fs & string]

/** Returns the names of an entity's fields in declaration order. */
export function fieldNames<Fs extends Fields>(fields: Fs): (keyof Fs & string)[] {
  return Object.keys(fields)
}

/**
 * A filter of a list, which is about its `field`. The server defines what a filter without a field means. `optionFields` names the fields
 * that each option tells something about.
 */
export type Filter<FieldName extends string = string> = { label: string } &
  /** An inclusive bound of a number. */
  (
    | { kind: 'min' | 'max'; field: FieldName }
    /** A bound of a timestamp, which people choose as a day, or with `isToTheMinute` as a minute. */
    | { kind: 'from'; field: FieldName; isToTheMinute?: true }
    /** People choose the last day or minute; `before` is its end. `dayName` is the filter's name in the page's address, which has that day. */
    | { kind: 'before'; field: FieldName; dayName: string; isToTheMinute?: true }
    /** `choice` is one of the options. `text` is any text; the options are suggestions. */
    | {
        kind: 'choice' | 'text'
        field?: FieldName
        options: Readonly<Record<string, string>>
        optionFields?: Readonly<Record<string, readonly FieldName[]>>
      }
    /** A number of days until now. */
    | { kind: 'days'; field?: FieldName }
    /** Several options, separated by commas. A row must have all of them. */
    | {
        kind: 'all'
        field?: undefined
        options: Readonly<Record<string, string>>
        optionFields: Readonly<Record<string, readonly FieldName[]>>
      }
    /** An item as `kind:id`, such as `social:4711`. */
    | { kind: 'item'; field?: undefined }
    /** A JSON list of groups of the other filters. A row must match all filters of at least one group (filter-groups.ts). */
    | { kind: 'groups'; field?: undefined }
  )
export type Filters<FieldName extends string = string> = Readonly<Record<string, Filter<FieldName>>>

/** A filter's type in the API. */
export type FilterValue<F extends Filter> = F extends { kind: 'min' | 'max' | 'days' }
  ? number
  : F extends { kind: 'choice'; options: infer Options }
    ? keyof Options & string
    : string

/** An order of a list, by the field whose header selects it. Ties are ordered by id, texts case-insensitively. */
export interface Sort<FieldName extends string = string> {
  label: string
  field: FieldName
  /** Largest or latest first. */
  isDescending?: true
}

/** A list of an entity, with its fields, filters and orders. */
export interface List {
  /** The list's name in calls, in the audit and in selections. */
  name: string
  /** The nouns for one row and for several rows, as in `No user matches.` and `Search users`. */
  noun: { one: string; many: string }
  /** Shown when the list has no rows at all. */
  emptyText: string
  /** The file name of the list's spreadsheets. */
  fileName: string
  fields: Fields
  filters: Filters
  sorts: Readonly<Record<string, Sort>>
  /** The default order. */
  defaultSort: string
  pageSizes: readonly [number, ...number[]]
  /** Pages start after or end before a row (§7), instead of being numbered. */
  isPagedByCursor?: true
  /** A search for one or two letters finds only the beginnings of words (`findsBeginningsOnly`). */
  isOfPeople?: true
}

/** Declares a list. Its filters and sorts can only name existing fields. */
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
  sorts: Readonly<Record<Order, Sort<SortableName<Fs>>>>
  defaultSort: NoInfer<Order>
  /** The first one is the default. */
  pageSizes: Sizes
  isPagedByCursor?: true
  isOfPeople?: true
}) {
  return list
}

/** Largest number: up to 2^53 a double represents every integer exactly. Larger numbers are refused (design §5). */
export const MAX_NUMBER = 2 ** 53
export const MAX_SEARCH_LENGTH = 100
/** Longest value of a `text` filter, in characters. */
export const MAX_FILTER_TEXT_LENGTH = 64
/** Most days of a `days` filter: ten years. */
export const MAX_FILTER_DAYS = 3650
/** Largest page number. */
export const MAX_PAGE = 1_000_000_000
/** Most picked rows in one call. A filter can select more. */
export const MAX_BULK_IDS = 10_000

export type SortName<L extends List> = keyof L['sorts'] & string

/** The search text and filters of a list in the API. */
export type FilterOf<L extends List> = { search?: string | undefined } & {
  -readonly [Name in keyof L['filters']]?: FilterValue<L['filters'][Name]> | undefined
}
