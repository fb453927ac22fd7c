/**
 * A table whose rows one orders by hand. Every row has a handle that is dragged by mouse, pen or finger, or picked up with Space or Enter
 * and moved with the arrow keys. While a row is up only the looks of the rows change; the table gets its new order when the row is dropped.
 */
import { IconGripVertical } from '@tabler/icons-react'
import { type KeyboardEvent, type PointerEvent, type ReactNode, useEffect, useId, useLayoutEffect, useRef, useState } from 'react'
import classes from './reorder.module.css'

interface ReorderOptions<Row> {
  /** In the order of the table's rows. */
  rows: readonly Row[]
  idOf: (row: Row) => string
  titleOf: (row: Row) => string
  /** The row at `from` belongs at `to` now, both counted from 0. Must lead to `rows` in another order, which may change back later. */
  onMove: (from: number, to: number) => void
}

interface Reorder<Row> {
  handle: (row: Row) => ReactNode
  /** Puts the focus on the handle of a row that is about to be moved by something else. */
  focus: (row: Row) => void
  /** Live text for screen readers; the caller renders it once, outside of the table. */
  announcements: ReactNode
}

/** A row that is up, with the positions of all rows when it was picked up, and the places where it came from and would land. */
interface Lift {
  id: string
  title: string
  elements: HTMLTableRowElement[]
  tops: number[]
  height: number
  /** The distance between two rows. */
  gap: number
  from: number
  to: number
  /** The element that the rows scroll in, if it is not the window. */
  scroller: Element | undefined
  /** The pointer's height where it took hold, measured like `tops`; undefined for a row that is moved by keys. */
  grip?: number
  pointerY?: number
}

const EDGE_PIXELS = 96 // a row that is dragged so close to the edge of the visible rows scrolls them
const SCROLL_PIXELS = 12 // in every frame

export function useReorder<Row>({ rows, idOf, titleOf, onMove }: ReorderOptions<Row>): Reorder<Row> {
  const helpId = useId()
  const [news, setNews] = useState('')
  const [liftedId, setLiftedId] = useState<string>()
  const lift = useRef<Lift>(undefined)
  const buttons = useRef(new Map<string, HTMLButtonElement>())
  const order = rows.map(idOf).join('\n')

  const place = ({ title, to, elements }: Lift, verb: string) =>
    setNews(`${title} ${verb} position ${to + 1} of ${elements.length}.`)

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
      setNews(`${titleOf(row)} picked up, position ${from + 1} of ${elements.length}. Move it with the arrow keys.`)
  }

  const moveTo = (up: Lift, to: number) => {
    if (to === up.to || to < 0 || to >= up.elements.length) return
    up.to = to
    place(up, 'moved to')
  }

  const putBack = () => {
    const up = lift.current
    if (!up) return
    lift.current = undefined
    setLiftedId(undefined)
    settle(up.elements)
    setNews(`${up.title} is back at position ${up.from + 1}.`)
  }

  const drop = () => {
    const up = lift.current
    if (!up) return
    if (up.to === up.from) return putBack()
    lift.current = undefined
    dropped.current = up
    setLiftedId(undefined)
    place(up, 'dropped at')
    onMove(up.from, up.to)
  }

  // Once the table has the order that the row was dropped into, its rows need no shift any more.
  const dropped = useRef<Lift>(undefined)
  useLayoutEffect(() => {
    if (lift.current) putBackRef.current() // somebody else changed the list meanwhile
    settle(dropped.current?.elements ?? [])
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
      const up = lift.current
      if (!up || up.grip === undefined || up.pointerY === undefined) return
      moveTo(up, findLanding(up, up.pointerY + scrolled(up.scroller) - up.grip))
      look(up)
    }
    if (lift.current?.grip !== undefined) {
      const frame = () => {
        const up = lift.current
        if (signal.aborted || up?.pointerY === undefined) return
        scrollAtEdge(up.pointerY, up.scroller)
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
    // oxlint-disable-next-line react/exhaustive-deps -- one set of listeners a lift
  }, [liftedId])

  const handlePointerDown = (event: PointerEvent, row: Row) => {
    if (event.button !== 0 || lift.current) return
    event.preventDefault() // a drag would select the text under it
    buttons.current.get(idOf(row))?.focus({ preventScroll: true })
    pickUp(row, event.clientY)
  }

  const handleKeyDown = (event: KeyboardEvent, row: Row) => {
    const up = lift.current
    const isDrop = event.key === ' ' || event.key === 'Enter'
    if (!isDrop && !up) return
    if (event.key === 'Tab') return putBack()
    event.preventDefault()
    if (isDrop) {
      if (event.repeat) return
      if (up) drop()
      else pickUp(row)
      return
    }
    if (!up || up.grip !== undefined) return
    if (event.key === 'Escape') return putBack()
    const last = up.elements.length - 1
    const target = { ArrowUp: up.to - 1, ArrowDown: up.to + 1, Home: 0, End: last }[event.key]
    if (target === undefined) return
    moveTo(up, target)
    look(up)
    up.elements[up.to]?.scrollIntoView({ block: 'nearest' })
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
        <p aria-live="assertive">{news}</p>
      </div>
    ),
  }
}

/** The place at which a row lands that was carried by `distance` pixels: it passes a row once it is beyond that row's middle. */
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

/** How many pixels the rows are scrolled, by the window and by `scroller` together. */
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

/** Shifts the rows to where they would be: the lifted one under the pointer or at its landing place, those between aside. */
function look({ elements, tops, height, gap, from, to, scroller, grip, pointerY }: Lift): void {
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

function settle(elements: HTMLTableRowElement[]): void {
  for (const element of elements) element.style.transform = ''
}
