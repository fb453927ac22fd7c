/** A ledger entry in words: its cause, and its amount with a sign. */
import type { ExplainedEntry } from '@arcade/contract/balances/calls'
import { entryCauses, isOwnCause } from '@arcade/contract/ledger/fields'
import { historyKindLabels } from '@arcade/contract/history/fields'
import { isolated } from '@arcade/contract/text'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { Balance } from './balance.tsx'
import classes from './player-page.module.css'

/**
 * Says what an entry was for: `Social Task · Follow us`, `Adjustment: lost a round`, `Play: round · r-17`. Entries of an erased player have
 * no reference any more: `Play: round`.
 */
export function wordsOf({ cause, item, reason, reference }: ExplainedEntry): ReactNode {
  if (!isOwnCause(cause)) return reference === undefined ? `Play: ${cause}` : `Play: ${cause} · ${isolated(reference)}`
  const { label } = entryCauses[cause]
  if (item) {
    return (
      <>
        {historyKindLabels[item.kind]}
        {' · '}
        <Link to="/history" search={{ ...(item.kind !== 'announcement' && { tab: item.kind }), item: item.id }} preload={false}>
          {isolated(item.title || item.id)}
        </Link>
      </>
    )
  }
  const what = cause === 'reversal' ? `Reversal of entry ${reference?.split('-').at(-1)}` : label
  return reason === undefined ? what : `${what}: ${isolated(reason)}`
}

export function Signed({ amount }: { amount: number }) {
  return (
    <span className={classes['signed']}>
      {amount > 0 && '+'}
      <Balance amount={amount} />
    </span>
  )
}
