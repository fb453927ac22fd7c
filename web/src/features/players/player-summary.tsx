/**
 * What an operator wants to know of a player first: the balance, which can be adjusted, the rank, when the player was seen, any block, and
 * whether messages reach the player.
 */
import { refusalReasonLabels, skipReasonLabels } from '@arcade/contract/broadcasts/fields'
import type { PlayerBlock } from '@arcade/contract/players/calls'
import { isErased, type Player, playerList } from '@arcade/contract/players/fields'
import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { type ReactNode, useId, useState } from 'react'
import { api, type client } from '#src/client/client.ts'
import { Permitted } from '#src/session.tsx'
import { Day, Moment } from '#src/ui/moment.tsx'
import { counted, formatted } from '#src/ui/numbers.ts'
import { State } from '#src/ui/state.tsx'
import { useAskedAct } from './asked-act.ts'
import { AdjustDialog } from './balance-dialogs.tsx'
import { Balance } from './balance.tsx'
import classes from './player-summary.module.css'
import { Waiting } from './waiting.tsx'

interface SummarisedPlayer extends Player {
  block: PlayerBlock | null
  participations: { total: number; reward: number }
}

/** @param player undefined until it is loaded */
export function PlayerSummary({ userId, player }: { userId: number; player: SummarisedPlayer | undefined }) {
  const { data: standing, isError } = useQuery(api.players.standing.queryOptions({ input: { userId } }))
  const id = useId()
  return (
    <div className={classes['summary']}>
      <section aria-labelledby={id} className={classes['money']}>
        <h2 id={id}>Balance</h2>
        <p className={classes['balance']}>{player ? <Balance amount={player.balance} /> : <Waiting />}</p>
        <p className={classes['note']}>
          {player ? (
            <>
              {counted(player.participations.total, 'participation')}, worth <Balance amount={player.participations.reward} /> at
              today’s rewards
            </>
          ) : (
            <Waiting />
          )}
        </p>
        {player && !isErased(player) && (
          <Permitted needs="balances.adjust">
            <AdjustButton player={player} />
          </Permitted>
        )}
      </section>
      <dl className={classes['facts']}>
        <Fact name="Rank">{standing ? rankText(standing) : isError ? '–' : <Waiting />}</Fact>
        <Fact name="First seen">{player ? <Seen iso={player.createdAt} /> : <Waiting />}</Fact>
        <Fact name="Last seen">{standing ? <Seen iso={standing.lastSeen} /> : isError ? '–' : <Waiting />}</Fact>
        <Fact name="Status">
          {player ? <Status player={player} /> : <Waiting />}
          {player && standing && <Reach standing={standing} />}
        </Fact>
      </dl>
    </div>
  )
}

function AdjustButton({ player }: { player: Player }) {
  const [isOpen, setIsOpen] = useState(false)
  useAskedAct('adjust', () => setIsOpen(true))
  return (
    <>
      <Button variant="default" aria-haspopup="dialog" className={classes['adjust'] ?? ''} onClick={() => setIsOpen(true)}>
        Adjust Balance
      </Button>
      <AdjustDialog player={player} isOpen={isOpen} onClose={() => setIsOpen(false)} />
    </>
  )
}

function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  )
}

const about = new Intl.NumberFormat('en-US', { maximumSignificantDigits: 2 })

type Standing = Awaited<ReturnType<typeof client.players.standing>>

function rankText({ rank, isRankExact }: Standing): string {
  if (rank === null) return 'None'
  return isRankExact ? formatted(rank) : `About ${about.format(rank)}`
}

function Seen({ iso }: { iso: string | null }) {
  return iso === null ? 'Unknown' : <Moment iso={iso} />
}

/** Why the console's messages do not reach the player; nothing if they do. */
function Reach({ standing: { unreachable, optedOutAt } }: { standing: Standing }) {
  const since = unreachable?.at ?? optedOutAt
  if (since === null) return null
  return (
    <p className={classes['reach']}>
      {unreachable ? refusalReasonLabels[unreachable.reason] : skipReasonLabels.optedOut}, since <Day iso={since} />
    </p>
  )
}

const looks = { unblocked: 'good', blocked: 'bad', erased: 'quiet' } as const

function Status({ player }: { player: SummarisedPlayer }) {
  const status = isErased(player) ? 'erased' : player.block ? 'blocked' : 'unblocked'
  return <State is={looks[status]}>{playerList.filters.status.options[status]}</State>
}
