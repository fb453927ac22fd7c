/** The look of tables, kept in this browser: the columns of each table and one density for all. */
import { useCallback, useMemo, useSyncExternalStore } from 'react'

const KEY = 'arcade-tables'

interface Stored {
  isCompact?: boolean
  /** The columns that differ from the default, by the table's label. */
  hidden?: Record<string, string[]>
}

export interface TableLook {
  /** The headers of columns that differ from the default: hidden instead of shown, or the reverse. */
  changed: readonly string[]
  isCompact: boolean
}

export interface ChangeableLook extends TableLook {
  change: (look: TableLook) => void
}

interface Hideable {
  header: string
  /** Hidden until the operator chooses it. */
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
    return {} // the browser forbids storage, or the stored text is not JSON
  }
}

function write(next: Stored): void {
  stored = next
  try {
    localStorage.setItem(KEY, JSON.stringify(next))
  } catch {
    // the browser forbids storage: the choice lasts until the page is closed
  }
  for (const listener of listeners) listener()
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

/** Returns the stored look of the table with this label. */
export function useTableLook(label: string): ChangeableLook {
  const { isCompact = false, hidden } = useSyncExternalStore(subscribe, read)
  const own = hidden?.[label]
  const change = useCallback(
    (look: TableLook) => write({ isCompact: look.isCompact, hidden: { ...read().hidden, [label]: [...look.changed] } }),
    [label],
  )
  return useMemo(() => ({ changed: Array.isArray(own) ? own : [], isCompact, change }), [own, isCompact, change])
}
