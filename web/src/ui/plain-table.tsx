/** A table with a few rows, without sorting, pages and styles of its own. Its rows are the children. */
import type { ReactNode } from 'react'

interface TableProps {
  label: string
  columns: readonly string[]
  children: ReactNode
}

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
