/** How many rows a long list has: once it was filtered, that is counted by a call of its own, so that its rows need not wait. */
import type { Count } from '@arcade/contract/field-schemas'
import { type QueryKey, useQuery, type UseQueryOptions } from '@tanstack/react-query'

interface Listed {
  data: { total: number | null } | undefined
  isPlaceholderData: boolean
}

/**
 * @param optionsFor the call that counts what a filter matches
 * @param listed the call for the rows, whose answer may not know how many there are
 * @returns `counted` to be given to `useList`, and how many there are without a search and filters, only while there are some
 */
export function useCounts<Filter extends object, Failure, Key extends QueryKey>(
  optionsFor: (filter: Filter) => UseQueryOptions<Count, Failure, Count, Key>,
  filter: Filter,
  { data, isPlaceholderData }: Listed,
): { counted: Count | undefined; everyone: number | undefined } {
  const isUncounted = data?.total === null && !isPlaceholderData
  const counted = useQuery({ ...optionsFor(filter), enabled: isUncounted })
  const everyone = useQuery({ ...optionsFor({} as Filter), enabled: Object.keys(filter).length > 0 })
  return { counted: isUncounted ? counted.data : undefined, everyone: everyone.data?.total }
}
