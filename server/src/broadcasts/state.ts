/** The states of a broadcast in the database, and what follows from them. */
import type { BroadcastState } from '@arcade/contract/broadcasts/fields'

export type StoredState = 'scheduled' | 'planning' | 'sending' | 'done' | 'cancelled'

/** How a broadcast ended: recipients whose turn has not come are then skipped. */
export type Ending = 'ended' | 'cancelled'

const ENDINGS: Partial<Record<StoredState, Ending>> = { done: 'ended', cancelled: 'cancelled' }

/** Returns how a broadcast ended; undefined if it has not. */
export function endingOf(state: StoredState): Ending | undefined {
  return ENDINGS[state]
}

/** Returns the state as operators see it. @param isWaiting whether no broadcast may send now */
export function shownState({ state, isPaused }: { state: StoredState; isPaused: boolean }, isWaiting: boolean): BroadcastState {
  if (state === 'done' || state === 'cancelled') return state
  if (isPaused) return 'paused'
  if (state === 'scheduled') return 'scheduled'
  return state === 'sending' && isWaiting ? 'waiting' : 'sending'
}

/** An SQL condition for the row `b` of `broadcasts`: messages of it may be sent now. */
export const IS_BEING_SENT = `(b.state = 'sending' and not b.is_paused and (b.ends_at is null or b.ends_at > now()))`
