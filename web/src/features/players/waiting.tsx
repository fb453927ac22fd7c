/** Stands for a text that is being loaded. */
import classes from './player-page.module.css'

export function Waiting() {
  return <span className={classes['waiting']} aria-hidden />
}
