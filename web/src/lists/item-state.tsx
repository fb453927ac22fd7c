/** The state of a task or announcement, which follows from its dates and limits, and for whom it is, as quiet marks. */
import { type ItemState, itemStateLabels } from '@arcade/contract/items/fields'
import { firstCharacters, isolated } from '@arcade/contract/text'
import { momentText } from '#src/ui/moment.tsx'
import { State } from '#src/ui/state.tsx'
import { useSegments } from './segments.ts'

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
  item: { state: ItemState; startsAt: string | null; endsAt: string | null; segmentId: string | null }
}

/** What is unusual about an item beside what a list shows already: a state other than live or draft, and the segment that it is for. */
export function StateBeside({ item: { state, startsAt, endsAt, segmentId } }: StateBesideProps) {
  const isUsual = state === 'live' || state === 'draft'
  const dates = [startsAt && `Starts ${momentText(startsAt)}`, endsAt && `Ends ${momentText(endsAt)}`].filter(Boolean)
  return (
    <>
      {!isUsual && (
        <span title={dates.join('\n') || undefined}>
          <ItemStateChip state={state} />
        </span>
      )}
      {segmentId !== null && <ForSegment id={segmentId} />}
    </>
  )
}

/** Longer names of segments are cut off beside a title, which needs the room. */
const SHOWN_NAME_LENGTH = 20

function ForSegment({ id }: { id: string }) {
  const { segments } = useSegments()
  const text = forSegmentText(segments?.find((segment) => segment.id === id)?.name)
  const shown = firstCharacters(text, SHOWN_NAME_LENGTH)
  return (
    <span title={text}>
      <State is="quiet">{shown === text ? text : `${shown}…`}</State>
    </span>
  )
}

/** @param name undefined while the segments are loaded, and for one that is not shared any more */
export function forSegmentText(name: string | undefined): string {
  return `for ${name === undefined ? 'a segment' : isolated(name)}`
}
