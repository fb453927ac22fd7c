/** The geometry of a lifted table row (see reorder.tsx): where it lands, how the rows are shifted, and scrolling at the edges. */

/** A lifted row, with the positions of all rows when it was picked up. `from` is its index then, `to` the index where it would land. */
export interface Lift {
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

/** Returns a lift of the row at index `from`, which has not moved yet. @param pointerY the pointer's position in the window, for a drag */
export function liftRow(elements: HTMLTableRowElement[], from: number, pointerY: number | undefined): Omit<Lift, 'id' | 'title'> {
  const scroller = findScroller(elements[from])
  const [first, second] = elements.map((element) => element.getBoundingClientRect())
  return {
    elements,
    tops: elements.map((element) => element.getBoundingClientRect().top + scrolled(scroller)),
    height: elements[from]?.offsetHeight ?? 0,
    gap: first && second ? second.top - first.bottom : 0,
    from,
    to: from,
    scroller,
    ...(pointerY !== undefined && { grip: pointerY + scrolled(scroller), pointerY }),
  }
}

/** Returns the index where a dragged row would land. It passes another row once it crosses that row's middle. */
export function findLanding({ tops, elements, height, from, scroller, grip = 0, pointerY = 0 }: Lift): number {
  const distance = pointerY + scrolled(scroller) - grip
  const top = (tops[from] ?? 0) + distance
  const middle = (index: number) => (tops[index] ?? 0) + (elements[index]?.offsetHeight ?? 0) / 2
  const last = elements.length - 1
  let to = from
  while (to > 0 && top < middle(to - 1)) to--
  if (to < from) return to
  while (to < last && top + height > middle(to + 1)) to++
  return to
}

function findScroller(element: Element | undefined): Element | undefined {
  for (let at = element?.parentElement; at && at !== document.documentElement; at = at.parentElement)
    if (at.scrollHeight > at.clientHeight && /auto|scroll/.test(getComputedStyle(at).overflowY)) return at
  return undefined
}

/** Returns by how many pixels the window and `scroller` together are scrolled. */
function scrolled(scroller: Element | undefined): number {
  return scrollY + (scroller?.scrollTop ?? 0)
}

export function scrollAtEdge(y: number, scroller: Element | undefined): void {
  const { top, bottom } = scroller?.getBoundingClientRect() ?? { top: 0, bottom: innerHeight }
  const isAbove = y < Math.max(0, top) + EDGE_PIXELS
  if (!isAbove && y <= Math.min(innerHeight, bottom) - EDGE_PIXELS) return
  const by = isAbove ? -SCROLL_PIXELS : SCROLL_PIXELS
  const before = scroller?.scrollTop
  scroller?.scrollBy(0, by)
  if (scroller?.scrollTop === before) scrollBy(0, by)
}

/** Shifts the rows by CSS: the lifted one follows the pointer, or is at its landing place if keys move it; the rows between make room. */
export function shiftRows({ elements, tops, height, gap, from, to, scroller, grip, pointerY }: Lift): void {
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

export function clearShifts(elements: HTMLTableRowElement[]): void {
  for (const element of elements) element.style.transform = ''
}
