/** The states of a broadcast in the database, and what follows from them. */

export type StoredState = 'scheduled' | 'planning' | 'sending' | 'done' | 'cancelled'

/** How a broadcast ended: recipients whose turn has not come are then skipped. */
export type Ending = 'ended' | 'cancelled'

const ENDINGS: Partial<Record<StoredState, Ending>> = { done: 'ended', cancelled: 'cancelled' }

/** Returns how a broadcast ended; undefined if it has not. */
export function endingOf(state: StoredState): Ending | undefined {
  return ENDINGS[state]
}

/** An SQL condition for the row `b` of `broadcasts`: messages of it may be sent now. */
export const IS_BEING_SENT = `(b.state = 'sending' and not b.is_paused and (b.ends_at is null or b.ends_at > now()))`
