/**
 * Keyboard shortcuts of the signed-in pages: Ctrl K or ⌘ K, and single keys. The palette and the keyboard map are loaded when opened.
 * Single keys are ignored in text fields and dialogs, and can be switched off (WCAG 2.1.4).
 */
import { type ComponentType, type ReactNode, useEffectEvent, useLayoutEffect, useRef, useState } from 'react'
import { reloadForMissing } from '#src/client/missing-files.ts'
import { useOpenPage } from '#src/lists/back-to-list.tsx'
import { useSession } from '#src/session.tsx'
import { isDialogOpen } from '#src/ui/dialog-layer.ts'
import { focusSearch, moveToRow, openRow } from '#src/ui/table-rows.ts'
import { toast } from '#src/ui/toast.tsx'
import { hasUnsavedWork } from '#src/ui/unsaved.ts'
import { menuPagesFor } from './navigation.tsx'
import { hasSingleKeys, isPaletteKey, type OverlayProps, shortcutKey } from './shortcut-keys.ts'

const overlays = {
  palette: () => import('./palette.tsx').then(({ Palette }): ComponentType<OverlayProps> => Palette),
  'keyboard map': () => import('./keyboard-map.tsx').then(({ KeyboardMap }): ComponentType<OverlayProps> => KeyboardMap),
}
type OverlayName = keyof typeof overlays

const SEQUENCE_MS = 1500 // longest time between `g` and the second key

/** Listens for shortcuts. The caller renders `overlay`, the open palette or keyboard map. */
export function useShortcuts(): { openPalette: () => void; preloadPalette: () => void; overlay: ReactNode } {
  const { overlay, open, holdKey } = useOverlay()
  const pressSingleKey = useSingleKeys(() => void open('keyboard map'))

  const handleKey = useEffectEvent((event: KeyboardEvent) => {
    if (event.key === 'Control' || event.key === 'Meta') preloadPalette() // Ctrl K may follow
    if (event.defaultPrevented || event.isComposing || event.altKey) return
    if (isPaletteKey(event)) {
      if (isDialogOpen()) return
      event.preventDefault()
      void open('palette')
      return
    }
    if (event.ctrlKey || event.metaKey) return
    if (holdKey(event.key)) return event.preventDefault()
    if (isDialogOpen() || isTyping(event.target)) return
    if (event.key === 'Enter' && openRow(event.target)) event.preventDefault()
    if (hasSingleKeys() && pressSingleKey(event)) event.preventDefault()
  })
  // A layout effect, so that keys work as soon as the page is visible: other effects run after the paint.
  useLayoutEffect(() => {
    const listener = (event: KeyboardEvent) => handleKey(event)
    addEventListener('keydown', listener)
    return () => removeEventListener('keydown', listener)
  }, [])

  return { openPalette: () => void open('palette'), preloadPalette, overlay }
}

/**
 * `open` loads and opens the palette or the keyboard map; `overlay` is the one that is open. `holdKey` keeps a key for an overlay that is
 * being opened, because people type on at once; it returns false if none is.
 */
function useOverlay(): { overlay: ReactNode; open: (name: OverlayName) => Promise<void>; holdKey: (key: string) => boolean } {
  const { user } = useSession()
  const [opened, setOpened] = useState<{ number: number; Overlay: ComponentType<OverlayProps> }>()
  /** What was typed since an overlay was asked for; undefined if none is being opened. */
  const typed = useRef<string>(undefined)

  const open = async (name: OverlayName) => {
    if (typed.current !== undefined) return
    typed.current = ''
    try {
      const Overlay = await overlays[name]()
      setOpened((last) => ({ number: (last?.number ?? 0) + 1, Overlay }))
    } catch (cause) {
      typed.current = undefined
      if (!hasUnsavedWork() && (await reloadForMissing(cause))) return
      toast.failure(`The ${name} could not be loaded.`)
    }
  }
  const holdKey = (key: string): boolean => {
    if (typed.current === undefined) return false
    if (key === 'Backspace') typed.current = typed.current.slice(0, -1)
    else if (key.length === 1) typed.current += key
    else return key === 'Enter'
    return true
  }
  const takeTyped = (): string => {
    const text = typed.current ?? ''
    typed.current = undefined
    return text
  }

  /** A dialog's close event arrives late, when another one may already be open. */
  const handleClose = (number: number) => {
    typed.current = undefined
    setOpened((last) => (last?.number === number ? undefined : last))
  }

  return {
    overlay: opened && (
      <opened.Overlay
        key={`${user?.id} ${opened.number}`}
        onClose={() => handleClose(opened.number)}
        onKeyboardMap={() => void open('keyboard map')}
        takeTyped={takeTyped}
      />
    ),
    open,
    holdKey,
  }
}

function preloadPalette(): void {
  void overlays.palette().catch(() => {}) // opening the palette retries
}

/** Returns a function that does what a single key stands for. It returns false if the key stands for nothing at present. */
function useSingleKeys(openKeyboardMap: () => void): (event: KeyboardEvent) => boolean {
  const { user } = useSession()
  const openPage = useOpenPage()
  const goUntil = useRef(0)

  /** Opens the page of the second key after `g`. */
  const go = (key: string): boolean => {
    goUntil.current = 0
    const page = menuPagesFor(user).find(({ goKey }) => goKey === key)
    if (page) openPage(page.to)
    return page !== undefined
  }

  return (event) => {
    const { timeStamp } = event
    const key = shortcutKey(event)
    if (timeStamp < goUntil.current) return go(key)
    switch (key) {
      case 'g':
        goUntil.current = timeStamp + SEQUENCE_MS
        return false
      case '?':
        openKeyboardMap()
        return true
      case '/':
        return focusSearch()
      case 'u':
        return toast.pressAction()
      case 'j':
        return moveToRow(1)
      case 'k':
        return moveToRow(-1)
      default:
        return false
    }
  }
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
