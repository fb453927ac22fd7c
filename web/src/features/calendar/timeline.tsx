/** The calendar's week or month as a timeline: a row for each item, with a bar over the days in which it can be claimed. */
import type { CalendarItem } from '@arcade/contract/calendar/calls'
import { useId, useState } from 'react'
import { ItemStateChip } from '#src/lists/item-state.tsx'
import { ItemLink } from '#src/lists/item-link.tsx'
import { Bar } from './bar.tsx'
import classes from './calendar.module.css'
import { columnOf, type Dates, type Span } from './days.ts'
import { kindText } from './move.ts'

interface TimelineProps {
  items: readonly CalendarItem[]
  span: Span
  /** The present moment. */
  now: number
  /** Whether the role may move the item. */
  canMove: (item: CalendarItem) => boolean
  onOpen: (item: CalendarItem) => void
  onMove: (item: CalendarItem, to: Dates) => void
}

export function Timeline({ items, span, now, canMove, onOpen, onMove }: TimelineProps) {
  const instructions = useId()
  const [told, setTold] = useState('')
  const { days, view } = span
  const isNowShown = now >= span.from && now < span.to
  const [small, large] = view === 'week' ? ['half an hour', 'a day'] : ['a day', 'a week']
  return (
    <section className={classes['timeline']} data-view={view} aria-label={`Timeline of ${span.title}`}>
      <div className={classes['head']} aria-hidden>
        <div className={classes['corner']} />
        <div className={classes['days']}>
          {days.map(({ name, weekday, date, isWeekend, from, to }) => (
            <div
              key={name}
              className={classes['day']}
              data-weekend={isWeekend || undefined}
              data-today={(now >= from && now < to) || undefined}
            >
              <span>{view === 'week' ? weekday : weekday.slice(0, 1)}</span>
              <span className={classes['date']}>{date}</span>
            </div>
          ))}
        </div>
      </div>
      <div className={classes['body']}>
        <div className={classes['grid']} aria-hidden>
          {days.map(({ name, isWeekend }) => (
            <div key={name} data-weekend={isWeekend || undefined} />
          ))}
          {isNowShown && (
            <div className={classes['now']} style={{ insetInlineStart: `${(100 * columnOf(now, span)) / days.length}%` }} />
          )}
        </div>
        <ul className={classes['rows']}>
          {items.map((item) => (
            <li key={`${item.kind} ${item.id}`} className={classes['row']}>
              <div className={classes['name']}>
                <ItemLink kind={item.kind} id={item.id}>
                  {item.title}
                </ItemLink>
                <span className={classes['facts']}>
                  {kindText(item.kind)} <ItemStateChip state={item.state} />
                </span>
              </div>
              <div className={classes['track']}>
                <Bar
                  item={item}
                  span={span}
                  instructions={canMove(item) ? instructions : undefined}
                  onOpen={() => onOpen(item)}
                  onDrop={(to) => onMove(item, to)}
                  onTell={setTold}
                />
              </div>
            </li>
          ))}
        </ul>
      </div>
      <p id={instructions} hidden>
        Enter opens it. Space picks it up; then the left and right arrow keys move it by {small}, up and down by {large}, with
        Shift only its end. Space drops it, Escape puts it back.
      </p>
      <output className="app-sr-only" aria-live="assertive">
        {told}
      </output>
    </section>
  )
}
