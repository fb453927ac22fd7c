/** A player's ledger (design §7): what each entry was, in words, the newest first; entries can be reversed, and the balance adjusted. */
import type { ExplainedEntry } from '@arcade/contract/balances'
import { entryCauses, isOwnCause, isReversible } from '@arcade/contract/entities/entry'
import { historyKindLabels } from '@arcade/contract/entities/history'
import { Button } from '@mantine/core'
import { useInfiniteQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { createContext, type ReactNode, use, useMemo, useState } from 'react'
import { asCallError } from '#src/client.ts'
import { type Column, DataTable, RowActions } from '#src/ui/data-table.tsx'
import { Moment } from '#src/ui/moment.tsx'
import { Balance } from './balance.tsx'
import { ReverseDialog } from './balance-dialogs.tsx'
import classes from './player-page.module.css'
import { entriesOf } from './player-data.ts'

/** The entries that were taken back, by their ids, each with the number of its reversal; and what begins another one. */
const LedgerContext = createContext<{ reversals: ReadonlyMap<string, number>; onReverse: (entry: ExplainedEntry) => void }>({
  reversals: new Map(),
  onReverse: () => {},
})

const columns: readonly Column<ExplainedEntry>[] = [
  { header: 'No.', value: ({ seq }) => seq, align: 'end', card: 'start' },
  { header: 'What', render: (entry) => <What entry={entry} />, card: 'title' },
  { header: 'Amount', render: ({ amount }) => <Signed amount={amount} />, align: 'end', card: 'end' },
  { header: 'Balance', render: ({ balance }) => <Balance amount={balance} />, align: 'end' },
  { header: 'When', render: ({ at }) => <Moment iso={at} /> },
  { header: 'Who', render: (entry) => writerOf(entry) },
  { header: 'Act', render: (entry) => <ReverseButton entry={entry} />, align: 'end' },
]

export function Ledger({ userId }: { userId: number }) {
  const { data, error, refetch, hasNextPage, fetchNextPage, isFetchingNextPage } = useInfiniteQuery(entriesOf(userId))
  const [reversed, setReversed] = useState<ExplainedEntry>()
  const entries = data?.pages.flatMap((page) => page.entries)
  // What reverses an entry is newer, and so is shown wherever the entry is.
  const reversals = useMemo(
    () =>
      new Map(
        data?.pages
          .flatMap((page) => page.entries)
          .flatMap(({ cause, reference, seq }) => (cause === 'reversal' && reference !== undefined ? [[reference, seq]] : [])),
      ),
    [data],
  )
  const context = useMemo(() => ({ reversals, onReverse: setReversed }), [reversals])
  return (
    <section className={classes['ledger']} aria-labelledby="ledger">
      <h2 id="ledger">Ledger</h2>
      <LedgerContext value={context}>
        <DataTable
          label="Entries"
          columns={columns}
          rows={entries}
          rowKey={({ seq }) => seq}
          emptyText="No entries yet: the balance has always been 0."
          {...(error && !data && { error: asCallError(error).message, onRetry: () => void refetch() })}
        />
      </LedgerContext>
      {hasNextPage && (
        <Button variant="default" aria-disabled={isFetchingNextPage} onClick={() => !isFetchingNextPage && void fetchNextPage()}>
          Show more
        </Button>
      )}
      <ReverseDialog userId={userId} entry={reversed} onClose={() => setReversed(undefined)} />
    </section>
  )
}

/** `Social Task · Follow us`, `Adjustment: lost a round`, `Play: round · r-17`. */
function What({ entry }: { entry: ExplainedEntry }) {
  const reversal = use(LedgerContext).reversals.get(entry.id)
  return (
    <span className={classes['entry']}>
      {wordsOf(entry)}
      {reversal !== undefined && <span className={classes['reversed']}>Reversed by entry {reversal}</span>}
    </span>
  )
}

function wordsOf({ cause, item, reason, reference }: ExplainedEntry): ReactNode {
  if (!isOwnCause(cause)) return `Play: ${cause} · ${reference}`
  const { label } = entryCauses[cause]
  if (item) {
    return (
      <>
        {historyKindLabels[item.kind]}
        {' · '}
        <Link to="/history" search={{ ...(item.kind !== 'announcement' && { tab: item.kind }), item: item.id }} preload={false}>
          {item.title || item.id}
        </Link>
      </>
    )
  }
  const what = cause === 'reversal' ? `Reversal of entry ${reference?.split('-')[1]}` : label
  return reason === undefined ? what : `${what}: ${reason}`
}

function Signed({ amount }: { amount: number }) {
  return (
    <span className={classes['signed']}>
      {amount > 0 && '+'}
      <Balance amount={amount} />
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
  if (!isReversible(entry.cause) || reversals.has(entry.id)) return null
  return (
    <RowActions>
      <Button variant="default" size="compact-sm" aria-label={`Reverse entry ${entry.seq}`} onClick={() => onReverse(entry)}>
        Reverse
      </Button>
    </RowActions>
  )
}
