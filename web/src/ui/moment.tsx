/** A moment as the spec shows it (§3: `MM/dd/yyyy`, `hh:mm a`), in the operator's time zone, which shows on hover. */

const datePart = new Intl.DateTimeFormat('en-US', { year: 'numeric', month: '2-digit', day: '2-digit' })
const timePart = new Intl.DateTimeFormat('en-US', { hour: '2-digit', minute: '2-digit', hour12: true })
const whole = new Intl.DateTimeFormat('en-US', { dateStyle: 'full', timeStyle: 'full' })

export function Moment({ iso }: { iso: string }) {
  const date = new Date(iso)
  return (
    <time dateTime={iso} title={whole.format(date)} style={{ whiteSpace: 'nowrap' }}>
      {datePart.format(date)} {withPlainSpace(timePart.format(date))}
    </time>
  )
}

/** The time alone, where the day stands above. */
export function TimeOfDay({ iso }: { iso: string }) {
  const date = new Date(iso)
  return (
    <time dateTime={iso} title={whole.format(date)} style={{ whiteSpace: 'nowrap' }}>
      {withPlainSpace(timePart.format(date))}
    </time>
  )
}

/** Between the time and AM or PM stands a narrow no-break space; the spec's format has a plain one. */
function withPlainSpace(text: string): string {
  return text.replace('\u202F', ' ')
}
