/** Placeholders for the dashboard's cards and panels while they load. They take up the same room, so that nothing jumps. */
import classes from './dashboard-page.module.css'

const CARDS = 5
/** The number of lines in each panel, in the order of the panels; 0 for a chart. */
const panels = [0, 0, 0, 5, 10, 10, 10]
/** Heights of the bars and widths of the lines, in percent. */
const bars = [35, 55, 40, 70, 50, 85, 60, 45, 75, 55, 90, 65]

export function CardsSkeleton() {
  return (
    <div className={classes['cards']} aria-hidden>
      {Array.from({ length: CARDS }, (_, index) => (
        <div key={index} className={classes['card']} data-wide={index === CARDS - 1 || undefined}>
          <i className={classes['waitingTitle']} />
          <i className={classes['waitingFigure']} />
        </div>
      ))}
    </div>
  )
}

export function ActivitySkeleton() {
  return (
    <div className={classes['panels']} aria-hidden>
      {panels.map((lines, index) => (
        <div key={index} className={classes['skeleton']}>
          <i className={classes['waitingTitle']} />
          {lines === 0 ? <WaitingBars /> : bars.slice(0, lines).map((width) => <WaitingLine key={width} width={width} />)}
        </div>
      ))}
    </div>
  )
}

function WaitingBars() {
  return (
    <div className={classes['waitingBars']}>
      {bars.map((height, index) => (
        <i key={index} style={{ height: `${height}%` }} />
      ))}
    </div>
  )
}

function WaitingLine({ width }: { width: number }) {
  return <i className={classes['waitingLine']} style={{ width: `${width}%` }} />
}
