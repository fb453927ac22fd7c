/** The rows of the page's table by keyboard: the focus moves from row to row, and Enter opens the one it is on. */

/** A row's link or button with this attribute is what Enter on the row does. */
export const opensRow = { 'data-opens-row': '' }

const ROWS = 'main tbody > tr[tabindex]'

/** Moves the focus by so many rows, to the first row from elsewhere; false where there is none. */
export function moveToRow(step: 1 | -1): boolean {
  const rows = [...document.querySelectorAll<HTMLElement>(ROWS)].filter((row) => row.checkVisibility())
  const current = rows.findIndex((row) => row.contains(document.activeElement))
  const next = current === -1 ? rows[0] : rows[Math.max(0, Math.min(rows.length - 1, current + step))]
  next?.focus()
  return next !== undefined
}

/** Opens a row that has the focus itself; false for anything else. */
export function openRow(target: EventTarget | null): boolean {
  if (!(target instanceof HTMLElement) || !target.matches(ROWS)) return false
  const opener = target.querySelector<HTMLElement>('[data-opens-row]')
  opener?.click()
  return opener !== null
}

const ROW_LEAVES_MS = 2000 // far longer than React takes to draw the rows that have come

/**
 * Keeps the focus in the list while a row that has it goes: the returned function, to be called once the list is loaded again, gives it to
 * the row that then stands there.
 */
export function keepFocusInRows(within: Element | null): () => void {
  const row = within?.closest('tr')
  const body = row?.parentElement
  if (!row || !body) return () => {}
  const index = [...body.children].indexOf(row)
  const focusNext = () => {
    if (document.activeElement !== document.body) return
    const rows = body.querySelectorAll<HTMLElement>(':scope > tr[tabindex]')
    const next = rows[Math.min(index, rows.length - 1)] ?? body.closest<HTMLElement>('section[tabindex]')
    next?.focus()
  }
  return () => {
    if (!row.isConnected) return focusNext()
    const observer = new MutationObserver(() => {
      if (row.isConnected) return
      observer.disconnect()
      focusNext()
    })
    observer.observe(body, { childList: true })
    setTimeout(() => observer.disconnect(), ROW_LEAVES_MS)
  }
}
