/**
 * The calendar's week or month as a timeline: a row for each item, with a bar over the days in which it can be claimed, and for each
 * broadcast, with a mark.
 */
import type { CalendarItem } from '@arcade/contract/calendar/calls'
import { useId, useState } from 'react'
import { ItemLink } from '#src/lists/item-link.tsx'
import { RowLink } from '#src/lists/row-buttons.tsx'
import { useWidth } from './bar-text.ts'
import { Bar } from './bar.tsx'
import { BroadcastMark } from './broadcast-mark.tsx'
import classes from './calendar.module.css'
import { columnOf, type Dates, type Span } from './days.ts'
import { type Entry, entryKey, isItem } from './entries.ts'
import { EntryFacts } from './entry-facts.tsx'

interface TimelineProps {
  entries: readonly Entry[]
  span: Span
  /** The present moment. */
  now: number
  /** Whether the role may move the item. */
  canMove: (item: CalendarItem) => boolean
  onOpen: (item: CalendarItem) => void
  onMove: (item: CalendarItem, to: Dates) => void
}

export function Timeline({ entries, span, now, canMove, onOpen, onMove }: TimelineProps) {
  const instructions = useId()
  const [spoken, setSpoken] = useState('')
  const { ref: grid, width: trackRem } = useWidth()
  const { days, kind } = span
  const isNowShown = isWithin(now, span)
  const [small, large] = kind === 'week' ? ['half an hour', 'a day'] : ['a day', 'a week']
  return (
    <section className={classes['timeline']} data-view={kind} aria-label={`Timeline of ${span.title}`}>
      <DayNames span={span} now={now} />
      <div className={classes['body']}>
        <div ref={grid} className={classes['grid']} aria-hidden>
          {days.map(({ name, isWeekend }) => (
            <div key={name} data-weekend={isWeekend || undefined} />
          ))}
          {isNowShown && (
            <div className={classes['now']} style={{ insetInlineStart: `${(100 * columnOf(now, span)) / days.length}%` }} />
          )}
        </div>
        <ul className={classes['rows']}>
          {entries.map((entry) => (
            <li key={entryKey(entry)} className={classes['row']}>
              <div className={classes['name']}>
                <EntryLink entry={entry} />
                <EntryFacts entry={entry} />
              </div>
              <div className={classes['track']}>
                {isItem(entry) ? (
                  <Bar
                    item={entry}
                    span={span}
                    trackRem={trackRem}
                    instructions={canMove(entry) ? instructions : undefined}
                    onOpen={() => onOpen(entry)}
                    onDrop={(to) => onMove(entry, to)}
                    onTell={setSpoken}
                  />
                ) : (
                  <BroadcastMark broadcast={entry} span={span} now={now} />
                )}
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
        {spoken}
      </output>
    </section>
  )
}

/** The weekday and date above each column. */
function DayNames({ span: { days, kind }, now }: Pick<TimelineProps, 'span' | 'now'>) {
  return (
    <div className={classes['head']} aria-hidden>
      <div className={classes['corner']} />
      <div className={classes['days']}>
        {days.map((day) => (
          <div
            key={day.name}
            className={classes['day']}
            data-weekend={day.isWeekend || undefined}
            data-today={isWithin(now, day) || undefined}
          >
            <span>{kind === 'week' ? day.weekday : day.weekday.slice(0, 1)}</span>
            <span className={classes['date']}>{day.date}</span>
          </div>
        ))}
      </div>
    </div>
  )
}

/** The title of an entry, which leads to its page. */
function EntryLink({ entry }: { entry: Entry }) {
  if (!isItem(entry)) return <RowLink href={`/broadcasts/${entry.id}`}>{entry.title}</RowLink>
  return (
    <ItemLink kind={entry.kind} id={entry.id}>
      {entry.title}
    </ItemLink>
  )
}

function isWithin(at: number, { from, to }: { from: number; to: number }): boolean {
  return at >= from && at < to
}
