/** The state of a task or announcement, which follows from its dates and limits, as a quiet mark. */
import { type ItemState, itemStateLabels } from '@arcade/contract/items/fields'
import { momentText } from '#src/ui/moment.tsx'
import { State } from '#src/ui/state.tsx'

const looks = {
  draft: 'quiet',
  scheduled: 'busy',
  live: 'good',
  paused: 'quiet', // somebody wanted it: nothing has failed
  ended: 'quiet',
  full: 'quiet',
} as const satisfies Record<ItemState, string>

export function ItemStateChip({ state }: { state: ItemState }) {
  return <State is={looks[state]}>{itemStateLabels[state]}</State>
}

interface StateBesideProps {
  item: { state: ItemState; startsAt: string | null; endsAt: string | null }
}

/** The state beside what a list shows already: nothing for an item that is live or a draft, because nothing is unusual about these. */
export function StateBeside({ item: { state, startsAt, endsAt } }: StateBesideProps) {
  if (state === 'live' || state === 'draft') return null
  const dates = [startsAt && `Starts ${momentText(startsAt)}`, endsAt && `Ends ${momentText(endsAt)}`].filter(Boolean)
  return (
    <span title={dates.join('\n') || undefined}>
      <ItemStateChip state={state} />
    </span>
  )
}
