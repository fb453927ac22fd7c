/**
 * Reorders the rows of a table by hand. Every row has a handle, which is dragged by mouse, pen or finger, or picked up with Space or Enter
 * and moved with the arrow keys. While a row is lifted, the rows are only shifted by CSS; the table gets its new order when it is dropped.
 */
import { IconGripVertical } from '@tabler/icons-react'
import { type KeyboardEvent, type PointerEvent, type ReactNode, useEffect, useId, useLayoutEffect, useRef, useState } from 'react'
import classes from './reorder.module.css'

interface ReorderOptions<Row> {
  /** In the order of the table's rows. */
  rows: readonly Row[]
  idOf: (row: Row) => string
  titleOf: (row: Row) => string
  /** Moves the row at index `from` to index `to`. The caller must then pass `rows` in the new order; it may change them back later. */
  onMove: (from: number, to: number) => void
}

interface Reorder<Row> {
  handle: (row: Row) => ReactNode
  /** Focuses the handle of a row, for example before an Undo button moves the row. */
  focus: (row: Row) => void
  /** A live region for screen readers, which the caller renders once, outside the table. */
  announcements: ReactNode
}

/** A lifted row, with the positions of all rows when it was picked up. `from` is its index then, `to` the index where it would land. */
interface Lift {
  id: string
  title: string
  elements: HTMLTableRowElement[]
  /** The top of each row in pixels, plus the scroll position (see `scrolled`). */
  tops: number[]
  height: number
  /** The space between two rows, in pixels. */
  gap: number
  from: number
  to: number
  /** The element that the rows scroll in, if it is not the window. */
  scroller: Element | undefined
  /** The pointer's vertical position when the drag began, measured like `tops`; undefined for a row moved by keyboard. */
  grip?: number
  /** The pointer's present position in the window, in pixels. */
  pointerY?: number
}

const EDGE_PIXELS = 96 // a pointer that drags within this distance of the visible rows' top or bottom scrolls them
const SCROLL_PIXELS = 12 // scrolled in each animation frame

export function useReorder<Row>({ rows, idOf, titleOf, onMove }: ReorderOptions<Row>): Reorder<Row> {
  const helpId = useId()
  const [liveText, setLiveText] = useState('')
  const [liftedId, setLiftedId] = useState<string>()
  const lift = useRef<Lift>(undefined)
  const buttons = useRef(new Map<string, HTMLButtonElement>())
  const order = rows.map(idOf).join('\n')

  const announce = ({ title, to, elements }: Lift, verb: string) =>
    setLiveText(`${title} ${verb} position ${to + 1} of ${elements.length}.`)

  const pickUp = (row: Row, pointerY?: number) => {
    const id = idOf(row)
    const elements = rows.flatMap((one) => buttons.current.get(idOf(one))?.closest('tr') ?? [])
    const from = rows.findIndex((one) => idOf(one) === id)
    const element = elements[from]
    if (!element || elements.length < 2) return
    const scroller = findScroller(element)
    const [first, second] = elements.map((one) => one.getBoundingClientRect())
    lift.current = {
      id,
      title: titleOf(row),
      elements,
      tops: elements.map((one) => one.getBoundingClientRect().top + scrolled(scroller)),
      height: element.offsetHeight,
      gap: first && second ? second.top - first.bottom : 0,
      from,
      to: from,
      scroller,
      ...(pointerY !== undefined && { grip: pointerY + scrolled(scroller), pointerY }),
    }
    setLiftedId(id)
    if (pointerY === undefined)
      setLiveText(`${titleOf(row)} picked up, position ${from + 1} of ${elements.length}. Move it with the arrow keys.`)
  }

  const moveTo = (lifted: Lift, to: number) => {
    if (to === lifted.to || to < 0 || to >= lifted.elements.length) return
    lifted.to = to
    announce(lifted, 'moved to')
  }

  const putBack = () => {
    const lifted = lift.current
    if (!lifted) return
    lift.current = undefined
    setLiftedId(undefined)
    clearShifts(lifted.elements)
    setLiveText(`${lifted.title} is back at position ${lifted.from + 1}.`)
  }

  const drop = () => {
    const lifted = lift.current
    if (!lifted) return
    if (lifted.to === lifted.from) return putBack()
    lift.current = undefined
    dropped.current = lifted
    setLiftedId(undefined)
    announce(lifted, 'dropped at')
    onMove(lifted.from, lifted.to)
  }

  // Once the table is rendered in the new order, the shifts of its rows are removed.
  const dropped = useRef<Lift>(undefined)
  useLayoutEffect(() => {
    if (lift.current) putBackRef.current() // somebody else changed the list meanwhile
    clearShifts(dropped.current?.elements ?? [])
    dropped.current = undefined
  }, [order])
  const putBackRef = useRef(putBack)
  useEffect(() => {
    putBackRef.current = putBack
  })

  useEffect(() => {
    if (liftedId === undefined) return undefined
    const ended = new AbortController()
    const { signal } = ended
    const follow = () => {
      const lifted = lift.current
      if (!lifted || lifted.grip === undefined || lifted.pointerY === undefined) return
      moveTo(lifted, findLanding(lifted, lifted.pointerY + scrolled(lifted.scroller) - lifted.grip))
      shiftRows(lifted)
    }
    if (lift.current?.grip !== undefined) {
      const frame = () => {
        const lifted = lift.current
        if (signal.aborted || lifted?.pointerY === undefined) return
        scrollAtEdge(lifted.pointerY, lifted.scroller)
        follow()
        requestAnimationFrame(frame)
      }
      requestAnimationFrame(frame)
      addEventListener('pointermove', ({ clientY }) => lift.current && (lift.current.pointerY = clientY), { signal })
      addEventListener('pointerup', drop, { signal })
      addEventListener('pointercancel', putBack, { signal })
      addEventListener('keydown', ({ key }) => key === 'Escape' && putBack(), { signal })
    }
    return () => ended.abort()
    // oxlint-disable-next-line react/exhaustive-deps -- one set of listeners for each lift
  }, [liftedId])

  const handlePointerDown = (event: PointerEvent, row: Row) => {
    if (event.button !== 0 || lift.current) return
    event.preventDefault() // otherwise the drag would select text
    buttons.current.get(idOf(row))?.focus({ preventScroll: true })
    pickUp(row, event.clientY)
  }

  const handleKeyDown = (event: KeyboardEvent, row: Row) => {
    const lifted = lift.current
    const isDrop = event.key === ' ' || event.key === 'Enter'
    if (!isDrop && !lifted) return
    if (event.key === 'Tab') return putBack()
    event.preventDefault()
    if (isDrop) {
      if (event.repeat) return
      if (lifted) drop()
      else pickUp(row)
      return
    }
    if (!lifted || lifted.grip !== undefined) return
    if (event.key === 'Escape') return putBack()
    const last = lifted.elements.length - 1
    const target = { ArrowUp: lifted.to - 1, ArrowDown: lifted.to + 1, Home: 0, End: last }[event.key]
    if (target === undefined) return
    moveTo(lifted, target)
    shiftRows(lifted)
    lifted.elements[lifted.to]?.scrollIntoView({ block: 'nearest' })
  }

  return {
    handle: (row) => (
      <button
        ref={(element) => {
          if (element) buttons.current.set(idOf(row), element)
          else buttons.current.delete(idOf(row))
        }}
        type="button"
        className={classes['handle']}
        aria-label={`Move ${titleOf(row)}`}
        aria-describedby={helpId}
        data-lifted={liftedId === idOf(row) || undefined}
        onPointerDown={(event) => handlePointerDown(event, row)}
        onKeyDown={(event) => handleKeyDown(event, row)}
        onBlur={() => lift.current?.grip === undefined && putBack()}
      >
        <IconGripVertical size={18} stroke={1.75} aria-hidden />
      </button>
    ),
    focus: (row) => buttons.current.get(idOf(row))?.focus(),
    announcements: (
      <div className="app-sr-only">
        <p id={helpId}>Press Space to pick up, the arrow keys to move, Space to drop, Escape to cancel.</p>
        <p aria-live="assertive">{liveText}</p>
      </div>
    ),
  }
}

/** Returns the index where the row lands after a drag of `distance` pixels. It passes another row once it crosses that row's middle. */
function findLanding({ tops, elements, height, from }: Lift, distance: number): number {
  const top = (tops[from] ?? 0) + distance
  const middle = (index: number) => (tops[index] ?? 0) + (elements[index]?.offsetHeight ?? 0) / 2
  const last = elements.length - 1
  let to = from
  while (to > 0 && top < middle(to - 1)) to--
  if (to < from) return to
  while (to < last && top + height > middle(to + 1)) to++
  return to
}

function findScroller(element: Element): Element | undefined {
  for (let at = element.parentElement; at && at !== document.documentElement; at = at.parentElement)
    if (at.scrollHeight > at.clientHeight && /auto|scroll/.test(getComputedStyle(at).overflowY)) return at
  return undefined
}

/** Returns by how many pixels the window and `scroller` together are scrolled. */
function scrolled(scroller: Element | undefined): number {
  return scrollY + (scroller?.scrollTop ?? 0)
}

function scrollAtEdge(y: number, scroller: Element | undefined): void {
  const { top, bottom } = scroller?.getBoundingClientRect() ?? { top: 0, bottom: innerHeight }
  const isAbove = y < Math.max(0, top) + EDGE_PIXELS
  if (!isAbove && y <= Math.min(innerHeight, bottom) - EDGE_PIXELS) return
  const by = isAbove ? -SCROLL_PIXELS : SCROLL_PIXELS
  const before = scroller?.scrollTop
  scroller?.scrollBy(0, by)
  if (scroller?.scrollTop === before) scrollBy(0, by)
}

/** Shifts the rows by CSS: the lifted one follows the pointer, or is at its landing place if keys move it; the rows between make room. */
function shiftRows({ elements, tops, height, gap, from, to, scroller, grip, pointerY }: Lift): void {
  const step = height + gap
  for (const [index, element] of elements.entries()) {
    const isAside = index !== from && index >= Math.min(from, to) && index <= Math.max(from, to)
    element.style.transform = isAside ? `translateY(${to > from ? -step : step}px)` : ''
  }
  const landing = to > from ? rowBottom(elements, tops, to) - height : (tops[to] ?? 0)
  const distance =
    grip === undefined || pointerY === undefined ? landing - (tops[from] ?? 0) : pointerY + scrolled(scroller) - grip
  const element = elements[from]
  if (element) element.style.transform = `translateY(${distance}px)`
}

function rowBottom(elements: HTMLTableRowElement[], tops: number[], index: number): number {
  return (tops[index] ?? 0) + (elements[index]?.offsetHeight ?? 0)
}

function clearShifts(elements: HTMLTableRowElement[]): void {
  for (const element of elements) element.style.transform = ''
}
