/** What has been typed and not saved: whatever would take the page away asks here first. */
import { useEffect, useRef, useSyncExternalStore } from 'react'

/** Each holder of such work, and whether a draft keeps it. */
const unsaved = new Map<object, boolean>()
const listeners = new Set<() => void>()

export function hasUnsavedWork(): boolean {
  return unsaved.size > 0
}

/** Whether drafts keep all of it, but for passwords and files. */
export function isKeptAsDraft(): boolean {
  return [...unsaved.values()].every(Boolean)
}

/** `holder` is anything that stays the same, such as a ref's object. */
export function markUnsaved(holder: object, isUnsaved: boolean, { isKept = true } = {}): void {
  if (isUnsaved === unsaved.has(holder)) return
  if (isUnsaved) unsaved.set(holder, isKept)
  else unsaved.delete(holder)
  for (const listener of listeners) listener()
}

/** It was saved or given up: what comes next may take the page away. */
export function forgetUnsavedWork(): void {
  unsaved.clear()
  for (const listener of listeners) listener()
}

/** Counts as unsaved work while `isUnsaved` says so and the component is there. */
export function useUnsaved(isUnsaved: boolean, { isKept = true } = {}): void {
  const holder = useRef({})
  useEffect(() => {
    const { current } = holder
    markUnsaved(current, isUnsaved, { isKept })
    return () => markUnsaved(current, false)
  }, [isUnsaved, isKept])
}

export function useHasUnsavedWork(): boolean {
  return useSyncExternalStore(subscribe, hasUnsavedWork)
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}
