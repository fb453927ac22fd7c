/** A broadcast in the timeline: a mark from when it began until it ended, which leads to its page. */
import type { CalendarBroadcast } from '@arcade/contract/calendar/calls'
import { type BroadcastState, broadcastStateLabels } from '@arcade/contract/broadcasts/fields'
import { isolated } from '@arcade/contract/text'
import { IconSend } from '@tabler/icons-react'
import { Link } from '@tanstack/react-router'
import type { KeyboardEvent } from 'react'
import { roomBeside } from './bar-text.ts'
import { moveFocus } from './bar.tsx'
import classes from './calendar.module.css'
import { barExtent, type Span } from './days.ts'
import { broadcastDates, broadcastText, shortText } from './entries.ts'

/** The states of items whose bars look like the mark. */
const likeItems = {
  scheduled: 'scheduled',
  sending: 'live',
  waiting: 'live',
  paused: 'paused',
  done: 'ended',
  cancelled: 'ended',
} as const satisfies Record<BroadcastState, string>

interface BroadcastMarkProps {
  broadcast: CalendarBroadcast
  span: Span
  now: number
}

export function BroadcastMark({ broadcast, span, now }: BroadcastMarkProps) {
  const { id, title, state } = broadcast
  const extent = barExtent(broadcastDates(broadcast, now), span)
  const share = (columns: number) => `${(100 * columns) / span.days.length}%`
  const handleKey = (event: KeyboardEvent<HTMLElement>) => {
    if (!event.ctrlKey && !event.metaKey && !event.altKey) moveFocus(event)
  }
  const text = broadcastText(broadcast, span.zone)
  const { side } = roomBeside(extent, span)
  const hasRoom = side === 'start' ? !extent.goesOnBefore : !extent.goesOnAfter
  return (
    <Link
      to="/broadcasts/$id"
      params={{ id }}
      className={`mantine-focus-auto ${classes['bar']} ${classes['mark']}`}
      data-bar=""
      data-state={likeItems[state]}
      data-before={extent.goesOnBefore || undefined}
      data-after={extent.goesOnAfter || undefined}
      style={{ insetInlineStart: `min(${share(extent.left)}, 100% - 1.75rem)`, width: share(extent.right - extent.left) }}
      aria-label={`${isolated(title)}: ${text}, ${broadcastStateLabels[state]}`}
      title={text}
      onKeyDown={handleKey}
    >
      <IconSend size={14} stroke={1.75} aria-hidden />
      {hasRoom && (
        <span className={classes['beside']} data-side={side} aria-hidden>
          {shortText(broadcast, span.zone)}
        </span>
      )}
    </Link>
  )
}
