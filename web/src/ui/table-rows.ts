/** The rows of the page's table by keyboard: the focus moves from row to row, Enter opens the one it is on, and back leads to it again. */
import { useEffect, useRef, useState } from 'react'

/** A row's link or button with this attribute is what Enter on the row does. */
export const opensRow = { 'data-opens-row': '' }

const ROW = 'tr[tabindex]'
const ROWS = `main tbody > ${ROW}`

/** Moves the focus by so many rows, to the first row from elsewhere; false where there is none. */
export function moveToRow(step: 1 | -1): boolean {
  const rows = [...document.querySelectorAll<HTMLElement>(ROWS)].filter((row) => row.checkVisibility())
  const current = rows.findIndex((row) => row.contains(document.activeElement))
  const next = current === -1 ? rows[0] : rows[Math.max(0, Math.min(rows.length - 1, current + step))]
  next?.focus()
  return next !== undefined
}

/** Gives the focus to the first row, or what stands in its place, when what had it goes. */
export function focusRows(options?: FocusOptions): void {
  const places = [...document.querySelectorAll<HTMLElement>(`${ROWS}, main section[tabindex], main h1`)]
  const shown = places.filter((place) => place.checkVisibility())
  const place = shown.find((one) => one.matches('tr')) ?? shown.find((one) => one.matches('section')) ?? shown[0]
  place?.focus(options)
}

/** Gives the focus to a row that comes into the page's table, if one comes soon and the focus has not gone elsewhere by itself. */
export function focusRowThatComes(): void {
  const rows = () => [...document.querySelectorAll<HTMLElement>(ROWS)]
  const before = new Set(rows())
  const focused = document.activeElement
  const observer = new MutationObserver(() => {
    const come = rows().find((row) => !before.has(row))
    if (!come) return
    observer.disconnect()
    if (document.activeElement === focused || document.activeElement === document.body) come.focus()
  })
  observer.observe(document.querySelector('main') ?? document.body, { childList: true, subtree: true })
  setTimeout(() => observer.disconnect(), ROW_COMES_MS)
}

const ROW_COMES_MS = 5000 // longer than an act and the list after it take

/** A ref of what goes while a button in it may have the focus: then the page's heading gets it. */
export function focusHeadingWhenGone(going: HTMLElement | null): () => void {
  return () => {
    if (going?.contains(document.activeElement)) document.querySelector<HTMLElement>('main h1')?.focus({ preventScroll: true })
  }
}

/** Puts the focus into the page's search box; false if it has none. */
export function focusSearch(): boolean {
  const boxes = document.querySelectorAll<HTMLElement>('main :is(input[type=search], [role=searchbox])')
  const box = [...boxes].find((one) => one.checkVisibility())
  box?.focus()
  return box !== undefined
}

/** Opens a row that has the focus itself, unless an act on it is under way; false for anything else. */
export function openRow(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement) || !target.matches(ROWS)) return false
  const opener = target.querySelector<HTMLElement>('[data-opens-row]')
  if (target.ariaBusy !== 'true') opener?.click()
  return opener !== null
}

/** Tells a place that is unique among those in the browser's history. */
export type PlaceNow = () => string | undefined

/** The row that last had the focus, by the place in the browser's history at which its table stood. */
const lastRows = new Map<string, string>()

/**
 * Gives a row the focus again when one comes back to the place at which it had it last; somebody who has moved on meanwhile keeps theirs.
 * @param ids the ids of the rows that are drawn
 */
export function useFocusedRow(placeNow: PlaceNow | undefined, ids: readonly string[]) {
  const body = useRef<HTMLTableSectionElement>(null)
  const [wanted, setWanted] = useState(() => lastRows.get(placeNow?.() ?? ''))
  const index = wanted === undefined ? -1 : ids.indexOf(wanted)

  useEffect(() => {
    if (index === -1) return undefined
    // After the page's heading, which gets the focus when a page is drawn.
    const frame = requestAnimationFrame(() => {
      setWanted(undefined)
      const isFree = document.activeElement === document.body || document.activeElement?.matches('h1')
      if (isFree) body.current?.querySelectorAll<HTMLElement>(ROW)[index]?.focus()
    })
    return () => cancelAnimationFrame(frame)
  }, [index])

  const handleFocus = ({ target }: { target: Element }) => {
    const row = target.closest(ROW)
    const id = row && ids[[...(body.current?.querySelectorAll(ROW) ?? [])].indexOf(row)]
    const place = placeNow?.()
    if (place !== undefined && id) lastRows.set(place, id)
  }
  return { ref: body, onFocus: handleFocus }
}

/** @param isLoaded the list was loaded again, so that what the act has changed is drawn before the row can be used */
export type EndBusy = (isLoaded?: 'is loaded') => void

/**
 * Shows that an act on the row or item of a button is under way: it is dimmed, and nothing in it can be pressed, until the returned
 * function is called or it is gone. A row keeps the focus that was in it.
 */
export function markBusy(within: Element | null): EndBusy {
  const row = within?.closest<HTMLElement>('tr, li')
  if (!within || !row) return () => {}
  const hadFocus = within === document.activeElement
  if (hadFocus && row.matches(ROW)) row.focus({ preventScroll: true })
  row.ariaBusy = 'true'
  for (const part of row.children) part.toggleAttribute('inert', true)
  let isOver = false
  const end = () => {
    if (isOver) return
    isOver = true
    row.ariaBusy = null
    for (const part of row.children) part.toggleAttribute('inert', false)
    const isFree = document.activeElement === row || document.activeElement === document.body
    if (hadFocus && isFree && within instanceof HTMLElement) within.focus({ preventScroll: true })
  }
  return (isLoaded) => {
    if (isLoaded) requestAnimationFrame(() => requestAnimationFrame(end))
    else end()
  }
}

/** The same of all picked rows that are shown. */
export function markPickedBusy(): EndBusy {
  const ends = [...document.querySelectorAll(`${ROWS}[data-picked]`)].map(markBusy)
  return (isLoaded) => {
    for (const end of ends) end(isLoaded)
  }
}

const ROW_LEAVES_MS = 2000 // far longer than React takes to draw the rows that have come

/**
 * Keeps the focus in the list while a button that has it goes, alone or with its row: the returned function, to be called once the list is
 * loaded again, gives it to the row that then stands there, or the first button of an item.
 */
export function keepFocusInRows(within: Element | null): () => void {
  const row = within?.closest<HTMLElement>('tr, li')
  const body = row?.parentElement
  if (!within || !row || !body) return () => {}
  const index = [...body.children].indexOf(row)
  const focusNext = () => {
    if (document.activeElement !== document.body) return
    const rows = body.isConnected ? [...body.querySelectorAll<HTMLElement>(':scope > tr[tabindex], :scope > li')] : []
    const next = row.isConnected ? row : rows[Math.min(index, rows.length - 1)]
    const place = next?.matches('li') ? next.querySelector('button') : next
    const table = body.isConnected ? body.closest<HTMLElement>('section[tabindex]') : null
    const heading = document.querySelector<HTMLElement>('main h1')
    ;(place ?? table ?? heading)?.focus()
  }
  return () => {
    if (!within.isConnected) return focusNext()
    const observer = new MutationObserver(() => {
      if (within.isConnected) return
      observer.disconnect()
      focusNext()
    })
    observer.observe(document.querySelector('main') ?? body, { childList: true, subtree: true })
    setTimeout(() => observer.disconnect(), ROW_LEAVES_MS)
  }
}
