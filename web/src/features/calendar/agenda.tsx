/** The calendar on a phone: what starts and ends on each day, and before that what goes on all the time. */
import type { CalendarItem } from '@arcade/contract/calendar/calls'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { timeText, weekdayText } from '#src/ui/zoned-time.ts'
import classes from './calendar.module.css'
import type { Span } from './days.ts'
import { broadcastText, type Entry, entryKey, type EntryEvent, eventsOf, isItem } from './entries.ts'
import { EntryFacts } from './entry-facts.tsx'
import { datesOf, datesText } from './move.ts'

interface AgendaProps {
  entries: readonly Entry[]
  span: Span
  now: number
  onOpen: (item: CalendarItem) => void
}

export function Agenda({ entries, span, now, onOpen }: AgendaProps) {
  const days = span.days.map((day) => ({ ...day, events: eventsIn(entries, day) })).filter(({ events }) => events.length > 0)
  const steady = entries.filter((entry) => eventsIn([entry], span).length === 0)
  return (
    <div className={classes['agenda']}>
      {steady.length > 0 && (
        <section aria-labelledby="agenda-steady">
          <h2 id="agenda-steady">All the time</h2>
          <ul>
            {steady.map((entry) => (
              <AgendaEntry key={entryKey(entry)} entry={entry} note={noteOf(entry, span.zone)} onOpen={onOpen} />
            ))}
          </ul>
        </section>
      )}
      {days.map(({ name, from, to, events }) => (
        <section key={name} aria-labelledby={`agenda-${name}`}>
          <h2 id={`agenda-${name}`}>
            {weekdayText(from, span.zone)}
            {now >= from && now < to && <span className={classes['today']}>Today</span>}
          </h2>
          <ul>
            {events.map(({ entry, at, what }) => (
              <AgendaEntry key={`${entryKey(entry)} ${what}`} entry={entry} onOpen={onOpen}>
                {timeText(at, span.zone)} <small>{what}</small>
              </AgendaEntry>
            ))}
          </ul>
        </section>
      ))}
    </div>
  )
}

function eventsIn(entries: readonly Entry[], { from, to }: { from: number; to: number }): EntryEvent[] {
  return entries
    .flatMap(eventsOf)
    .filter(({ at }) => at >= from && at < to)
    .toSorted((one, other) => one.at - other.at)
}

function noteOf(entry: Entry, zone: string): string {
  return isItem(entry) ? datesText(datesOf(entry), zone) : broadcastText(entry, zone)
}

interface AgendaEntryProps {
  entry: Entry
  /** The dates, for an entry without an event of its own. */
  note?: string
  onOpen: (item: CalendarItem) => void
  /** The event: its time, and what it is. */
  children?: ReactNode
}

/** An item is a button that opens its dialog, a broadcast a link to its page. */
function AgendaEntry({ entry, note, onOpen, children }: AgendaEntryProps) {
  const content = (
    <>
      {children && <span className={classes['when']}>{children}</span>}
      <span className={classes['title']}>{entry.title}</span>
      <EntryFacts entry={entry} note={note} />
    </>
  )
  return (
    <li>
      {isItem(entry) ? (
        <button type="button" className={classes['entry']} aria-haspopup="dialog" onClick={() => onOpen(entry)}>
          {content}
        </button>
      ) : (
        <Link to="/broadcasts/$id" params={{ id: entry.id }} className={classes['entry']}>
          {content}
        </Link>
      )}
    </li>
  )
}
