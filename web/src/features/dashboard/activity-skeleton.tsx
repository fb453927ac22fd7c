/** Keeps the room of the activity while it is being loaded, so that nothing below it jumps. */
import classes from './dashboard-page.module.css'

export function ActivitySkeleton() {
  return (
    <div className={classes['panels']} aria-hidden>
      {Array.from({ length: 5 }, (_, index) => (
        <div key={index} className={classes['skeleton']} />
      ))}
    </div>
  )
}
