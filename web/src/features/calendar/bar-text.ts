/** Where the dates of an item stand in the timeline: in its bar if they fit, else beside it, where there is more room. */
import { useLayoutEffect, useRef, useState } from 'react'
import type { BarExtent, Span } from './days.ts'

/** The width of a character of a bar's text in rem, on average and a little too much. */
const CHARACTER_REM = 0.41
/** What a bar adds to its text: padding and border at both sides. */
const BAR_EXTRA_REM = 1.125
/** The gap between a bar and the text beside it. */
const GAP_REM = 0.5

/** Returns the side of a bar with more room, and the room in columns. */
export function roomBeside({ left, right }: BarExtent, { days }: Span): { side: 'start' | 'end'; room: number } {
  const after = days.length - right
  return left > after ? { side: 'start', room: left } : { side: 'end', room: after }
}

/** @param trackRem the width of all columns together; 0 before it is known */
export function sideOfText(
  text: string,
  extent: BarExtent,
  span: Span,
  trackRem: number,
): 'inside' | 'start' | 'end' | 'nowhere' {
  const columnRem = trackRem / span.days.length
  const textRem = text.length * CHARACTER_REM
  if ((extent.right - extent.left) * columnRem >= textRem + BAR_EXTRA_REM) return 'inside'
  const { side, room } = roomBeside(extent, span)
  return room * columnRem >= textRem + GAP_REM ? side : 'nowhere'
}

/** Measures an element: its width in rem, so that it goes with the size of the text. */
export function useWidth() {
  const ref = useRef<HTMLDivElement>(null)
  const [width, setWidth] = useState(0)
  useLayoutEffect(() => {
    const element = ref.current!
    const measure = () => setWidth(element.clientWidth / Number.parseFloat(getComputedStyle(document.documentElement).fontSize))
    measure()
    const observer = new ResizeObserver(measure)
    observer.observe(element)
    return () => observer.disconnect()
  }, [])
  return { ref, width }
}
