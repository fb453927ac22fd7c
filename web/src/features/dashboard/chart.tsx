/**
 * Charts without a library (docs/decisions/0007-charts.md): bars over time with keys and tooltips, ranks as bars, and the panel around
 * them, which can show the same figures as a table.
 */
import { type CSSProperties, type KeyboardEvent, type ReactNode, useId, useState } from 'react'
import classes from './chart.module.css'
import { formatted } from '#src/ui/numbers.ts'
import { HeadedTable } from '#src/ui/plain-table.tsx'

export interface ChartPoint {
  key: string
  /** The time in full, for the tooltip and the table. */
  name: string
  /** The time in short, for the axis. */
  tick: string
  value: number
}

interface BarsOverTimeProps {
  /** The chart's name: what it counts. */
  label: string
  points: readonly ChartPoint[]
  /** A figure with its noun, such as `1 new player`. */
  describe: (value: number) => string
}

/** The most labels on the axis of time; a phone shows every other one. */
const TICKS = 6

/** A bar chart over time. The Tab key stops at it once; the arrow keys, Home and End move between its bars. */
export function BarsOverTime({ label, points, describe }: BarsOverTimeProps) {
  const last = points.length - 1
  const [focused, setFocused] = useState<number>()
  const [shown, setShown] = useState<number>()
  const top = niceTop(Math.max(0, ...points.map(({ value }) => value)))
  const tip = shown === undefined ? undefined : points[shown]

  const handleKeyDown = (event: KeyboardEvent<HTMLElement>) => {
    if (event.key === 'Escape') setShown(undefined)
    const from = Math.min(focused ?? last, last)
    const to = { ArrowLeft: from - 1, ArrowRight: from + 1, Home: 0, End: last }[event.key]
    if (to === undefined) return
    event.preventDefault()
    event.currentTarget.parentElement?.querySelectorAll('button')[Math.min(last, Math.max(0, to))]?.focus()
  }

  return (
    <div className={classes['chart']}>
      <Scale top={top} />
      <fieldset className={classes['bars']} aria-label={label} onPointerLeave={() => setShown(undefined)}>
        {points.map(({ key, name, value }, index) => (
          <button
            key={key}
            type="button"
            className={classes['slot']}
            aria-label={`${name}: ${describe(value)}`}
            tabIndex={index === Math.min(focused ?? last, last) ? 0 : -1}
            data-shown={index === shown || undefined}
            onKeyDown={handleKeyDown}
            onClick={() => setShown(index)}
            onFocus={() => {
              setFocused(index)
              setShown(index)
            }}
            onBlur={() => setShown(undefined)}
            onPointerEnter={() => setShown(index)}
          >
            <span className={classes['bar']} data-empty={value === 0 || undefined} style={{ height: percent(value, top) }} />
          </button>
        ))}
        {tip && shown !== undefined && (
          <div className={classes['tip']} style={{ '--at': percent(shown + 0.5, points.length) } as CSSProperties} aria-hidden>
            <b>{describe(tip.value)}</b>
            <span>{tip.name}</span>
          </div>
        )}
      </fieldset>
      <Ticks points={points} />
    </div>
  )
}

/** The scale of values, from the top down to 0. */
function Scale({ top }: { top: number }) {
  return (
    <div className={classes['scale']} aria-hidden>
      {[1, 0.5, 0].map((share) => (
        <span key={share} style={{ bottom: `${share * 100}%` }}>
          {shortNumber(top * share)}
        </span>
      ))}
    </div>
  )
}

/** The labels on the axis of time, counted from the last point. */
function Ticks({ points }: { points: readonly ChartPoint[] }) {
  const last = points.length - 1
  const tickEvery = Math.max(1, Math.ceil(points.length / TICKS))
  return (
    <div className={classes['ticks']} aria-hidden>
      {points.map(({ key, tick }, index) =>
        (last - index) % tickEvery === 0 ? (
          <span
            key={key}
            style={{ left: percent(index + 0.5, points.length) }}
            data-minor={((last - index) / tickEvery) % 2 === 1 || undefined}
          >
            {tick}
          </span>
        ) : null,
      )}
    </div>
  )
}

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
  /** The unit of time of each figure, in two or three words beside the title, such as `Days in UTC`. */
  unit?: string
  /** Shown at the end of the title's line, such as a sum or a link. */
  aside?: ReactNode
  /** What the figures count, in one short line. */
  note?: string
  /** Shown in place of the chart when there is nothing to show. */
  emptyText: string
  /** Shown below that text. */
  emptyHint?: ReactNode
  /** The same figures as a table; every row has a cell for each column. */
  columns: readonly string[]
  rows: readonly { key: string; cells: readonly ReactNode[] }[]
  isEmpty: boolean
  /** Whether the figures are still those of the previous range, while those of the chosen range are loaded. */
  isStale?: boolean
  children: ReactNode
}

export function ChartPanel({
  title,
  unit,
  aside,
  note,
  emptyText,
  emptyHint,
  columns,
  rows,
  isEmpty,
  isStale = false,
  children,
}: ChartPanelProps) {
  const id = useId()
  const [isTable, setIsTable] = useState(false)
  return (
    <section className={classes['panel']} aria-labelledby={id} data-stale={isStale || undefined}>
      <header>
        <h3 id={id}>{title}</h3>
        {unit && <span className={classes['unit']}>{unit}</span>}
        {aside}
      </header>
      {note && <p className={classes['note']}>{note}</p>}
      {isEmpty ? (
        <div className={classes['empty']}>
          <p>{emptyText}</p>
          {emptyHint}
        </div>
      ) : (
        <>
          <div className={classes['content']}>
            {isTable ? <FigureTable title={title} columns={columns} rows={rows} /> : children}
          </div>
          <button type="button" className={classes['toggle']} onClick={() => setIsTable(!isTable)}>
            {isTable ? 'Show as chart' : 'Show as table'}
            <span className="app-sr-only">: {title}</span>
          </button>
        </>
      )}
    </section>
  )
}

function FigureTable({ title, columns, rows }: Pick<ChartPanelProps, 'title' | 'columns' | 'rows'>) {
  return (
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- a scrolling region must be reachable by keyboard
    <section className={classes['scroller']} aria-label={`${title} as a table`} tabIndex={0}>
      <HeadedTable label={title} columns={columns}>
        {rows.map(({ key, cells }) => (
          <tr key={key}>
            {cells.map((cell, index) => (
              <td key={columns[index]}>{typeof cell === 'number' ? formatted(cell) : cell}</td>
            ))}
          </tr>
        ))}
      </HeadedTable>
    </section>
  )
}

/** Shortens 12,345 to 12K, which is exact enough for an axis. */
function shortNumber(value: number): string {
  return value.toLocaleString('en-US', { notation: 'compact', maximumFractionDigits: 1 })
}

function percent(part: number, whole: number): string {
  return whole === 0 ? '0%' : `${((part / whole) * 100).toFixed(3)}%`
}

/** Returns the top of the scale, at least 2: `value` rounded up to 1, 2, 4, 5 or 10 times a power of ten, so that half of it is round. */
function niceTop(value: number): number {
  const power = 10 ** Math.floor(Math.log10(Math.max(1, value)))
  return Math.max(2, [1, 2, 4, 5, 10].map((step) => step * power).find((candidate) => candidate >= value) ?? value)
}
