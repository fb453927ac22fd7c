/**
 * Keyboard shortcuts of the signed-in pages: Ctrl K or ⌘ K, and single keys. The palette and the keyboard map are loaded when opened.
 * Single keys are ignored in text fields and dialogs, and can be switched off (WCAG 2.1.4).
 */
import { useRouter } from '@tanstack/react-router'
import { type ComponentType, type ReactNode, useEffectEvent, useLayoutEffect, useRef, useState } from 'react'
import { useSession } from '#src/session.tsx'
import { focusSearch, moveToRow, openRow } from '#src/ui/table-rows.ts'
import { toast } from '#src/ui/toast.tsx'
import { placesFor } from './navigation.tsx'
import { hasSingleKeys, isMac, type OverlayProps } from './shortcut-keys.ts'

const overlays = {
  palette: () => import('./palette.tsx').then(({ Palette }): ComponentType<OverlayProps> => Palette),
  'keyboard map': () => import('./keyboard-map.tsx').then(({ KeyboardMap }): ComponentType<OverlayProps> => KeyboardMap),
}
type OverlayName = keyof typeof overlays

const SEQUENCE_MS = 1500 // longest time between `g` and the second key

/** Listens for shortcuts. The caller renders `overlay`, the open palette or keyboard map. */
export function useShortcuts(): { openPalette: () => void; preloadPalette: () => void; overlay: ReactNode } {
  const { user } = useSession()
  const router = useRouter()
  const [overlay, setOverlay] = useState<{ number: number; Overlay: ComponentType<OverlayProps> }>()
  const isLoading = useRef(false)
  const goUntil = useRef(0)

  const open = async (name: OverlayName) => {
    if (isLoading.current) return
    isLoading.current = true
    try {
      const Overlay = await overlays[name]()
      setOverlay((last) => ({ number: (last?.number ?? 0) + 1, Overlay }))
    } catch {
      toast.failure(`The ${name} could not be loaded.`)
    } finally {
      isLoading.current = false
    }
  }

  /** A dialog's close event arrives late, when another one may already be open. */
  const handleClose = (number: number) => setOverlay((last) => (last?.number === number ? undefined : last))

  const preloadPalette = () => void overlays.palette().catch(() => {}) // opening the palette retries

  const press = (event: KeyboardEvent) => {
    if (event.key === 'Control' || event.key === 'Meta') preloadPalette() // Ctrl K may follow
    if (event.defaultPrevented || event.isComposing || event.altKey) return
    if ((isMac ? event.metaKey : event.ctrlKey) && !event.shiftKey && event.key.toLowerCase() === 'k') {
      if (isBlocked()) return
      event.preventDefault()
      void open('palette')
      return
    }
    if (event.ctrlKey || event.metaKey || isBlocked() || isLoading.current || isTyping(event.target)) return
    if (event.key === 'Enter' && openRow(event.target)) event.preventDefault()
    if (!hasSingleKeys()) return
    if (event.timeStamp < goUntil.current) {
      goUntil.current = 0
      const place = placesFor(user?.userType).find(({ goKey }) => goKey === event.key.toLowerCase())
      if (!place) return
      event.preventDefault()
      router.history.push(place.to)
    } else if (event.key === 'g') goUntil.current = event.timeStamp + SEQUENCE_MS
    else if (event.key === '?') {
      event.preventDefault()
      void open('keyboard map')
    } else if (event.key === '/' && focusSearch()) event.preventDefault()
    else if (event.key === 'u' && toast.pressAction()) event.preventDefault()
    else if ((event.key === 'j' || event.key === 'k') && moveToRow(event.key === 'j' ? 1 : -1)) event.preventDefault()
  }

  const handleKey = useEffectEvent(press)
  // A layout effect, so that keys work as soon as the page is visible: other effects run after the paint.
  useLayoutEffect(() => {
    const listener = (event: KeyboardEvent) => handleKey(event)
    addEventListener('keydown', listener)
    return () => removeEventListener('keydown', listener)
  }, [])

  return {
    openPalette: () => void open('palette'),
    preloadPalette,
    overlay: overlay && (
      <overlay.Overlay
        key={`${user?.id} ${overlay.number}`}
        onClose={() => handleClose(overlay.number)}
        onKeyboardMap={() => void open('keyboard map')}
      />
    ),
  }
}

/** Whether a dialog is open, which turns the shortcuts off. */
function isBlocked(): boolean {
  return document.querySelector('dialog[open], [aria-modal="true"]') !== null
}

const fields = [
  'input:not([type=checkbox], [type=radio], [type=button], [type=submit], [type=file])',
  'textarea',
  'select',
  '[contenteditable]:not([contenteditable=false])',
  '[role=textbox]',
  '[role=combobox]',
]

function isTyping(target: EventTarget | null): boolean {
  return target instanceof Element && target.closest(fields.join(', ')) !== null
}
