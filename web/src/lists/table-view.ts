/** How an operator wants tables to look: the columns of each table and the density of all. This browser remembers it. */
import { useCallback, useMemo, useSyncExternalStore } from 'react'

const KEY = 'arcade-tables'

interface Stored {
  isCompact?: boolean
  /** The changed columns, by the table's label. */
  hidden?: Record<string, string[]>
}

export interface TableLook {
  /** The headers of columns that are hidden though they are shown at first, or shown though they are not. */
  changed: readonly string[]
  isCompact: boolean
}

export interface ChangeableLook extends TableLook {
  change: (look: TableLook) => void
}

interface Hideable {
  header: string
  /** One has to choose the column to see it. */
  isHiddenAtFirst?: boolean
}

export function isShown({ header, isHiddenAtFirst = false }: Hideable, changed: readonly string[]): boolean {
  return changed.includes(header) === isHiddenAtFirst
}

export function hiddenHeaders(columns: readonly Hideable[], changed: readonly string[]): ReadonlySet<string> {
  return new Set(columns.filter((column) => !isShown(column, changed)).map(({ header }) => header))
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

/** The look of the table with this label as this browser remembers it. */
export function useTableLook(label: string): ChangeableLook {
  const { isCompact = false, hidden } = useSyncExternalStore(subscribe, read)
  const own = hidden?.[label]
  const change = useCallback(
    (look: TableLook) => write({ isCompact: look.isCompact, hidden: { ...read().hidden, [label]: [...look.changed] } }),
    [label],
  )
  return useMemo(() => ({ changed: Array.isArray(own) ? own : [], isCompact, change }), [own, isCompact, change])
}
