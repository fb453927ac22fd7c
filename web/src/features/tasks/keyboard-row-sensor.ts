/**
 * Moves a lifted table row by keyboard, for dnd-kit: Space or Enter picks it up and drops it; the arrow keys, Home and End move it; Escape,
 * Tab or a click elsewhere puts it back. dnd-kit's own sensor knows neither Home and End nor the loss of the focus, and looks for the next
 * row by its distance, which is wrong while the list scrolls (reorder.test.tsx).
 */
import type { Activators, SensorInstance, SensorProps } from '@dnd-kit/core'

export interface KeyboardTarget {
  /** The row that the keys have reached; undefined while no row is moved by keyboard. */
  id: string | undefined
}

interface SensorOptions {
  target: KeyboardTarget
}

function isPickUp({ key }: Pick<KeyboardEvent, 'key'>): boolean {
  return key === ' ' || key === 'Enter'
}

export class KeyboardRowSensor implements SensorInstance {
  static activators: Activators<SensorOptions> = [
    {
      eventName: 'onKeyDown',
      handler: (event: React.KeyboardEvent) => {
        if (!isPickUp(event) || event.repeat) return false
        event.preventDefault()
        return true
      },
    },
  ]

  autoScrollEnabled = false
  private readonly props: SensorProps<SensorOptions>
  private readonly ended = new AbortController()
  private readonly handle: HTMLElement
  private readonly scrolledAtFirst: number

  constructor(props: SensorProps<SensorOptions>) {
    this.props = props
    this.handle = props.event.target as HTMLElement
    this.scrolledAtFirst = scrolled(this.handle)
    props.options.target.id = String(props.active)
    const { signal } = this.ended
    document.addEventListener('keydown', (event) => this.handleKey(event), { signal })
    this.handle.addEventListener('blur', () => this.end('onCancel'), { signal })
    addEventListener('resize', () => this.end('onCancel'), { signal })
    props.onStart({ x: 0, y: 0 })
  }

  private handleKey(event: KeyboardEvent): void {
    if (event === this.props.event) return // the key that picked the row up
    if (!this.handle.isConnected) return this.ended.abort()
    if (event.key === 'Tab') return this.end('onCancel')
    event.preventDefault()
    if (event.code === 'Escape') this.end('onCancel')
    else if (!isPickUp(event)) this.move(event.key)
    else if (!event.repeat) this.end('onEnd')
  }

  private move(key: string): void {
    const { context, options, active } = this.props
    const { droppableRects, droppableContainers } = context.current
    const sortable: { items: string[] } | undefined = context.current.draggableNodes.get(active)?.data.current?.['sortable']
    const ids = sortable?.items ?? []
    const at = ids.indexOf(options.target.id ?? '')
    const to = { ArrowUp: at - 1, ArrowDown: at + 1, Home: 0, End: ids.length - 1 }[key]
    const id = to === undefined ? undefined : ids[to]
    if (id === undefined) return
    options.target.id = id
    const [own, rect] = [droppableRects.get(active), droppableRects.get(id)]
    if (!own || !rect) return
    const distance = rect.top > own.top ? rect.bottom - own.bottom : rect.top - own.top
    droppableContainers.get(id)?.node.current?.scrollIntoView({ block: 'nearest' })
    // dnd-kit adds the scrolling since the row was picked up.
    this.props.onMove({ x: 0, y: distance - (scrolled(this.handle) - this.scrolledAtFirst) })
  }

  private end(how: 'onEnd' | 'onCancel'): void {
    this.ended.abort()
    this.props[how]()
    this.props.options.target.id = undefined
  }
}

/** Returns by how many pixels everything around the element is scrolled. */
function scrolled(element: Element): number {
  return element.parentElement ? element.parentElement.scrollTop + scrolled(element.parentElement) : 0
}
