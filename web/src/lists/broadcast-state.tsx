/** The state of a broadcast, as a quiet mark. */
import { type BroadcastState, broadcastStateLabels } from '@arcade/contract/broadcasts/fields'
import { State } from '#src/ui/state.tsx'

const looks = {
  scheduled: 'busy', // as a scheduled item, which stands beside it in the calendar
  sending: 'busy',
  waiting: 'busy',
  paused: 'quiet', // as a paused item
  done: 'good',
  cancelled: 'quiet',
} as const satisfies Record<BroadcastState, string>

export function BroadcastStateChip({ state }: { state: BroadcastState }) {
  return <State is={looks[state]}>{broadcastStateLabels[state]}</State>
}
