/**
 * Reorders the rows of a table by hand. Every row has a handle, which is dragged by mouse, pen or finger, or picked up with Space or Enter
 * and moved with the arrow keys. While a row is lifted, the rows are only shifted by CSS; the table gets its new order when it is dropped.
 */
import { IconGripVertical } from '@tabler/icons-react'
import {
  type KeyboardEvent,
  type PointerEvent,
  type ReactNode,
  type RefObject,
  useEffect,
  useEffectEvent,
  useId,
  useLayoutEffect,
  useRef,
  useState,
} from 'react'
import { clearShifts, findLanding, type Lift, liftRow, scrollAtEdge, shiftRows } from './lift.ts'
import classes from './reorder.module.css'

interface ReorderOptions<Row> {
  /** In the order of the table's rows. */
  rows: readonly Row[]
  idOf: (row: Row) => string
  /** The title as it stands in a sentence. */
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

export function useReorder<Row>(options: ReorderOptions<Row>): Reorder<Row> {
  const { idOf, titleOf } = options
  const helpId = useId()
  const buttons = useRef(new Map<string, HTMLButtonElement>())
  const lifting = useLift(options, buttons)
  const { lift, liftedId, liveText, pickUp, putBack } = lifting
  useDrag(lifting)

  const handlePointerDown = (event: PointerEvent, row: Row) => {
    if (event.button !== 0 || lift.current) return
    event.preventDefault() // otherwise the drag would select text
    buttons.current.get(idOf(row))?.focus({ preventScroll: true })
    pickUp(row, event.clientY)
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
        onKeyDown={(event) => handleKeyDown(event, row, lifting)}
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

type Lifting<Row> = ReturnType<typeof useLift<Row>>

/** The lifted row, if any, and what can be done with it. `liveText` tells screen readers what was done. */
function useLift<Row>(
  { rows, idOf, titleOf, onMove }: ReorderOptions<Row>,
  buttons: RefObject<ReadonlyMap<string, HTMLButtonElement>>,
) {
  const [liveText, setLiveText] = useState('')
  const [liftedId, setLiftedId] = useState<string>()
  const lift = useRef<Lift>(undefined)
  const dropped = useRef<Lift>(undefined)

  const announce = ({ title, to, elements }: Lift, verb: string) =>
    setLiveText(`${title} ${verb} position ${to + 1} of ${elements.length}.`)

  const pickUp = (row: Row, pointerY?: number) => {
    const [id, title] = [idOf(row), titleOf(row)]
    const elements = rows.flatMap((one) => buttons.current.get(idOf(one))?.closest('tr') ?? [])
    const from = rows.findIndex((one) => idOf(one) === id)
    if (!elements[from] || elements.length < 2) return
    lift.current = { id, title, ...liftRow(elements, from, pointerY) }
    setLiftedId(id)
    if (pointerY === undefined)
      setLiveText(`${title} picked up, position ${from + 1} of ${elements.length}. Move it with the arrow keys.`)
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

  useNewOrder(rows.map(idOf).join('\n'), () => {
    if (lift.current) putBack() // somebody else changed the list meanwhile
    clearShifts(dropped.current?.elements ?? [])
    dropped.current = undefined
  })

  return { lift, liftedId, liveText, pickUp, moveTo, putBack, drop }
}

/** Calls a function once the table is rendered in another order. */
function useNewOrder(order: string, onNewOrder: () => void): void {
  const handleNewOrder = useEffectEvent(onNewOrder)
  // oxlint-disable-next-line react/exhaustive-effect-dependencies -- the new order is the reason for the effect
  useLayoutEffect(() => handleNewOrder(), [order])
}

/** While a row is dragged, it follows the pointer, and the rows scroll when the pointer is near their top or bottom. */
function useDrag({ lift, liftedId, moveTo, putBack, drop }: Omit<Lifting<unknown>, 'pickUp'>): void {
  useEffect(() => {
    if (lift.current?.grip === undefined) return undefined
    const ended = new AbortController()
    const { signal } = ended
    const followPointer = () => {
      const lifted = lift.current
      if (signal.aborted || lifted?.pointerY === undefined) return
      scrollAtEdge(lifted.pointerY, lifted.scroller)
      moveTo(lifted, findLanding(lifted))
      shiftRows(lifted)
      requestAnimationFrame(followPointer)
    }
    requestAnimationFrame(followPointer)
    addEventListener('pointermove', ({ clientY }) => lift.current && (lift.current.pointerY = clientY), { signal })
    addEventListener('pointerup', drop, { signal })
    addEventListener('pointercancel', putBack, { signal })
    addEventListener('keydown', ({ key }) => key === 'Escape' && putBack(), { signal })
    return () => ended.abort()
    // oxlint-disable-next-line react/exhaustive-deps -- one set of listeners for each lift
  }, [liftedId])
}

/** Space or Enter picks the row up and drops it; the arrow keys, Home and End move it; Escape or Tab puts it back. */
function handleKeyDown<Row>(event: KeyboardEvent, row: Row, { lift, pickUp, moveTo, putBack, drop }: Lifting<Row>): void {
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
