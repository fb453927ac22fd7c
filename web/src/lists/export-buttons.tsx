/**
 * Downloads of a list as XLSX or CSV: all its rows (§7), the rows it shows, or the picked ones, in the order shown. Sheets have all
 * columns, also hidden ones.
 */
import type { SheetFormat } from '@arcade/contract/downloads/calls'
import type { List } from '@arcade/contract/entity'
import type { ListName } from '@arcade/contract/lists'
import { asCallError } from '#src/client/call-error.ts'
import { fetchSpreadsheet } from '#src/client/spreadsheet.ts'
import { DownloadButton } from '#src/ui/download.tsx'
import { Permitted } from '#src/session.tsx'
import { formatted, formattedTotal } from '#src/ui/numbers.ts'
import type { Selection } from './selection.tsx'
import { listFilter, listOrder } from './list-address.ts'
import type { ListState } from './use-list.ts'

type NamedList = List & { name: ListName }

const texts = {
  successText: 'Data Downloaded Successfuly!', // sic, §8
  failureText: (problem: unknown): string => {
    const { code, message } = asCallError(problem)
    return code === 'UNAVAILABLE' || code === 'FORBIDDEN' ? message : 'Error Downloading Data!'
  },
}

interface ExportAllProps<L extends NamedList, Row> {
  state: ListState<L, Row>
  /** The list's own download call (§7), if it has one. */
  call?: 'users' | 'players'
  label?: string
  /** The name for all rows. */
  everything?: string
  /** The number of rows without search and filters. Only needed while one is active; undefined while unknown. */
  everyone: number | undefined
}

/** Downloads the rows that the list shows. With a search or filter, a menu also offers all rows. */
export function ExportAllButton<L extends NamedList, Row>(props: ExportAllProps<L, Row>) {
  const { state, call, label = 'Download User Data', everything = 'Everyone', everyone } = props
  const { list, address } = state
  const options = { fallbackName: list.fileName }
  const selected = (filter: ReturnType<typeof listFilter<L>>, format: SheetFormat) => (running: Running) =>
    fetchSpreadsheet('selection', selectionInput(list, { filter }, listOrder(list, address), format), { ...options, ...running })
  const all = (format: SheetFormat) =>
    call ? (running: Running) => fetchSpreadsheet(call, { format }, { ...options, ...running }) : selected({}, format)
  const shown = (format: SheetFormat) => selected(listFilter(list, address), format)
  return (
    <Permitted needs="exports.make">
      <DownloadButton id={list.name} label={label} {...shownOrAll({ state, shown, all, everything, everyone })} {...texts} />
    </Permitted>
  )
}

type StartIn = (format: SheetFormat) => Parameters<typeof DownloadButton>[0]['start']

interface ShownOrAll<L extends List, Row> {
  state: Pick<ListState<L, Row>, 'isWhole' | 'total' | 'isMore' | 'table'>
  shown: StartIn
  all: StartIn
  everything: string
  everyone: number | undefined
}

/** The downloads of a list that may have a search or filters: what is shown, and in the menu all rows. */
export function shownOrAll<L extends List, Row>({ state, shown, all, everything, everyone }: ShownOrAll<L, Row>) {
  const { isWhole, total, isMore, table } = state
  if (isWhole) return { start: all('xlsx'), others: [{ label: 'As CSV', start: all('csv') }] }
  // No note until both totals are known and belong to the current search.
  const isCounted = !table.isStale && total !== undefined && everyone !== undefined
  return {
    start: shown('xlsx'),
    note: isCounted ? `${formattedTotal(total, isMore)} of ${formatted(everyone)}` : undefined,
    others: [
      { label: 'These as CSV', start: shown('csv') },
      { label: everything, start: all('xlsx') },
      { label: `${everything} as CSV`, start: all('csv') },
    ],
  }
}

interface ExportSelectionProps {
  list: NamedList
  selection: Selection
  order: Order
}

export function ExportSelectionButton({ list, selection: { target }, order }: ExportSelectionProps) {
  const picked = (format: SheetFormat) => (running: Running) =>
    fetchSpreadsheet('selection', selectionInput(list, target, order, format), { fallbackName: list.fileName, ...running })
  return (
    <DownloadButton
      id={`${list.name} selection`}
      label="Download Selection"
      size="compact-sm"
      start={picked('xlsx')}
      others={[{ label: 'As CSV', start: picked('csv') }]}
      {...texts}
    />
  )
}

type Order = ReturnType<typeof listOrder>
type Running = Parameters<Parameters<typeof DownloadButton>[0]['start']>[0]
type SelectionInput = Parameters<typeof fetchSpreadsheet<'selection'>>[1]

/** Typed loosely, because TypeScript cannot infer that target and order belong to this list. */
function selectionInput(
  list: { name: ListName },
  target: Selection['target'],
  order: Order,
  format: SheetFormat,
): SelectionInput {
  return { list: list.name, target, ...order, format }
}
