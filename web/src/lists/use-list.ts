/** The state of a list on its page: its address, the server's answer, and navigation between its pages. */
import type { FilterOf, List } from '@arcade/contract/entity'
import type { Count } from '@arcade/contract/field-schemas'
import { keepPreviousData, type UseQueryResult } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { useEffect, useEffectEvent, useState } from 'react'
import { asCallError, type CallError } from '#src/client/call-error.ts'
import { toast } from '#src/ui/toast.tsx'
import { type Selection, useSelection } from './selection.tsx'
import { firstPage, type ListAddress, listFilter, type LookAddress, withoutUndefined } from './list-address.ts'
import { useAutoReload } from './live.ts'

/** Query options of a list's call: the old page stays until the next one arrives, and `useList` decides when to reload. */
export const asListed = { placeholderData: keepPreviousData, refetchOnWindowFocus: false } as const

/** What every list answers besides its rows. The totals are null while a separate call counts the rows. */
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
  /** The query for `address`, made with `asListed`. */
  query: UseQueryResult<Data>
  rowsOf: (data: Data) => readonly Row[]
  /** The separately counted total, for an answer without one. */
  counted?: Count | undefined
  /** Navigates to another address of the list. By default that is the page's whole address. */
  onAddress?: (address: ListAddress<L>, replace: boolean) => void
  /** The page keeps its rows up to date by itself, or says that there are newer ones. */
  isKeptByPage?: boolean
}

export interface ListState<L extends List, Row> {
  list: L
  address: ListAddress<L>
  /** No search and no filters. */
  isWhole: boolean
  /** Undefined while loading. */
  rows: readonly Row[] | undefined
  /** Undefined while the rows are being counted. */
  total: number | undefined
  /** There are more than `total`. */
  isMore: boolean
  /** What is known of the number of rows, also while they are being counted. */
  count: Count | undefined
  selection: Selection<FilterOf<L>>
  /** Goes to the first page of the list with the changed parameters. */
  change: (change: Partial<ListAddress<L>>, replace?: boolean) => void
  /** Goes to the first page of the list in another order. */
  sortBy: (sort: string, isReversed?: boolean) => void
  /** Changes the look and stays on the page. */
  changeLook: (look: LookAddress) => void
  /** The props for `DataTable`. */
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

/** Combines a list's declaration, its address and the answer of its call. */
export function useList<L extends List, Data extends Answer, Row>(
  list: L,
  { address, query, rowsOf, counted, onAddress, isKeptByPage = false }: ListOptions<L, Data, Row>,
): ListState<L, Row> {
  const navigate = useNavigate()
  const filter = listFilter(list, address)
  const selection = useSelection<FilterOf<L>>(list.name, filter)
  const { error, refetch } = query
  const failure = error ? asCallError(error) : undefined
  const goTo = (next: ListAddress<L>, replace = false): void => {
    if (onAddress) onAddress(next, replace)
    else void navigate({ to: '.', search: next, replace, resetScroll: !replace })
  }
  const kept = useRowsKept(address, query, failure, goTo)
  const data = kept ?? query.data
  const isStale = query.isPlaceholderData || kept !== undefined
  useAutoReload(query, { isOn: !isKeptByPage })
  const count: Count | undefined = data?.total == null ? counted : { total: data.total, isMore: false }
  const isCounted = count !== undefined && !count.isUnfinished
  const [total, isMore] = isCounted ? [count.total, count.isMore] : [undefined, false]
  // The answer to a page beyond the last one has no rows. Show no empty list: the last page is requested next.
  const isBeyond = data?.page !== undefined && data.page > (data.pageCount ?? data.page)
  const rows = data && !isBeyond ? rowsOf(data) : undefined

  const change: ListState<L, Row>['change'] = (changed, replace) =>
    goTo(withoutUndefined<object>({ ...firstPage(address), ...changed }), replace)
  const sortBy: ListState<L, Row>['sortBy'] = (sort, isReversed = false) =>
    change({ sort: sort === list.defaultSort ? undefined : sort, reversed: isReversed || undefined } as Partial<ListAddress<L>>)
  const changeLook = (look: LookAddress): void => goTo(withoutUndefined<object>({ ...address, ...look }), true)
  const shown: Shown<L> = {
    list,
    address,
    data,
    failure,
    isStale,
    total,
    isMore,
    isBeyond,
    retry: () => void refetch(),
    goTo,
    change,
  }
  const isWhole = Object.keys(filter).length === 0
  const paged = list.isPagedByCursor ? pagedByCursor(shown) : pagedByNumber(shown)
  const table = { rows, isStale, ...paged }
  return {
    list,
    address,
    isWhole,
    rows,
    total,
    isMore,
    count,
    selection,
    change,
    sortBy,
    changeLook,
    table,
  }
}

/**
 * Keeps the rows when another page of the same list cannot be loaded: says why, and puts back the address of the rows that stay.
 * @returns the answer with these rows until the address is back
 */
function useRowsKept<L extends List, Data>(
  address: ListAddress<L>,
  { data, isPlaceholderData }: UseQueryResult<Data>,
  failure: CallError | undefined,
  goTo: (address: ListAddress<L>, replace: boolean) => void,
): Data | undefined {
  const [last, setLast] = useState<{ address: ListAddress<L>; data: Data }>()
  if (data !== undefined && !isPlaceholderData && last?.data !== data) setLast({ address, data })
  const isLost = data === undefined && failure?.isException === true && last !== undefined
  const isOtherPage = isLost && JSON.stringify(firstPage(last.address)) === JSON.stringify(firstPage(address))
  const message = isOtherPage ? failure.message : undefined
  const putBack = useEffectEvent((text: string) => {
    toast.failure(text)
    if (last) goTo(last.address, true)
  })
  useEffect(() => {
    if (message !== undefined) putBack(message)
  }, [message])
  return isOtherPage ? last.data : undefined
}

/** What a list shows at present, and how to show something else. */
interface Shown<L extends List> extends Pick<ListState<L, never>, 'list' | 'address' | 'total' | 'isMore' | 'change'> {
  data: Answer | undefined
  failure: CallError | undefined
  /** `data` belongs to the previous page. */
  isStale: boolean
  /** The page does not exist. */
  isBeyond: boolean
  retry: () => void
  goTo: (address: ListAddress<L>, replace?: boolean) => void
}

/** The props for `DataTable` that depend on how a list is paged. */
type PagedTable = Omit<ListState<List, never>['table'], 'rows' | 'isStale'>

function pagedByNumber<L extends List>({ address, data, failure, isBeyond, retry, change }: Shown<L>): PagedTable {
  return {
    error: data ? undefined : failure?.message,
    onRetry: retry,
    paging: data && { page: address.page ?? 1, pageSize: data.pageSize, pageCount: data.pageCount ?? undefined },
    // Replaces the history entry of a page that no longer exists.
    onPageChange: (next) => change({ page: next > 1 ? next : undefined } as Partial<ListAddress<L>>, isBeyond),
    pager: 'numbers',
  }
}

function pagedByCursor<L extends List>(shown: Shown<L>): PagedTable {
  const { list, address, data, failure, isStale, total, isMore, retry, goTo, change } = shown
  const pageSize = data?.pageSize ?? list.pageSizes[0]
  const pageCount = total === undefined ? undefined : Math.max(1, Math.ceil(total / pageSize))
  // The cursor decides what the page shows. Its number is only approximate if rows were added or removed.
  const page = Math.min(address.page ?? 1, (isMore ? undefined : pageCount) ?? Infinity)

  /** §4: Previous does nothing on page 1, Next nothing without a cursor, and both nothing while a page is loading. */
  const handlePageChange = (next: number): void => {
    if (!data || isStale) return
    // With the size, so that a copied link shows the same page to others.
    const size = pageSize === list.pageSizes[0] ? undefined : pageSize
    const at = (cursor: { page: number; after?: string; before?: string }) =>
      change({ ...cursor, size } as Partial<ListAddress<L>>)
    if (next > page && data.after != null) at({ page: next, after: data.after })
    if (next >= page || page === 1) return
    if (next > 1 && data.before != null) at({ page: next, before: data.before })
    else goTo(firstPage(address)) // rows may have been added at the beginning
  }
  // The cursor of an old address may be invalid. Retry then opens the first page.
  const isLost = failure?.code === 'INVALID_INPUT'
  return {
    error: !data || isLost ? failure?.message : undefined,
    onRetry: () => (isLost ? goTo(firstPage(address)) : retry()),
    paging: data && { page, pageSize, pageCount, isMore },
    onPageChange: handlePageChange,
    pager: 'prev-next',
    canPage: { previous: page > 1, next: data?.after != null },
  }
}
