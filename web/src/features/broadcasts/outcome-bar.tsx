/** The outcomes of a broadcast as one bar. The figures beside it say the same. */
import type { Broadcast } from '@arcade/contract/broadcasts/calls'
import classes from './broadcasts.module.css'

/** The parts of the bar, from its beginning. What is pending is the bar's ground. */
export const barParts = ['sent', 'refused', 'failed', 'unknown', 'skipped', 'held'] as const

export function OutcomeBar({ broadcast, isLarge = false }: { broadcast: Broadcast; isLarge?: boolean }) {
  const { total } = broadcast
  return (
    <div className={classes['bar']} data-large={isLarge || undefined} aria-hidden>
      {barParts.map((part) =>
        broadcast[part] === 0 ? null : (
          <span key={part} data-part={part} style={{ width: `${((broadcast[part] / total) * 100).toFixed(3)}%` }} />
        ),
      )}
    </div>
  )
}
