/** Links from a list to a player's page, which remembers the list for the way back. */
import { listPaths } from '@arcade/contract/lists'
import type { ReactNode } from 'react'
import { RowLink } from './row-buttons.tsx'

/** An act on a player, which the player's page asks about in a dialog. */
export type AskedAct = 'block' | 'unblock' | 'adjust'

declare module '@tanstack/react-router' {
  interface HistoryState {
    /** The list is not a list of players but, for example, of participants: its order does not apply to the player's page. */
    isOtherList?: true
    /** What the palette asked for: the player's page opens the dialog for it. */
    asks?: AskedAct
  }
}

type State = { __TSR_index: number; listIndex?: number }

const stateFromPlayers = ({ __TSR_index }: State) => ({ listIndex: __TSR_index })
const stateFromOtherList = ({ __TSR_index }: State) => ({ listIndex: __TSR_index, isOtherList: true as const })
/** The state of a link from one player to another: Back still leads to the original list. */
export const stateFromPlayer = ({ listIndex }: State) => (listIndex === undefined ? {} : { listIndex })

interface PlayerLinkProps {
  userId: number
  /** The search parameters of the list of players as they stand in its address; absent in other lists. */
  search?: string
  children: ReactNode
}

export function PlayerLink({ userId, search, children }: PlayerLinkProps) {
  return (
    <RowLink
      href={`${listPaths.telegramUsers}/${userId}${search ?? ''}`}
      state={search === undefined ? stateFromOtherList : stateFromPlayers}
    >
      {children}
    </RowLink>
  )
}
