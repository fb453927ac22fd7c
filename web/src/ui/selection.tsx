/**
 * The selection basket (design §7): rows picked across pages of a list, or all that its filter matches, with a counter; what exports
 * and bulk acts apply to. It outlives the page until it is cleared or somebody else signs in.
 */
import { BULK_MAX_IDS } from '@arcade/contract/entities/entity'
import type { BulkOutput } from '@arcade/contract/bulk'
import { Button } from '@mantine/core'
import { type ReactNode, useMemo, useState, useSyncExternalStore } from 'react'
import { useConfirm } from './confirm.tsx'
import { toast } from './toast.tsx'
import classes from './selection.module.css'

/** What a call acts on: the rows picked, or all that a filter matches. */
export type Target<Filter> = { ids: string[] } | { filter: Filter }

interface Basket {
  /** Whether the list shows its checkboxes. */
  isOpen: boolean
  ids: ReadonlySet<string>
  /** Instead of `ids`: all that this filter matches. */
  all: { filter: object; total: number } | undefined
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

/** Nobody finds what somebody else has picked. */
export function forgetSelections(): void {
  baskets.clear()
  for (const listener of listeners) listener()
}

export interface Selection<Filter extends object = object> {
  isOpen: boolean
  /** Shows or hides the checkboxes; hiding them empties the basket. */
  setOpen: (isOpen: boolean) => void
  /** How many rows it holds. */
  count: number
  isAll: boolean
  has: (id: string) => boolean
  set: (ids: readonly string[], isPicked: boolean) => void
  /** All that the list's present filter matches. */
  setAll: (total: number) => void
  clear: () => void
  target: Target<Filter>
}

/** The basket of `list`, whose filter is now `filter`. */
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
      isAll: all !== undefined,
      has: (id) => coversList || ids.has(id),
      setAll: (total) => put(list, { isOpen: true, ids: new Set(), all: { filter: JSON.parse(key) as object, total } }),
      target: all ? { filter: all.filter as Filter } : { ids: [...ids] },
    }
  }, [basket, key, list, acts])
}

/** What does not depend on what is in the basket, so that rows are not drawn anew for it. */
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

interface SelectionBarProps {
  selection: Selection
  /** How many the list's filter matches; unknown while they are being counted. */
  total: number | undefined
  /** What can be done with the rows. */
  children: ReactNode
}

/** Below a list whose rows can be picked: how many are, all of them, none of them, and what to do with them. */
export function SelectionBar({ selection, total, children }: SelectionBarProps) {
  const { count, isAll } = selection
  return (
    <section className={classes['bar']} aria-label="Selection">
      <output className={classes['count']}>{count === 0 ? 'Nothing selected' : `${formatted(count)} selected`}</output>
      {total !== undefined && total > 0 && !(isAll && count === total) && (
        <Button variant="subtle" size="compact-md" onClick={() => selection.setAll(total)}>
          Select all {formatted(total)} matching
        </Button>
      )}
      {count > 0 && (
        <>
          <Button variant="subtle" size="compact-md" onClick={selection.clear}>
            Clear
          </Button>
          <div className={classes['actions']}>{children}</div>
        </>
      )}
    </section>
  )
}

export interface BulkAct {
  /** `Delete users`, as the button says. */
  title: string
  /** What one is asked, with the number of rows it will affect: `Are you sure you want to delete 3 users?` */
  question: (count: string) => string
  isDestructive?: boolean
  run: (options: { dryRun: true } | { expected: number }) => Promise<Omit<BulkOutput, 'success'>>
  successText: (count: string) => string
  /** The server's message of a failure. */
  messageOf: (error: unknown) => string
  /** After it was done, or has failed. */
  onEnd: () => void
}

/** Acts on many rows: a dry run, its summary and one confirmation, then the act. */
export function useBulk(): (act: BulkAct) => Promise<void> {
  const confirm = useConfirm()
  return (act) => runBulk(act, confirm)
}

/** A button that starts such an act. */
export function BulkButton({ act, children }: { act: BulkAct; children: ReactNode }) {
  const start = useBulk()
  const [isBusy, setIsBusy] = useState(false)

  const handleClick = async () => {
    if (isBusy) return
    setIsBusy(true)
    await start(act).finally(() => setIsBusy(false))
  }

  return (
    <Button
      size="compact-md"
      variant={act.isDestructive ? 'outline' : 'default'}
      {...(act.isDestructive && { color: 'red' })}
      aria-disabled={isBusy}
      onClick={() => void handleClick()}
    >
      {children}
    </Button>
  )
}

async function runBulk(act: BulkAct, confirm: ReturnType<typeof useConfirm>): Promise<void> {
  const { title, question, isDestructive = false, run, successText, messageOf, onEnd } = act
  try {
    const planned = await run({ dryRun: true })
    if (planned.affected === 0) {
      toast.failure(planned.refusals[0]?.reason ?? 'Nothing of this is there any more.')
      return
    }
    const message = <Plan question={question(formatted(planned.affected))} plan={planned} />
    if (!(await confirm({ title, message, isDestructive }))) return
    const done = await run({ expected: planned.affected })
    toast.success(successText(formatted(done.affected)))
  } catch (error) {
    toast.failure(messageOf(error))
  }
  onEnd()
}

/** What will be done, what will not, and why not. */
function Plan({ question, plan: { refused, refusals } }: { question: string; plan: Omit<BulkOutput, 'success'> }) {
  return (
    <>
      {question}
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

function formatted(count: number): string {
  return count.toLocaleString('en-US')
}
