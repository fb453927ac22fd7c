/**
 * The address of a list, derived from the list's declaration: search, filters, order and page. The router reads it before the page is
 * loaded, so this file must not import a page or a schema.
 */
import { nameInAddress, readAddressFilters, textIn } from '@arcade/contract/address-filters'
import { type FilterOf, type FilterValue, type List, MAX_PAGE, type SortName } from '@arcade/contract/entity'
import { firstCharacters } from '@arcade/contract/text'

/** Longest `columns` parameter in characters: more than all headers of the widest table. */
const MAX_COLUMNS_LENGTH = 500

/** A `before` filter is an exclusive timestamp. The address has the last day instead, under its own name. */
type AddressName<Name, F> = F extends { dayName: infer DayName extends string } ? DayName : Name

type AddressFilters<L extends List> = {
  -readonly [Name in keyof L['filters'] & string as AddressName<Name, L['filters'][Name]>]?:
    | FilterValue<L['filters'][Name]>
    | undefined
}

/** The look of a list's table; left out for the default look. */
export interface LookAddress {
  rows?: 'normal' | 'compact' | undefined
  /** The headers of columns that differ from the default (hidden or shown), separated by commas. Requires `rows`. */
  columns?: string | undefined
}

/** The search parameters of a list. Default values, such as page 1, are left out. */
export type ListAddress<L extends List> = AddressFilters<L> &
  LookAddress & {
    /** The search text. */
    q?: string | undefined
    sort?: SortName<L> | undefined
    reversed?: true | undefined
    /** Left out for page 1. */
    page?: number | undefined
    size?: L['pageSizes'][number] | undefined
    /** Only with `page`, in lists paged by cursors: the page starts after this cursor, or ends before `before`. */
    after?: string | undefined
    before?: string | undefined
    /** The names of the parts that could not be read, separated by commas. The router takes them out before a page sees them (unread.ts). */
    unread?: string | undefined
  }

/** Reads the search parameters of a list. Invalid values are dropped, and `unread` names those that would choose rows. */
export function readListAddress<L extends List>(list: L, { unread: named, ...raw }: Record<string, unknown>): ListAddress<L> {
  const { values, unread } = readAddressFilters(list, raw)
  const earlier = typeof named === 'string' ? named.split(',') : named === undefined ? [] : ['unread']
  const names = new Set([...earlier, ...unread])
  const address = {
    ...values,
    ...orderIn(list, raw),
    ...pageIn(list, raw),
    ...lookIn(raw),
    unread: names.size === 0 ? undefined : [...names].join(),
  }
  return withoutUndefined<object>(address)
}

function orderIn(list: List, raw: Record<string, unknown>): object {
  const sorts = Object.keys(list.sorts)
  if (sorts.length === 1) return {}
  const sort = sorts.find((name) => name === raw['sort'])
  return {
    sort: sort === list.defaultSort ? undefined : sort,
    reversed: raw['reversed'] === true || raw['reversed'] === 'true' ? true : undefined,
  }
}

function pageIn(list: List, raw: Record<string, unknown>): object {
  const size = list.pageSizes.find((candidate) => candidate === Number(raw['size']))
  const number = Number(raw['page'])
  const page = Number.isInteger(number) && number > 1 ? Math.min(number, MAX_PAGE) : undefined
  return { size: size === list.pageSizes[0] ? undefined : size, ...(list.isPagedByCursor ? cursorIn(page, raw) : { page }) }
}

function lookIn(raw: Record<string, unknown>): object {
  const rows = (['normal', 'compact'] as const).find((name) => name === raw['rows'])
  if (rows === undefined) return {}
  const columns = textIn(raw['columns'])
  return { rows, columns: columns === undefined ? undefined : firstCharacters(columns, MAX_COLUMNS_LENGTH) }
}

/** Pages from 2 on need a cursor; a cursor without a page means nothing. */
function cursorIn(page: number | undefined, raw: Record<string, unknown>): object {
  const after = textIn(raw['after'])
  const before = textIn(raw['before'])
  if (page === undefined || (after === undefined && before === undefined)) return {}
  return after === undefined ? { page, before } : { page, after }
}

/** Returns the search and filters of a call's input. Days are days in the operator's time zone. */
export function listFilter<L extends List>(list: L, address: ListAddress<L>): FilterOf<L> {
  const values: Readonly<Record<string, unknown>> = address
  const filters = Object.entries(list.filters).map(([name, filter]) => {
    const value = values[nameInAddress(name, filter)]
    if (typeof value !== 'string') return [name, value]
    return [name, filter.kind === 'from' ? startOf(value) : filter.kind === 'before' ? startOf(value, 1) : value]
  })
  return withoutUndefined<object>({ search: address.q, ...Object.fromEntries(filters) })
}

/** Returns the start of `day`, a day or minute, or of the day or minute that is `later` steps after it, in ISO 8601. */
function startOf(day: string, later = 0): string {
  const [year = 0, month = 1, date = 1, hour, minute = 0] = day.split(/\D/).map(Number)
  if (hour === undefined) return new Date(year, month - 1, date + later).toISOString()
  return new Date(year, month - 1, date, hour, minute + later).toISOString()
}

/** Returns the order of a call's input. */
export function listOrder<L extends List>(list: L, { sort, reversed }: ListAddress<L>): { sort: SortName<L>; reversed: boolean } {
  return { sort: sort ?? list.defaultSort, reversed: reversed ?? false }
}

/** Returns the cursor of a call's input, for a list paged by cursors. */
export function listCursor({ after, before }: { after?: string | undefined; before?: string | undefined }) {
  return withoutUndefined({ after, before })
}

/** Returns the address of the list's first page. */
export function firstPage<L extends List>(address: ListAddress<L>): ListAddress<L> {
  return withoutUndefined<object>({ ...address, page: undefined, after: undefined, before: undefined })
}

/** Returns what a saved view keeps of the address: not the page, and not the page size, which is the person's own. */
export function viewAddress<L extends List>(address: ListAddress<L>): ListAddress<L> {
  return withoutUndefined<object>({ ...firstPage(address), size: undefined })
}

/** Returns the look that the address names, if any. */
export function readLook({ rows, columns = '' }: LookAddress) {
  if (rows === undefined) return undefined
  return { isCompact: rows === 'compact', changed: columns.split(',').filter((header) => header !== '') }
}

/** Returns the parameters for a look. */
export function lookAddress({ isCompact, changed }: { isCompact: boolean; changed: readonly string[] }): LookAddress {
  return { rows: isCompact ? 'compact' : 'normal', columns: changed.toSorted().join() || undefined }
}

/** Returns the address without the look. It is empty for the whole list. */
export function withoutLook<L extends List>(address: ListAddress<L>): ListAddress<L> {
  return withoutUndefined<object>({ ...address, rows: undefined, columns: undefined })
}

/** Returns what decides which rows the list has: the search and the filters. */
export function filtersOnly<L extends List>(list: L, address: ListAddress<L>): ListAddress<L> {
  const values: Readonly<Record<string, unknown>> = address
  const names = ['q', ...Object.entries(list.filters).map(([name, filter]) => nameInAddress(name, filter))]
  return withoutUndefined<object>(Object.fromEntries(names.map((name) => [name, values[name]])))
}

type WithoutUndefined<T> = { [Key in keyof T]?: Exclude<T[Key], undefined> }

/** Returns the object without undefined values. */
export function withoutUndefined<T extends object>(values: T): WithoutUndefined<T> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as WithoutUndefined<T>
}
