/**
 * The address of a list, derived from the list's declaration: what is looked for, the filters, the order and the page. The router reads
 * it before the page is loaded, so nothing here may import a page or a schema.
 */
import {
  type Filter,
  FILTER_TEXT_MAX_LENGTH,
  type FilterOf,
  type FilterValue,
  type List,
  MAX_NUMBER,
  MAX_PAGE,
  SEARCH_MAX_LENGTH,
  type SortName,
} from '@arcade/contract/entity'

/** All headers of the widest table, and some more. */
const COLUMNS_MAX_LENGTH = 500

/** A filter that ends before a moment stands in the address as the last day, under a name of its own. */
type AddressName<Name, F> = F extends { dayName: infer DayName extends string } ? DayName : Name

type AddressFilters<L extends List> = {
  -readonly [Name in keyof L['filters'] & string as AddressName<Name, L['filters'][Name]>]?:
    | FilterValue<L['filters'][Name]>
    | undefined
}

/** How the table of a list looks; left out where that is as at first. */
export interface LookAddress {
  rows?: 'normal' | 'compact' | undefined
  /** The columns that are hidden or shown unlike at first, by their headers with commas between them. Only where there is `rows`. */
  columns?: string | undefined
}

/** What the address of a list holds. Whatever is as it is anyway, such as page 1, is left out. */
export type ListAddress<L extends List> = AddressFilters<L> &
  LookAddress & {
    /** The text that is looked for. */
    q?: string | undefined
    sort?: SortName<L> | undefined
    reversed?: true | undefined
    /** From 2 on. */
    page?: number | undefined
    size?: L['pageSizes'][number] | undefined
    /** From page 2 on, if pages are found by cursors: the page begins after this cursor, or ends before that one. */
    after?: string | undefined
    before?: string | undefined
  }

/** The name under which the address holds a filter of the list. */
export function nameInAddress(name: string, filter: Filter): string {
  return filter.kind === 'before' ? filter.dayName : name
}

/** Reads an address. What is not understood is left out: then the list is the nearest one that there is. */
export function readListAddress<L extends List>(list: L, raw: Record<string, unknown>): ListAddress<L> {
  const filters = Object.entries(list.filters).map(([name, filter]) => {
    const addressName = nameInAddress(name, filter)
    return [addressName, filterValueIn(raw[addressName], filter)]
  })
  const address = {
    q: textIn(raw['q'])?.slice(0, SEARCH_MAX_LENGTH),
    ...orderIn(list, raw),
    ...placeIn(list, raw),
    ...lookIn(raw),
    ...Object.fromEntries(filters),
  }
  return withoutUndefined<object>(address)
}

function orderIn(list: List, raw: Record<string, unknown>): object {
  const sorts = Object.keys(list.sorts)
  if (sorts.length === 1) return {}
  const sort = sorts.find((name) => name === raw['sort'])
  return {
    sort: sort === list.ownSort ? undefined : sort,
    reversed: raw['reversed'] === true || raw['reversed'] === 'true' ? true : undefined,
  }
}

function placeIn(list: List, raw: Record<string, unknown>): object {
  const size = list.pageSizes.find((candidate) => candidate === Number(raw['size']))
  const number = Number(raw['page'])
  const page = Number.isInteger(number) && number > 1 ? Math.min(number, MAX_PAGE) : undefined
  return { size: size === list.pageSizes[0] ? undefined : size, ...(list.isPagedByCursor ? cursorIn(page, raw) : { page }) }
}

function lookIn(raw: Record<string, unknown>): object {
  const rows = (['normal', 'compact'] as const).find((name) => name === raw['rows'])
  return rows === undefined ? {} : { rows, columns: textIn(raw['columns'])?.slice(0, COLUMNS_MAX_LENGTH) }
}

/** A page from 2 on is found by its cursor alone, and a cursor means nothing on page 1. */
function cursorIn(page: number | undefined, raw: Record<string, unknown>): object {
  const after = textIn(raw['after'])
  const before = textIn(raw['before'])
  if (page === undefined || (after === undefined && before === undefined)) return {}
  return after === undefined ? { page, before } : { page, after }
}

function filterValueIn(value: unknown, filter: Filter): string | number | undefined {
  if (filter.kind === 'choice') return Object.keys(filter.options).find((option) => option === value)
  if (filter.kind !== 'from' && filter.kind !== 'before') return readers[filter.kind](value)
  const day = dayIn(value, filter.isToTheMinute)
  if (!filter.isToTheMinute || day?.length !== DAY_LENGTH) return day
  return `${day}${filter.kind === 'from' ? 'T00:00' : 'T23:59'}`
}

const DAY_LENGTH = 10

const readers: Record<Exclude<Filter['kind'], 'choice' | 'from' | 'before'>, (value: unknown) => string | number | undefined> = {
  min: amountIn,
  max: amountIn,
  text: (value) => textIn(value)?.slice(0, FILTER_TEXT_MAX_LENGTH),
}

function amountIn(value: unknown): number | undefined {
  return typeof value === 'number' && Math.abs(value) <= MAX_NUMBER ? value : undefined
}

/** A text, also one that the router has read as a number. */
function textIn(value: unknown): string | undefined {
  return (typeof value === 'string' && value !== '') || typeof value === 'number' ? String(value) : undefined
}

/** A day as `<input type="date">` has it, or also a minute as `<input type="datetime-local">` has it. */
function dayIn(value: unknown, isToTheMinute = false): string | undefined {
  const form = isToTheMinute ? /^\d{4}-\d\d-\d\d(T\d\d:\d\d)?$/ : /^\d{4}-\d\d-\d\d$/
  return typeof value === 'string' && form.test(value) && !Number.isNaN(Date.parse(value)) ? value : undefined
}

/** The part of a call's input that narrows the list down. Days of the address are days in the operator's time zone. */
export function listFilter<L extends List>(list: L, address: ListAddress<L>): FilterOf<L> {
  const values: Readonly<Record<string, unknown>> = address
  const filters = Object.entries(list.filters).map(([name, filter]) => {
    const value = values[nameInAddress(name, filter)]
    if (typeof value !== 'string') return [name, value]
    return [name, filter.kind === 'from' ? startOf(value) : filter.kind === 'before' ? startOf(value, 1) : value]
  })
  return withoutUndefined<object>({ search: address.q, ...Object.fromEntries(filters) })
}

/** @param day a day or a minute; `later` as many of them later */
function startOf(day: string, later = 0): string {
  const [year = 0, month = 1, date = 1, hour, minute = 0] = day.split(/\D/).map(Number)
  if (hour === undefined) return new Date(year, month - 1, date + later).toISOString()
  return new Date(year, month - 1, date, hour, minute + later).toISOString()
}

/** The part of a call's input that orders the list. */
export function listOrder<L extends List>(list: L, { sort, reversed }: ListAddress<L>): { sort: SortName<L>; reversed: boolean } {
  return { sort: sort ?? list.ownSort, reversed: reversed ?? false }
}

/** The part of a call's input that says where the page begins, for a list whose pages are found by cursors. */
export function listCursor({ after, before }: { after?: string | undefined; before?: string | undefined }) {
  return withoutUndefined({ after, before })
}

/** The address of the same list's first page. */
export function firstPage<L extends List>(address: ListAddress<L>): ListAddress<L> {
  return withoutUndefined<object>({ ...address, page: undefined, after: undefined, before: undefined })
}

/** The look of the table that the address names, if it names one. */
export function readLook({ rows, columns = '' }: LookAddress) {
  if (rows === undefined) return undefined
  return { isCompact: rows === 'compact', changed: columns.split(',').filter((header) => header !== '') }
}

/** The part of an address that names a look. */
export function lookAddress({ isCompact, changed }: { isCompact: boolean; changed: readonly string[] }): LookAddress {
  return { rows: isCompact ? 'compact' : 'normal', columns: changed.toSorted().join() || undefined }
}

/** The address without its look: nothing is left of it where it asks for the whole list. */
export function withoutLook<L extends List>(address: ListAddress<L>): ListAddress<L> {
  return withoutUndefined<object>({ ...address, rows: undefined, columns: undefined })
}

type WithoutUndefined<T> = { [Key in keyof T]?: Exclude<T[Key], undefined> }

/** The same without the keys that have no value. */
export function withoutUndefined<T extends object>(values: T): WithoutUndefined<T> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as WithoutUndefined<T>
}
