/** The pages of a table: numbers, or the two buttons of §2, and `Page X of Y`. */
import { Button, Pagination } from '@mantine/core'
import { formatted, formattedTotal } from '#src/ui/numbers.ts'
import classes from './pager.module.css'

/** The part of its list that a table shows. */
export interface TablePage {
  page: number
  pageSize: number
  /** Undefined while the list is being counted. */
  pageCount: number | undefined
  /** There are more pages than that: the list was not counted to its end. */
  isMore?: boolean
}

export interface PagerProps {
  paging?: TablePage | undefined
  onPageChange: (page: number) => void
  /** `prev-next`, for lists that are paged by cursors, has the two buttons of §2, which do nothing where they lead nowhere (§4). */
  pager?: 'numbers' | 'prev-next'
  canPage?: { previous: boolean; next: boolean }
  /** How many rows the list has, in words. */
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
