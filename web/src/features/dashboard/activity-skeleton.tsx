/** Placeholders for the dashboard's figures and panels while they load. They take up the same room, so that nothing jumps. */
import classes from './dashboard-page.module.css'

const CHARTS = 3
const RANKINGS = 4
/** Widths of the lines of a ranking, in percent. */
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
        {Array.from({ length: RANKINGS }, (_, index) => (
          <div key={index} className={classes['skeleton']}>
            <i className={classes['waitingTitle']} />
            {widths.map((width) => (
              <i key={width} className={classes['waitingLine']} style={{ width: `${width}%` }} />
            ))}
          </div>
        ))}
      </div>
    </>
  )
}
