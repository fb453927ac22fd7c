/** What has been typed and not saved: whatever would take the page away asks here first. */
import { useEffect, useRef, useSyncExternalStore } from 'react'

const unsaved = new Set<object>()
const listeners = new Set<() => void>()

export function hasUnsavedWork(): boolean {
  return unsaved.size > 0
}

/** `holder` is anything that stays the same, such as a ref's object. */
export function markUnsaved(holder: object, isUnsaved: boolean): void {
  if (isUnsaved === unsaved.has(holder)) return
  if (isUnsaved) unsaved.add(holder)
  else unsaved.delete(holder)
  for (const listener of listeners) listener()
}

/** It was saved or given up: what comes next may take the page away. */
export function forgetUnsavedWork(): void {
  unsaved.clear()
  for (const listener of listeners) listener()
}

/** Counts as unsaved work while `isUnsaved` says so and the component is there. */
export function useUnsaved(isUnsaved: boolean): void {
  const holder = useRef({})
  useEffect(() => {
    const { current } = holder
    markUnsaved(current, isUnsaved)
    return () => markUnsaved(current, false)
  }, [isUnsaved])
}

export function useHasUnsavedWork(): boolean {
  return useSyncExternalStore(subscribe, hasUnsavedWork)
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}
