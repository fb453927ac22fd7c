/** A table of few rows, which is neither sorted nor paged. Its rows are the children. */
import type { ReactNode } from 'react'
import classes from './plain-table.module.css'

interface PlainTableProps {
  label: string
  columns: readonly string[]
  children: ReactNode
}

export function PlainTable({ label, columns, children }: PlainTableProps) {
  return (
    <div className={classes['scroller']}>
      <table className={classes['table']} aria-label={label}>
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
    </div>
  )
}
