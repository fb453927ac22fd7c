/**
 * A player's page: cards with all fields, the ledger, and a time line of all the items the player took part in, with what these are worth
 * at today’s rewards.
 */
import { historyKindLabels } from '@arcade/contract/history/fields'
import { listPaths } from '@arcade/contract/lists'
import { isErased, type Player, playerFields, playerList, playerName } from '@arcade/contract/players/fields'
import type { PlayerParticipation } from '@arcade/contract/players/calls'
import { isBlank, isolated } from '@arcade/contract/text'
import { Button } from '@mantine/core'
import { keepPreviousData, useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { Link, useLocation, useNavigate, useParams, useSearch } from '@tanstack/react-router'
import { type MouseEvent, type ReactNode, useEffect, useEffectEvent, useId, useState } from 'react'
import { api, asCallError, problemOf } from '#src/client.ts'
import { type ListAddress, listFilter, listOrder } from '#src/lists/list-address.ts'
import { BackToListButton } from '#src/lists/back-to-list.tsx'
import { stateFromPlayer } from '#src/lists/player-link.tsx'
import { CopyButton } from '#src/ui/copy-button.tsx'
import { Missing } from '#src/lists/table-cells.tsx'
import { LinkButton } from '#src/ui/link-button.tsx'
import { Moment, TimeOfDay } from '#src/ui/moment.tsx'
import { counted } from '#src/ui/numbers.ts'
import { Page, Panel, Problem } from '#src/ui/page.tsx'
import { FromBefore } from '#src/versions/from-before.tsx'
import { Balance } from './balance.tsx'
import { AdjustDialog } from './balance-dialogs.tsx'
import { Ledger } from './ledger.tsx'
import { participationKey, participationsOf, useLivePlayer } from './player-data.ts'
import classes from './player-page.module.css'
import { PlayerActs, PlayerNotice } from './player-standing.tsx'

const MISSING = 'undefined' // sic, §3

/** The card on which each field of a player is shown. A card shows its fields in this order. */
const cards: Record<keyof Player, 'balance' | 'wallets' | 'handles' | 'identity'> = {
  balance: 'balance',
  tonWalletAddress: 'wallets',
  bscWallet: 'wallets',
  twitterUsername: 'handles',
  instagramUsername: 'handles',
  linkedInUsername: 'handles',
  discordUsername: 'handles',
  youtubeUsername: 'handles',
  userId: 'identity',
  firstName: 'identity',
  lastName: 'identity',
  username: 'identity',
  email: 'identity',
  phoneNumber: 'identity',
  createdAt: 'identity',
}

export function PlayerPage() {
  const params = useParams({ from: '/shell/management/manage-telegram-users/$userId' })
  const list = useSearch({ from: '/shell/management/manage-telegram-users/$userId' })
  const userId = Number(params.userId)
  const { data, error, refetch } = useQuery(
    api.players.get.queryOptions({ input: { userId }, placeholderData: keepPreviousData }),
  )
  const player = data?.userId === userId ? data : undefined
  useLivePlayer(userId, player !== undefined)

  return (
    <Page title={player ? playerName(player) : `Player ${params.userId}`} actions={<Neighbours userId={userId} list={list} />}>
      {error && !(player && asCallError(error).isException) ? (
        <Panel>
          <Problem {...problemOf(error, () => void refetch())}>
            <BackToListButton to={listPaths.telegramUsers} search={list}>
              Back to Telegram Users
            </BackToListButton>
          </Problem>
        </Panel>
      ) : (
        <>
          {player && <PlayerNotice player={player} />}
          <div className={classes['player']} aria-busy={player === undefined}>
            <FactsCard title="Identity" card="identity" player={player}>
              {player && <PlayerActs player={player} />}
            </FactsCard>
            <div className={classes['column']}>
              <Card title="Balance">
                <div className={classes['figure']}>
                  <p className={classes['balance']}>{player ? <Balance amount={player.balance} /> : <Waiting />}</p>
                  {player && !isErased(player) && <AdjustButton player={player} />}
                </div>
                <p className={classes['note']}>
                  {player ? (
                    <>
                      {counted(player.participations.total, 'participation')}, worth{' '}
                      <Balance amount={player.participations.reward} /> at today’s rewards
                    </>
                  ) : (
                    <Waiting />
                  )}
                </p>
              </Card>
              <FactsCard title="Handles" card="handles" player={player} />
            </div>
            <FactsCard title="Wallets" card="wallets" player={player} />
            <Ledger key={`ledger ${userId}`} userId={userId} player={player} />
            <TimeLine userId={userId} isKnown={player !== undefined} />
          </div>
          {player && <FromBefore kind="player" id={String(userId)} />}
        </>
      )}
    </Page>
  )
}

function AdjustButton({ player }: { player: Player }) {
  const [isOpen, setIsOpen] = useState(false)
  return (
    <>
      <Button variant="default" aria-haspopup="dialog" onClick={() => setIsOpen(true)}>
        Adjust Balance
      </Button>
      <AdjustDialog player={player} isOpen={isOpen} onClose={() => setIsOpen(false)} />
    </>
  )
}

/** Links back to the list that led here and, if it is a list of players, to the previous and the next player in it. */
function Neighbours({ userId, list }: { userId: number; list: ListAddress<typeof playerList> }) {
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
    if (event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return
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

function Card({ title, children }: { title: string; children: ReactNode }) {
  const id = useId()
  return (
    <section className={classes['card']} aria-labelledby={id}>
      <h2 id={id}>{title}</h2>
      {children}
    </section>
  )
}

interface FactsCardProps {
  title: string
  card: 'wallets' | 'handles' | 'identity'
  /** Undefined while it is being loaded. */
  player: Player | undefined
  /** Shown below the facts. */
  children?: ReactNode
}

function FactsCard({ title, card, player, children }: FactsCardProps) {
  const names = (Object.keys(cards) as (keyof Player)[]).filter((name) => cards[name] === card)
  return (
    <Card title={title}>
      <dl className={classes['facts']} data-card={card}>
        {names.map((name) => (
          <div key={name}>
            <dt>{playerFields[name].label}</dt>
            <dd>{player ? <Fact name={name} value={player[name]} /> : <Waiting />}</dd>
          </div>
        ))}
      </dl>
      {children}
    </Card>
  )
}

function Fact({ name, value }: { name: keyof Player; value: string | number | null }) {
  const { label, kind } = playerFields[name]
  if (value === null || isBlank(String(value))) return <Missing text={MISSING} />
  if (kind === 'moment') return <Moment iso={String(value)} />
  return (
    <>
      <span className={classes['value']}>{value}</span>
      <CopyButton label={label} text={String(value)} />
    </>
  )
}

function Waiting() {
  return <span className={classes['waiting']} aria-hidden />
}

/** @param isKnown whether the page has loaded the player; until then the page reports failures, and the time line does not */
function TimeLine({ userId, isKnown }: { userId: number; isKnown: boolean }) {
  const { data, error, refetch, hasNextPage, fetchNextPage, isFetchingNextPage } = useInfiniteQuery(participationsOf(userId))
  const all = data?.pages.flatMap(({ participations }) => participations)
  const days = Map.groupBy(all ?? [], ({ timestamp }) => dayName.format(new Date(timestamp)))
  return (
    <section className={classes['timeLine']} aria-labelledby="time-line">
      <h2 id="time-line">Took part in</h2>
      {error && !all && isKnown ? (
        <Problem {...problemOf(error, () => void refetch())} />
      ) : !all ? (
        <output aria-label="Loading" className={classes['waitingLines']}>
          <Waiting />
          <Waiting />
          <Waiting />
        </output>
      ) : all.length === 0 ? (
        <p className={classes['note']}>Nothing yet.</p>
      ) : (
        [...days].map(([day, participations]) => (
          <section key={day} aria-label={day} className={classes['day']}>
            <h3>{day}</h3>
            <ol>
              {participations.map((participation) => (
                <Participation key={participationKey(participation)} of={participation} />
              ))}
            </ol>
          </section>
        ))
      )}
      {hasNextPage && (
        <Button variant="default" aria-disabled={isFetchingNextPage} onClick={() => !isFetchingNextPage && void fetchNextPage()}>
          Show more
        </Button>
      )}
    </section>
  )
}

const dayName = new Intl.DateTimeFormat('en-US', { dateStyle: 'full' })

function Participation({ of: { kind, id, title, reward, userInput, timestamp } }: { of: PlayerParticipation }) {
  return (
    <li className={classes['participation']}>
      <span className={classes['time']}>
        <TimeOfDay iso={timestamp} />
      </span>
      <span className={classes['what']}>
        <Link to="/history" search={{ ...(kind !== 'announcement' && { tab: kind }), item: id }} preload={false}>
          {isolated(title)}
        </Link>
        <span className={classes['kind']}>{historyKindLabels[kind]}</span>
        {userInput && <span className={classes['input']}>{userInput}</span>}
      </span>
      <span className={classes['worth']}>
        <span className="app-sr-only">worth </span>
        <Balance amount={reward} /> <span className={classes['today']}>at today’s reward</span>
      </span>
    </li>
  )
}
