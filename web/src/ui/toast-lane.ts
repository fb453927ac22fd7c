/**
 * Keeps the toasts' lane free. Its own place is the strip above the page's heading, where nothing stands until the window is scrolled. Then
 * it moves aside for buttons, links and fields, and for the row with the focus, which is the one that was just changed.
 */
import { useLayoutEffect } from 'react'

/** Pixels between a toast and what it moved aside for. */
const GAP = 8
/** Toasts start at the latest at this share of the window's height. */
const LOWEST_PLACE = 0.4
const CONTROLS = 'main :is(a, button, input, select, textarea)'

/** @param shown changes whenever the toasts change */
export function useFreeLane(lane: HTMLElement | null, shown: readonly unknown[]): void {
  useLayoutEffect(() => {
    if (!lane || shown.length === 0) return undefined // no layout work while there are no toasts
    const stop = new AbortController()
    if (!lane.matches(':focus-within')) placeLane(lane)
    // Do not move away from under the pointer, or while a button of a toast has the focus.
    const place = () => {
      if (!lane.matches(':hover, :focus-within')) placeLane(lane)
    }
    for (const type of ['focusin', 'scroll', 'resize'])
      window.addEventListener(type, place, { signal: stop.signal, passive: true })
    return () => stop.abort()
  }, [lane, shown])
}

function placeLane(lane: HTMLElement): void {
  for (const side of ['top', 'right']) lane.style.removeProperty(side)
  const own = lane.getBoundingClientRect()
  const obstacles = obstaclesOf(lane)
  const isFree = (top: number, right: number): boolean =>
    obstacles.every(
      (one) => one.top >= top + own.height || one.bottom <= top || one.left >= right || one.right <= right - own.width,
    )
  if (isFree(own.top, own.right)) return

  const { left = 0 } = document.querySelector('main')?.getBoundingClientRect() ?? {}
  const tops = [own.top, ...obstacles.map(({ bottom }) => bottom + GAP)].filter((top) => top >= own.top && top < lowest())
  const rights = [own.right, ...obstacles.map((one) => one.left - GAP)]
    .filter((right) => right <= own.right && right - own.width >= left)
    .toSorted((a, b) => b - a)
  for (const top of tops.toSorted((a, b) => a - b)) {
    const right = rights.find((one) => isFree(top, one))
    if (right === undefined) continue
    lane.style.top = `${top}px`
    lane.style.right = `${document.documentElement.clientWidth - right}px`
    return
  }
}

const lowest = (): number => innerHeight * LOWEST_PLACE

/** Returns where the lane must not be. What lies below something else, such as the header on a phone, is not in the way. */
function obstaclesOf(lane: HTMLElement): DOMRect[] {
  const row = document.activeElement?.closest('main :is(tr, li)')
  return [...document.querySelectorAll(CONTROLS), ...(row ? [row] : [])].flatMap((element) => {
    const rect = element.getBoundingClientRect()
    const isNear = rect.width > 0 && rect.bottom > 0 && rect.top < lowest() + lane.offsetHeight
    return isNear && isOnTop(element, rect, lane) ? rect : []
  })
}

function isOnTop(element: Element, { left, right, top, bottom }: DOMRect, lane: HTMLElement): boolean {
  const [x, y] = [(Math.max(0, left) + Math.min(innerWidth, right)) / 2, (Math.max(0, top) + Math.min(innerHeight, bottom)) / 2]
  const topmost = document.elementsFromPoint(x, y).find((one) => !lane.contains(one))
  return topmost !== undefined && element.contains(topmost)
}
