/**
 * Reads and writes filters whose values have parts. There are three: an item, written as `kind:id`; several options, all of which a row must
 * have; and groups of filters, at least one of which a row must match. These are plain functions without schemas, because the web app's first
 * page loads the addresses of lists.
 */
import { MAX_FILTER_DAYS, type Filter, type List, MAX_NUMBER } from './entity.ts'
import { type HistoryKind, historyKinds } from '#src/history/fields.ts'
import { isExactNumber } from './numbers.ts'
import { isStorable } from './text.ts'

/** Most groups of a filter. */
export const MAX_GROUPS = 8
/** Longest text of all groups, in characters. Written into an address, it grows by about two thirds. */
export const MAX_GROUPS_TEXT_LENGTH = 1000
const MAX_ITEM_ID_LENGTH = 128 // as idField

/** Filters of a list. A row must match all of them. */
export type FilterGroup = Readonly<Record<string, string | number>>

/** Reads an item, `kind:id`. Returns undefined for any other text. */
export function readItem(text: string): { kind: HistoryKind; id: string } | undefined {
  const [written = '', ...rest] = text.split(':')
  const kind = historyKinds.find((one) => one === written)
  const id = rest.join(':')
  return kind === undefined || id === '' || id.length > MAX_ITEM_ID_LENGTH || !isStorable(id) ? undefined : { kind, id }
}

/** Writes an item as filters name it. */
export function writeItem({ kind, id }: { kind: HistoryKind; id: string }): string {
  return `${kind}:${id}`
}

/** Reads options that are separated by commas. Returns them in the order of their declaration, or undefined if one is unknown or none is left. */
export function readOptions(options: Readonly<Record<string, string>>, text: string): string | undefined {
  const given = text.split(',').map((option) => option.trim())
  const known = Object.keys(options).filter((option) => given.includes(option))
  return known.length > 0 && given.every((option) => known.includes(option)) ? known.join() : undefined
}

/** The filters that a group may have: not moments, which an address has as days, and no further groups. */
export function filterNamesInGroups({ filters }: Pick<List, 'filters'>): string[] {
  return Object.entries(filters).flatMap(([name, { kind }]) => (kind in groupReaders ? name : []))
}

/** Reads groups from JSON. Returns undefined if a part is not valid, so that a mistake never matches more rows than was meant. */
export function readGroups(list: Pick<List, 'filters'>, text: string): FilterGroup[] | undefined {
  if (text.length > MAX_GROUPS_TEXT_LENGTH || hasInexactNumber(text)) return undefined
  const given = parsed(text)
  if (!Array.isArray(given) || given.length === 0 || given.length > MAX_GROUPS) return undefined
  const groups = given.map((group) => readGroup(list, group))
  return groups.every((group) => group !== undefined) ? groups : undefined
}

/** Writes groups as JSON, the same text for equal groups. */
export function writeGroups(groups: readonly FilterGroup[]): string {
  return JSON.stringify(groups)
}

/** Whether JSON has a number that a double would change. */
function hasInexactNumber(json: string): boolean {
  const numbers = json.replaceAll(/"(?:[^"\\]|\\.)*"/g, '').match(/-?\d[\d.eE+-]*/g) ?? []
  return !numbers.every(isExactNumber)
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function readGroup({ filters }: Pick<List, 'filters'>, group: unknown): FilterGroup | undefined {
  if (typeof group !== 'object' || group === null || Array.isArray(group)) return undefined
  const given = group as Readonly<Record<string, unknown>>
  const names = Object.keys(given)
  if (names.length === 0 || names.some((name) => !Object.hasOwn(filters, name))) return undefined
  const inOrder = Object.keys(filters).filter((name) => Object.hasOwn(given, name))
  const values = inOrder.map((name) => [name, readGroupValue(filters[name]!, given[name])] as const)
  if (values.some(([, value]) => value === undefined)) return undefined
  return Object.fromEntries(values) as FilterGroup
}

function readGroupValue(filter: Filter, value: unknown): string | number | undefined {
  const read = groupReaders[filter.kind]
  return read?.(value, 'options' in filter ? filter.options : {})
}

type Options = Readonly<Record<string, string>>

const groupReaders: Partial<Record<Filter['kind'], (value: unknown, options: Options) => string | number | undefined>> = {
  min: readAmount,
  max: readAmount,
  days: daysOf,
  choice: (value, options) => (typeof value === 'string' && Object.hasOwn(options, value) ? value : undefined),
  item: (value) => (typeof value === 'string' && readItem(value) ? value : undefined),
  all: (value, options) => (typeof value === 'string' ? readOptions(options, value) : undefined),
}

function readAmount(value: unknown): number | undefined {
  return typeof value === 'number' && Math.abs(value) <= MAX_NUMBER ? value : undefined
}

/** Whether a text is a day that exists, such as 2026-02-28. `Date.parse` alone reads February 30 as March 2. */
export function isDay(text: string): boolean {
  const at = /^\d{4}-\d\d-\d\d$/.test(text) ? Date.parse(text) : Number.NaN
  return !Number.isNaN(at) && new Date(at).toISOString().startsWith(text)
}

/** Returns a number of days, also from the text of an address. */
export function daysOf(value: unknown): number | undefined {
  const days = typeof value === 'string' && /^\d{1,4}$/.test(value) ? Number(value) : value
  return typeof days === 'number' && Number.isInteger(days) && days >= 1 && days <= MAX_FILTER_DAYS ? days : undefined
}
