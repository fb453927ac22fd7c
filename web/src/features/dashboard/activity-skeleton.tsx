/** The place of the activity, as high as what comes: what stands below it does not jump. */
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
