/**
 * A line over time, drawn by uPlot once that is loaded (docs/decisions/0007-charts.md), with the time before as a dashed line behind it.
 * Pointer and keyboard move a crosshair, which charts of the same times share: the caller holds its place. For the keyboard there is a
 * range input that steps through the points.
 */
import { useComputedColorScheme } from '@mantine/core'
import { useEffect, useEffectEvent, useRef, useState } from 'react'
import type uPlot from 'uplot'
import type { ChartPoint } from './draw-chart.ts'
import classes from './time-chart.module.css'

type DrawChart = typeof import('./draw-chart.ts').drawChart

interface TimeChartProps {
  /** The chart's name: what it counts. */
  label: string
  points: readonly ChartPoint[]
  /** What a point says, for screen readers. */
  describe: (point: ChartPoint) => string
  /** The point at the crosshair. */
  at: number | undefined
  onMove: (at: number | undefined) => void
}

/** In another scheme it is drawn anew. */
export function TimeChart(props: TimeChartProps) {
  return <ChartOfScheme key={useComputedColorScheme('light')} {...props} />
}

function ChartOfScheme({ label, points, describe, at, onMove }: TimeChartProps) {
  const container = useRef<HTMLDivElement>(null)
  const chart = useRef<uPlot>(undefined)
  const last = points.length - 1
  const shown = Math.min(at ?? last, last)
  const [drawChart, setDrawChart] = useState<DrawChart>()
  const [isMissing, setIsMissing] = useState(false)
  const handleMove = useEffectEvent((index: number | undefined) => {
    if (index !== at) onMove(index)
  })
  const handleReady = useEffectEvent((drawn: uPlot) => placeCrosshair(drawn, at))

  useEffect(() => {
    import('./draw-chart.ts').then(
      (module) => setDrawChart(() => module.drawChart),
      () => setIsMissing(true),
    )
  }, [])

  useEffect(() => {
    const element = container.current!
    if (!drawChart) return undefined
    const created = drawChart(element, {
      points,
      onMove: (index) => handleMove(index),
      onReady: (drawn) => handleReady(drawn),
    })
    chart.current = created
    const observer = new ResizeObserver(() => created.setSize({ width: element.clientWidth, height: element.clientHeight }))
    observer.observe(element)
    // Until the typeface is there, the labels are drawn in another one.
    void document.fonts.ready.then(() => chart.current === created && created.redraw())
    return () => {
      observer.disconnect()
      created.destroy()
      chart.current = undefined
    }
  }, [drawChart, points])

  useEffect(() => {
    if (chart.current) placeCrosshair(chart.current, at)
  }, [at])

  return (
    <div className={classes['chart']}>
      <div ref={container} className={classes['plot']} aria-hidden>
        {isMissing && 'The chart could not be loaded. The table has its figures.'}
      </div>
      <input
        type="range"
        className={classes['slider']}
        aria-label={label}
        aria-valuetext={points[shown] && describe(points[shown])}
        min={0}
        max={last}
        value={shown}
        onChange={({ currentTarget }) => onMove(currentTarget.valueAsNumber)}
        onFocus={() => onMove(shown)}
        onBlur={() => onMove(undefined)}
        onKeyDown={({ key }) => key === 'Escape' && onMove(undefined)}
      />
    </div>
  )
}

function placeCrosshair(chart: uPlot, at: number | undefined): void {
  const isHidden = at === undefined || at >= chart.data[0].length
  chart.setCursor(isHidden ? { left: -10, top: -10 } : { left: chart.valToPos(at, 'x'), top: 0 }, false)
}
