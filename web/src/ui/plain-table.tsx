/** Tables with a few rows, without sorting and pages. Their rows are the children. */
import type { ReactNode } from 'react'
import classes from './plain-table.module.css'

interface TableProps {
  label: string
  columns: readonly string[]
  children: ReactNode
}

export function PlainTable(props: TableProps) {
  return (
    <div className={classes['plain']}>
      <HeadedTable {...props} />
    </div>
  )
}

/** A table without styles of its own. */
export function HeadedTable({ label, columns, children }: TableProps) {
  return (
    <table aria-label={label}>
      <thead>
        <tr>
          {columns.map((column) => (
            <th key={column} scope="col">
              {column}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>{children}</tbody>
    </table>
  )
}
