/** A player's ledger: its entries in words, the newest first. Operators can reverse entries here. */
import type { ExplainedEntry } from '@arcade/contract/balances/calls'
import { isOwnCause, isReversible } from '@arcade/contract/ledger/fields'
import { isErased, type Player } from '@arcade/contract/players/fields'
import { Button } from '@mantine/core'
import { useInfiniteQuery } from '@tanstack/react-query'
import { createContext, use, useEffect, useMemo, useRef, useState } from 'react'
import { asCallError } from '#src/client/call-error.ts'
import { DataTable } from '#src/lists/data-table.tsx'
import { type Column, MoreButton, RowActions } from '#src/lists/table-cells.tsx'
import { useMay } from '#src/session.tsx'
import { Moment } from '#src/ui/moment.tsx'
import { keepFocusInRows } from '#src/ui/table-rows.ts'
import { useViewMore } from '#src/ui/view-more.tsx'
import { Balance } from './balance.tsx'
import { ReverseDialog } from './balance-dialogs.tsx'
import { gameCauseInWords, Signed, wordsOf } from './entry-words.tsx'
import classes from './player-page.module.css'
import { entriesOf } from './player-data.ts'

interface LedgerContext {
  /** Maps the id of each reversed entry to the number (`seq`) of the entry that reverses it. */
  reversals: ReadonlyMap<string, number>
  /** Opens the dialog that reverses an entry; undefined if no entry of this player can be reversed now. */
  onReverse: ((entry: ExplainedEntry, button: Element) => void) | undefined
  /** Opens the dialog with the game's reference of an entry. */
  onReference: (reference: string) => void
}

const LedgerContext = createContext<LedgerContext>({ reversals: new Map(), onReverse: undefined, onReference: () => {} })

/** Entries shown at first, so that what stands below the ledger is near. */
const FIRST_ENTRIES = 10

const columns: readonly Column<ExplainedEntry>[] = [
  { header: 'No.', value: ({ seq }) => seq, align: 'end' },
  { header: 'What', render: (entry) => <What entry={entry} />, card: 'title' },
  { header: 'Amount', render: ({ amount }) => <Signed amount={amount} />, align: 'end', card: 'end' },
  { header: 'Balance', render: ({ balance }) => <Balance amount={balance} />, align: 'end' },
  { header: 'When', render: ({ at }) => <Moment iso={at} /> },
  { header: 'Who', render: (entry) => <Writer entry={entry} /> },
]

const columnsWithActions: typeof columns = [...columns, { header: 'Actions', render: (entry) => <ReverseButton entry={entry} /> }]

/** @param player undefined until the page has loaded the player; until then the page reports failures, and the ledger does not */
export function Ledger({ userId, player }: { userId: number; player: Player | undefined }) {
  const { entries, reversals, error, reload, hasMore, isLoadingMore, showMore } = useEntries(userId)
  const [reversed, setReversed] = useState<ExplainedEntry>()
  const keepFocus = useRef(() => {})
  const { ref: section, onMore } = useFocusOnMore(hasMore)
  const { open: openReference, dialog: referenceDialog } = useViewMore()
  const mayAdjust = useMay('balances.adjust')
  const canReverse = mayAdjust && player !== undefined && !isErased(player)
  const context = useMemo(() => {
    const onReverse = (entry: ExplainedEntry, button: Element) => {
      keepFocus.current = keepFocusInRows(button)
      setReversed(entry)
    }
    const onReference = (text: string) => openReference({ label: 'Reference', text })
    return { reversals, onReverse: canReverse ? onReverse : undefined, onReference }
  }, [reversals, canReverse, openReference])

  const handleMore = () => {
    if (isLoadingMore) return
    onMore()
    showMore()
  }

  return (
    <section ref={section} className={classes['ledger']} aria-labelledby="ledger">
      <h2 id="ledger">Ledger</h2>
      <LedgerContext value={context}>
        <DataTable
          label="Entries"
          columns={mayAdjust && !isErased({ userId }) ? columnsWithActions : columns}
          rows={entries}
          rowKey={({ seq }) => seq}
          emptyText="No entries yet: the balance has always been 0."
          {...(error && !entries && player && { error: asCallError(error).message, onRetry: reload })}
        />
      </LedgerContext>
      {hasMore && (
        <Button variant="default" aria-disabled={isLoadingMore} onClick={handleMore}>
          Show more
        </Button>
      )}
      {referenceDialog}
      {player && (
        <ReverseDialog
          player={player}
          entry={reversed}
          onClose={() => setReversed(undefined)}
          onReversed={() => keepFocus.current()}
        />
      )}
    </section>
  )
}

/** Returns a player's entries: the newest ten, after `showMore` all that are loaded, and then another page each time. */
function useEntries(userId: number) {
  const { data, error, refetch, hasNextPage, fetchNextPage, isFetchingNextPage } = useInfiniteQuery(entriesOf(userId))
  const [isWhole, setIsWhole] = useState(false)
  const loaded = data?.pages.flatMap((page) => page.entries)
  const isFolded = !isWhole && loaded !== undefined && loaded.length > FIRST_ENTRIES
  // Newest entries are loaded first, so the reversal of a loaded entry is loaded, too.
  const reversals = useMemo(
    () =>
      new Map(
        data?.pages
          .flatMap((page) => page.entries)
          .flatMap(({ cause, reference, seq }) => (cause === 'reversal' && reference !== undefined ? [[reference, seq]] : [])),
      ),
    [data],
  )
  return {
    entries: isFolded ? loaded.slice(0, FIRST_ENTRIES) : loaded,
    reversals,
    error,
    reload: () => void refetch(),
    hasMore: hasNextPage || isFolded,
    isLoadingMore: isFetchingNextPage,
    showMore: () => {
      if (isFolded) setIsWhole(true)
      else void fetchNextPage()
    },
  }
}

/** The Show more button disappears once all entries are shown. Its focus then moves to the first row that it added. */
function useFocusOnMore(hasMore: boolean) {
  const ref = useRef<HTMLElement>(null)
  const last = useRef<Element>(undefined)
  useEffect(() => {
    const first = last.current?.nextElementSibling
    if (!hasMore && document.activeElement === document.body && first instanceof HTMLElement) first.focus()
  }, [hasMore])
  return { ref, onMore: () => (last.current = ref.current?.querySelector('tbody tr:last-of-type') ?? undefined) }
}

function What({ entry }: { entry: ExplainedEntry }) {
  const { reversals, onReference } = use(LedgerContext)
  const reversal = reversals.get(entry.id)
  const { cause, reference } = entry
  return (
    <span className={classes['entry']}>
      {isOwnCause(cause) || reference === undefined ? (
        wordsOf(entry)
      ) : (
        <>
          Game ·{' '}
          <MoreButton title="Show the reference" onClick={() => onReference(reference)}>
            {gameCauseInWords(cause)}
          </MoreButton>
        </>
      )}
      {reversal !== undefined && <span className={classes['reversed']}>Reversed by entry {reversal}</span>}
    </span>
  )
}

function Writer({ entry }: { entry: ExplainedEntry }) {
  const writer = writerOf(entry)
  return (
    <span className={classes['who']} title={writer}>
      {writer}
    </span>
  )
}

function writerOf({ by }: ExplainedEntry): string {
  if (!by) return 'Import'
  if (by.kind === 'player') return 'Player'
  if (by.kind === 'bot') return `${by.name} (bot)`
  return by.name ?? 'Removed user'
}

function ReverseButton({ entry }: { entry: ExplainedEntry }) {
  const { reversals, onReverse } = use(LedgerContext)
  if (!onReverse || !isReversible(entry.cause) || reversals.has(entry.id)) return null
  return (
    <RowActions>
      <Button
        variant="default"
        size="compact-sm"
        aria-label={`Reverse entry ${entry.seq}`}
        aria-haspopup="dialog"
        onClick={({ currentTarget }) => onReverse(entry, currentTarget)}
      >
        Reverse
      </Button>
    </RowActions>
  )
}
