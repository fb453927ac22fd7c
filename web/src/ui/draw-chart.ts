/** Draws a chart with uPlot, which only charts load. */
import uPlot from 'uplot'
import 'uplot/dist/uPlot.min.css'

export interface ChartPoint {
  /** The time in full. */
  name: string
  /** The time in short, for the axis. */
  tick: string
  value: number
  /** The value that the previous period has at the same place; undefined if there is no previous period. */
  before: number | undefined
}

/** Room for the labels of values, in px. */
const SCALE_PX = 40
const AXIS_PX = 26
/** Room for a label on the axis of time, in px. */
const LABEL_PX = 58
const MAX_LABELS = 6
/** Half the width of a character of a label, in px: half of the last label is right of the last point. */
const HALF_CHARACTER_PX = 3.4

interface ChartOptions {
  points: readonly ChartPoint[]
  onMove: (at: number | undefined) => void
  /** Called once the chart is drawn. */
  onReady: (chart: uPlot) => void
}

/** Draws a chart into an element and fills it. The caller sets its size again when that changes, and destroys it. */
export function drawChart(element: HTMLElement, { points, onMove, onReady }: ChartOptions): uPlot {
  const style = getComputedStyle(element)
  const colour = (name: string) => () => style.getPropertyValue(name)
  const font = `${style.fontSize} ${style.fontFamily}`
  const last = points.length - 1
  const top = niceTop(Math.max(0, ...points.flatMap(({ value, before = 0 }) => [value, before])))
  const line = { stroke: colour('--chart-line'), width: 1.75, points: { show: last === 0 } }
  const axis = { font, stroke: colour('--chart-text'), ticks: { show: false } }
  return new uPlot(
    {
      ...sizeOf(element),
      padding: [8, Math.ceil((points[last]?.tick.length ?? 0) * HALF_CHARACTER_PX), 0, 0],
      legend: { show: false },
      scales: { x: { time: false, range: () => (last > 0 ? [0, last] : [-1, 1]) }, y: { range: () => [0, top] } },
      series: [
        {},
        { stroke: colour('--chart-ghost'), width: 1.25, dash: [4, 4], points: { show: false } },
        { ...line, fill: colour('--chart-fill') },
        { ...line, fill: colour('--chart-fill'), dash: [2, 4] },
      ],
      axes: [
        {
          ...axis,
          size: AXIS_PX,
          gap: 6,
          grid: { show: false },
          splits: (self) => labelled(last, self.width - SCALE_PX),
          values: (_self, splits) => splits.map((index) => points[index]?.tick ?? ''),
        },
        {
          ...axis,
          size: SCALE_PX,
          gap: 8,
          grid: { stroke: colour('--chart-grid'), width: 1 },
          splits: () => [0, top / 2, top],
          values: (_self, splits) => splits.map(shortNumber),
        },
      ],
      cursor: {
        y: false,
        drag: { x: false, y: false },
        points: { size: 7, fill: (self, series) => (series === 1 ? 'transparent' : line.stroke.call(self)) },
        move: (self, left, y) => [left < 0 ? left : self.valToPos(self.posToIdx(left), 'x'), y],
      },
      hooks: {
        ready: [onReady],
        setCursor: [
          // Without an event the chart itself has set the cursor.
          ({ cursor: { event, left = -1, idx } }) => event && onMove(left < 0 ? undefined : (idx ?? undefined)),
        ],
      },
    },
    dataOf(points),
    element,
  )
}

function sizeOf(element: HTMLElement): { width: number; height: number } {
  return { width: element.clientWidth, height: element.clientHeight }
}

/**
 * Returns four rows: the places, the previous period, the values without the last one, and the last two values. The line between those two is
 * dashed, because the last point is not complete yet.
 */
function dataOf(points: readonly ChartPoint[]): uPlot.AlignedData {
  const last = points.length - 1
  const values = points.map(({ value }) => value)
  return [
    points.map((_, index) => index),
    points.map(({ before }) => before ?? null),
    values.map((value, index) => (index === last && last > 0 ? null : value)),
    values.map((value, index) => (index < last - 1 || last === 0 ? null : value)),
  ]
}

/** Returns which points have a label on the axis of time, counted from the last one. */
function labelled(last: number, widthPx: number): number[] {
  const labels = Math.max(1, Math.min(MAX_LABELS, Math.floor(widthPx / LABEL_PX)))
  const every = Math.max(1, Math.ceil((last + 1) / labels))
  return Array.from({ length: Math.floor(last / every) + 1 }, (_, index) => last - index * every).toReversed()
}

/** Shortens 12,345 to 12.3K, which is exact enough for an axis. */
function shortNumber(value: number): string {
  return value.toLocaleString('en-US', { notation: 'compact', maximumFractionDigits: 1 })
}

const ROUND = [1, 1.2, 1.6, 2, 3, 4, 5, 6, 8, 10]

/** Returns the highest number on the axis: `value` rounded up to a round even number, at least 2, so that the middle is whole, too. */
function niceTop(value: number): number {
  const power = 10 ** Math.floor(Math.log10(Math.max(1, value)))
  const tops = ROUND.map((step) => Math.round(step * power)).filter((top) => top % 2 === 0)
  return tops.find((top) => top >= value) ?? value
}
