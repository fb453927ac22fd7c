/** Links from a list to a player's page, which remembers the list for the way back. */
import type { playerList } from '@arcade/contract/players/fields'
import type { ReactNode } from 'react'
import { RowLink } from './row-buttons.tsx'
import type { ListAddress } from './list-address.ts'

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

// Constants, because a new function makes every link recompute its address.
const stateFromPlayers = ({ __TSR_index }: State) => ({ listIndex: __TSR_index })
const stateFromOtherList = ({ __TSR_index }: State) => ({ listIndex: __TSR_index, isOtherList: true as const })
/** The state of a link from one player to another: Back still leads to the original list. */
export const stateFromPlayer = ({ listIndex }: State) => (listIndex === undefined ? {} : { listIndex })

interface PlayerLinkProps {
  userId: number
  /** The current address of the list of players; absent in other lists. */
  list?: ListAddress<typeof playerList>
  children: ReactNode
}

export function PlayerLink({ userId, list, children }: PlayerLinkProps) {
  return (
    <RowLink
      to="/manage-telegram-users/$userId"
      params={{ userId: String(userId) }}
      search={list ?? {}}
      state={list ? stateFromPlayers : stateFromOtherList}
      preload={false}
    >
      {children}
    </RowLink>
  )
}
