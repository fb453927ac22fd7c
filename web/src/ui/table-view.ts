/** How an operator wants tables to look: the hidden columns of each table and the density of all. This browser remembers it. */
import { useCallback, useMemo, useSyncExternalStore } from 'react'

const KEY = 'arcade-tables'

interface Stored {
  isCompact?: boolean
  /** By the table's label. */
  hidden?: Record<string, string[]>
}

export interface TableView {
  hidden: ReadonlySet<string>
  isCompact: boolean
}

let stored: Stored | undefined
const listeners = new Set<() => void>()

function read(): Stored {
  stored ??= parse()
  return stored
}

function parse(): Stored {
  try {
    return (JSON.parse(localStorage.getItem(KEY) ?? '{}') as Stored | null) ?? {}
  } catch {
    return {} // the browser forbids storage, or it holds something else
  }
}

function write(next: Stored): void {
  stored = next
  try {
    localStorage.setItem(KEY, JSON.stringify(next))
  } catch {
    // the browser forbids storage: the choice lasts until the page is left
  }
  for (const listener of listeners) listener()
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

export function useTableView(label: string): TableView & { change: (view: TableView) => void } {
  const { isCompact = false, hidden } = useSyncExternalStore(subscribe, read)
  const own = hidden?.[label]
  const change = useCallback(
    (view: TableView) => write({ isCompact: view.isCompact, hidden: { ...read().hidden, [label]: [...view.hidden] } }),
    [label],
  )
  return useMemo(() => ({ hidden: new Set(Array.isArray(own) ? own : []), isCompact, change }), [own, isCompact, change])
}
