/** Keeps track of unsaved input. Everything that would leave the page checks it first. */
import { useEffect, useRef, useSyncExternalStore } from 'react'

/** The owners of unsaved input, and whether a draft keeps it. */
const unsaved = new Map<object, boolean>()
const listeners = new Set<() => void>()

export function hasUnsavedWork(): boolean {
  return unsaved.size > 0
}

/** Whether drafts keep all unsaved input, apart from passwords and files. */
export function isKeptAsDraft(): boolean {
  return [...unsaved.values()].every(Boolean)
}

/** @param holder an object that identifies the owner, such as a ref's object */
export function markUnsaved(holder: object, isUnsaved: boolean, { isKept = true } = {}): void {
  if (isUnsaved === unsaved.has(holder)) return
  if (isUnsaved) unsaved.set(holder, isKept)
  else unsaved.delete(holder)
  for (const listener of listeners) listener()
}

/** Call this after the input was saved or given up: leaving the page is safe. */
export function forgetUnsavedWork(): void {
  unsaved.clear()
  for (const listener of listeners) listener()
}

/** Marks unsaved input while `isUnsaved` is true and the component is mounted. */
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
