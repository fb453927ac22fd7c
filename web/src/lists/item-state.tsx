/** The state of a task or announcement, which follows from its dates and limits, and for whom it is, as quiet marks. */
import { type ItemState, itemStateLabels } from '@arcade/contract/items/fields'
import type { ReactNode } from 'react'
import { momentText } from '#src/ui/moment.tsx'
import { State } from '#src/ui/state.tsx'
import classes from './item-state.module.css'
import { useForSegmentText } from './segments.ts'

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

interface TitledProps {
  /** The id of the segment that the item is for; null for all players. */
  segmentId: string | null
  /** The title. */
  children: ReactNode
  /** Shown after the title. */
  state?: ReactNode
}

/** An item's title with what is unusual about the item: beside it, or below a longer one. */
export function Titled({ segmentId, children, state }: TitledProps) {
  return (
    <div className={classes['titled']}>
      {children}
      {state}
      {segmentId !== null && <ForSegment id={segmentId} />}
    </div>
  )
}

function ForSegment({ id }: { id: string }) {
  const text = useForSegmentText()(id)
  return (
    <span title={text} className={classes['segment']}>
      {text}
    </span>
  )
}
