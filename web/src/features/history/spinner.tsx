/** The spinner of §9 (200 by 200, #2fedbf) while a part of the page loads. */
import { Loader } from '@mantine/core'
import classes from './history-page.module.css'

export function Spinner() {
  return (
    <output className={classes['spinner']} aria-label="Loading">
      <Loader size={200} color="#2fedbf" aria-hidden />
    </output>
  )
}
