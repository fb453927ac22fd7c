/** What the shortcuts and the overlays that they open both know: the keys' names, the switch for single keys, how an overlay closes. */

export const isMac = /mac|iphone|ipad/i.test(navigator.platform)
export const PALETTE_KEYS = isMac ? ['⌘', 'K'] : ['Ctrl', 'K']

const SINGLE_KEYS_OFF = 'arcade-single-keys-off'

/** Whether keys by themselves are shortcuts. Remembered in this browser; on, where it remembers nothing. */
export function hasSingleKeys(): boolean {
  try {
    return localStorage.getItem(SINGLE_KEYS_OFF) === null
  } catch {
    return true // storage is forbidden in this browser
  }
}

export function setSingleKeys(isOn: boolean): void {
  try {
    if (isOn) localStorage.removeItem(SINGLE_KEYS_OFF)
    else localStorage.setItem(SINGLE_KEYS_OFF, '1')
  } catch {
    // storage is forbidden in this browser
  }
}

export interface OverlayProps {
  onClose: () => void
  onKeyboardMap: () => void
}
