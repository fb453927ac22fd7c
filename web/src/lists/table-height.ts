/** Fits a table into the window: its height ends where the window does, and search matches are scrolled into view. */
import { type RefObject, useEffect, useLayoutEffect, useRef } from 'react'

/** Sets the CSS variables `--above` (height of the page above the table) and `--after` (height of its frame below it). */
export function useTableHeight(scroller: RefObject<HTMLElement | null>): void {
  useLayoutEffect(() => updateHeight(scroller.current))
  useEffect(() => {
    const element = scroller.current
    if (!element?.parentElement) return undefined
    let frame = 0
    const observer = new ResizeObserver(() => {
      cancelAnimationFrame(frame)
      frame = requestAnimationFrame(() => updateHeight(element)) // deferred, because it may resize the observed element
    })
    observer.observe(element.parentElement)
    return () => {
      observer.disconnect()
      cancelAnimationFrame(frame)
    }
  }, [scroller])
}

function updateHeight(scroller: HTMLElement | null): void {
  if (!scroller?.parentElement) return
  const { top, bottom } = scroller.getBoundingClientRect()
  const after = scroller.parentElement.getBoundingClientRect().bottom - bottom
  setPixels(scroller, '--above', top + scrollY)
  setPixels(scroller, '--after', after)
}

/** Sets a property only if it changes, because the browser would restyle and lay out the table again. */
function setPixels({ style }: HTMLElement, property: string, pixels: number): void {
  const value = `${Math.ceil(pixels)}px`
  if (style.getPropertyValue(property) !== value) style.setProperty(property, value)
}

/**
 * Scrolls a wide table sideways to the first cell that contains the search text, if no match is visible. Scrolls back when the search is
 * cleared.
 */
export function useMatchInView(
  scroller: RefObject<HTMLElement | null>,
  search: string,
  page: number | undefined,
  rows: readonly unknown[] | undefined,
): void {
  const leftBefore = useRef<number>(undefined)
  /** The page and search already scrolled to, so that a reload of the same page does not scroll again. */
  const shown = useRef<string>(undefined)
  useEffect(() => {
    const wanted = search.trim().toLowerCase()
    if (wanted === '' && leftBefore.current !== undefined) {
      scroller.current?.scrollTo({ left: leftBefore.current })
      leftBefore.current = undefined
    }
    if (wanted === '') shown.current = undefined
    const pageAndSearch = `${page} ${wanted}`
    if (wanted === '' || !rows || !scroller.current || shown.current === pageAndSearch) return
    shown.current = pageAndSearch
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
