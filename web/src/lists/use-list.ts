/** The state of a list on its page: what the address asks for, what the server has answered, and how to get from one to another page of it. */
import type { FilterOf, List } from '@arcade/contract/entity'
import type { Count } from '@arcade/contract/field-schemas'
import { keepPreviousData, type UseQueryResult } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { asCallError } from '#src/client.ts'
import { type Selection, useSelection } from './selection.tsx'
import { firstPage, type ListAddress, listFilter, type LookAddress, withoutUndefined } from './list-address.ts'
import { useKeptFresh } from './live.ts'

/** How the call of a list is made: a page stays until the next one has arrived, and `useList` says when it is loaded again. */
export const asListed = { placeholderData: keepPreviousData, refetchOnWindowFocus: false } as const

/** What every list answers beside its rows. Unknown (null) is how many rows there are while they are being counted. */
interface Answer {
  page?: number
  pageSize: number
  pageCount: number | null
  total: number | null
  after?: string | null
  before?: string | null
}

interface ListOptions<L extends List, Data extends Answer, Row> {
  address: ListAddress<L>
  /** The call that `address` asks for, made `asListed`. */
  query: UseQueryResult<Data>
  rowsOf: (data: Data) => readonly Row[]
  /** How many rows there are, for an answer that does not know it. */
  counted?: Count | undefined
  /** Goes to another address of the list; by default the whole address of the page. */
  onAddress?: (address: ListAddress<L>, replace: boolean) => void
  /** The page itself sees to it that the rows are those of now, or says that there are newer ones. */
  isKeptByPage?: boolean
}

export interface ListState<L extends List, Row> {
  list: L
  address: ListAddress<L>
  /** Nothing narrows the list down. */
  isWhole: boolean
  /** `undefined`: on their way. */
  rows: readonly Row[] | undefined
  total: number | undefined
  /** There are more than `total`. */
  isMore: boolean
  selection: Selection<FilterOf<L>>
  /** Goes to the first page of the list as `change` alters it. */
  change: (change: Partial<ListAddress<L>>, replace?: boolean) => void
  /** Stays on the page, whose rows another look does not alter. */
  changeLook: (look: LookAddress) => void
  /** What `DataTable` takes of all this. */
  table: {
    rows: readonly Row[] | undefined
    error: string | undefined
    onRetry: () => void
    isStale: boolean
    paging: { page: number; pageSize: number; pageCount: number | undefined; isMore?: boolean } | undefined
    onPageChange: (page: number) => void
    pager: 'numbers' | 'prev-next'
    canPage?: { previous: boolean; next: boolean }
  }
}

/** Brings together a list's declaration, its address and the answer of its call. */
export function useList<L extends List, Data extends Answer, Row>(
  list: L,
  { address, query, rowsOf, counted, onAddress, isKeptByPage = false }: ListOptions<L, Data, Row>,
): ListState<L, Row> {
  const navigate = useNavigate()
  const filter = listFilter(list, address)
  const selection = useSelection<FilterOf<L>>(list.name, filter)
  const { data, error, isPlaceholderData, refetch } = query
  useKeptFresh(query, !isKeptByPage)
  const { total, isMore } =
    data?.total == null ? { total: counted?.total, isMore: counted?.isMore ?? false } : { total: data.total, isMore: false }
  // An answer to a page beyond the last one has no rows, though the list has: the last page is about to be asked for.
  const isBeyond = data?.page !== undefined && data.page > (data.pageCount ?? data.page)
  const rows = data && !isBeyond ? rowsOf(data) : undefined

  const goTo = (next: ListAddress<L>, replace = false): void => {
    if (onAddress) onAddress(next, replace)
    else void navigate({ to: '.', search: next, replace, resetScroll: !replace })
  }
  const change: ListState<L, Row>['change'] = (changed, replace) =>
    goTo(withoutUndefined<object>({ ...firstPage(address), ...changed }), replace)
  const changeLook = (look: LookAddress): void => goTo(withoutUndefined<object>({ ...address, ...look }), true)
  const shared = { list, address, isWhole: Object.keys(filter).length === 0, rows, total, isMore, selection, change, changeLook }
  const message = error ? asCallError(error).message : undefined

  if (!list.isPagedByCursor) {
    return {
      ...shared,
      table: {
        rows,
        error: data ? undefined : message,
        onRetry: () => void refetch(),
        isStale: isPlaceholderData,
        paging: data && { page: address.page ?? 1, pageSize: data.pageSize, pageCount: data.pageCount ?? undefined },
        // Coming back by the browser must not lead to a page that is no more.
        onPageChange: (next) => change({ page: next > 1 ? next : undefined } as Partial<ListAddress<L>>, isBeyond),
        pager: 'numbers',
      },
    }
  }

  const pageSize = data?.pageSize ?? list.pageSizes[0]
  const pageCount = total === undefined ? undefined : Math.max(1, Math.ceil(total / pageSize))
  // The cursor says what the page shows. Its number is a guess where rows have come or gone since one came to it.
  const page = Math.min(address.page ?? 1, (isMore ? undefined : pageCount) ?? Infinity)

  /** §4: Previous does nothing on page 1, Next nothing without a last-document cursor; both wait for a page on its way. */
  const handlePageChange = (next: number): void => {
    if (!data || isPlaceholderData) return
    const at = (place: { page: number; after?: string; before?: string }) => change(place as Partial<ListAddress<L>>)
    if (next > page && data.after != null) at({ page: next, after: data.after })
    if (next >= page || page === 1) return
    if (next > 1 && data.before != null) at({ page: next, before: data.before })
    else goTo(firstPage(address)) // wherever the list begins by now
  }
  // A cursor in an old address may not be one any more; the first page always is.
  const isLost = error !== null && asCallError(error).code === 'INVALID_INPUT'
  return {
    ...shared,
    table: {
      rows,
      error: !data || isLost ? message : undefined,
      onRetry: () => (isLost ? goTo(firstPage(address)) : void refetch()),
      isStale: isPlaceholderData,
      paging: data && { page, pageSize, pageCount, isMore },
      onPageChange: handlePageChange,
      pager: 'prev-next',
      canPage: { previous: page > 1, next: data?.after != null },
    },
  }
}
