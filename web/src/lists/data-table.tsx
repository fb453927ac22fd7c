/**
 * A table of rows that the server pages (§2): loading, empty and failed states, pager, sorting by headers, selection of rows, and a choice
 * of columns and density.
 */
import {
  type ReactNode,
  type RefObject,
  startTransition,
  useDeferredValue,
  useEffect,
  useEffectEvent,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
} from 'react'
import { ListToolbar, ViewPane } from './list-toolbar.tsx'
import { Problem } from '#src/ui/page.tsx'
import { Pager, type PagerProps } from './pager.tsx'
import { type PickRow, type Selection, SelectionBar, usePickRange } from './selection.tsx'
import { columnWidths, PICK_COLUMN } from './column-widths.ts'
import { type Column, TableRow } from './table-cells.tsx'
import { useMatchInView, useTableHeight } from './table-height.ts'
import { useIsPhone } from '#src/ui/window-width.ts'
import { roles } from '#src/ui/table-roles.ts'
import { focusHeadingWhenGone, type GetHistoryKey, useFocusedRow } from '#src/ui/table-rows.ts'
import { type ChangeableLook, hiddenHeaders, type TableLook, useTableLook } from './table-look.ts'
import { useViewMore } from '#src/ui/view-more.tsx'
import classes from './data-table.module.css'

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
   * Returns the key of the current history entry. After Back, the row that had the focus at that entry gets it again. A function, so
   * that a new address does not redraw the table that is about to be left.
   */
  getHistoryKey?: GetHistoryKey
  /** Replaces the look that this browser stores for the label. */
  look?: ChangeableLook
  /** The toolbar above the table. The table adds its View and Select buttons. */
  toolbar?: Omit<Parameters<typeof ListToolbar>[0], 'view' | 'select'>
  /** Lets the operator pick rows once the selection is open. `actions` are the buttons for picked rows. */
  picking?: Omit<Parameters<typeof SelectionBar>[0], 'shownIds' | 'children'> & { actions: ReactNode }
}

const SKELETON_ROWS = 8
const NO_IDS: readonly string[] = []
/** Rows that are drawn first, about as many as fit on the screen, so that a page appears sooner. The others follow at once. */
const FIRST_ROWS = 14

export function DataTable<Row>(props: DataTableProps<Row>) {
  const { label, columns, error, onRetry, toolbar, picking } = props
  const remembered = useTableLook(label)
  const look = props.look ?? remembered
  const selection = picking?.selection
  const isPicking = useDeferredValue(selection?.isOpen ?? false) // updates the button first, then the checkbox of every row
  useLastPage(props)

  const content =
    error === undefined ? (
      <Frame {...props} look={look} isPicking={isPicking} />
    ) : (
      <div ref={focusHeadingWhenGone} className={classes['frame']}>
        <Problem message={error} {...(onRetry && { onRetry })} />
      </div>
    )
  if (!toolbar) return content
  return (
    <div className={classes['list']}>
      <ListToolbar
        {...toolbar}
        view={<ViewPane columns={columns} look={look} onChange={look.change} />}
        select={selection && { isOpen: selection.isOpen, onToggle: () => selection.setOpen(!selection.isOpen) }}
      />
      {content}
    </div>
  )
}

/** Returns the headers of hidden columns. The set stays the same between renders: a new one would redraw all rows. */
function useHiddenHeaders<Row>(columns: readonly Column<Row>[], look: TableLook): ReadonlySet<string> {
  const changed = look.changed.join()
  return useMemo(() => hiddenHeaders(columns, changed.split(',')), [columns, changed])
}

/**
 * Draws another page in two steps: first the rows on the screen, then the others. The rows of the same page stay when they are reloaded.
 * @param pageIdentity changes with the page, the order and the filter
 * @returns the number of pages that were begun before this one, and whether all of its rows are drawn
 */
function useDrawing(
  rows: readonly unknown[] | undefined,
  pageIdentity: unknown,
  isStale: boolean,
): { page: number; isWhole: boolean } {
  const [begun, setBegun] = useState({ rows, pageIdentity, page: 0 })
  // The transitions of two pages may end together. This state is not part of `begun`, so it ends with the newest page even if `begun` was set meanwhile.
  const [wholePage, setWholePage] = useState<number>()
  let { page } = begun
  if (!isStale && (rows !== begun.rows || pageIdentity !== begun.pageIdentity)) {
    const isOther = rows !== begun.rows && pageIdentity !== begun.pageIdentity
    page += isOther ? 1 : 0
    setBegun({ rows, pageIdentity, page })
  }
  const isWhole = wholePage === page
  const isBegun = rows !== undefined && !isWhole
  useEffect(() => {
    if (isBegun) startTransition(() => setWholePage(page))
  }, [isBegun, page])
  return { page, isWhole }
}

/** Goes to the last page if this one does not exist, because its last row was deleted or the address is old. */
function useLastPage<Row>({ paging, onPageChange }: DataTableProps<Row>): void {
  const lastPage = paging?.isMore ? undefined : paging?.pageCount
  const isBeyond = lastPage !== undefined && paging !== undefined && paging.page > lastPage
  const goBack = useEffectEvent((page: number) => onPageChange?.(page))
  useEffect(() => {
    if (isBeyond && lastPage) goBack(lastPage)
  }, [isBeyond, lastPage])
}

interface FrameProps<Row> extends DataTableProps<Row> {
  look: ChangeableLook
  isPicking: boolean
}

/** The table in its scrolling region, and what belongs below it: pager and selection bar. */
function Frame<Row>(props: FrameProps<Row>) {
  const { label, columns, rows, rowKey, look, emptyActions, isStale = false, onPageChange, toolbar, picking, isPicking } = props
  const hidden = useHiddenHeaders(columns, look)
  const ids = useMemo(() => (rows ?? []).map((row) => String(rowKey(row))), [rows, rowKey])
  const { isWhole, page } = useDrawing(rows, toolbar?.values, isStale)
  const drawn = isWhole ? rows : rows?.slice(0, FIRST_ROWS)
  const handlePick = usePickRange(ids, picking?.selection.set)
  const focusedRow = useFocusedRow(props.getHistoryKey, isWhole ? ids : NO_IDS)
  const viewMore = useViewMore()
  const scroller = useScroller(props, page)
  return (
    <div
      className={classes['frame']}
      aria-busy={rows === undefined || isStale || drawn?.length !== rows.length}
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
        <Table
          {...props}
          ids={ids}
          drawn={drawn}
          hidden={hidden}
          onPick={handlePick}
          focusedRow={focusedRow}
          viewMore={viewMore}
        />
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
}

/**
 * Returns the ref of the scrolling region. Its height fits the window, another page begins at its top, and a match of the search is in view.
 * @param page counts the pages that were begun
 */
function useScroller<Row>({ toolbar, paging, isStale = false, rows }: DataTableProps<Row>, page: number) {
  const scroller = useRef<HTMLElement>(null)
  useTableHeight(scroller)
  useTopOfPage(scroller, page)
  useMatchInView(scroller, toolbar?.search ?? '', paging?.page, isStale ? undefined : rows)
  return scroller
}

/** Scrolls up to the first row of another page. */
function useTopOfPage(scroller: RefObject<HTMLElement | null>, page: number): void {
  useLayoutEffect(() => {
    if (page > 0) scroller.current?.scrollTo({ top: 0 })
  }, [scroller, page])
}

interface TableProps<Row> extends Omit<FrameProps<Row>, 'look'> {
  /** The ids of all rows. */
  ids: string[]
  /** The rows that are drawn already. */
  drawn: readonly Row[] | undefined
  hidden: ReadonlySet<string>
  onPick: PickRow
  focusedRow: ReturnType<typeof useFocusedRow>
  viewMore: ReturnType<typeof useViewMore>
}

function Table<Row>({ sorting, focusedRow, emptyText, onPick, ...props }: TableProps<Row>) {
  const { label, columns, rows, drawn, rowKey, hidden, ids, isStale = false, paging, isPicking, picking, viewMore } = props
  const shown = columns.filter(({ header }) => !hidden.has(header))
  const columnCount = shown.length + (isPicking ? 1 : 0)
  const firstNumber = paging ? (paging.page - 1) * paging.pageSize + 1 : 1
  const selection = isPicking ? picking?.selection : undefined
  const undrawn = (rows?.length ?? 0) - (drawn?.length ?? 0)
  const isPhone = useIsPhone()
  const widths = columnWidths(selection ? [PICK_COLUMN, ...shown] : shown)
  return (
    <table
      {...roles.table}
      className={classes['table']}
      aria-label={label}
      data-stale={isStale || undefined}
      data-fixed={widths !== undefined || undefined}
      style={widths?.table}
    >
      {widths && (
        <colgroup>
          {widths.columns.map((style, index) => (
            <col key={index} style={style} />
          ))}
        </colgroup>
      )}
      <thead {...roles.group}>
        <tr {...roles.row}>
          {selection && <PickPage selection={selection} ids={ids} isCard={isPhone} />}
          {shown.map((column) => (
            <Header key={column.header} column={column} sorting={sorting} isCard={isPhone} />
          ))}
        </tr>
      </thead>
      <tbody {...roles.group} {...focusedRow}>
        {rows === undefined && <SkeletonRows columns={columnCount} />}
        {rows?.length === 0 && <EmptyRow columns={columnCount} text={emptyText} />}
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
              isCard={isPhone}
              isPicked={selection?.has(id)}
              onPick={onPick}
              onOpen={viewMore.open}
            />
          )
        })}
        {undrawn > 0 && <UndrawnRows count={undrawn} />}
      </tbody>
    </table>
  )
}

interface HeaderProps<Row> {
  column: Column<Row>
  sorting: DataTableProps<Row>['sorting']
  /** Headers of cards are for assistive technology only. */
  isCard: boolean
}

function Header<Row>({ column, sorting, isCard }: HeaderProps<Row>) {
  const { header, align, sort, isDescending = false } = column
  const isActive = sort !== undefined && sorting?.sort === sort
  const isDown = isDescending !== (isActive && sorting.isReversed)
  const head = {
    ...roles.header,
    'data-align': align,
    'data-column': header,
    'aria-sort': isActive ? (isDown ? ('descending' as const) : ('ascending' as const)) : undefined,
  }
  if (sort === undefined || !sorting || isCard) return <th {...head}>{header}</th>
  return (
    <th {...head}>
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

/** The header's checkbox, which picks all rows of the page. Above cards it stands alone, so its label is shown. */
function PickPage({ selection, ids, isCard }: { selection: Selection; ids: string[]; isCard: boolean }) {
  const picked = ids.filter((id) => selection.has(id)).length
  const box = (
    <input
      type="checkbox"
      aria-label={PICK_PAGE}
      checked={ids.length > 0 && picked === ids.length}
      ref={(input) => {
        if (input) input.indeterminate = picked > 0 && picked < ids.length
      }}
      onChange={({ target }) => selection.set(ids, target.checked)}
    />
  )
  return (
    <th {...roles.header} className={classes['pick']}>
      {isCard ? (
        <label className={classes['pickPage']}>
          {box}
          {PICK_PAGE}
        </label>
      ) : (
        box
      )}
    </th>
  )
}

const PICK_PAGE = 'Select all rows of this page'

function EmptyRow({ columns, text }: { columns: number; text: string }) {
  return (
    <tr {...roles.row}>
      <td {...roles.cell} colSpan={columns} className={classes['empty']}>
        <div className={classes['inView']}>{text}</div>
      </td>
    </tr>
  )
}

/** Reserves space for rows that are about to be drawn, so that Back can restore the scroll position. */
function UndrawnRows({ count }: { count: number }) {
  return (
    <tr aria-hidden>
      {/* oxlint-disable-next-line jsx-a11y/control-has-associated-label -- the row is hidden from assistive technology */}
      <td style={{ height: `calc(${count} * var(--row-height))` }} />
    </tr>
  )
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
