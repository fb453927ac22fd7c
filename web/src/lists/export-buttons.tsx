/**
 * Spreadsheets of a list, each also as CSV: of all its rows (§7), of those that it shows, or of the ones picked, in the order that it shows.
 * They have all columns, also those that the page hides.
 */
import type { SheetFormat } from '@arcade/contract/downloads/calls'
import type { List } from '@arcade/contract/entity'
import type { ListName } from '@arcade/contract/lists'
import { asCallError, fetchSpreadsheet } from '#src/client.ts'
import { DownloadButton } from '#src/ui/download.tsx'
import { formatted, formattedTotal } from '#src/ui/numbers.ts'
import type { Selection } from './selection.tsx'
import { listFilter, listOrder } from './list-address.ts'
import type { ListState } from './use-list.ts'

type NamedList = List & { name: ListName }

const texts = {
  successText: 'Data Downloaded Successfuly!', // sic, §8
  failureText: (problem: unknown): string => {
    const { code, message } = asCallError(problem)
    return code === 'UNAVAILABLE' ? message : 'Error Downloading Data!'
  },
}

interface ExportAllProps<L extends NamedList, Row> {
  state: ListState<L, Row>
  /** The call that sends all rows, for a list that has one of its own (§7). */
  call?: 'users' | 'players'
  label?: string
  /** What all rows are called. */
  everything?: string
  /** How many rows there are without a search and filters; only needed where there are some, and undefined while that is unknown. */
  everyone: number | undefined
}

/** What the list shows: all its rows, or with a search or filter those, everyone then being one step further (design §7). */
export function ExportAllButton<L extends NamedList, Row>(props: ExportAllProps<L, Row>) {
  const { state, call, label = 'Download User Data', everything = 'Everyone', everyone } = props
  const { list, address, isWhole, total, isMore, table } = state
  const options = { fallbackName: list.fileName }
  const selected = (filter: ReturnType<typeof listFilter<L>>, format: SheetFormat) => (running: Running) =>
    fetchSpreadsheet('selection', selectionInput(list, { filter }, listOrder(list, address), format), { ...options, ...running })
  const all = (format: SheetFormat) =>
    call ? (running: Running) => fetchSpreadsheet(call, { format }, { ...options, ...running }) : selected({}, format)
  const shown = (format: SheetFormat) => selected(listFilter(list, address), format)
  // Nothing while one of the two is on its way, has failed, or is that of the search before.
  const isCounted = !isWhole && !table.isStale && total !== undefined && everyone !== undefined
  const note = isCounted ? `${formattedTotal(total, isMore)} of ${formatted(everyone)}` : undefined
  return (
    <DownloadButton
      id={list.name}
      label={label}
      start={isWhole ? all('xlsx') : shown('xlsx')}
      note={note}
      others={
        isWhole
          ? [{ label: 'As CSV', start: all('csv') }]
          : [
              { label: 'These as CSV', start: shown('csv') },
              { label: everything, start: all('xlsx') },
              { label: `${everything} as CSV`, start: all('csv') },
            ]
      }
      {...texts}
    />
  )
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

/** Target and order are this list's, which the type of a list in general does not tell. */
function selectionInput(
  list: { name: ListName },
  target: Selection['target'],
  order: Order,
  format: SheetFormat,
): SelectionInput {
  return { list: list.name, target, ...order, format }
}
