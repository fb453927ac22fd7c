/** The table of a list with its toolbar, selection, pager, empty and failed states, derived from the list's declaration. */
import { nameInAddress } from '@arcade/contract/address-filters'
import type { List } from '@arcade/contract/entity'
import { type ListName, lists } from '@arcade/contract/lists'
import { findsBeginningsOnly } from '@arcade/contract/search'
import type { Needs } from '@arcade/contract/team/permissions'
import { Button, NativeSelect } from '@mantine/core'
import { useRouter } from '@tanstack/react-router'
import { type ComponentProps, type ReactNode, useMemo } from 'react'
import { DataTable } from './data-table.tsx'
import type { Column } from './table-cells.tsx'
import { clearParameters } from './filters.tsx'
import type { GetHistoryKey } from '#src/ui/table-rows.ts'
import { keepPageSize } from '#src/ui/visit.ts'
import { mayDo, Permitted, useMay, useSession } from '#src/session.tsx'
import { countText } from '#src/ui/numbers.ts'
import { capitalised } from '#src/ui/words.ts'
import { useIsPhone } from '#src/ui/window-width.ts'
import { ExportSelectionButton } from './export-buttons.tsx'
import { listOrder } from './list-address.ts'
import { useListLook } from './list-look.ts'
import { type FilterOptions, toolbarFilters } from './toolbar-filters.ts'
import { useUnreadText } from './unread.ts'
import { usePageSize } from './page-size.ts'
import { SavedViews } from './saved-views.tsx'
import type { ListState } from './use-list.ts'

interface ListTableProps<L extends List, Row> {
  /** Names the table for assistive technology. */
  label: string
  state: ListState<L, Row>
  columns: readonly Column<Row>[]
  rowKey: (row: Row) => string | number
  /** Options of filters that the list's declaration does not contain, by the filter's name in the address. */
  options?: FilterOptions
  /** Additional fields of the toolbar. */
  toolbar?: ReactNode
  /** A notice about the list, in its toolbar. */
  notice?: ReactNode
  /** Buttons for picked rows besides the download. */
  acts?: ReactNode
  /** The permission that the acts need. */
  actsNeed?: Needs
  /** Shown when the search and filters match no rows. */
  noMatchText?: string
  /** A link to the first thing to do, shown when the list is empty. */
  firstStep?: ReactNode
}

export function ListTable<L extends List, Row>(props: ListTableProps<L, Row>) {
  const { label, state, rowKey, options, toolbar, notice, noMatchText, firstStep } = props
  const columns = usePermitted(props.columns)
  const picking = usePicking(props)
  const seesPersonal = useMay('players.personal')
  const { list, address, isWhole, change, sortBy, table } = state
  const { noun, emptyText, sorts, defaultSort } = list
  const hasSorts = Object.keys(sorts).length > 1
  const getHistoryKey = useHistoryKey()
  /** Here the parameters have no types, because the list may be any. */
  const changeTo = (changed: object, replace = false) => change(changed, replace)
  const look = useListLook(label, state)
  const sorting = {
    sort: address.sort ?? defaultSort,
    isReversed: address.reversed ?? false,
    onSort: sortBy,
  }
  return (
    <DataTable
      {...table}
      label={label}
      look={look}
      columns={columns}
      rowKey={rowKey}
      emptyText={isWhole ? emptyText : (noMatchText ?? `No ${noun.one} matches.`)}
      emptyActions={isWhole ? firstStep : <ClearButtons state={state} />}
      count={totalText(state)}
      getHistoryKey={getHistoryKey}
      toolbar={{
        searchLabel: `Search ${noun.many}`,
        search: address.q ?? '',
        onSearch: (text) => changeTo({ q: text || undefined }, true),
        ...(list.isOfPeople && findsBeginningsOnly(address.q ?? '') && { hint: BEGINNINGS_ONLY }),
        unread: useUnreadText(list),
        filters: toolbarFilters(list, { extraOptions: options, seesPersonal }),
        values: address,
        onFilter: changeTo,
        found: totalText(state),
        notice,
        children: (
          <>
            {isExported(list) && (
              <Permitted needs="views.own">
                <SavedViews list={list} address={address} look={look} />
              </Permitted>
            )}
            {hasSorts && <SortOfCards state={state} />}
            {toolbar}
          </>
        ),
      }}
      {...(hasSorts && { sorting })}
      {...(picking && { picking })}
    />
  )
}

/** Returns a function that returns the key of the current history entry. */
function useHistoryKey(): GetHistoryKey {
  const router = useRouter()
  return () => {
    const { __TSR_key } = router.state.location.state
    return __TSR_key
  }
}

/** Leaves out the columns that the signed-in person's role may not see or use. */
function usePermitted<Row>(columns: readonly Column<Row>[]): readonly Column<Row>[] {
  const { user } = useSession()
  return useMemo(() => columns.filter(({ needs }) => needs === undefined || mayDo(user, needs)), [columns, user])
}

type Picking = NonNullable<ComponentProps<typeof DataTable>['picking']>

/** Returns the selection of rows with the buttons for picked rows; undefined if the person may do nothing with picked rows. */
function usePicking<L extends List, Row>({ state, acts, actsNeed }: ListTableProps<L, Row>): Picking | undefined {
  const { user } = useSession()
  const { list, address, total, isMore, selection, table } = state
  const hasActs = acts !== undefined && (actsNeed === undefined || mayDo(user, actsNeed))
  const hasDownload = isExported(list) && mayDo(user, 'exports.make')
  if (!hasActs && !hasDownload) return undefined
  return {
    selection,
    total: table.isStale ? undefined : total, // a stale total belongs to the previous search
    isMore,
    noun: list.noun.many,
    actions: (
      <>
        {isExported(list) && hasDownload && (
          <ExportSelectionButton list={list} selection={selection} order={listOrder(list, address)} />
        )}
        {hasActs && acts}
      </>
    ),
  }
}

function totalText<L extends List, Row>({ list: { noun }, rows, count }: ListState<L, Row>): string | undefined {
  if (!rows) return undefined
  return count === undefined ? 'Counting…' : capitalised(countText(count, noun.one, noun.many))
}

const BEGINNINGS_ONLY = 'One or two letters are searched at the beginnings of words only, three or more anywhere.'

/** Buttons that clear the search or the filters when they match nothing. */
function ClearButtons<L extends List, Row>({ state: { list, address, change } }: { state: ListState<L, Row> }) {
  const names = Object.entries(list.filters).map(([name, filter]) => nameInAddress(name, filter))
  const values: Readonly<Record<string, unknown>> = address
  const active = names.filter((name) => values[name] !== undefined)
  const clear = (cleared: string[]) => clearParameters(cleared, change)
  return (
    <>
      {address.q !== undefined && (
        <Button variant="default" onClick={() => clear(['q'])}>
          Clear search
        </Button>
      )}
      {active.length > 0 && (
        <Button variant="default" onClick={() => clear(active)}>
          Clear filters
        </Button>
      )}
    </>
  )
}

/** Whether rows can be picked: only lists that are named in the contract. */
function isExported(list: List): list is List & { name: ListName } {
  return list.name in lists
}

/** The choice of the order on a phone, whose cards have no headers to press. */
function SortOfCards<L extends List, Row>({ state }: { state: ListState<L, Row> }) {
  const { sort, reversed } = listOrder(state.list, state.address)
  if (!useIsPhone()) return null
  return (
    <>
      <SortSelect state={state} offered={Object.keys(state.list.sorts)} />
      <Button variant={reversed ? 'light' : 'default'} aria-pressed={reversed} onClick={() => state.sortBy(sort, !reversed)}>
        Reverse Order
      </Button>
    </>
  )
}

/** The choice among some orders of a list. */
export function SortSelect<L extends List, Row>({ state, offered }: { state: ListState<L, Row>; offered: readonly string[] }) {
  const { list, address, sortBy } = state
  return (
    <NativeSelect
      label="Sort By"
      value={listOrder(list, address).sort}
      data={offered.map((value) => ({ value, label: list.sorts[value]?.label ?? value }))}
      onChange={({ target }) => sortBy(target.value)}
    />
  )
}

/** The choice of page size, for lists that offer several. */
export function PageSizeField<L extends List, Row>({ state: { list, address, change } }: { state: ListState<L, Row> }) {
  const size = usePageSize(list, address)
  const handleChange = (chosen: number) => {
    keepPageSize(list.name, chosen)
    change({ size: undefined }) // the address of a link may have had another size
  }
  return (
    <NativeSelect
      label="Page Size"
      value={String(size)}
      data={list.pageSizes.map(String)}
      onChange={({ target }) => handleChange(Number(target.value))}
    />
  )
}
