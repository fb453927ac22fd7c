/**
 * Moving a bar of the timeline. It is dragged with the pointer, whole or by one of its ends, or picked up with Space and moved with the arrow
 * keys. Nothing is saved until it is dropped; Escape, Tab or a click elsewhere puts it back.
 */
import type { CalendarItem } from '@arcade/contract/calendar/calls'
import { isolated } from '@arcade/contract/text'
import { type KeyboardEvent, type PointerEvent, useEffect, useEffectEvent, useRef, useState } from 'react'
import { type Dates, draggedMinutes, type Span, steps } from './days.ts'
import { datesOf, datesText, movedDates, type Part } from './move.ts'

/** A bar that is being moved. */
interface Lift {
  by: 'pointer' | 'keyboard'
  to: Dates
}

interface LiftOptions {
  item: CalendarItem
  span: Span
  /** Whether the role may move the item. */
  isMovable: boolean
  onDrop: (to: Dates) => void
  /** Tells screen readers what happens. */
  onTell: (text: string) => void
}

/** Returns the lift of a bar (undefined while nobody moves it), the dates that it shows, and the handlers that move it. */
export function useLift({ item, span, isMovable, onDrop, onTell }: LiftOptions) {
  const [lift, setLift] = useState<Lift>()
  const saved = datesOf(item)
  const dates = lift?.to ?? saved
  const title = isolated(item.title)
  const move = (from: Dates, part: Part, minutes: number): Dates => movedDates(item, from, { part, minutes, zone: span.zone })

  const { wasDragged, stopDrag, dragHandlers } = useDrag({
    span,
    canBegin: isMovable && !lift,
    onDrag: (part, minutes) => setLift({ by: 'pointer', to: move(saved, part, minutes) }),
    onDrop: (part, minutes) => {
      setLift(undefined)
      onDrop(move(saved, part, minutes))
    },
  })
  const putBack = () => {
    stopDrag()
    if (!lift) return
    setLift(undefined)
    if (lift.by === 'keyboard') onTell(`${title} is back: ${datesText(saved, span.zone)}.`)
  }
  const pickUp = () => {
    setLift({ by: 'keyboard', to: saved })
    onTell(`${title} picked up: ${datesText(saved, span.zone)}. Move it with the arrow keys.`)
  }
  const handleKey = (event: KeyboardEvent<HTMLElement>) => {
    const isPickUp = event.key === ' '
    if (!lift) {
      if (!isPickUp || !isMovable) return
      event.preventDefault()
      if (!event.repeat) pickUp()
      return
    }
    if (event.key === 'Tab') return putBack()
    event.preventDefault()
    if (event.key === 'Escape') return putBack()
    if ((isPickUp || event.key === 'Enter') && !event.repeat) {
      setLift(undefined)
      return onDrop(lift.to)
    }
    const minutes = minutesOf(event.key, span)
    if (minutes === undefined) return
    const to = move(dates, event.shiftKey ? 'end' : 'whole', minutes)
    setLift({ by: 'keyboard', to })
    onTell(datesText(to, span.zone))
  }
  useEscape(lift?.by === 'pointer', putBack)

  return {
    lift,
    dates,
    wasDragged,
    handleKey,
    handlers: { ...dragHandlers, onPointerCancel: putBack, onBlur: () => lift?.by === 'keyboard' && putBack() },
  }
}

/** Returns the minutes by which an arrow key moves a bar; undefined for other keys. */
function minutesOf(key: string, { kind }: Span): number | undefined {
  const { small, large } = steps[kind]
  return { ArrowLeft: -small, ArrowRight: small, ArrowUp: -large, ArrowDown: large }[key]
}

/** The pointer moves a bar only after this distance: a click is seldom perfectly still. */
const DRAG_FROM_PX = 4

interface Drag {
  part: Part
  x: number
  /** The width of a column in pixels. */
  column: number
}

interface DragOptions {
  span: Span
  canBegin: boolean
  /** Called with the minutes by which the pointer has moved a part of the bar. */
  onDrag: (part: Part, minutes: number) => void
  onDrop: (part: Part, minutes: number) => void
}

/** Returns the handlers of a pointer that drags a bar, and whether its last press was a drag. */
function useDrag({ span, canBegin, onDrag, onDrop }: DragOptions) {
  const drag = useRef<Drag>(undefined)
  const wasDragged = useRef(false)
  const minutesTo = (clientX: number, { x, column }: Drag) => draggedMinutes((clientX - x) / column, span.kind)
  return {
    wasDragged: () => wasDragged.current,
    stopDrag: () => {
      drag.current = undefined
    },
    dragHandlers: {
      onPointerDown: (event: PointerEvent<HTMLButtonElement>) => {
        wasDragged.current = false
        if (event.button !== 0 || !canBegin) return
        const part = (event.target as HTMLElement).dataset['part'] as Part | undefined
        const track = event.currentTarget.parentElement!.getBoundingClientRect()
        drag.current = { part: part ?? 'whole', x: event.clientX, column: track.width / span.days.length }
        event.currentTarget.setPointerCapture(event.pointerId)
      },
      onPointerMove: ({ clientX }: PointerEvent) => {
        if (!drag.current) return
        if (!wasDragged.current && Math.abs(clientX - drag.current.x) < DRAG_FROM_PX) return
        wasDragged.current = true
        onDrag(drag.current.part, minutesTo(clientX, drag.current))
      },
      /** The last move of the pointer may not have been rendered yet, so its place counts. */
      onPointerUp: ({ clientX }: PointerEvent) => {
        if (drag.current && wasDragged.current) onDrop(drag.current.part, minutesTo(clientX, drag.current))
        drag.current = undefined
      },
    },
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
