/**
 * Toasts (§8, §9): top right, gone after five seconds, each an alert in a live region. What shows them is loaded when somebody first
 * touches the page: nothing can fail or succeed before, and the first page is there sooner.
 */
import { type ComponentType, useEffect, useState } from 'react'
import type { ToastAction } from './toast-region.tsx'

type Region = typeof import('./toast-region.tsx')

let loading: Promise<Region> | undefined
let mountRegion = () => {}

interface ToastOptions {
  /** §4: some toasts come one or two seconds late. */
  delayMs?: number
  /** What can be done about it, such as Undo. */
  action?: ToastAction
}

export const toast = {
  success: (message: string, options?: ToastOptions) => show(message, 'arcade', options),
  failure: (message: string, options?: ToastOptions) => show(message, 'red', options),
}

function show(message: string, color: string, { delayMs = 0, action }: ToastOptions = {}): void {
  mountRegion()
  const add = () => void load().then(({ showToast }) => showToast(message, color, action), ignoreOffline)
  if (delayMs > 0) setTimeout(add, delayMs)
  else add()
}

function load(): Promise<Region> {
  loading ??= import('./toast-region.tsx').catch((error: unknown) => {
    loading = undefined // the next one tries again
    throw error
  })
  return loading
}

/** Without a connection since the first touch there is nothing to show a toast with. */
function ignoreOffline(): void {}

const touches = ['pointerdown', 'keydown', 'focusin'] as const

/** The place of the toasts, once in the app. */
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
