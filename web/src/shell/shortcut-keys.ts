/** Shared by the shortcuts and the overlays that they open: key names, the setting for single keys, the overlays' props. */

export const isMac = /mac|iphone|ipad/i.test(navigator.platform)
export const PALETTE_KEYS = isMac ? ['⌘', 'K'] : ['Ctrl', 'K']

const SINGLE_KEYS_OFF = 'arcade-single-keys-off'

/** Whether single-key shortcuts are on. The setting is kept in this browser; the default is on. */
export function hasSingleKeys(): boolean {
  try {
    return localStorage.getItem(SINGLE_KEYS_OFF) === null
  } catch {
    return true // the browser forbids storage
  }
}

export function setSingleKeys(isOn: boolean): void {
  try {
    if (isOn) localStorage.removeItem(SINGLE_KEYS_OFF)
    else localStorage.setItem(SINGLE_KEYS_OFF, '1')
  } catch {
    // the browser forbids storage
  }
}

export interface OverlayProps {
  onClose: () => void
  onKeyboardMap: () => void
  /** Called when the overlay takes the keys itself. Returns what was typed since it was asked for. */
  takeTyped: () => string
}

type Keys = Pick<KeyboardEvent, 'key' | 'code' | 'shiftKey'>

/**
 * Returns the key of a shortcut. A letter is found by what is printed on the key, so AZERTY and Dvorak work; where the layout has no Latin
 * letters, by the key's position: it may give another letter, a mark, a sign, or several letters. Caps Lock makes no difference.
 */
export function shortcutKey({ key, code, shiftKey }: Keys): string {
  const isOwnKey = /^[\da-z?/]$/i.test(key)
  const letterByPosition = isOwnKey ? undefined : /^Key([A-Z])$/.exec(code)?.[1]
  return shiftKey ? key : (letterByPosition ?? key).toLowerCase()
}

/** Whether the event is Ctrl K, or ⌘ K on Apple's machines, which opens and closes the palette. */
export function isPaletteKey(event: Keys & Pick<KeyboardEvent, 'ctrlKey' | 'metaKey'>): boolean {
  return (isMac ? event.metaKey : event.ctrlKey) && !event.shiftKey && shortcutKey(event) === 'k'
}
