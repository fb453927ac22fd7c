/** Shows a time as `MM/dd/yyyy hh:mm a` (§3) in the operator's time zone. The tooltip names the zone. */
import classes from './moment.module.css'

const datePart = new Intl.DateTimeFormat('en-US', { year: 'numeric', month: '2-digit', day: '2-digit' })
const timePart = new Intl.DateTimeFormat('en-US', { hour: '2-digit', minute: '2-digit', hour12: true })
const whole = new Intl.DateTimeFormat('en-US', { dateStyle: 'full', timeStyle: 'full' })

export function Moment({ iso }: { iso: string }) {
  const date = new Date(iso)
  return (
    <time dateTime={iso} title={whole.format(date)} className={classes['moment']}>
      {momentText(iso)}
    </time>
  )
}

/** Formats a time as `Moment` does. */
export function momentText(iso: string): string {
  const date = new Date(iso)
  return `${datePart.format(date)} ${withPlainSpace(timePart.format(date))}`
}

/** Formats the value of a date or datetime-local input (`2026-11-01`, `2026-11-01T09:30`) in the same way. */
export function inputText(value: string): string {
  const [day = '', minute] = value.split('T')
  return minute === undefined ? datePart.format(new Date(`${day}T00:00`)) : momentText(value)
}

/** Shows a time to the second in the operator's time zone, and with full precision in UTC. */
export function ExactMoment({ iso }: { iso: string }) {
  return (
    <time dateTime={iso}>
      {whole.format(new Date(iso))}
      <br />
      {iso}
    </time>
  )
}

/** Shows only the day. */
export function Day({ iso }: { iso: string }) {
  const date = new Date(iso)
  return (
    <time dateTime={iso} title={whole.format(date)} className={classes['moment']}>
      {datePart.format(date)}
    </time>
  )
}

/** Shows only the time of day, below a heading with the day. */
export function TimeOfDay({ iso }: { iso: string }) {
  const date = new Date(iso)
  return (
    <time dateTime={iso} title={whole.format(date)} className={classes['moment']}>
      {withPlainSpace(timePart.format(date))}
    </time>
  )
}

/** Intl puts a narrow no-break space before AM and PM; §3's format has a plain space. */
function withPlainSpace(text: string): string {
  return text.replace('\u202F', ' ')
}
