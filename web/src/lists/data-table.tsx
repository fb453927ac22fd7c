/**
 * A table of rows that the server pages (§2): loading, empty and failed states, values that open View More, the specified words for missing
 * values, a pager with `Page X of Y`, sorting by headers, picking of rows, and a choice of columns and density.
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
  /** The specified text, by which View More also names the value. */
  header: string
  /** Figures and buttons stand at the end, texts at the start. */
  align?: 'end'
  /** The sort that the header asks for. */
  sort?: string
  /** This sort begins with the largest or latest, unless it is reversed. */
  isDescending?: boolean
  /** One has to choose the column to see it. */
  isHiddenAtFirst?: boolean
  /**
   * The place of the cell on a phone, where every row is a card: its `title`, the line below that (`start`, `end`), or one of the details,
   * of which a `wide` one takes a whole line.
   */
  card?: 'title' | 'start' | 'end' | 'wide'
}

/** A column that shows a value of the row. */
interface ValueColumn<Row> extends ColumnBase {
  value: (row: Row) => string | number | null | undefined
  /** The word for a missing value, such as `undefined` or `not available`. */
  missing?: string
  /** The cells are buttons that open the View More dialog. */
  viewMore?: boolean
  /** Stands before the value: an icon with a name. */
  mark?: (row: Row) => ReactNode
}

/** A column that shows anything else. `number` is the row's number in the whole list, from 1. */
interface NodeColumn<Row> extends ColumnBase {
  render: (row: Row, number: number) => ReactNode
}

export type Column<Row> = ValueColumn<Row> | NodeColumn<Row>

interface DataTableProps<Row> extends Omit<PagerProps, 'onPageChange'> {
  /** The table's name for assistive technology. */
  label: string
  /** An array that stays the same between renders; another one draws all rows anew. */
  columns: readonly Column<Row>[]
  /** Undefined while the first page is being loaded. */
  rows: readonly Row[] | undefined
  rowKey: (row: Row) => string | number
  emptyText: string
  /** What one can do where there are no rows. */
  emptyActions?: ReactNode
  /** Stands in place of the table when its rows could not be loaded. */
  error?: string | undefined
  onRetry?: () => void
  /** The rows belong to the page shown before, while those of the next one are on their way. */
  isStale?: boolean
  onPageChange?: (page: number) => void
  sorting?: { sort: string; isReversed: boolean; onSort: (sort: string, isReversed: boolean) => void }
  /**
   * Tells the place in the browser's history: one who comes back to it finds the focus on the same row. It is asked only when it matters, so
   * that the table that one leaves is not drawn anew with the new address.
   */
  placeNow?: PlaceNow
  /** Instead of the look that this browser remembers for the label. */
  look?: ChangeableLook
  /** The toolbar above the table, to which the table adds the choice of columns and density. */
  toolbar?: Omit<Parameters<typeof ListToolbar>[0], 'end'>
  /** Lets one pick rows once the basket is open; `actions` are the buttons for them. */
  picking?: Omit<Parameters<typeof SelectionBar>[0], 'shownIds' | 'children'> & { actions: ReactNode }
}

/** The cards of a phone are no table to the browser. With these roles they stay one to assistive technology. */
const as = {
  table: { role: 'table' },
  group: { role: 'rowgroup' },
  row: { role: 'row' },
  header: { role: 'columnheader', scope: 'col' },
  cell: { role: 'cell' },
} as const

const SKELETON_ROWS = 8
const NO_IDS: readonly string[] = []
/** The first drawing has so many rows, about as many as one can see, so that the page appears sooner. The others follow at once. */
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
  const isPicking = useDeferredValue(isOpen) // the button is drawn first, then a box in each row
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

  // This page is no more if its last row was deleted, or if an old address names it. The last page takes its place.
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
        // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- what scrolls must be reachable by keyboard
        tabIndex={0}
        data-scroll-restoration-id={`table ${label}`}
      >
        <table {...as.table} className={classes['table']} aria-label={label} data-stale={isStale || undefined}>
          <thead {...as.group}>
            <tr {...as.row}>
              {isPicking && selection && <PickPage selection={selection} ids={ids} />}
              {shown.map((column) => (
                <Header key={column.header} column={column} sorting={sorting} />
              ))}
            </tr>
          </thead>
          <tbody {...as.group} {...focusedRow}>
            {rows === undefined && <SkeletonRows columns={columnCount} />}
            {rows?.length === 0 && (
              <tr {...as.row}>
                <td {...as.cell} colSpan={columnCount} className={classes['empty']}>
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
      <th {...as.header} data-align={align} data-column={header}>
        {header}
      </th>
    )
  }
  const isActive = sorting.sort === sort
  const isDown = isDescending !== (isActive && sorting.isReversed)
  return (
    <th
      {...as.header}
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

/** The header's box, which picks all rows of the page. */
function PickPage({ selection, ids }: { selection: Selection; ids: string[] }) {
  const picked = ids.filter((id) => selection.has(id)).length
  return (
    <th {...as.header} className={classes['pick']}>
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

/** A memo, so that picking one row of a hundred draws that row alone anew, and of it only the box. */
const TableRow = memo(function TableRow({ id, isPicked, onPick, ...cells }: TableRowProps) {
  return (
    <tr {...as.row} data-picked={isPicked || undefined} tabIndex={-1}>
      {isPicked !== undefined && (
        <td {...as.cell} className={classes['pick']}>
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
      <td {...as.cell} key={column.header} data-align={column.align} data-column={column.header} data-card={column.card}>
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

/** Keeps room for rows that are about to be drawn, so that a list one comes back to can be scrolled to where it was. */
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
  /** It shows up to three lines instead of one. */
  isTall?: boolean
}

/** What a cell says, which opens a dialog with all of it. */
export function MoreButton({ isTall = false, children, ...props }: MoreButtonProps) {
  return (
    <button type="button" className={classes['more']} data-tall={isTall || undefined} aria-haspopup="dialog" {...props}>
      {children}
    </button>
  )
}

/** The word for a missing value, styled so that nobody takes it for data. */
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
