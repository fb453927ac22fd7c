/**
 * The widths of a table's columns, known before its rows are: nothing moves when more rows arrive, and a wide window is used. Each column
 * has its least width. What is left first widens the padding up to a limit; the rest goes to the columns that grow, by their `grow`.
 */
import type { CSSProperties } from 'react'

interface Sized {
  width?: number
  grow?: number
}

/** Room at the edges of the table besides the padding of cells, in rem; as in data-table.module.css. */
const EDGE = 0.5

/** The column of checkboxes. */
export const PICK_COLUMN: Sized = { width: 1.25 }

interface ColumnWidths {
  /** The style of the table, with what the columns' widths and the padding of cells are computed from. */
  table: CSSProperties
  /** The style of each column. */
  columns: CSSProperties[]
}

/** Returns undefined if the columns have no widths, so that the browser finds them from the content. */
export function columnWidths(columns: readonly Sized[]): ColumnWidths | undefined {
  if (columns.every(({ width }) => width === undefined)) return undefined
  const content = columns.reduce((sum, { width = 0 }) => sum + width, 2 * EDGE)
  const shares = columns.reduce((sum, { grow = 0 }) => sum + grow, 0)
  return {
    table: { '--content': `${content}rem`, '--cells': columns.length } as CSSProperties,
    columns: columns.map(({ width = 0, grow = 0 }, index) => {
      const edges = (index === 0 ? EDGE : 0) + (index === columns.length - 1 ? EDGE : 0)
      const share = shares === 0 ? 1 / columns.length : grow / shares
      return { width: `calc(${width + edges}rem + 2 * var(--cell-pad) + var(--left) * ${share.toFixed(4)})` }
    }),
  }
}
