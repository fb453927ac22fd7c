/** Placeholders for the dashboard's figures and panels while they load. They take up the same room, so that nothing jumps. */
import classes from './dashboard-page.module.css'

const CHARTS = 3
/** The number of lines in each ranking, in their order. */
const rankings = [10, 10, 10, 10]
/** Widths of the lines, in percent. */
const widths = [35, 55, 40, 70, 50, 85, 60, 45, 75, 55]

export function FiguresSkeleton() {
  return <div className={classes['strip']} aria-hidden data-waiting />
}

export function TodaySkeleton() {
  return (
    <div className={classes['now']} aria-hidden>
      <div className={classes['today']}>
        <i className={classes['waitingTitle']} />
      </div>
    </div>
  )
}

export function ActivitySkeleton() {
  return (
    <>
      <div className={classes['panels']} aria-hidden>
        {Array.from({ length: CHARTS }, (_, index) => (
          <div key={index} className={classes['skeleton']}>
            <i className={classes['waitingTitle']} />
            <i className={classes['waitingChart']} />
          </div>
        ))}
      </div>
      <div className={classes['panels']} data-ranks aria-hidden>
        {rankings.map((lines, index) => (
          <div key={index} className={classes['skeleton']}>
            <i className={classes['waitingTitle']} />
            {widths.slice(0, lines).map((width) => (
              <i key={width} className={classes['waitingLine']} style={{ width: `${width}%` }} />
            ))}
          </div>
        ))}
      </div>
    </>
  )
}
