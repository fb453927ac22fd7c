/** A table over the whole width of a panel, with a few rows, without sorting and pages. On a phone each row is a card. */
import type { ReactNode } from 'react'
import { roles } from './table-roles.ts'
import classes from './wide-table.module.css'

interface WideTableProps {
  label: string
  /** The headers. That of a column of buttons is only for assistive technology: `{ hidden: 'Acts' }`. */
  columns: readonly (string | { end: string } | { hidden: string })[]
  /** On a wide screen each row is one line, and long texts end in dots. */
  isOneLine?: boolean
  /** `WideRow`s of `Cell`s. */
  children: ReactNode
}

export function WideTable({ label, columns, isOneLine = false, children }: WideTableProps) {
  return (
    <table {...roles.table} aria-label={label} className={classes['table']} data-one-line={isOneLine || undefined}>
      <thead {...roles.group}>
        <tr {...roles.row}>
          {columns.map((column) => {
            const text = typeof column === 'string' ? column : 'end' in column ? column.end : column.hidden
            const isHidden = typeof column === 'object' && 'hidden' in column
            return (
              <th key={text} {...roles.header} data-end={typeof column === 'object' || undefined}>
                {isHidden ? <span className="app-sr-only">{text}</span> : text}
              </th>
            )
          })}
        </tr>
      </thead>
      <tbody {...roles.group}>{children}</tbody>
    </table>
  )
}

export function WideRow({ children }: { children: ReactNode }) {
  return <tr {...roles.row}>{children}</tr>
}

interface CellProps {
  /** The header's text, which a phone shows before the value. The cell that names the row has none. */
  label?: string
  /** Numbers and buttons are aligned at the end. */
  isAtEnd?: boolean
  /** Long texts may break within words. */
  isLong?: boolean
  /** Spans all columns. */
  isWhole?: boolean
  children: ReactNode
}

export function Cell({ label, isAtEnd = false, isLong = false, isWhole = false, children }: CellProps) {
  return (
    <td
      {...roles.cell}
      data-label={label}
      data-end={isAtEnd || undefined}
      data-long={isLong || undefined}
      data-whole={isWhole || undefined}
      {...(isWhole && { colSpan: 99 })}
    >
      {children}
    </td>
  )
}

/** What names a row, and facts below it. */
export function RowName({ children, facts }: { children: ReactNode; facts?: ReactNode }) {
  return (
    <>
      <span className={classes['name']}>{children}</span>
      {facts !== undefined && facts !== null && <RowFacts>{facts}</RowFacts>}
    </>
  )
}

/** Facts below the first line of a cell. */
export function RowFacts({ children }: { children: ReactNode }) {
  return <span className={classes['facts']}>{children}</span>
}

/** The buttons of a row. */
export function RowActs({ children }: { children: ReactNode }) {
  return <div className={classes['acts']}>{children}</div>
}
