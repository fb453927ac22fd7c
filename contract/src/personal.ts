/**
 * Personal fields: values that only people with the permission `players.personal` see. Fields are marked where they are declared
 * (`isPersonal`); filters that tell something about such a field are found here.
 */
import type { Fields, List } from './entity.ts'
import { readGroups } from './filter-values.ts'

/** Returns the names of the personal fields. */
export function personalNames(fields: Fields): string[] {
  return Object.keys(fields).filter((name) => fields[name]!.isPersonal)
}

/** Whether rows that a filter with this value finds, or leaves out, tell something about a personal field. */
export function isPersonalFilter(list: Pick<List, 'fields' | 'filters'>, name: string, value: unknown): boolean {
  const filter = list.filters[name]
  if (!filter) return false
  if (filter.kind === 'groups') {
    const groups = readGroups(list, String(value))
    return !groups || groups.some((group) => Object.entries(group).some(([inner, given]) => isPersonalFilter(list, inner, given)))
  }
  const named = 'optionFields' in filter && filter.optionFields ? optionFieldsOf(filter.optionFields, String(value)) : []
  return [...named, ...(filter.field === undefined ? [] : [filter.field])].some((field) => list.fields[field]?.isPersonal)
}

/** Returns the fields that options tell something about, all fields for an unknown option. @param value options separated by commas */
function optionFieldsOf(optionFields: Readonly<Record<string, readonly string[]>>, value: string): readonly string[] {
  return value.split(',').flatMap((option) => optionFields[option.trim()] ?? Object.values(optionFields).flat())
}

/** Returns the names of the filters with a value that tells something about a personal field. */
export function personalFilters(list: Pick<List, 'fields' | 'filters'>, filter: Readonly<Record<string, unknown>>): string[] {
  return Object.keys(filter).filter((name) => filter[name] !== undefined && isPersonalFilter(list, name, filter[name]))
}

/** Stands for a text that may contain personal fields of players. */
export const WITHHELD = '(withheld)'
