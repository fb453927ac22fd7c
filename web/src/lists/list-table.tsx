/** The table of a list with its toolbar, basket, pager, empty and failed states, all of which follow from the list's declaration. */
import type { List } from '@arcade/contract/entity'
import { type ListName, lists } from '@arcade/contract/lists'
import { findsBeginningsOnly } from '@arcade/contract/search'
import { Button, NativeSelect } from '@mantine/core'
import { useRouter } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { type Column, DataTable } from './data-table.tsx'
import type { Filter } from './list-toolbar.tsx'
import { counted } from '#src/ui/numbers.ts'
import { focusSearch } from '#src/ui/table-rows.ts'
import { ExportSelectionButton } from './export-buttons.tsx'
import { nameInAddress, type ListAddress, listOrder } from './list-address.ts'
import { useListLook } from './list-look.ts'
import { SavedViews } from './saved-views.tsx'
import type { ListState } from './use-list.ts'

interface ListTableProps<L extends List, Row> {
  /** Names the table for assistive technology. */
  label: string
  state: ListState<L, Row>
  columns: readonly Column<Row>[]
  rowKey: (row: Row) => string | number
  /** What filters can be set to whose options the list's declaration cannot know, by their names in the address. */
  options?: FilterOptions
  /** What else stands in the toolbar. */
  toolbar?: ReactNode
  /** What can be done with picked rows besides exporting them. */
  acts?: ReactNode
  /** Stands in place of the rows when the search and the filters leave none. */
  noMatchText?: string
  /** Leads to what one does first, where the list is empty. */
  firstStep?: ReactNode
}

export type FilterOptions = Readonly<Record<string, readonly { value: string; label: string }[]>>

export function ListTable<L extends List, Row>(props: ListTableProps<L, Row>) {
  const { label, state, columns, rowKey, options, toolbar, acts, noMatchText, firstStep } = props
  const { list, address, isWhole, total, isMore, selection, change, table } = state
  const { noun, emptyText, sorts, ownSort } = list
  const router = useRouter()
  const placeNow = () => {
    const { __TSR_key } = router.state.location.state
    return __TSR_key
  }
  const changeTo = (changed: object, replace = false) => change(changed, replace)
  const look = useListLook(label, state)
  const sorting = {
    sort: address.sort ?? ownSort,
    isReversed: address.reversed ?? false,
    onSort: (sort: string, isReversed: boolean) =>
      changeTo({ sort: sort === ownSort ? undefined : sort, reversed: isReversed || undefined }),
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
      count={countText(state)}
      placeNow={placeNow}
      toolbar={{
        searchLabel: `Search ${noun.many}`,
        search: address.q ?? '',
        onSearch: (text) => changeTo({ q: text || undefined }, true),
        ...(list.findsPeople && findsBeginningsOnly(address.q ?? '') && { hint: BEGINNINGS_ONLY }),
        filters: toolbarFilters(list, options),
        values: address,
        onFilter: changeTo,
        children: (
          <>
            {isExported(list) && <SavedViews list={list} address={address} look={look} />}
            {toolbar}
          </>
        ),
      }}
      {...(Object.keys(sorts).length > 1 && { sorting })}
      {...(isExported(list) && {
        picking: {
          selection,
          total: table.isStale ? undefined : total, // not how many the search before has found
          isMore,
          noun: noun.many,
          actions: (
            <>
              <ExportSelectionButton list={list} selection={selection} order={listOrder(list, address)} />
              {acts}
            </>
          ),
        },
      })}
    />
  )
}

function countText<L extends List, Row>({ list: { noun }, rows, total, isMore }: ListState<L, Row>): string | undefined {
  if (!rows) return undefined
  if (total === undefined) return 'Counting…'
  return `${isMore ? 'More than ' : ''}${counted(total, noun.one, noun.many)}`
}

const BEGINNINGS_ONLY = 'One or two letters are looked for at the beginnings of words. A third finds them anywhere.'

/** The ways back to rows, where a search and filters leave none. */
function ClearButtons<L extends List, Row>({ state: { list, address, change } }: { state: ListState<L, Row> }) {
  const names = Object.entries(list.filters).map(([name, filter]) => nameInAddress(name, filter))
  const given: Readonly<Record<string, unknown>> = address
  const active = names.filter((name) => given[name] !== undefined)
  const clear = (cleared: string[]) => {
    focusSearch() // the button goes
    change(Object.fromEntries(cleared.map((name) => [name, undefined])) as Partial<ListAddress<L>>)
  }
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

/** Only lists that have a name on the wire can have rows picked. */
function isExported(list: List): list is List & { name: ListName } {
  return list.name in lists
}

/** The filters as the toolbar asks for them, by their names in the address. */
function toolbarFilters(list: List, known: FilterOptions = {}): Filter[] {
  return Object.entries(list.filters).map(([name, filter]) => {
    const field = { name: nameInAddress(name, filter), label: filter.label }
    if ('options' in filter) {
      const declared = Object.entries(filter.options).map(([value, label]) => ({ value, label }))
      return { ...field, kind: 'choice', options: known[field.name] ?? declared }
    }
    return { ...field, kind: 'isToTheMinute' in filter && filter.isToTheMinute ? 'minute' : inputs[filter.kind] }
  })
}

const inputs = { min: 'number', max: 'number', from: 'day', before: 'day' } as const

/** How many rows a page has, for a list that leaves the choice. */
export function PageSizeField<L extends List, Row>({ state: { list, address, change } }: { state: ListState<L, Row> }) {
  return (
    <NativeSelect
      label="Page Size"
      value={String(address.size ?? list.pageSizes[0])}
      data={list.pageSizes.map(String)}
      onChange={({ target }) => change({ size: Number(target.value) } as Partial<ListAddress<L>>)}
    />
  )
}
