/** Keyboard use of the page's table rows: moving between rows, opening a row with Enter, and restoring the focus after Back. */
import { useEffect, useRef, useState } from 'react'

/** Marks the link or button in a row that Enter on the row clicks. */
export const opensRow = { 'data-opens-row': '' }

const ROW = 'tr[tabindex]'
const ROWS = `main tbody > ${ROW}`

/** Moves the focus one row up or down, or to the first row if none has it. Returns false if there are no rows. */
export function moveToRow(step: 1 | -1): boolean {
  const rows = [...document.querySelectorAll<HTMLElement>(ROWS)].filter((row) => row.checkVisibility())
  const current = rows.findIndex((row) => row.contains(document.activeElement))
  const next = current === -1 ? rows[0] : rows[Math.max(0, Math.min(rows.length - 1, current + step))]
  next?.focus()
  return next !== undefined
}

/** When the focused element disappears, focuses the first row; in an empty list the table or the heading. */
export function focusRows(options?: FocusOptions): void {
  const candidates = [...document.querySelectorAll<HTMLElement>(`${ROWS}, main section[tabindex], main h1`)]
  const shown = candidates.filter((one) => one.checkVisibility())
  const target = shown.find((one) => one.matches('tr')) ?? shown.find((one) => one.matches('section')) ?? shown[0]
  target?.focus(options)
}

/** Focuses the next row that is added to the page's table within 5 s, unless the focus has moved elsewhere. */
export function focusAddedRow(): void {
  const rows = () => [...document.querySelectorAll<HTMLElement>(ROWS)]
  const before = new Set(rows())
  const focused = document.activeElement
  const observer = new MutationObserver(() => {
    const added = rows().find((row) => !before.has(row))
    if (!added) return
    observer.disconnect()
    if (document.activeElement === focused || document.activeElement === document.body) added.focus()
  })
  observer.observe(document.querySelector('main') ?? document.body, { childList: true, subtree: true })
  setTimeout(() => observer.disconnect(), ROW_ADDED_MS)
}

const ROW_ADDED_MS = 5000 // longer than an act and the reload of its list take

/** A ref callback: if the element is removed while it contains the focus, the page's heading gets it. */
export function focusHeadingWhenGone(going: HTMLElement | null): () => void {
  return () => {
    if (going?.contains(document.activeElement)) document.querySelector<HTMLElement>('main h1')?.focus({ preventScroll: true })
  }
}

/** Focuses the page's search box. Returns false if it has none. */
export function focusSearch(): boolean {
  const boxes = document.querySelectorAll<HTMLElement>('main :is(input[type=search], [role=searchbox])')
  const box = [...boxes].find((one) => one.checkVisibility())
  box?.focus()
  return box !== undefined
}

/** Opens the row if it has the focus itself, unless an act on it is under way. Returns false if the target is not a row that opens. */
export function openRow(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement) || !target.matches(ROWS)) return false
  const opener = target.querySelector<HTMLElement>('[data-opens-row]')
  if (target.ariaBusy !== 'true') opener?.click()
  return opener !== null
}

/** Returns the key of the current history entry. */
export type GetHistoryKey = () => string | undefined

/** The row that last had the focus, by the key of the history entry that showed its table. */
const lastRows = new Map<string, string>()

/**
 * Restores the focus of a row after Back or Forward, unless the user has already moved the focus.
 * @param ids the ids of the rendered rows
 */
export function useFocusedRow(getHistoryKey: GetHistoryKey | undefined, ids: readonly string[]) {
  const body = useRef<HTMLTableSectionElement>(null)
  const [wanted, setWanted] = useState(() => lastRows.get(getHistoryKey?.() ?? ''))
  const index = wanted === undefined ? -1 : ids.indexOf(wanted)

  useEffect(() => {
    if (index === -1) return undefined
    // After the heading, which gets the focus when a page is rendered.
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
    const key = getHistoryKey?.()
    if (key !== undefined && id) lastRows.set(key, id)
  }
  return { ref: body, onFocus: handleFocus }
}

/** Ends the busy state at once, or with `afterPaint` once the rows of the reloaded list are painted. */
export type EndBusy = (options?: { afterPaint: true }) => void

/**
 * Marks the row or item around a button as busy: dimmed and inert, until the returned function is called or it is removed. A row keeps the
 * focus that was inside it.
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
  return (options) => {
    if (options?.afterPaint) requestAnimationFrame(() => requestAnimationFrame(end))
    else end()
  }
}

/** Marks all picked rows on the page as busy. */
export function markPickedBusy(): EndBusy {
  const ends = [...document.querySelectorAll(`${ROWS}[data-picked]`)].map(markBusy)
  return (options) => {
    for (const end of ends) end(options)
  }
}

const ROW_REMOVED_MS = 2000 // far longer than React takes to render the new rows

/**
 * Keeps the focus in the list when the focused button disappears, alone or with its row. Call the returned function after the list was
 * reloaded: the row now in that position gets the focus, or the first button of an item or a plain row.
 */
export function keepFocusInRows(within: Element | null): () => void {
  const row = within?.closest<HTMLElement>('tr, li')
  const body = row?.parentElement
  if (!within || !row || !body) return () => {}
  const index = [...body.children].indexOf(row)
  const focusNext = () => {
    if (document.activeElement !== document.body) return
    // The rows of a list can have the focus; those of a plain table cannot.
    const kind = row.matches('tr[tabindex]') ? 'tr[tabindex]' : row.localName
    const rows = body.isConnected ? [...body.querySelectorAll<HTMLElement>(`:scope > ${kind}`)] : []
    const next = row.isConnected ? row : rows[Math.min(index, rows.length - 1)]
    const target = next?.matches('[tabindex]') ? next : next?.querySelector('button')
    const table = body.isConnected ? body.closest<HTMLElement>('section[tabindex]') : null
    const heading = document.querySelector<HTMLElement>('main h1')
    ;(target ?? table ?? heading)?.focus()
  }
  return () => {
    if (!within.isConnected) return focusNext()
    const observer = new MutationObserver(() => {
      if (within.isConnected) return
      observer.disconnect()
      focusNext()
    })
    observer.observe(document.querySelector('main') ?? body, { childList: true, subtree: true })
    setTimeout(() => observer.disconnect(), ROW_REMOVED_MS)
  }
}
