/**
 * A player's page, in the order of an operator's questions: the summary, the ledger, who the player is, the acts that cannot be undone
 * lightly, and a time line of all the items the player took part in.
 */
import { listPaths } from '@arcade/contract/lists'
import { playerName } from '@arcade/contract/players/fields'
import { keepPreviousData, useQuery } from '@tanstack/react-query'
import { useParams, useSearch } from '@tanstack/react-router'
import { asCallError, problemOf } from '#src/client/call-error.ts'
import { api } from '#src/client/client.ts'
import { BackToListButton } from '#src/lists/back-to-list.tsx'
import { Notes } from '#src/notes/notes.tsx'
import { Page, Panel, Problem } from '#src/ui/page.tsx'
import { FromBefore } from '#src/versions/from-before.tsx'
import { Ledger } from './ledger.tsx'
import { Neighbours } from './neighbours.tsx'
import { useLivePlayer } from './player-data.ts'
import { PlayerDetails } from './player-details.tsx'
import classes from './player-page.module.css'
import { PlayerActs, PlayerNotice } from './player-standing.tsx'
import { PlayerSummary } from './player-summary.tsx'
import { TimeLine } from './time-line.tsx'

export function PlayerPage() {
  const params = useParams({ from: '/shell/management/manage-telegram-users/$userId' })
  const list = useSearch({ from: '/shell/management/manage-telegram-users/$userId' })
  const userId = String(Number(params.userId)) === params.userId ? Number(params.userId) : Number.NaN // not `7e8` or `007`
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
            <PlayerSummary userId={userId} player={player} />
            <Ledger key={`ledger ${userId}`} userId={userId} player={player} />
            <div className={classes['beside']}>
              <PlayerDetails player={player}>{player && <PlayerActs key={userId} player={player} />}</PlayerDetails>
              {player && <Notes kind="player" id={String(userId)} />}
            </div>
            <TimeLine userId={userId} isKnown={player !== undefined} />
          </div>
          {player && <FromBefore kind="player" id={String(userId)} />}
        </>
      )}
    </Page>
  )
}
