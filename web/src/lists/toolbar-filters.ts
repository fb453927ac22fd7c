/** The filters of a list as its toolbar offers them, from the list's declaration. */
import type { Filter as DeclaredFilter, List } from '@arcade/contract/entity'
import { groupNames } from '@arcade/contract/filter-groups'
import type { Filter, SimpleFilter } from './filter-words.ts'
import { nameInAddress } from './list-address.ts'

export type FilterOptions = Readonly<Record<string, readonly { value: string; label: string }[]>>

/**
 * Returns the filters by their names in the address.
 * @param known options that the declaration cannot know, by the filter's name in the address
 */
export function toolbarFilters(list: List, known: FilterOptions = {}): Filter[] {
  return Object.entries(list.filters).map(([name, filter]) => {
    if (filter.kind !== 'groups') return simpleFilter(name, filter, known)
    const names = groupNames(list)
    const filters = Object.entries(list.filters).flatMap(([part, declared]) =>
      names.includes(part) && declared.kind !== 'groups' ? [simpleFilter(part, declared, known)] : [],
    )
    return { name, label: filter.label, kind: 'groups', filters }
  })
}

function simpleFilter(name: string, filter: Exclude<DeclaredFilter, { kind: 'groups' }>, known: FilterOptions): SimpleFilter {
  const field = { name: nameInAddress(name, filter), label: filter.label }
  if ('options' in filter) {
    const declared = Object.entries(filter.options).map(([value, label]) => ({ value, label }))
    return { ...field, kind: filter.kind === 'all' ? 'all' : 'choice', options: known[field.name] ?? declared }
  }
  return { ...field, kind: 'isToTheMinute' in filter && filter.isToTheMinute ? 'minute' : inputs[filter.kind] }
}

const inputs = { min: 'number', max: 'number', days: 'days', item: 'item', from: 'day', before: 'day' } as const
