/**
 * Toasts (§8, §9): top right, gone after five seconds, each an alert in a live region. The code that shows them runs from the first touch
 * of the page on, because nothing can fail or succeed before that. The page is there sooner without it: it is fetched afterwards.
 */
import { type ComponentType, useEffect, useState } from 'react'
import type { ToastAction } from './toast-region.tsx'

type Region = typeof import('./toast-region.tsx')

let loading: Promise<Region> | undefined
let mountRegion = () => {}

interface ToastOptions {
  /** §4: some toasts come one or two seconds late. */
  delayMs?: number
  /** The reason, below a message that does not give it. Left out where it says the same as the message. */
  detail?: string
  /** A button in the toast, such as Undo. */
  action?: ToastAction
}

export const toast = {
  success: (message: string, options?: ToastOptions) => show(message, 'arcade', options),
  failure: (message: string, options?: ToastOptions) => show(message, 'red', options),
  /** Presses the button of the newest toast that has one; false where none has. */
  pressAction(): boolean {
    const button = [...document.querySelectorAll<HTMLElement>('[data-toast-action]')].at(-1)
    button?.click()
    return button !== undefined
  },
  /** To be called when somebody tries again: failures that are shown or on their way are told no more. */
  dropFailures() {
    attempt++
    void loading?.then(({ hideToasts }) => hideToasts('red'), ignoreOffline)
  },
}

let attempt = 0

function show(message: string, color: 'arcade' | 'red', { delayMs = 0, ...more }: ToastOptions = {}): void {
  mountRegion()
  const begun = attempt
  const isOld = () => color === 'red' && begun !== attempt
  const add = () => void load().then(({ showToast }) => isOld() || showToast(message, color, more), ignoreOffline)
  if (delayMs > 0) setTimeout(add, delayMs)
  else add()
}

function load(): Promise<Region> {
  loading ??= import('./toast-region.tsx').catch((error: unknown) => {
    loading = undefined // the next toast tries again
    throw error
  })
  return loading
}

/** A browser that went offline before it had fetched what shows toasts shows none. */
function ignoreOffline(): void {}

const touches = ['pointerdown', 'keydown', 'focusin'] as const

/** The place where toasts appear; the app renders it once. */
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
