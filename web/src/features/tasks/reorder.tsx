/**
 * Reorders the rows of a table by hand, with dnd-kit. Every row has a handle, which is dragged by mouse, pen or finger, or picked up with
 * Space or Enter and moved with the arrow keys. While a row is lifted, the rows are only shifted by CSS; the table gets its new order when
 * it is dropped.
 */
import { type Announcements, closestCenter, type CollisionDetection, DndContext, type DragEndEvent } from '@dnd-kit/core'
import { type Modifier, PointerSensor, useSensor, useSensors } from '@dnd-kit/core'
import { SortableContext, useSortable, verticalListSortingStrategy } from '@dnd-kit/sortable'
import { IconGripVertical } from '@tabler/icons-react'
import {
  createContext,
  type ReactNode,
  type RefObject,
  use,
  useEffectEvent,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
} from 'react'
import { KeyboardRowSensor, type KeyboardTarget } from './keyboard-row-sensor.ts'
import classes from './reorder.module.css'

interface ReorderProps<Row> {
  /** In the order of the table's rows. */
  rows: readonly Row[]
  idOf: (row: Row) => string
  /** The title as it stands in a sentence. */
  titleOf: (row: Row) => string
  /** Moves the row at index `from` to index `to`. The caller must then pass `rows` in the new order; it may change them back later. */
  onMove: (from: number, to: number) => void
  /** The table, with a `MoveHandle` in each row. */
  children: ReactNode
}

/** Set from a drop until the table has its new order: the rows stay shifted, so that they do not jump back for a moment. */
const DroppedContext = createContext<RefObject<boolean>>({ current: false })

const onlyVertically: Modifier = ({ transform }) => ({ ...transform, x: 0 })

export function Reorder<Row>({ rows, idOf, titleOf, onMove, children }: ReorderProps<Row>) {
  const order = rows.map(idOf).join('\n')
  const ids = useMemo(() => (order === '' ? [] : order.split('\n')), [order])
  const [target] = useState<KeyboardTarget>({ id: undefined })
  const isLifted = useRef(false)
  const isDropped = useRef(false)
  const sensors = useSensors(useSensor(PointerSensor), useSensor(KeyboardRowSensor, { target }))

  const handleEnd = ({ active, over }: DragEndEvent) => {
    isLifted.current = false
    // dnd-kit learns of the row that the keys have reached only in the next frame.
    const [from, to] = [ids.indexOf(String(active.id)), ids.indexOf(target.id ?? String(over?.id))]
    if (to === -1 || to === from) return
    isDropped.current = true
    onMove(from, to)
  }

  useNewOrder(order, () => {
    if (isLifted.current) putBack() // somebody else changed the list meanwhile
    isDropped.current = false
    for (const id of ids) shiftRow(handleOf(id), undefined)
  })

  // Leaving the page with a lifted row puts it back.
  useLayoutEffect(() => () => void (isLifted.current && putBack()), [])

  /** A row moved by keyboard is over the row that the keys have reached, whatever the scrolling does meanwhile. */
  const findTarget: CollisionDetection = (args) => (target.id === undefined ? closestCenter(args) : [{ id: target.id }])

  const titleById = (id: unknown) => {
    const row = rows.find((one) => idOf(one) === id)
    return row === undefined ? '' : titleOf(row)
  }

  return (
    <DndContext
      sensors={sensors}
      collisionDetection={findTarget}
      modifiers={[onlyVertically]}
      onDragStart={() => (isLifted.current = true)}
      onDragEnd={handleEnd}
      onDragCancel={() => (isLifted.current = false)}
      accessibility={{
        announcements: announcementsOf(ids, titleById, target),
        screenReaderInstructions: {
          draggable: 'Press Space to pick up, the arrow keys to move, Space to drop, Escape to cancel.',
        },
        restoreFocus: false, // the handle keeps it, and a click elsewhere may move it
      }}
    >
      <SortableContext items={ids} strategy={verticalListSortingStrategy}>
        <DroppedContext value={isDropped}>{children}</DroppedContext>
      </SortableContext>
    </DndContext>
  )
}

/** What screen readers are told. */
function announcementsOf(ids: readonly string[], titleOf: (id: unknown) => string, target: KeyboardTarget): Announcements {
  const positionOf = (id: unknown) => ids.indexOf(String(id)) + 1
  let last: unknown
  const backText = (id: unknown) => `${titleOf(id)} is back at position ${positionOf(id)}.`
  return {
    onDragStart: ({ active: { id } }) => {
      last = id
      if (target.id === undefined) return undefined
      return `${titleOf(id)} picked up, position ${positionOf(id)} of ${ids.length}. Move it with the arrow keys.`
    },
    onDragOver: ({ active: { id }, over }) => {
      if (!over || over.id === last) return undefined
      last = over.id
      return `${titleOf(id)} moved to position ${positionOf(over.id)} of ${ids.length}.`
    },
    onDragEnd: ({ active: { id }, over }) => {
      const at = target.id ?? over?.id ?? id
      return at === id ? backText(id) : `${titleOf(id)} dropped at position ${positionOf(at)} of ${ids.length}.`
    },
    onDragCancel: ({ active: { id } }) => backText(id),
  }
}

/** Calls a function once the table is rendered in another order. */
function useNewOrder(order: string, onNewOrder: () => void): void {
  const handleNewOrder = useEffectEvent(onNewOrder)
  // oxlint-disable-next-line react/exhaustive-effect-dependencies -- the new order is the reason for the effect
  useLayoutEffect(() => handleNewOrder(), [order])
}

/** Both sensors put the lifted row back on this key; dnd-kit has no call for it. */
function putBack(): void {
  document.dispatchEvent(new KeyboardEvent('keydown', { code: 'Escape' }))
}

interface MoveHandleProps {
  id: string
  /** The row's title as it stands in a sentence. */
  title: string
}

export function MoveHandle({ id, title }: MoveHandleProps) {
  const isDropped = use(DroppedContext)
  const button = useRef<HTMLButtonElement>(null)
  const { items, setNodeRef, setActivatorNodeRef, attributes, listeners, transform, isDragging } = useSortable({
    id,
    transition: null,
    animateLayoutChanges: () => false,
  })
  useLayoutEffect(() => {
    setActivatorNodeRef(button.current)
    setNodeRef(button.current?.closest('tr') ?? null)
  }, [setActivatorNodeRef, setNodeRef])
  useLayoutEffect(() => {
    if (!isDropped.current) shiftRow(button.current, transform?.y)
  }, [isDropped, transform?.y])

  return (
    <button
      ref={button}
      id={handleId(id)}
      type="button"
      className={classes['handle']}
      aria-label={`Move ${title}`}
      aria-describedby={attributes['aria-describedby']}
      data-lifted={isDragging || undefined}
      {...(items.length > 1 && listeners)}
    >
      <IconGripVertical size={18} stroke={1.75} aria-hidden />
    </button>
  )
}

/** Focuses the handle of a row, for example before an Undo button moves the row. */
export function focusHandle(id: string): void {
  handleOf(id)?.focus()
}

function handleId(id: string): string {
  return `move ${id}`
}

function handleOf(id: string): HTMLElement | null {
  return document.getElementById(handleId(id))
}

function shiftRow(handle: HTMLElement | null, y: number | undefined): void {
  const row = handle?.closest('tr')
  if (row) row.style.transform = y === undefined ? '' : `translateY(${y}px)`
}
