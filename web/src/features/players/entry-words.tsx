/** A ledger entry in words: its cause, and its amount with a sign. */
import type { ExplainedEntry } from '@arcade/contract/balances/calls'
import { entryCauses, isOwnCause } from '@arcade/contract/ledger/fields'
import { historyKindLabels } from '@arcade/contract/history/fields'
import { isolated } from '@arcade/contract/text'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { capitalised } from '#src/ui/words.ts'
import { Balance } from './balance.tsx'
import classes from './player-page.module.css'

/** Says what an entry was for: `Social Task · Follow us`, `Adjustment: lost a round`, `Game · Level up`. */
export function wordsOf({ cause, item, reason, reference }: ExplainedEntry): ReactNode {
  if (!isOwnCause(cause)) return `Game · ${gameCauseInWords(cause)}`
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

/** Says the game's own name for a cause as words: `level_up` is `Level up`. */
export function gameCauseInWords(cause: string): string {
  return capitalised(cause.replaceAll(/[_.-]+/g, ' ').trim())
}

export function Signed({ amount }: { amount: number }) {
  return (
    <span className={classes['signed']}>
      {amount > 0 && '+'}
      <Balance amount={amount} />
    </span>
  )
}
