/**
 * The selection of a list (design §7): rows picked across pages, or all rows that a filter matches. Downloads and bulk acts use it. It is
 * kept across pages until it is cleared or another user signs in.
 */
import type { Target } from '@arcade/contract/bulk'
import { MAX_BULK_IDS } from '@arcade/contract/entity'
import { Button } from '@mantine/core'
import { type ReactNode, useCallback, useEffect, useMemo, useRef, useSyncExternalStore } from 'react'
import { formatted, formattedTotal } from '#src/ui/numbers.ts'
import { toast } from '#src/ui/toast.tsx'
import classes from './selection.module.css'

interface Stored {
  /** Whether the list shows its checkboxes. */
  isOpen: boolean
  ids: ReadonlySet<string>
  /** Set when all rows that a filter matches are selected, instead of `ids`. */
  all: { filter: object; total: number; isMore: boolean } | undefined
}

const EMPTY: Stored = { isOpen: false, ids: new Set(), all: undefined }
const storedSelections = new Map<string, Stored>()
const listeners = new Set<() => void>()

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

function store(list: string, stored: Stored): void {
  storedSelections.set(list, stored)
  for (const listener of listeners) listener()
}

/** Clears all selections when another user signs in. */
export function forgetSelections(): void {
  storedSelections.clear()
  for (const listener of listeners) listener()
}

export interface Selection<Filter extends object = object> {
  isOpen: boolean
  /** Shows or hides the checkboxes. Hiding them clears the selection. */
  setOpen: (isOpen: boolean) => void
  count: number
  /** More than `count` rows are selected: counting stopped early. */
  isMore: boolean
  isAll: boolean
  /** All matches of a filter are selected, and the list now has another filter. */
  isOfOtherView: boolean
  has: (id: string) => boolean
  /**
   * Picks or unpicks rows. If all rows that match were selected, the rest of the page stays selected.
   * @param shownIds the ids of the rows on the page; may be left out if `ids` are all of them
   */
  set: (ids: readonly string[], isPicked: boolean, shownIds?: readonly string[]) => void
  /** Selects all rows that the current filter matches: `total` of them, or more. */
  setAll: (total: number, isMore: boolean) => void
  clear: () => void
  target: Target<Filter>
}

/** Returns the selection of `list`, whose current filter is `filter`. */
export function useSelection<Filter extends object>(list: string, filter: Filter): Selection<Filter> {
  const stored = useSyncExternalStore(subscribe, () => storedSelections.get(list) ?? EMPTY)
  const key = JSON.stringify(filter)
  const acts = useMemo(() => actsOn(list), [list])
  return useMemo(() => {
    const { isOpen, ids, all } = stored
    const coversList = all !== undefined && JSON.stringify(all.filter) === key
    return {
      ...acts,
      isOpen,
      count: all?.total ?? ids.size,
      isMore: all?.isMore ?? false,
      isAll: all !== undefined,
      isOfOtherView: all !== undefined && !coversList,
      has: (id) => coversList || ids.has(id),
      setAll: (total, isMore) =>
        store(list, { isOpen: true, ids: new Set(), all: { filter: JSON.parse(key) as object, total, isMore } }),
      target: all ? { filter: all.filter as Filter } : { ids: [...ids] },
    }
  }, [stored, key, list, acts])
}

/** Functions that do not depend on the selection's content, so that rows need not be redrawn when it changes. */
function actsOn(list: string): Pick<Selection, 'setOpen' | 'set' | 'clear'> {
  return {
    setOpen: (isOpen) => store(list, { ...EMPTY, isOpen }),
    set: (changed, isPicked, shownIds = []) => {
      const stored = storedSelections.get(list)
      const all = isPicked ? undefined : stored?.all
      const ids = new Set(all ? shownIds : stored?.ids)
      let isFull = false
      for (const id of changed) {
        if (!isPicked) ids.delete(id)
        else if (ids.has(id) || ids.size < MAX_BULK_IDS) ids.add(id)
        else isFull = true
      }
      if (isFull) toast.failure(`At most ${formatted(MAX_BULK_IDS)} rows can be picked.`)
      if (all && all.total > shownIds.length) toast.note('Now only rows of this page are selected, no longer all that match.')
      store(list, { isOpen: true, ids, all: undefined })
    },
    clear: () => store(list, { ...EMPTY, isOpen: true }),
  }
}

export type PickRow = (id: string, isPicked: boolean, isRange: boolean) => void

/** Picks a row or, with Shift, all rows between it and the last one. The returned function stays the same between renders. */
export function usePickRange(ids: readonly string[], set: Selection['set'] | undefined): PickRow {
  const shown = useRef(ids)
  const last = useRef<string>(undefined)
  useEffect(() => {
    shown.current = ids
  }, [ids])
  return useCallback(
    (id, isPicked, isRange) => {
      const [from, to] = [shown.current.indexOf(last.current ?? id), shown.current.indexOf(id)]
      const hasRange = isRange && from !== -1
      set?.(hasRange ? shown.current.slice(Math.min(from, to), Math.max(from, to) + 1) : [id], isPicked, shown.current)
      last.current = id
    },
    [set],
  )
}

interface SelectionBarProps {
  selection: Selection
  /** The ids of the rows on the page. Keep the same array between renders. */
  shownIds: readonly string[]
  /** The number of rows that the list's filter matches; undefined while they are being counted. */
  total: number | undefined
  /** There are more than `total`. */
  isMore?: boolean
  /** The plural noun for the rows. */
  noun?: string
  /** Buttons that act on the picked rows. */
  children: ReactNode
}

/** The bar below a list with an open selection: count, buttons to select all or none, and the acts. */
export function SelectionBar({ selection, shownIds, total, isMore = false, noun = 'rows', children }: SelectionBarProps) {
  const { count, isAll, isOfOtherView } = selection
  const shown = useMemo(() => new Set(shownIds), [shownIds])
  const bar = useRef<HTMLElement>(null)

  const isOnePage = !isMore && count === total && shown.size === total && [...shown].every(selection.has)
  const isComplete = (isAll && !isOfOtherView && count === total) || isOnePage
  // The pressed button disappears when the selection becomes empty or complete. The bar then takes the focus.
  useEffect(() => {
    if ((count === 0 || isAll) && document.activeElement === document.body) bar.current?.focus()
  }, [count, isAll])

  return (
    <section ref={bar} className={classes['bar']} aria-label="Selection" tabIndex={-1}>
      <output className={classes['count']}>
        {countText(selection, noun)}
        <Elsewhere selection={selection} shown={shown} />
      </output>
      {total !== undefined && total > 0 && !isComplete && (
        <Button variant="subtle" size="compact-sm" onClick={() => selection.setAll(total, isMore)}>
          Select all {!isMore && formatted(total)} matching
        </Button>
      )}
      {count > 0 && (
        <>
          <Button variant="subtle" size="compact-sm" onClick={selection.clear}>
            Clear
          </Button>
          <div className={classes['actions']}>{children}</div>
        </>
      )}
    </section>
  )
}

function countText({ count, isMore }: Selection, noun: string): string {
  if (count === 0) return 'Nothing selected'
  return isMore ? `All matching ${noun} selected (${formattedTotal(count, isMore)})` : `${formatted(count)} selected`
}

/** Says that some selected rows are not visible. */
function Elsewhere({ selection: { isOfOtherView, target }, shown }: { selection: Selection; shown: ReadonlySet<string> }) {
  const hidden = 'ids' in target ? target.ids.filter((id) => !shown.has(id)).length : 0
  if (isOfOtherView) return <span className={classes['elsewhere']}>, by another search or filter than this one</span>
  if (hidden > 0) return <span className={classes['elsewhere']}>, {formatted(hidden)} not on this page</span>
  return null
}
