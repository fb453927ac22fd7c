/** The bar of an item in the timeline, which is moved with the pointer or by keyboard. */
import type { CalendarItem } from '@arcade/contract/calendar/calls'
import { itemStateLabels } from '@arcade/contract/items/fields'
import { isolated } from '@arcade/contract/text'
import type { KeyboardEvent } from 'react'
import { focusHeadingWhenGone } from '#src/ui/table-rows.ts'
import { sideOfText } from './bar-text.ts'
import classes from './calendar.module.css'
import { type Dates, barExtent, type Span } from './days.ts'
import { datesText, daysText, isStartFixed } from './move.ts'
import { useLift } from './use-lift.ts'

interface BarProps {
  item: CalendarItem
  span: Span
  /** The width of all columns together, in rem. */
  trackRem: number
  /** The id of the text that says how to move a bar by keyboard; undefined for a bar that the role may not move. */
  instructions: string | undefined
  onOpen: () => void
  onDrop: (to: Dates) => void
  /** Tells screen readers what happens. */
  onTell: (text: string) => void
}

export function Bar({ item, span, trackRem, instructions, onOpen, onDrop, onTell }: BarProps) {
  const isMovable = instructions !== undefined
  const { lift, dates, wasDragged, handleKey, handlers } = useLift({ item, span, isMovable, onDrop, onTell })
  const extent = barExtent(dates, span)
  const text = datesText(dates, span.zone)
  const shown = span.kind === 'week' ? text : daysText(dates, span.zone)
  const textSide = sideOfText(shown, extent, span, trackRem)
  const title = isolated(item.title)

  const handleKeyDown = (event: KeyboardEvent<HTMLElement>) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return
    if (!lift) moveFocus(event)
    handleKey(event)
  }

  return (
    <button
      ref={focusHeadingWhenGone} // a bar that was moved out of the span is gone
      type="button"
      className={`mantine-focus-auto ${classes['bar']}`}
      data-bar=""
      data-state={item.state}
      data-lifted={lift ? '' : undefined}
      data-before={extent.goesOnBefore || undefined}
      data-after={extent.goesOnAfter || undefined}
      style={{
        insetInlineStart: `${(100 * extent.left) / span.days.length}%`,
        width: `${(100 * Math.max(0, extent.right - extent.left)) / span.days.length}%`,
      }}
      // With the shown text, by which people who speak to their computer call it (WCAG 2.5.3).
      aria-label={`${title}: ${text}, ${itemStateLabels[item.state]}${shown === text ? '' : `, ${shown}`}`}
      aria-describedby={instructions}
      aria-haspopup="dialog"
      title={text}
      onClick={() => !wasDragged() && !lift && onOpen()}
      onKeyDown={handleKeyDown}
      onKeyUp={(event) => event.key === ' ' && isMovable && event.preventDefault()}
      {...handlers}
    >
      {isMovable && !extent.goesOnBefore && !isStartFixed(item) && <span data-part="start" className={classes['edge']} />}
      {textSide === 'inside' && <span className={classes['barText']}>{shown}</span>}
      {(textSide === 'start' || textSide === 'end') && !lift && (
        <span className={classes['beside']} data-side={textSide}>
          {shown}
        </span>
      )}
      {isMovable && !extent.goesOnAfter && <span data-part="end" className={classes['edge']} />}
      {lift && (
        <span className={classes['tip']} aria-hidden data-at={extent.left > span.days.length / 2 ? 'end' : undefined}>
          {text}
        </span>
      )}
    </button>
  )
}

/** Moves the focus to the bar or mark above or below, on the arrow keys. */
export function moveFocus(event: KeyboardEvent<HTMLElement>): void {
  const step = { ArrowUp: -1, ArrowDown: 1 }[event.key]
  if (step === undefined) return
  event.preventDefault()
  const { currentTarget: bar } = event
  const bars = [...(bar.closest('ul')?.querySelectorAll<HTMLElement>('[data-bar]') ?? [])]
  bars[bars.indexOf(bar) + step]?.focus()
}
