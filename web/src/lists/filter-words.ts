/** Filters in words, for the chips of a list and for the recipients of a broadcast. */
import { inputText } from '#src/ui/moment.tsx'
import { counted, exactly } from '#src/ui/numbers.ts'

interface FilterBase {
  /** The filter's key in `values`. */
  name: string
  label: string
}

/** The filter with the beginning of a range. */
interface Beginning {
  name: string
  label: string
}

interface Option {
  value: string
  label: string
}

/** A filter of one field. `all` takes several options, and `item` an item. The end of a range names its `beginning`. */
export type SimpleFilter = FilterBase &
  (
    | { kind: 'choice' | 'all'; options: readonly Option[] }
    | { kind: 'days' | 'item' }
    | { kind: 'number' | 'day' | 'minute'; beginning?: Beginning | undefined }
  )

/** A filter as a toolbar offers it. The value of `groups` has groups of other filters, as JSON. */
export type Filter = SimpleFilter | GroupsFilter
export type GroupsFilter = FilterBase & { kind: 'groups'; filters: readonly SimpleFilter[] }

export type FilterValue = string | number | undefined
export type FilterValues = Readonly<Record<string, FilterValue>>

/** Returns the filter and its value in words: `Balance from: 100`. */
export function filterWords(filter: Filter, value: FilterValue, titleOf: (item: string) => string): string {
  if (filter.kind === 'days') return `${filter.label.replace(/ days$/, '')} ${counted(Number(value), 'day')}`
  return `${filter.label}: ${valueWords(filter, value, titleOf)}`
}

function valueWords(filter: Filter, value: FilterValue, titleOf: (item: string) => string): string {
  const text = String(value)
  if (filter.kind === 'choice') return labelOf(filter.options, text)
  if (filter.kind === 'all')
    return optionsIn(text)
      .map((option) => labelOf(filter.options, option))
      .join(', ')
  if (filter.kind === 'item') return titleOf(text)
  if (filter.kind === 'groups')
    return groupsIn(text)
      .map((group) => `(${groupWords(filter.filters, group, titleOf)})`)
      .join(' or ')
  if (filter.kind === 'day' || filter.kind === 'minute') return inputText(text)
  return typeof value === 'number' ? exactly(value) : text
}

function groupWords(filters: readonly Filter[], group: FilterValues, titleOf: (item: string) => string): string {
  const used = filters.filter(({ name }) => group[name] !== undefined)
  return used.map((filter) => filterWords(filter, group[filter.name], titleOf)).join(' and ')
}

function labelOf(options: readonly Option[], value: string): string {
  return options.find((option) => option.value === value)?.label ?? value
}

/** Returns why no row matches, if a filter is the end of a range and lies before its beginning. */
export function rangeProblem(filter: SimpleFilter, values: FilterValues): string | undefined {
  const beginning = 'beginning' in filter ? filter.beginning : undefined
  const [from, to] = [beginning && values[beginning.name], values[filter.name]]
  if (beginning === undefined || from === undefined || to === undefined || to >= from) return undefined
  return `${filter.label} is ${filter.kind === 'number' ? 'below' : 'before'} ${beginning.label}`
}

/** Returns the options of an `all` filter's value. */
export function optionsIn(value: FilterValue): string[] {
  return value === undefined || value === '' ? [] : String(value).split(',')
}

/** Returns the groups of a `groups` filter's value, which the address or the editor has checked. */
export function groupsIn(value: FilterValue): FilterValues[] {
  return value === undefined ? [] : (JSON.parse(String(value)) as FilterValues[])
}

/** Returns the items that the values of the filters name, also within groups. */
export function itemsIn(filters: readonly Filter[], values: FilterValues): string[] {
  return filters.flatMap((filter) => {
    const value = values[filter.name]
    if (value === undefined) return []
    if (filter.kind === 'item') return [String(value)]
    return filter.kind === 'groups' ? groupsIn(value).flatMap((group) => itemsIn(filter.filters, group)) : []
  })
}
