/** Links from a list to a player's page, and back to the same rows of that list. */
import type { playerList } from '@arcade/contract/players/fields'
import { useLocation, useRouter } from '@tanstack/react-router'
import type { MouseEvent, ReactNode } from 'react'
import { LinkButton } from '#src/ui/link-button.tsx'
import { RowLink } from './row-buttons.tsx'
import type { ListAddress } from './list-address.ts'

declare module '@tanstack/react-router' {
  interface HistoryState {
    /** The list's position in the browser's history, for the way back from the player's page. */
    listIndex?: number
    /** The list is not a list of players but, for example, of participants: its order does not apply to the player's page. */
    isOtherList?: true
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

/** Goes back to the list that the operator came from, with its scroll position, or opens `list`. */
export function BackToListButton({ list, children }: { list: ListAddress<typeof playerList>; children: ReactNode }) {
  const { history } = useRouter()
  const steps = useLocation({
    select: ({ state: { __TSR_index, listIndex } }) => (listIndex === undefined ? 0 : __TSR_index - listIndex),
  })

  const handleClick = (event: MouseEvent) => {
    if (steps <= 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return
    event.preventDefault()
    history.go(-steps)
  }

  return (
    <LinkButton to="/manage-telegram-users" search={list} variant="default" onClick={handleClick}>
      {children}
    </LinkButton>
  )
}
