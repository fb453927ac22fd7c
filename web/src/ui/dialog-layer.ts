/**
 * Dialogs above each other, such as a question above a form. Escape closes only the topmost one, and a closed dialog gives the focus back.
 * Mantine's Modal.Stack hides the lower dialogs, and one that is unmounted while it is open would stay in the stack for ever.
 */
import { type MouseEvent, useEffectEvent, useLayoutEffect, useRef, useState } from 'react'

interface Layer {
  level: number
  close: () => void
}

/** The open dialogs, the topmost one last. */
const layers: Layer[] = []

const DIALOG = '[aria-modal="true"]'

/** Whether a dialog is open. */
export function isDialogOpen(): boolean {
  return document.querySelector(DIALOG) !== null
}

const LOWEST_Z_INDEX = 200 // Mantine's `modal`; toasts are at 250

/** Set when a dialog is closed, until a key is pressed anew: Enter, if it is still held, would press the button that opened the dialog. */
let ignoresRepeats = false

// One listener for all, so that a dialog that opens or becomes the topmost one because of a key does not get the same key.
globalThis.addEventListener?.(
  'keydown',
  (event) => {
    if (!event.repeat) ignoresRepeats = false
    else if (ignoresRepeats) event.preventDefault()
    if (event.key === 'Escape' && !event.isComposing) layers.at(-1)?.close()
  },
  { capture: true },
)

function addLayer(layer: Layer): void {
  layers.push(layer)
  holdPage()
}

function removeLayer(layer: Layer): void {
  layers.splice(layers.indexOf(layer), 1)
  ignoresRepeats = true
  holdPage()
}

/** The page behind a dialog does not scroll (styles.css). If it has a scroll bar, the bar's room stays. */
function holdPage(): void {
  const page = document.documentElement
  if (layers.length === 0) delete page.dataset['behindDialog']
  else page.dataset['behindDialog'] ??= window.innerWidth > page.clientWidth ? 'scrollable' : ''
}

/** Gives the focus to what has opened something, unless it is elsewhere by now. @param inside what was opened, and may still have the focus */
export function giveFocusBack(inside: Element | null, opener: Element | null): void {
  const focused = document.activeElement
  const isLost = !focused || focused === document.body || inside?.contains(focused) === true
  if (isLost && opener instanceof HTMLElement) opener.focus({ preventScroll: true })
}

/** Puts a dialog above the others until it is unmounted. Returns properties of the element around the dialog. */
export function useDialogLayer(onEscape: () => void) {
  const close = useEffectEvent(onEscape)
  const [level, setLevel] = useState(0)
  const root = useRef<HTMLDivElement>(null)
  const opener = useRef<Element>(null)

  const returnFocus = useEffectEvent(() => giveFocusBack(root.current, opener.current))

  useLayoutEffect(() => {
    opener.current = document.activeElement
    const layer = { level: (layers.at(-1)?.level ?? 0) + 1, close: () => close() }
    addLayer(layer)
    // oxlint-disable-next-line react/set-state-in-effect -- how many dialogs are open is known only now
    setLevel(layer.level)
    return () => {
      removeLayer(layer)
      returnFocus()
    }
  }, [])

  /** Elements in portals, such as lists of choices, are not beside the dialog. */
  const isBeside = ({ target }: MouseEvent) =>
    target instanceof Element && root.current?.contains(target) === true && target.closest(DIALOG) === null
  return {
    ref: root,
    zIndex: LOWEST_Z_INDEX + level,
    /** A press beside the dialog leaves the focus where it is. */
    onMouseDownCapture: (event: MouseEvent) => isBeside(event) && event.preventDefault(),
    /** The second click of a double click on the button that opened the dialog does not close it. */
    onClickCapture: (event: MouseEvent) => isBeside(event) && event.detail > 1 && event.stopPropagation(),
  }
}
