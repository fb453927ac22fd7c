/**
 * Dialogs above each other, such as a question above a form. Escape closes only the topmost one, and a closed dialog gives the focus back.
 * Mantine's Modal.Stack hides the lower dialogs, and one that is unmounted while it is open would stay in the stack for ever.
 */
import { type RefObject, useEffectEvent, useLayoutEffect, useRef, useState } from 'react'

interface Layer {
  level: number
  close: () => void
}

/** The open dialogs, the topmost one last. */
const layers: Layer[] = []

/** Whether a dialog is open. */
export function isDialogOpen(): boolean {
  return document.querySelector('[aria-modal="true"]') !== null
}

const LOWEST_Z_INDEX = 200 // Mantine's `modal`; toasts are at 250

// One listener for all, so that a dialog that opens or becomes the topmost one because of a key does not get the same key.
globalThis.addEventListener?.(
  'keydown',
  (event) => {
    if (event.key === 'Escape' && !event.isComposing) layers.at(-1)?.close()
  },
  { capture: true },
)

interface LayerOptions {
  /** The element that contains the dialog. */
  root: RefObject<HTMLElement | null>
  onEscape: () => void
}

/** Puts a dialog above the others until it is unmounted. Returns its z-index. */
export function useDialogLayer({ root, onEscape }: LayerOptions): number {
  const close = useEffectEvent(onEscape)
  const [level, setLevel] = useState(0)
  const opener = useRef<Element>(null)

  const returnFocus = useEffectEvent(() => {
    const focused = document.activeElement
    const isLost = !focused || focused === document.body || root.current?.contains(focused)
    if (isLost && opener.current instanceof HTMLElement) opener.current.focus({ preventScroll: true })
  })

  useLayoutEffect(() => {
    opener.current = document.activeElement
    const layer = { level: (layers.at(-1)?.level ?? 0) + 1, close: () => close() }
    layers.push(layer)
    // oxlint-disable-next-line react/set-state-in-effect -- how many dialogs are open is known only now
    setLevel(layer.level)
    return () => {
      layers.splice(layers.indexOf(layer), 1)
      returnFocus()
    }
  }, [])
  return LOWEST_Z_INDEX + level
}
