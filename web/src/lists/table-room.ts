/** Where a table stands in the window: it ends where the window does, and what was searched for is within what one sees of it. */
import { type RefObject, useEffect, useLayoutEffect, useRef } from 'react'

/** Tells the style sheet how much of the page is above the table (`--above`), and of its frame below it (`--after`). */
export function useTableRoom(scroller: RefObject<HTMLElement | null>): void {
  useLayoutEffect(() => tellRoom(scroller.current))
  useEffect(() => {
    const element = scroller.current
    if (!element?.parentElement) return undefined
    let frame = 0
    const observer = new ResizeObserver(() => {
      cancelAnimationFrame(frame)
      frame = requestAnimationFrame(() => tellRoom(element)) // not at once: it may resize what is observed
    })
    observer.observe(element.parentElement)
    return () => {
      observer.disconnect()
      cancelAnimationFrame(frame)
    }
  }, [scroller])
}

function tellRoom(scroller: HTMLElement | null): void {
  if (!scroller?.parentElement) return
  const { top, bottom } = scroller.getBoundingClientRect()
  const after = scroller.parentElement.getBoundingClientRect().bottom - bottom
  tell(scroller, '--above', top + scrollY)
  tell(scroller, '--after', after)
}

/** Only what is new: the browser would style and lay out the table again. */
function tell({ style }: HTMLElement, property: string, pixels: number): void {
  const value = `${Math.ceil(pixels)}px`
  if (style.getPropertyValue(property) !== value) style.setProperty(property, value)
}

/**
 * Scrolls a wide table sideways to the first cell that says what was searched for, if one sees none that does, and back once nothing is
 * searched for any more.
 */
export function useMatchInView(
  scroller: RefObject<HTMLElement | null>,
  search: string,
  page: number | undefined,
  rows: readonly unknown[] | undefined,
): void {
  const leftBefore = useRef<number>(undefined)
  /** The search and page of which one sees a match: it stays where it is when the same page is loaded again. */
  const shown = useRef<string>(undefined)
  useEffect(() => {
    const wanted = search.trim().toLowerCase()
    if (wanted === '' && leftBefore.current !== undefined) {
      scroller.current?.scrollTo({ left: leftBefore.current })
      leftBefore.current = undefined
    }
    if (wanted === '') shown.current = undefined
    const place = `${page} ${wanted}`
    if (wanted === '' || !rows || !scroller.current || shown.current === place) return
    shown.current = place
    const frame = scroller.current.getBoundingClientRect()
    const cells = [...scroller.current.querySelectorAll('tbody td')]
    const matches = cells.filter(({ textContent }) => textContent.toLowerCase().includes(wanted))
    const isSeen = matches.some((cell) => {
      const { left, right } = cell.getBoundingClientRect()
      return left >= frame.left && right <= frame.right
    })
    if (isSeen || !matches[0]) return
    leftBefore.current ??= scroller.current.scrollLeft
    matches[0].scrollIntoView({ block: 'nearest', inline: 'nearest' })
  }, [scroller, search, page, rows])
}
