/** The pager of a table: page numbers, or the two buttons of §2, and `Page X of Y`. */
import { Button, Pagination } from '@mantine/core'
import { formatted, formattedTotal } from '#src/ui/numbers.ts'
import classes from './pager.module.css'

/** The page of a list that a table shows. */
export interface TablePage {
  page: number
  pageSize: number
  /** Undefined while the rows are being counted. */
  pageCount: number | undefined
  /** There are more pages than `pageCount`: counting stopped early. */
  isMore?: boolean
}

export interface PagerProps {
  paging?: TablePage | undefined
  onPageChange: (page: number) => void
  /** `prev-next`, for lists paged by cursors, shows the two buttons of §2. They do nothing where there is no page (§4). */
  pager?: 'numbers' | 'prev-next'
  canPage?: { previous: boolean; next: boolean }
  /** The number of rows, as text. */
  count?: string | undefined
}

export function Pager({ paging, onPageChange, pager = 'numbers', canPage, count }: PagerProps) {
  const { pageCount, isMore = false } = paging ?? { pageCount: 1 }
  const page = Math.min(paging?.page ?? 1, (isMore ? undefined : pageCount) ?? Infinity)
  const can = canPage ?? { previous: page > 1, next: page < (pageCount ?? 1) }
  return (
    <nav className={classes['pager']} aria-label="Pages" data-hidden={paging === undefined || undefined}>
      {pager === 'numbers' ? (
        (pageCount ?? 1) > 1 && <Pagination total={pageCount ?? 1} value={page} onChange={onPageChange} siblings={1} size="sm" />
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
      <p className={classes['position']}>
        {count && <span>{count}</span>}
        <span aria-live="polite">
          Page {formatted(page)} of {pageCount === undefined ? '…' : formattedTotal(pageCount, isMore)}
        </span>
      </p>
    </nav>
  )
}
