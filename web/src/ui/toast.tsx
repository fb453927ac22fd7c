/**
 * Toasts (§8, §9): top right, closed after five seconds, each an alert in a live region. The code that shows them is loaded with the first
 * interaction, because nothing can fail or succeed before that, and the page appears sooner without it.
 */
import { type ComponentType, useEffect, useState } from 'react'
import type { ToastAction } from './toast-region.tsx'

type Region = typeof import('./toast-region.tsx')

let loading: Promise<Region> | undefined
let mountRegion = () => {}

interface ToastOptions {
  /** §4: some toasts appear one or two seconds late. */
  delayMs?: number
  /** The reason, below the message. Left out if it equals the message. */
  detail?: string
  /** A button in the toast, such as Undo. */
  action?: ToastAction
}

export const toast = {
  success: (message: string, options?: ToastOptions) => show(message, 'arcade', options),
  failure: (message: string, options?: ToastOptions) => show(message, 'red', options),
  /** For what is neither success nor failure. */
  note: (message: string, options?: ToastOptions) => show(message, 'yellow', options),
  /** Clicks the button of the newest toast that has a button. Returns false if no toast has one. */
  pressAction(): boolean {
    const button = [...document.querySelectorAll<HTMLElement>('[data-toast-action]')].at(-1)
    button?.click()
    return button !== undefined
  },
  /** Call this when the user tries again: hides failures and drops delayed ones. */
  dropFailures() {
    attempt++
    void loading?.then(({ hideToasts }) => hideToasts('red'), ignoreOffline)
  },
}

let attempt = 0

function show(message: string, color: 'arcade' | 'red' | 'yellow', { delayMs = 0, ...more }: ToastOptions = {}): void {
  mountRegion()
  const begun = attempt
  const isOld = () => color === 'red' && begun !== attempt
  const add = () => void load().then(({ showToast }) => isOld() || showToast(message, color, more), ignoreOffline)
  if (delayMs > 0) setTimeout(add, delayMs)
  else add()
}

function load(): Promise<Region> {
  loading ??= import('./toast-region.tsx').catch((error: unknown) => {
    loading = undefined // the next toast retries
    throw error
  })
  return loading
}

/** If the browser went offline before the code was loaded, there are no toasts. */
function ignoreOffline(): void {}

const touches = ['pointerdown', 'keydown', 'focusin'] as const

/** Renders the toasts; the app has one. */
export function Toasts() {
  const [Region, setRegion] = useState<ComponentType>()

  useEffect(() => {
    mountRegion = () => void load().then(({ ToastRegion }) => setRegion(() => ToastRegion), ignoreOffline)
    const touched = new AbortController()
    const handleTouch = () => {
      touched.abort()
      mountRegion()
    }
    for (const touch of touches) window.addEventListener(touch, handleTouch, { signal: touched.signal, passive: true })
    return () => touched.abort()
  }, [])

  return Region && <Region />
}
