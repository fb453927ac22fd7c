/** The buttons above a player: back to the list, and to the previous and next player in it. */
import { listPaths } from '@arcade/contract/lists'
import { playerList } from '@arcade/contract/players/fields'
import { Button } from '@mantine/core'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useLocation, useNavigate } from '@tanstack/react-router'
import { type MouseEvent, useEffect, useEffectEvent, useState } from 'react'
import { api } from '#src/client/client.ts'
import { BackToListButton } from '#src/lists/back-to-list.tsx'
import { type ListAddress, listFilter, listOrder } from '#src/lists/list-address.ts'
import { stateFromPlayer } from '#src/lists/player-link.tsx'
import { isForBrowser } from '#src/ui/app-link.tsx'
import { LinkButton } from '#src/ui/link-button.tsx'
import classes from './player-page.module.css'

/** Links back to the list that led here and, if it is a list of players, to the previous and the next player in it. */
export function Neighbours({ userId, list }: { userId: number; list: ListAddress<typeof playerList> }) {
  const isFromOtherList = useLocation({ select: ({ state }) => state.isOtherList ?? false })
  return (
    <nav aria-label="Players" className={classes['neighbours']}>
      <BackToListButton to={listPaths.telegramUsers} search={list} />
      {!isFromOtherList && <PreviousAndNext userId={userId} list={list} />}
    </nav>
  )
}

function PreviousAndNext({ userId, list }: { userId: number; list: ListAddress<typeof playerList> }) {
  const navigate = useNavigate()
  const { data, isPlaceholderData } = useQuery(
    api.players.neighbours.queryOptions({
      input: { ...listFilter(playerList, list), ...listOrder(playerList, list), userId },
      placeholderData: keepPreviousData,
    }),
  )
  /** How many players forward (negative: back) are still to go. Each step waits until the current player's neighbours are loaded. */
  const [steps, setSteps] = useState(0)
  /** The navigation that is under way. */
  const [going, setGoing] = useState<{ from: number; to: number }>()
  if (going && going.from !== userId) setGoing(undefined)
  if (steps !== 0 && data && !isPlaceholderData && !going) {
    const to = steps > 0 ? data.next : data.previous
    setSteps(to === null ? 0 : steps - Math.sign(steps))
    if (to !== null) setGoing({ from: userId, to })
  }
  const go = useEffectEvent(
    (to: number) => void navigate({ to: PLAYER_PATH, params: { userId: String(to) }, search: list, state: stateFromPlayer }),
  )
  useEffect(() => {
    if (going) go(going.to)
  }, [going])

  const handleStep = (event: MouseEvent, step: 1 | -1) => {
    if (isForBrowser(event)) return
    event.preventDefault()
    setSteps((waiting) => waiting + step)
  }

  return (
    <>
      <NeighbourLink label="Previous Player" userId={data?.previous} list={list} onClick={(event) => handleStep(event, -1)} />
      <NeighbourLink label="Next Player" userId={data?.next} list={list} onClick={(event) => handleStep(event, 1)} />
    </>
  )
}

const PLAYER_PATH = '/manage-telegram-users/$userId'

interface NeighbourLinkProps {
  label: string
  userId: number | null | undefined
  list: ListAddress<typeof playerList>
  onClick: (event: MouseEvent) => void
}

function NeighbourLink({ label, userId, list, onClick }: NeighbourLinkProps) {
  if (userId == null) {
    return (
      <Button variant="default" disabled>
        {label}
      </Button>
    )
  }
  return (
    <LinkButton
      to={PLAYER_PATH}
      params={{ userId: String(userId) }}
      search={list}
      state={stateFromPlayer}
      variant="default"
      onClick={onClick}
    >
      {label}
    </LinkButton>
  )
}
