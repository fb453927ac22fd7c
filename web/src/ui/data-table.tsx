/**
 * A table of rows that the server pages (§2): loading, empty and failed states in its place, values that open View More, missing values
 * as the spec words them, a pager with `Page X of Y`.
 */
import { Button, Pagination } from '@mantine/core'
import { type ReactNode, useEffect, useEffectEvent } from 'react'
import { Problem } from '#src/ui/page.tsx'
import { useViewMore } from '#src/ui/view-more.tsx'
import classes from './data-table.module.css'

interface ColumnBase {
  /** The spec's text; also what View More calls the value. */
  header: string
  /** Figures and buttons stand at the end, texts at the start. */
  align?: 'end'
}

/** A column of a value… */
interface ValueColumn<Row> extends ColumnBase {
  value: (row: Row) => string | number | null | undefined
  /** What stands for a missing value, literally: `undefined`, `not available`, … */
  missing?: string
  /** Its cells are buttons that open the View More dialog. */
  viewMore?: boolean
}

/** …or of anything else. `number` counts rows from 1 through all pages. */
interface NodeColumn<Row> extends ColumnBase {
  render: (row: Row, number: number) => ReactNode
}

export type Column<Row> = ValueColumn<Row> | NodeColumn<Row>

/** Where a table is in its list. `keepPreviousData` keeps the rows of the page before while the next one is on its way. */
export interface TablePage {
  page: number
  pageSize: number
  pageCount: number
}

interface DataTableProps<Row> {
  /** Names the table for assistive technology. */
  label: string
  columns: readonly Column<Row>[]
  /** `undefined`: still loading. */
  rows: readonly Row[] | undefined
  rowKey: (row: Row) => string | number
  emptyText: string
  /** Set when the rows could not be loaded. */
  error?: string | undefined
  onRetry?: () => void
  /** The rows are of another page than the one asked for. */
  isStale?: boolean
  paging?: TablePage | undefined
  onPageChange?: (page: number) => void
  /** `numbers` by default; `prev-next` for lists by cursor, with the buttons of §2: where they lead nowhere they do nothing (§4). */
  pager?: 'numbers' | 'prev-next'
  canPage?: { previous: boolean; next: boolean }
}

const SKELETON_ROWS = 8

export function DataTable<Row>(props: DataTableProps<Row>) {
  const { label, columns, rows, rowKey, emptyText, error, onRetry, isStale = false, paging, onPageChange } = props
  const viewMore = useViewMore()
  const firstNumber = paging ? (paging.page - 1) * paging.pageSize + 1 : 1

  // The last row of the last page was deleted, or an old address names a page that is no more.
  const lastPage = paging?.pageCount
  const isBeyond = paging !== undefined && paging.page > paging.pageCount
  const goBack = useEffectEvent((page: number) => onPageChange?.(page))
  useEffect(() => {
    if (isBeyond && lastPage) goBack(lastPage)
  }, [isBeyond, lastPage])

  if (error !== undefined) {
    return (
      <div className={classes['frame']}>
        <Problem message={error} {...(onRetry && { onRetry })} />
      </div>
    )
  }

  return (
    <div className={classes['frame']} aria-busy={rows === undefined || isStale}>
      {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- what scrolls must be reachable by keyboard */}
      <section className={classes['scroller']} aria-label={label} tabIndex={0}>
        <table className={classes['table']} aria-label={label} data-stale={isStale || undefined}>
          <thead>
            <tr>
              {columns.map(({ header, align }) => (
                <th key={header} scope="col" data-align={align}>
                  {header}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows === undefined && <SkeletonRows columns={columns.length} />}
            {rows?.length === 0 && (
              <tr>
                <td colSpan={columns.length} className={classes['empty']}>
                  {emptyText}
                </td>
              </tr>
            )}
            {rows?.map((row, index) => (
              <tr key={rowKey(row)}>
                {columns.map((column) => (
                  <td key={column.header} data-align={column.align}>
                    {'render' in column ? (
                      column.render(row, firstNumber + index)
                    ) : (
                      <Value column={column} row={row} onOpen={(text) => viewMore.open({ label: column.header, text })} />
                    )}
                  </td>
                ))}
              </tr>
            ))}
          </tbody>
        </table>
      </section>
      {rows === undefined && <output className="app-sr-only">Loading…</output>}
      {onPageChange && <Pager {...props} onPageChange={onPageChange} />}
      {viewMore.dialog}
    </div>
  )
}

function Value<Row>({ column, row, onOpen }: { column: ValueColumn<Row>; row: Row; onOpen: (text: string) => void }) {
  const value = column.value(row)
  if (value === null || value === undefined || value === '') return <Missing text={column.missing ?? ''} />
  const text = typeof value === 'number' ? value.toLocaleString('en-US', { maximumFractionDigits: 20 }) : value
  if (!column.viewMore) return <span className={classes['value']}>{text}</span>
  return (
    <button type="button" className={classes['more']} aria-haspopup="dialog" onClick={() => onOpen(text)}>
      {text}
    </button>
  )
}

/** A missing value: the spec's word for it, but not to be mistaken for data. */
export function Missing({ text }: { text: string }) {
  return <span className={classes['missing']}>{text}</span>
}

/** The buttons of a row. */
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

function Pager<Row>({
  paging,
  onPageChange,
  pager = 'numbers',
  canPage,
}: DataTableProps<Row> & { onPageChange: (page: number) => void }) {
  const { page, pageCount } = paging ?? { page: 1, pageCount: 1 }
  const can = canPage ?? { previous: page > 1, next: page < pageCount }
  return (
    <nav className={classes['pager']} aria-label="Pages" data-hidden={paging === undefined || undefined}>
      {pager === 'numbers' ? (
        pageCount > 1 && <Pagination total={pageCount} value={page} onChange={onPageChange} siblings={1} size="sm" />
      ) : (
        <>
          <Button variant="default" size="sm" data-disabled={!can.previous} onClick={() => onPageChange(page - 1)}>
            Prev Page
          </Button>
          <Button variant="default" size="sm" data-disabled={!can.next} onClick={() => onPageChange(page + 1)}>
            Next Page
          </Button>
        </>
      )}
      <p className={classes['position']} aria-live="polite">
        Page {page.toLocaleString('en-US')} of {pageCount.toLocaleString('en-US')}
      </p>
    </nav>
  )
}
