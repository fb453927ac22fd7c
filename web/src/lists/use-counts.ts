/** The number of rows of a long list. With filters, a separate call counts them, so that the rows appear sooner. */
import type { Count } from '@arcade/contract/field-schemas'
import { type QueryKey, useQuery, type UseQueryOptions } from '@tanstack/react-query'

interface Listed {
  data: { total: number | null } | undefined
  isPlaceholderData: boolean
}

/**
 * Counts the rows that a filter matches. An estimate is replaced as soon as the exact number is known.
 * @param optionsFor the call that counts the rows that a filter matches
 * @param listed the call for the rows, whose answer may lack the total
 * @returns `counted` for `useList`, and `everyone`, the number of rows without search and filters, only while there are some
 */
export function useCounts<Filter extends object, Failure, Key extends QueryKey>(
  optionsFor: (filter: Filter & { exact?: true }) => UseQueryOptions<Count, Failure, Count, Key>,
  filter: Filter,
  { data, isPlaceholderData }: Listed,
): { counted: Count | undefined; everyone: number | undefined } {
  const isUncounted = data?.total === null && !isPlaceholderData
  const quick = useQuery({ ...optionsFor(filter), enabled: isUncounted })
  const isUnfinished = isUncounted && quick.data?.isUnfinished === true
  const exact = useQuery({ ...optionsFor({ ...filter, exact: true }), enabled: isUnfinished })
  const everyone = useQuery({ ...optionsFor({} as Filter), enabled: Object.keys(filter).length > 0 })
  const counted = isUnfinished ? (exact.data ?? quick.data) : quick.data
  return { counted: isUncounted ? counted : undefined, everyone: everyone.data?.total }
}
