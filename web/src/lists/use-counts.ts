/** The number of rows of a long list. With filters, a separate call counts them, so that the rows appear sooner. */
import type { Count } from '@arcade/contract/field-schemas'
import { type QueryKey, useQuery, type UseQueryOptions } from '@tanstack/react-query'

interface Listed {
  data: { total: number | null } | undefined
  isPlaceholderData: boolean
}

/**
 * @param optionsFor the call that counts the rows that a filter matches
 * @param listed the call for the rows, whose answer may lack the total
 * @returns `counted` for `useList`, and `everyone`, the number of rows without search and filters, only while there are some
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
