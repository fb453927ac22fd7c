/** The filters of a list as its toolbar offers them, from the list's declaration. */
import { nameInAddress } from '@arcade/contract/address-filters'
import type { Filter as DeclaredFilter, List } from '@arcade/contract/entity'
import { filterNamesInGroups } from '@arcade/contract/filter-values'
import { isPersonalFilter } from '@arcade/contract/personal'
import type { Filter, SimpleFilter } from './filter-words.ts'

export type FilterOptions = Readonly<Record<string, readonly { value: string; label: string }[]>>

interface Offered {
  /** Options that the list's declaration does not contain, by the filter's name in the address. */
  extraOptions?: FilterOptions | undefined
  /** False for a person who may not see personal fields: nothing is offered that tells something about them. */
  seesPersonal?: boolean
}

/** Returns the filters by their names in the address. */
export function toolbarFilters(list: List, { extraOptions = {}, seesPersonal = true }: Offered = {}): Filter[] {
  const simple = (name: string, filter: Exclude<DeclaredFilter, { kind: 'groups' }>): SimpleFilter => {
    const shown = simpleFilter(list, name, filter, extraOptions)
    if (seesPersonal || !('options' in shown)) return shown
    return { ...shown, options: shown.options.filter(({ value }) => !isPersonalFilter(list, name, value)) }
  }
  return Object.entries(list.filters).map(([name, filter]) => {
    if (filter.kind !== 'groups') return simple(name, filter)
    const names = filterNamesInGroups(list)
    const filters = Object.entries(list.filters).flatMap(([part, declared]) =>
      names.includes(part) && declared.kind !== 'groups' ? [simple(part, declared)] : [],
    )
    return { name, label: filter.label, kind: 'groups', filters: filters.filter(isOffered) }
  })
}

/** A choice without options can only be set by a link, and shows only as a chip. */
export function isOffered(filter: Filter): boolean {
  return !('options' in filter) || filter.options.length > 0
}

function simpleFilter(
  list: List,
  name: string,
  filter: Exclude<DeclaredFilter, { kind: 'groups' }>,
  extraOptions: FilterOptions,
): SimpleFilter {
  const field = { name: nameInAddress(name, filter), label: filter.label }
  if ('options' in filter) {
    const declared = Object.entries(filter.options).map(([value, label]) => ({ value, label }))
    return { ...field, kind: filter.kind === 'all' ? 'all' : 'choice', options: extraOptions[field.name] ?? declared }
  }
  if (filter.kind === 'days' || filter.kind === 'item') return { ...field, kind: filter.kind }
  const beginning = beginningOf(list, filter)
  if (filter.kind === 'from' || filter.kind === 'before')
    return { ...field, kind: filter.isToTheMinute ? 'minute' : 'day', beginning }
  return { ...field, kind: 'number', beginning }
}

const beginnings: Partial<Record<DeclaredFilter['kind'], DeclaredFilter['kind']>> = { max: 'min', before: 'from' }

/** Returns the filter with the beginning of the range that a filter ends. */
function beginningOf({ filters }: List, { kind, field }: DeclaredFilter): { name: string; label: string } | undefined {
  const found = Object.entries(filters).find(([, one]) => one.kind === beginnings[kind] && one.field === field)
  return found && { name: nameInAddress(...found), label: found[1].label }
}
