/** The way from a list to a player's page, and from there back to the same rows of that list. */
import type { playerList } from '@arcade/contract/players/fields'
import { useLocation, useRouter } from '@tanstack/react-router'
import type { MouseEvent, ReactNode } from 'react'
import { LinkButton } from '#src/ui/link-button.tsx'
import { RowLink } from './row-buttons.tsx'
import type { ListAddress } from './list-address.ts'

declare module '@tanstack/react-router' {
  interface HistoryState {
    /** The place in the browser's history of the list from which one came to a player's page. */
    listIndex?: number
    /** That list is none of players, such as the participants of a task: its order is not theirs. */
    isOtherList?: true
  }
}

type State = { __TSR_index: number; listIndex?: number }

// Functions that stay the same, because a link works out its address anew when they change.
const stateFromPlayers = ({ __TSR_index }: State) => ({ listIndex: __TSR_index })
const stateFromOtherList = ({ __TSR_index }: State) => ({ listIndex: __TSR_index, isOtherList: true as const })
/** The state of a link from one player to another: the list stays the one from which one came. */
export const stateFromPlayer = ({ listIndex }: State) => (listIndex === undefined ? {} : { listIndex })

interface PlayerLinkProps {
  userId: number
  /** Where one is in the list of players; a link of another list has none. */
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

/** Leads to the list from which one came, scrolled as it was; to `list` from elsewhere. */
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
