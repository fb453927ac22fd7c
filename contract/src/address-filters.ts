/**
 * The search and the filters in the address of a list's page, as the page reads them. The server reads the addresses of saved views in the
 * same way. These are plain functions without schemas, because the web app reads an address before it loads a page.
 */
import { type Filter, type List, MAX_FILTER_TEXT_LENGTH, MAX_NUMBER, MAX_SEARCH_LENGTH } from './entity.ts'
import { daysOf, isDay, readGroups, readItem, readOptions, writeGroups } from './filter-values.ts'
import { isExactNumber } from './numbers.ts'
import { characterCount, firstCharacters, isStorable } from './text.ts'

/** The parameters of a list's address that choose no rows: order, page and look. */
export const LOOK_PARAMETERS: ReadonlySet<string> = new Set('sort reversed page size after before rows columns'.split(' '))

/** The name of the search in addresses. */
const SEARCH = 'q'
const DAY_LENGTH = 10

type Value = string | number

export interface AddressFilters {
  /** The search and the filters by their names in the address. */
  values: Readonly<Record<string, Value>>
  /** The names of the parts that are unknown, invalid, repeated or too long. Without them the list has more rows than were meant. */
  unread: readonly string[]
}

/** Returns a filter's parameter name in the address. */
export function nameInAddress(name: string, filter: Filter): string {
  return filter.kind === 'before' ? filter.dayName : name
}

/** Returns the parameters of an address by their names. A repeated one has all its values, which no filter can be read from. */
export function addressParameters(given: Iterable<[name: string, value: string]>): Record<string, string | string[]> {
  const parameters = new Map<string, string | string[]>()
  for (const [name, value] of given) {
    const before = parameters.get(name)
    parameters.set(name, before === undefined ? value : [before, value].flat())
  }
  return Object.fromEntries(parameters)
}

/** Reads the search and the filters of an address. Texts that are too long are cut. */
export function readAddressFilters(list: List, raw: Readonly<Record<string, unknown>>): AddressFilters {
  const filters = Object.entries(list.filters).map(([name, filter]) => {
    const addressName = nameInAddress(name, filter)
    const value = raw[addressName]
    return { name: addressName, read: readFilter(list, value, filter), isCut: filter.kind === 'text' && isTooLong(value) }
  })
  const search = {
    name: SEARCH,
    read: limitedText(raw[SEARCH], MAX_SEARCH_LENGTH),
    isCut: isTooLong(raw[SEARCH], MAX_SEARCH_LENGTH),
  }
  const parts = [search, ...filters]
  const whole = parts.filter(({ read, isCut }) => read !== undefined && !isCut).map(({ name }) => name)
  return {
    values: Object.fromEntries(parts.flatMap(({ name, read }) => (read === undefined ? [] : [[name, read]]))),
    unread: Object.keys(raw).filter((name) => isGiven(name, raw[name]) && !whole.includes(name)),
  }
}

/** Whether a parameter filters the list. An empty search does not. */
function isGiven(name: string, value: unknown): boolean {
  return value !== undefined && !LOOK_PARAMETERS.has(name) && !(name === SEARCH && value === '')
}

function readFilter(list: List, value: unknown, filter: Filter): Value | undefined {
  if (filter.kind === 'choice') return Object.keys(filter.options).find((option) => option === value)
  if (filter.kind === 'all') return readOptions(filter.options, textIn(value) ?? '')
  if (filter.kind === 'groups') return groupsIn(list, textIn(value))
  if (filter.kind !== 'from' && filter.kind !== 'before') return readers[filter.kind](value)
  const day = dayIn(value, filter.isToTheMinute)
  if (!filter.isToTheMinute || day?.length !== DAY_LENGTH) return day
  return `${day}${filter.kind === 'from' ? 'T00:00' : 'T23:59'}`
}

type ReadAlone = Exclude<Filter['kind'], 'choice' | 'from' | 'before' | 'all' | 'groups'>
const readers: Record<ReadAlone, (value: unknown) => Value | undefined> = {
  min: amountIn,
  max: amountIn,
  days: daysOf,
  item: itemIn,
  text: (value) => limitedText(value),
}

/** Returns a text that is not empty; links within the app may give it as a number. */
export function textIn(value: unknown): string | undefined {
  return (typeof value === 'string' && value !== '' && isStorable(value)) || typeof value === 'number' ? String(value) : undefined
}

function limitedText(value: unknown, maxLength = MAX_FILTER_TEXT_LENGTH): string | undefined {
  const text = textIn(value)
  return text === undefined ? undefined : firstCharacters(text, maxLength)
}

function isTooLong(value: unknown, maxLength = MAX_FILTER_TEXT_LENGTH): boolean {
  return typeof value === 'string' && characterCount(value) > maxLength
}

function itemIn(value: unknown): string | undefined {
  const text = textIn(value)
  return text !== undefined && readItem(text) ? text : undefined
}

function groupsIn(list: List, text: string | undefined): string | undefined {
  const groups = text === undefined ? undefined : readGroups(list, text)
  return groups && writeGroups(groups)
}

function amountIn(value: unknown): number | undefined {
  const isNumber = typeof value === 'number' || (typeof value === 'string' && isDecimal(value) && isExactNumber(value))
  return isNumber && Math.abs(Number(value)) <= MAX_NUMBER ? Number(value) : undefined
}

function isDecimal(text: string): boolean {
  return /^-?\d+(\.\d+)?(e[+-]?\d+)?$/i.test(text)
}

/** Returns a day (`<input type="date">`) or, if allowed, a minute (`<input type="datetime-local">`). */
function dayIn(value: unknown, isToTheMinute = false): string | undefined {
  const form = isToTheMinute ? /^\d{4}-\d\d-\d\d(T\d\d:\d\d)?$/ : /^\d{4}-\d\d-\d\d$/
  if (typeof value !== 'string' || !form.test(value)) return undefined
  return isDay(value.slice(0, DAY_LENGTH)) && !Number.isNaN(Date.parse(value)) ? value : undefined
}
