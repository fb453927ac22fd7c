/** The calendar on a phone: what starts and ends on each day, and before that what goes on all the time. */
import type { CalendarItem } from '@arcade/contract/calendar/calls'
import type { ReactNode } from 'react'
import { ItemStateChip } from '#src/lists/item-state.tsx'
import { timeText, weekdayText } from '#src/ui/zoned-time.ts'
import classes from './calendar.module.css'
import type { Span } from './days.ts'
import { datesOf, datesText, kindText } from './move.ts'

interface AgendaProps {
  items: readonly CalendarItem[]
  span: Span
  now: number
  onOpen: (item: CalendarItem) => void
}

interface Event {
  item: CalendarItem
  at: number
  what: 'starts' | 'ends'
}

export function Agenda({ items, span, now, onOpen }: AgendaProps) {
  const days = span.days.map((day) => ({ ...day, events: eventsIn(items, day) })).filter(({ events }) => events.length > 0)
  const steady = items.filter((item) => eventsIn(items, span).every((event) => event.item !== item))
  return (
    <div className={classes['agenda']}>
      {steady.length > 0 && (
        <section aria-labelledby="agenda-steady">
          <h2 id="agenda-steady">All the time</h2>
          <ul>
            {steady.map((item) => (
              <Entry key={`${item.kind} ${item.id}`} item={item} note={datesText(datesOf(item), span.zone)} onOpen={onOpen} />
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
            {events.map(({ item, at, what }) => (
              <Entry key={`${item.kind} ${item.id} ${what}`} item={item} onOpen={onOpen}>
                {timeText(at, span.zone)} <small>{what}</small>
              </Entry>
            ))}
          </ul>
        </section>
      ))}
    </div>
  )
}

function eventsIn(items: readonly CalendarItem[], { from, to }: { from: number; to: number }): Event[] {
  const events = items.flatMap((item): Event[] => {
    const { startsAt, endsAt } = datesOf(item)
    return [
      ...(startsAt === null ? [] : [{ item, at: startsAt, what: 'starts' as const }]),
      ...(endsAt === null ? [] : [{ item, at: endsAt, what: 'ends' as const }]),
    ]
  })
  return events.filter(({ at }) => at >= from && at < to).toSorted((one, other) => one.at - other.at)
}

interface EntryProps {
  item: CalendarItem
  /** The dates, for an item without an event of its own. */
  note?: string
  onOpen: (item: CalendarItem) => void
  /** The event: its time, and what it is. */
  children?: ReactNode
}

function Entry({ item, note, onOpen, children }: EntryProps) {
  return (
    <li>
      <button type="button" className={classes['entry']} aria-haspopup="dialog" onClick={() => onOpen(item)}>
        {children && <span className={classes['when']}>{children}</span>}
        <span className={classes['title']}>{item.title}</span>
        <span className={classes['facts']}>
          {kindText(item.kind)} <ItemStateChip state={item.state} /> {note}
        </span>
      </button>
    </li>
  )
}
