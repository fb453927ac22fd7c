/**
 * A table of rows that the server pages (§2): loading, empty and failed states, View More, words for missing values, pager, sorting by
 * headers, selection of rows, and a choice of columns and density.
 */
import { Button } from '@mantine/core'
import {
  memo,
  type ReactNode,
  startTransition,
  useDeferredValue,
  useEffect,
  useEffectEvent,
  useMemo,
  useRef,
  useState,
} from 'react'
import { ListToolbar, ViewPane } from './list-toolbar.tsx'
import { Problem } from '#src/ui/page.tsx'
import { Pager, type PagerProps } from './pager.tsx'
import { type PickRow, type Selection, SelectionBar, usePickRange } from './selection.tsx'
import { useMatchInView, useTableRoom } from './table-room.ts'
import { focusHeadingWhenGone, opensRow, type PlaceNow, useFocusedRow } from '#src/ui/table-rows.ts'
import { type ChangeableLook, hiddenHeaders, useTableLook } from './table-view.ts'
import { useViewMore } from '#src/ui/view-more.tsx'
import classes from './data-table.module.css'

interface ColumnBase {
  /** The header's text, also the name of the value in View More. */
  header: string
  /** Numbers and buttons are aligned at the end, text at the start. */
  align?: 'end'
  /** The sort that a click on the header requests. */
  sort?: string
  /** This sort is descending, unless it is reversed. */
  isDescending?: boolean
  /** Hidden until the operator chooses it. */
  isHiddenAtFirst?: boolean
  /**
   * The cell's position on a phone, where every row is a card: the `title`, the line below it (`start`, `end`), or one of the details. A
   * `wide` detail takes a whole line.
   */
  card?: 'title' | 'start' | 'end' | 'wide'
}

/** A column that shows a value as text. */
interface ValueColumn<Row> extends ColumnBase {
  value: (row: Row) => string | number | null | undefined
  /** The word for a missing value, such as `undefined` or `not available`. */
  missing?: string
  /** Cells are buttons that open the View More dialog. */
  viewMore?: boolean
  /** An icon with a name before the value. */
  mark?: (row: Row) => ReactNode
}

/** A column with its own rendering. `number` is the row's position in the whole list, from 1. */
interface NodeColumn<Row> extends ColumnBase {
  render: (row: Row, number: number) => ReactNode
}

export type Column<Row> = ValueColumn<Row> | NodeColumn<Row>

interface DataTableProps<Row> extends Omit<PagerProps, 'onPageChange'> {
  /** The table's name for assistive technology. */
  label: string
  /** Keep the same array between renders: a new array redraws all rows. */
  columns: readonly Column<Row>[]
  /** Undefined while the first page is loading. */
  rows: readonly Row[] | undefined
  rowKey: (row: Row) => string | number
  emptyText: string
  /** Buttons below `emptyText`. */
  emptyActions?: ReactNode
  /** Shown instead of the table when its rows could not be loaded. */
  error?: string | undefined
  onRetry?: () => void
  /** The rows are those of the previous page, while the next page is loading. */
  isStale?: boolean
  onPageChange?: (page: number) => void
  sorting?: { sort: string; isReversed: boolean; onSort: (sort: string, isReversed: boolean) => void }
  /**
   * Returns the current entry of the browser's history. After Back, the row that had the focus at that entry gets it again. A function, so
   * that a new address does not redraw the table that is about to be left.
   */
  placeNow?: PlaceNow
  /** Replaces the look that this browser stores for the label. */
  look?: ChangeableLook
  /** The toolbar above the table. The table adds its View and Select buttons. */
  toolbar?: Omit<Parameters<typeof ListToolbar>[0], 'end'>
  /** Lets the operator pick rows once the selection is open. `actions` are the buttons for picked rows. */
  picking?: Omit<Parameters<typeof SelectionBar>[0], 'shownIds' | 'children'> & { actions: ReactNode }
}

/** ARIA roles for phones, where CSS turns the table into cards and the browser drops its table semantics. */
const roles = {
  table: { role: 'table' },
  group: { role: 'rowgroup' },
  row: { role: 'row' },
  header: { role: 'columnheader', scope: 'col' },
  cell: { role: 'cell' },
} as const

const SKELETON_ROWS = 8
const NO_IDS: readonly string[] = []
/** Rows of the first render, about as many as fit on the screen, so that the page appears sooner. The others follow at once. */
const FIRST_ROWS = 12

export function DataTable<Row>(props: DataTableProps<Row>) {
  const { label, columns, rows, rowKey, emptyText, emptyActions, error, onRetry, isStale = false } = props
  const { paging, onPageChange, sorting, toolbar, picking } = props
  const viewMore = useViewMore()
  const remembered = useTableLook(label)
  const look = props.look ?? remembered
  const changed = look.changed.join()
  const hidden = useMemo(() => hiddenHeaders(columns, changed.split(',')), [columns, changed])
  const shown = columns.filter(({ header }) => !hidden.has(header))
  const firstNumber = paging ? (paging.page - 1) * paging.pageSize + 1 : 1
  const ids = useMemo(() => (rows ?? []).map((row) => String(rowKey(row))), [rows, rowKey])
  const selection = picking?.selection
  const isOpen = selection?.isOpen ?? false
  const isPicking = useDeferredValue(isOpen) // updates the button first, then the checkbox of every row
  const handlePick = usePickRange(ids, selection?.set)
  const columnCount = shown.length + (isPicking ? 1 : 0)
  const [isWhole, setIsWhole] = useState(rows === undefined)
  const drawn = isWhole ? rows : rows?.slice(0, FIRST_ROWS)
  const focusedRow = useFocusedRow(props.placeNow, isWhole ? ids : NO_IDS)
  const undrawn = (rows?.length ?? 0) - (drawn?.length ?? 0)
  useEffect(() => startTransition(() => setIsWhole(true)), [])
  const scroller = useRef<HTMLElement>(null)
  useTableRoom(scroller)
  useMatchInView(scroller, toolbar?.search ?? '', paging?.page, isStale ? undefined : rows)

  // The page does not exist, because its last row was deleted or the address is old: go to the last page.
  const lastPage = paging?.isMore ? undefined : paging?.pageCount
  const isBeyond = lastPage !== undefined && paging !== undefined && paging.page > lastPage
  const goBack = useEffectEvent((page: number) => onPageChange?.(page))
  useEffect(() => {
    if (isBeyond && lastPage) goBack(lastPage)
  }, [isBeyond, lastPage])

  const table = (
    <div
      className={classes['frame']}
      aria-busy={rows === undefined || isStale || undrawn > 0}
      data-compact={look.isCompact || undefined}
      data-picking={isPicking || undefined}
    >
      <section
        ref={scroller}
        className={classes['scroller']}
        aria-label={label}
        // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- a scrolling region must be reachable by keyboard
        tabIndex={0}
        data-scroll-restoration-id={`table ${label}`}
      >
        <table {...roles.table} className={classes['table']} aria-label={label} data-stale={isStale || undefined}>
          <thead {...roles.group}>
            <tr {...roles.row}>
              {isPicking && selection && <PickPage selection={selection} ids={ids} />}
              {shown.map((column) => (
                <Header key={column.header} column={column} sorting={sorting} />
              ))}
            </tr>
          </thead>
          <tbody {...roles.group} {...focusedRow}>
            {rows === undefined && <SkeletonRows columns={columnCount} />}
            {rows?.length === 0 && (
              <tr {...roles.row}>
                <td {...roles.cell} colSpan={columnCount} className={classes['empty']}>
                  <div className={classes['inView']}>{emptyText}</div>
                </td>
              </tr>
            )}
            {drawn?.map((row, index) => {
              const id = String(rowKey(row))
              return (
                <TableRow
                  key={id}
                  id={id}
                  row={row}
                  number={firstNumber + index}
                  columns={columns as readonly Column<unknown>[]}
                  hidden={hidden}
                  isPicked={isPicking ? (selection?.has(id) ?? false) : undefined}
                  onPick={handlePick}
                  onOpen={viewMore.open}
                />
              )
            })}
            {undrawn > 0 && <UndrawnRows count={undrawn} />}
          </tbody>
        </table>
      </section>
      {rows?.length === 0 && emptyActions && <div className={classes['emptyActions']}>{emptyActions}</div>}
      {rows === undefined && <output className="app-sr-only">Loading…</output>}
      {onPageChange && <Pager {...props} onPageChange={onPageChange} />}
      {isPicking && picking && (
        <SelectionBar {...picking} shownIds={ids}>
          {picking.actions}
        </SelectionBar>
      )}
      {viewMore.dialog}
    </div>
  )
  const content =
    error === undefined ? (
      table
    ) : (
      <div key="problem" ref={focusHeadingWhenGone} className={classes['frame']}>
        <Problem message={error} {...(onRetry && { onRetry })} />
      </div>
    )
  if (!toolbar) return content

  const tableButtons = (
    <>
      <ViewPane columns={columns} look={look} onChange={look.change} />
      {selection && (
        <Button variant={isOpen ? 'light' : 'default'} aria-pressed={isOpen} onClick={() => selection.setOpen(!isOpen)}>
          Select
        </Button>
      )}
    </>
  )
  return (
    <div className={classes['list']}>
      <ListToolbar {...toolbar} end={tableButtons} />
      {content}
    </div>
  )
}

function Header<Row>({ column, sorting }: { column: Column<Row>; sorting: DataTableProps<Row>['sorting'] }) {
  const { header, align, sort, isDescending = false } = column
  if (sort === undefined || !sorting) {
    return (
      <th {...roles.header} data-align={align} data-column={header}>
        {header}
      </th>
    )
  }
  const isActive = sorting.sort === sort
  const isDown = isDescending !== (isActive && sorting.isReversed)
  return (
    <th
      {...roles.header}
      data-align={align}
      data-column={header}
      aria-sort={isActive ? (isDown ? 'descending' : 'ascending') : undefined}
    >
      <button
        type="button"
        className={classes['sort']}
        onClick={() => sorting.onSort(sort, isActive && !sorting.isReversed)}
        data-active={isActive || undefined}
      >
        {header}
        <span aria-hidden className={classes['arrow']} data-down={isDown || undefined} />
      </button>
    </th>
  )
}

/** The header's checkbox, which picks all rows of the page. */
function PickPage({ selection, ids }: { selection: Selection; ids: string[] }) {
  const picked = ids.filter((id) => selection.has(id)).length
  return (
    <th {...roles.header} className={classes['pick']}>
      <input
        type="checkbox"
        aria-label="Select all rows of this page"
        checked={ids.length > 0 && picked === ids.length}
        ref={(box) => {
          if (box) box.indeterminate = picked > 0 && picked < ids.length
        }}
        onChange={({ target }) => selection.set(ids, target.checked)}
      />
    </th>
  )
}

interface CellsProps {
  row: unknown
  number: number
  columns: readonly Column<unknown>[]
  hidden: ReadonlySet<string>
  onOpen: ReturnType<typeof useViewMore>['open']
}

interface TableRowProps extends CellsProps {
  id: string
  /** Undefined while rows cannot be picked. */
  isPicked: boolean | undefined
  onPick: PickRow
}

/** Memoised, so that picking a row redraws only its checkbox. */
const TableRow = memo(function TableRow({ id, isPicked, onPick, ...cells }: TableRowProps) {
  return (
    <tr {...roles.row} data-picked={isPicked || undefined} tabIndex={-1}>
      {isPicked !== undefined && (
        <td {...roles.cell} className={classes['pick']}>
          <input
            type="checkbox"
            aria-label={`Select row ${cells.number}`}
            checked={isPicked}
            onChange={({ target, nativeEvent }) =>
              onPick(id, target.checked, 'shiftKey' in nativeEvent && nativeEvent.shiftKey === true)
            }
          />
        </td>
      )}
      <Cells {...cells} />
    </tr>
  )
})

const Cells = memo(function Cells({ row, number, columns, hidden, onOpen }: CellsProps) {
  return columns.map((column) =>
    hidden.has(column.header) ? null : (
      <td {...roles.cell} key={column.header} data-align={column.align} data-column={column.header} data-card={column.card}>
        {'render' in column ? (
          column.render(row, number)
        ) : (
          <>
            {column.mark?.(row)}
            <Value column={column} row={row} onOpen={(text) => onOpen({ label: column.header, text })} />
          </>
        )}
      </td>
    ),
  )
})

/** Reserves space for rows that are about to be drawn, so that Back can restore the scroll position. */
function UndrawnRows({ count }: { count: number }) {
  return (
    <tr aria-hidden>
      {/* oxlint-disable-next-line jsx-a11y/control-has-associated-label -- the row is hidden from assistive technology */}
      <td style={{ height: `calc(${count} * var(--row-height))` }} />
    </tr>
  )
}

function Value<Row>({ column, row, onOpen }: { column: ValueColumn<Row>; row: Row; onOpen: (text: string) => void }) {
  const value = column.value(row)
  if (value === null || value === undefined || value === '') return <Missing text={column.missing ?? ''} />
  const text = typeof value === 'number' ? value.toLocaleString('en-US', { maximumFractionDigits: 20 }) : value
  if (!column.viewMore) {
    return (
      <span className={classes['value']} title={text}>
        {text}
      </span>
    )
  }
  const act = { onClick: () => onOpen(text), ...(column.card === 'title' && opensRow) }
  return <MoreButton {...act}>{text}</MoreButton>
}

interface MoreButtonProps {
  children: string
  onClick: () => void
  /** Shows up to three lines instead of one. */
  isTall?: boolean
}

/** A shortened text that opens a dialog with the whole text. */
export function MoreButton({ isTall = false, children, ...props }: MoreButtonProps) {
  return (
    <button type="button" className={classes['more']} data-tall={isTall || undefined} aria-haspopup="dialog" {...props}>
      {children}
    </button>
  )
}

/** The word for a missing value, styled so that nobody mistakes it for data. */
export function Missing({ text }: { text: string }) {
  return <span className={classes['missing']}>{text}</span>
}

export function RowActions({ children }: { children: ReactNode }) {
  return <div className={classes['actions']}>{children}</div>
}

function SkeletonRows({ columns }: { columns: number }) {
  return Array.from({ length: SKELETON_ROWS }, (_, row) => (
    <tr key={row} aria-hidden>
      {Array.from({ length: columns }, (__, column) => (
        // oxlint-disable-next-line jsx-a11y/control-has-associated-label -- the row is hidden from assistive technology
        <td key={column}>
          <span className={classes['skeleton']} />
        </td>
      ))}
    </tr>
  ))
}
