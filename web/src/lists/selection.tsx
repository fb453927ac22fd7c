/**
 * The selection basket (design §7): rows picked across pages of a list, or all rows that a filter matches, with a counter. Exports and
 * bulk acts apply to it. It outlives the page until it is cleared or somebody else signs in.
 */
import { BULK_MAX_IDS } from '@arcade/contract/entity'
import type { BulkOutput } from '@arcade/contract/bulk'
import { Button } from '@mantine/core'
import {
  createContext,
  type ReactNode,
  use,
  useCallback,
  useEffect,
  useMemo,
  useRef,
  useState,
  useSyncExternalStore,
} from 'react'
import { useConfirm } from '#src/ui/confirm.tsx'
import { formatted, formattedTotal } from '#src/ui/numbers.ts'
import { type EndBusy, markPickedBusy } from '#src/ui/table-rows.ts'
import { toast } from '#src/ui/toast.tsx'
import classes from './selection.module.css'

/** The rows that a call acts on: picked ones, or all that a filter matches. */
export type Target<Filter> = { ids: string[] } | { filter: Filter }

interface Basket {
  /** Whether the list shows its checkboxes. */
  isOpen: boolean
  ids: ReadonlySet<string>
  /** All rows that this filter matches, instead of `ids`. */
  all: { filter: object; total: number; isMore: boolean } | undefined
}

const EMPTY: Basket = { isOpen: false, ids: new Set(), all: undefined }
const baskets = new Map<string, Basket>()
const listeners = new Set<() => void>()

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

function put(list: string, basket: Basket): void {
  baskets.set(list, basket)
  for (const listener of listeners) listener()
}

/** Empties all baskets when somebody else signs in. */
export function forgetSelections(): void {
  baskets.clear()
  for (const listener of listeners) listener()
}

export interface Selection<Filter extends object = object> {
  isOpen: boolean
  /** Shows or hides the checkboxes. Hiding them empties the basket. */
  setOpen: (isOpen: boolean) => void
  count: number
  /** More than `count` are picked. */
  isMore: boolean
  isAll: boolean
  /** It is all that a filter matches, and the list is narrowed down in another way by now. */
  isOfOtherView: boolean
  has: (id: string) => boolean
  set: (ids: readonly string[], isPicked: boolean) => void
  /** Picks all rows that the present filter matches; there are `total` of them, or more. */
  setAll: (total: number, isMore: boolean) => void
  clear: () => void
  target: Target<Filter>
}

/** The basket of `list`, whose present filter is `filter`. */
export function useSelection<Filter extends object>(list: string, filter: Filter): Selection<Filter> {
  const basket = useSyncExternalStore(subscribe, () => baskets.get(list) ?? EMPTY)
  const key = JSON.stringify(filter)
  const acts = useMemo(() => actsOn(list), [list])
  return useMemo(() => {
    const { isOpen, ids, all } = basket
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
        put(list, { isOpen: true, ids: new Set(), all: { filter: JSON.parse(key) as object, total, isMore } }),
      target: all ? { filter: all.filter as Filter } : { ids: [...ids] },
    }
  }, [basket, key, list, acts])
}

/** These functions do not depend on the basket's content, so rows that get them need not be drawn anew when it changes. */
function actsOn(list: string): Pick<Selection, 'setOpen' | 'set' | 'clear'> {
  return {
    setOpen: (isOpen) => put(list, { ...EMPTY, isOpen }),
    set: (changed, isPicked) => {
      const ids = new Set(baskets.get(list)?.ids)
      for (const id of changed) {
        if (!isPicked) ids.delete(id)
        else if (ids.size < BULK_MAX_IDS) ids.add(id)
      }
      if (isPicked && ids.size === BULK_MAX_IDS) toast.failure(`At most ${formatted(BULK_MAX_IDS)} rows can be picked.`)
      put(list, { isOpen: true, ids, all: undefined })
    },
    clear: () => put(list, { ...EMPTY, isOpen: true }),
  }
}

export type PickRow = (id: string, isPicked: boolean, isRange: boolean) => void

/** Picks a row, or with Shift all rows from the one picked last to it. The function stays the same while rows come and go. */
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
      set?.(hasRange ? shown.current.slice(Math.min(from, to), Math.max(from, to) + 1) : [id], isPicked)
      last.current = id
    },
    [set],
  )
}

/** The rows that the page shows, by which one is told which picked ones it does not; undefined for an act on all rows. */
const ShownRows = createContext<ReadonlySet<string> | undefined>(undefined)

interface SelectionBarProps {
  selection: Selection
  /** The ids of the rows that the page shows; an array that stays the same between renders. */
  shownIds: readonly string[]
  /** How many rows the list's filter matches; undefined while they are being counted. */
  total: number | undefined
  /** There are more than `total`. */
  isMore?: boolean
  /** What several rows are called. */
  noun?: string
  /** Buttons that act on the picked rows. */
  children: ReactNode
}

/** The bar below a list with an open basket: the counter, buttons to pick all or none, and the acts. */
export function SelectionBar({ selection, shownIds, total, isMore = false, noun = 'rows', children }: SelectionBarProps) {
  const { count, isAll } = selection
  const shown = useMemo(() => new Set(shownIds), [shownIds])
  const bar = useRef<HTMLElement>(null)

  // The buttons go with the last picked row, and the one that picks all rows goes when it is pressed: the focus that was on it stays here.
  useEffect(() => {
    if ((count === 0 || isAll) && document.activeElement === document.body) bar.current?.focus()
  }, [count, isAll])

  return (
    <section ref={bar} className={classes['bar']} aria-label="Selection" tabIndex={-1}>
      <output className={classes['count']}>
        {countText(selection, noun)}
        <Elsewhere selection={selection} shown={shown} />
      </output>
      {total !== undefined && total > 0 && !(isAll && count === total) && (
        <Button variant="subtle" size="compact-sm" onClick={() => selection.setAll(total, isMore)}>
          Select all {!isMore && formatted(total)} matching
        </Button>
      )}
      {count > 0 && (
        <>
          <Button variant="subtle" size="compact-sm" onClick={selection.clear}>
            Clear
          </Button>
          <ShownRows value={shown}>
            <div className={classes['actions']}>{children}</div>
          </ShownRows>
        </>
      )}
    </section>
  )
}

function countText({ count, isMore }: Selection, noun: string): string {
  if (count === 0) return 'Nothing selected'
  return isMore ? `All matching ${noun} selected (${formattedTotal(count, isMore)})` : `${formatted(count)} selected`
}

/** Says of a basket that it holds what one does not see. */
function Elsewhere({ selection: { isOfOtherView, target }, shown }: { selection: Selection; shown: ReadonlySet<string> }) {
  const hidden = 'ids' in target ? target.ids.filter((id) => !shown.has(id)).length : 0
  if (isOfOtherView) return <span className={classes['elsewhere']}>, by another search or filter than this one</span>
  if (hidden > 0) return <span className={classes['elsewhere']}>, {formatted(hidden)} not on this page</span>
  return null
}

/** What an act did, and the button of its toast that undoes it. */
export type BulkDone = Omit<BulkOutput, 'success'> & { undo?: { label: string; onClick: () => void } | undefined }

export interface BulkAct {
  /** The title of the question, such as `Delete users`. */
  title: string
  /** The question with the number of rows that the act will affect: `Are you sure you want to delete 3 users?` */
  question: (count: string) => string
  isDestructive?: boolean
  run: (options: { dryRun: true } | { expected: number }) => Promise<BulkDone>
  /** Asked after the first question, of an act that nothing brings back. */
  lastQuestion?: string
  successText: (count: string) => string
  /** The message of a failed call. */
  messageOf: (error: unknown) => string
  /** Runs after the act was done or has failed, but not after a cancelled one. Resolves once the list shows what has become of the rows. */
  onEnd: (isDone: boolean) => Promise<void>
}

/** An act on many rows: a dry run, one confirmation of its summary, then the act. */
export function useBulk(): (act: BulkAct) => Promise<void> {
  const confirm = useConfirm()
  const shown = use(ShownRows)
  return (act) => runBulk(act, confirm, shown)
}

interface BulkButtonProps {
  act: BulkAct
  /** There is nothing to act on. The button keeps the focus. */
  isOff?: boolean
  /** It stands beside the page's heading, where buttons are larger than in the bar of picked rows. */
  isInPageHead?: boolean
  children: ReactNode
}

/** A button that starts an act on many rows. */
export function BulkButton({ act, isOff = false, isInPageHead = false, children }: BulkButtonProps) {
  const start = useBulk()
  const [isBusy, setIsBusy] = useState(false)

  const handleClick = async () => {
    if (isBusy || isOff) return
    setIsBusy(true)
    await start(act).finally(() => setIsBusy(false))
  }

  return (
    <Button
      {...(!isInPageHead && { size: 'compact-sm' })}
      variant={act.isDestructive ? 'outline' : 'default'}
      {...(act.isDestructive && { color: 'red' })}
      aria-disabled={isBusy || isOff}
      {...(isOff && { 'data-disabled': true })}
      onClick={() => void handleClick()}
    >
      {children}
    </Button>
  )
}

async function runBulk(
  act: BulkAct,
  confirm: ReturnType<typeof useConfirm>,
  shown: ReadonlySet<string> | undefined,
): Promise<void> {
  const { title, question, isDestructive = false, run, lastQuestion, successText, messageOf, onEnd } = act
  let endBusy: EndBusy = () => {}
  try {
    const planned = await run({ dryRun: true })
    if (planned.affected === 0) {
      toast.failure(planned.refusals[0]?.reason ?? 'Nothing of this is there any more.')
      return
    }
    const message = <Plan question={question(formatted(planned.affected))} plan={planned} shown={shown} />
    if (!(await confirm({ title, message, isDestructive }))) return
    if (lastQuestion !== undefined && !(await confirm({ title, message: lastQuestion, isDestructive }))) return
    endBusy = markPickedBusy()
    const done = await run({ expected: planned.affected })
    toast.success(successText(formatted(done.affected)), done.undo && { action: done.undo })
  } catch (error) {
    toast.failure(messageOf(error))
    endBusy()
    void onEnd(false)
    return
  }
  void onEnd(true).then(() => endBusy('is loaded'))
}

interface PlanProps {
  question: string
  plan: Omit<BulkOutput, 'success'>
  shown: ReadonlySet<string> | undefined
}

/** The question, which rows it is about, and which will be left alone for what reason. */
function Plan({ question, plan: { affected, named, refused, refusals }, shown }: PlanProps) {
  return (
    <>
      {question}
      <ul className={classes['named']}>
        {named.map(({ id, title }) => (
          <li key={id}>
            {title}
            {shown?.has(id) === false && <em> (not on this page)</em>}
          </li>
        ))}
        {affected > named.length && <li>… and {formatted(affected - named.length)} more</li>}
      </ul>
      {refused > 0 && (
        <span className={classes['refusals']}>
          <strong>{formatted(refused)} will be left as they are:</strong>
          {refusals.map(({ id, title, reason }) => (
            <span key={id}>
              {title}: {reason}
            </span>
          ))}
          {refused > refusals.length && <span>… and {formatted(refused - refusals.length)} more</span>}
        </span>
      )}
    </>
  )
}
