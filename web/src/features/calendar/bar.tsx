/**
 * The bar of an item in the timeline. It is dragged with the pointer, whole or by one of its ends, or picked up with Space and moved with the
 * arrow keys. Nothing is saved until it is dropped; Escape, Tab or a click elsewhere puts it back.
 */
import type { CalendarItem } from '@arcade/contract/calendar/calls'
import { itemStateLabels } from '@arcade/contract/items/fields'
import { isolated } from '@arcade/contract/text'
import { type KeyboardEvent, type PointerEvent, useEffect, useEffectEvent, useRef, useState } from 'react'
import { focusHeadingWhenGone } from '#src/ui/table-rows.ts'
import { placeOfText } from './bar-text.ts'
import classes from './calendar.module.css'
import { type Dates, draggedMinutes, placeOf, type Span, steps } from './days.ts'
import { datesOf, datesText, daysText, isStartFixed, movedDates, type Part } from './move.ts'

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

/** The pointer moves a bar only after this distance: a click is seldom perfectly still. */
const DRAG_FROM_PX = 4

/** A bar that is being moved. */
interface Lift {
  by: 'pointer' | 'keyboard'
  to: Dates
}

interface Drag {
  part: Part
  x: number
  /** The width of a column in pixels. */
  column: number
}

export function Bar({ item, span, trackRem, instructions, onOpen, onDrop, onTell }: BarProps) {
  const bar = useRef<HTMLButtonElement>(null)
  const drag = useRef<Drag>(undefined)
  const wasDragged = useRef(false)
  const [lift, setLift] = useState<Lift>()
  const isMovable = instructions !== undefined
  const saved = datesOf(item)
  const dates = lift?.to ?? saved
  const place = placeOf(dates, span)
  const text = datesText(dates, span.zone)
  const shown = span.view === 'week' ? text : daysText(dates, span.zone)
  const textPlace = placeOfText(shown, place, span, trackRem)
  const title = isolated(item.title)

  const putBack = () => {
    drag.current = undefined
    if (!lift) return
    setLift(undefined)
    if (lift.by === 'keyboard') onTell(`${title} is back: ${datesText(saved, span.zone)}.`)
  }
  const drop = () => {
    setLift(undefined)
    if (lift) onDrop(lift.to)
  }
  const move = (from: Dates, part: Part, minutes: number): Dates => movedDates(item, from, { part, minutes, zone: span.zone })

  const handleKey = (event: KeyboardEvent<HTMLElement>) => {
    if (event.ctrlKey || event.metaKey || event.altKey) return
    const isPickUp = event.key === ' '
    if (!lift) {
      moveFocus(event)
      if (!isPickUp || !isMovable) return
      event.preventDefault()
      if (event.repeat) return
      setLift({ by: 'keyboard', to: saved })
      onTell(`${title} picked up: ${text}. Move it with the arrow keys.`)
      return
    }
    if (event.key === 'Tab') return putBack()
    event.preventDefault()
    if (event.key === 'Escape') return putBack()
    if ((isPickUp || event.key === 'Enter') && !event.repeat) return drop()
    const { small, large } = steps[span.view]
    const minutes = { ArrowLeft: -small, ArrowRight: small, ArrowUp: -large, ArrowDown: large }[event.key]
    if (minutes === undefined) return
    const to = move(dates, event.shiftKey ? 'end' : 'whole', minutes)
    setLift({ by: 'keyboard', to })
    onTell(datesText(to, span.zone))
  }

  const handlePointerDown = (event: PointerEvent<HTMLButtonElement>) => {
    wasDragged.current = false
    if (event.button !== 0 || lift || !isMovable) return
    const part = (event.target as HTMLElement).dataset['part'] as Part | undefined
    const track = event.currentTarget.parentElement!.getBoundingClientRect()
    drag.current = { part: part ?? 'whole', x: event.clientX, column: track.width / span.days.length }
    event.currentTarget.setPointerCapture(event.pointerId)
  }
  /** Returns where the pointer has dragged the item. */
  const draggedTo = ({ part, x, column }: Drag, clientX: number): Dates =>
    move(saved, part, draggedMinutes((clientX - x) / column, span.view))
  const handlePointerMove = ({ clientX }: PointerEvent) => {
    if (!drag.current) return
    if (!wasDragged.current && Math.abs(clientX - drag.current.x) < DRAG_FROM_PX) return
    wasDragged.current = true
    setLift({ by: 'pointer', to: draggedTo(drag.current, clientX) })
  }
  /** The last move of the pointer may not have been rendered yet, so its place counts. */
  const handlePointerUp = ({ clientX }: PointerEvent) => {
    if (drag.current && wasDragged.current) {
      setLift(undefined)
      onDrop(draggedTo(drag.current, clientX))
    }
    drag.current = undefined
  }
  useEscape(lift?.by === 'pointer', putBack)

  return (
    <button
      ref={mergedRef(bar)}
      type="button"
      className={`mantine-focus-auto ${classes['bar']}`}
      data-bar=""
      data-state={item.state}
      data-lifted={lift ? '' : undefined}
      data-before={place.goesOnBefore || undefined}
      data-after={place.goesOnAfter || undefined}
      style={{
        insetInlineStart: `${(100 * place.left) / span.days.length}%`,
        width: `${(100 * Math.max(0, place.right - place.left)) / span.days.length}%`,
      }}
      // With the shown text, by which people who speak to their computer call it (WCAG 2.5.3).
      aria-label={`${title}: ${text}, ${itemStateLabels[item.state]}${shown === text ? '' : `, ${shown}`}`}
      aria-describedby={instructions}
      aria-haspopup="dialog"
      title={text}
      onClick={() => !wasDragged.current && !lift && onOpen()}
      onKeyDown={handleKey}
      onKeyUp={(event) => event.key === ' ' && isMovable && event.preventDefault()}
      onBlur={() => lift?.by === 'keyboard' && putBack()}
      onPointerDown={handlePointerDown}
      onPointerMove={handlePointerMove}
      onPointerUp={handlePointerUp}
      onPointerCancel={putBack}
    >
      {isMovable && !place.goesOnBefore && !isStartFixed(item) && <span data-part="start" className={classes['edge']} />}
      {textPlace === 'inside' && <span className={classes['barText']}>{shown}</span>}
      {(textPlace === 'start' || textPlace === 'end') && !lift && (
        <span className={classes['beside']} data-side={textPlace}>
          {shown}
        </span>
      )}
      {isMovable && !place.goesOnAfter && <span data-part="end" className={classes['edge']} />}
      {lift && (
        <span className={classes['tip']} aria-hidden data-at={place.left > span.days.length / 2 ? 'end' : undefined}>
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

/** A bar that was moved out of the span is gone, and leaves its focus to the heading. */
function mergedRef(own: { current: HTMLButtonElement | null }) {
  return (element: HTMLButtonElement | null) => {
    own.current = element
    return focusHeadingWhenGone(element)
  }
}

/** Calls the function on Escape, wherever the focus is. */
function useEscape(isOn: boolean, onEscape: () => void): void {
  const handleKey = useEffectEvent((event: globalThis.KeyboardEvent) => {
    if (event.key === 'Escape') onEscape()
  })
  useEffect(() => {
    if (!isOn) return undefined
    const listener = (event: globalThis.KeyboardEvent) => handleKey(event)
    document.addEventListener('keydown', listener)
    return () => document.removeEventListener('keydown', listener)
  }, [isOn])
}
