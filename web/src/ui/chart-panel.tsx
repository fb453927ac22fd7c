/** A panel of the dashboard's activity, which can show the same figures as a table, and ranks as bars. */
import { type ReactNode, useId, useState } from 'react'
import { formatted } from '#src/ui/numbers.ts'
import classes from './chart-panel.module.css'

export interface Rank {
  key: string
  /** A link, or a text. */
  label: ReactNode
  /** Distinguishes two ranks of the same name. */
  note?: string
  value: number
}

interface RanksProps {
  label: string
  ranks: readonly Rank[]
  /** Whether each rank has a bar, whose length is its share of the largest value. */
  hasBars?: boolean
}

/** Ranks in the given order, the largest first. */
export function Ranks({ label, ranks, hasBars = true }: RanksProps) {
  const top = Math.max(0, ...ranks.map(({ value }) => value))
  return (
    <ol className={classes['ranks']} aria-label={label}>
      {ranks.map(({ key, label: text, note, value }) => (
        <li key={key}>
          <span className={classes['rankName']}>
            <span className={classes['rankLabel']}>{text}</span>
            {note && <small>{note}</small>}
          </span>
          <span className={classes['rankValue']}>{formatted(value)}</span>
          {hasBars && (
            <span className={classes['track']} aria-hidden>
              <span style={{ width: percent(Math.max(0, value), top) }} />
            </span>
          )}
        </li>
      ))}
    </ol>
  )
}

interface ChartPanelProps {
  title: string
  /** Shown at the end of the title's line, such as a link. */
  aside?: ReactNode
  /** The figure that leads the panel, below its title. */
  figure?: ReactNode
  /** What the figures count, in one short line. */
  note?: string | undefined
  /** The same figures as a table; every row has a cell for each column. */
  columns: readonly string[]
  rows: readonly { key: string; cells: readonly ReactNode[] }[]
  /** Whether the figures are still those of the previous range, while those of the chosen range are loaded. */
  isStale?: boolean
  children: ReactNode
}

export function ChartPanel({ title, aside, figure, note, columns, rows, isStale = false, children }: ChartPanelProps) {
  const id = useId()
  const [isTable, setIsTable] = useState(false)
  return (
    <section className={classes['panel']} aria-labelledby={id} data-stale={isStale || undefined}>
      <header>
        <h3 id={id}>{title}</h3>
        {aside}
        {figure}
      </header>
      {note && <p className={classes['note']}>{note}</p>}
      <div className={classes['content']}>{isTable ? <FigureTable title={title} columns={columns} rows={rows} /> : children}</div>
      <button type="button" className={classes['toggle']} onClick={() => setIsTable(!isTable)}>
        {isTable ? 'Show as chart' : 'Show as table'}
        <span className="app-sr-only">: {title}</span>
      </button>
    </section>
  )
}

function FigureTable({ title, columns, rows }: Pick<ChartPanelProps, 'title' | 'columns' | 'rows'>) {
  return (
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- a scrolling region must be reachable by keyboard
    <section className={classes['scroller']} aria-label={`${title} as a table`} tabIndex={0}>
      <table aria-label={title}>
        <thead>
          <tr>
            {columns.map((column) => (
              <th key={column} scope="col">
                {column}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(({ key, cells }) => (
            <tr key={key}>
              {cells.map((cell, index) => (
                <td key={columns[index]}>{typeof cell === 'number' ? formatted(cell) : cell}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  )
}

function percent(part: number, whole: number): string {
  return whole === 0 ? '0%' : `${((part / whole) * 100).toFixed(3)}%`
}
