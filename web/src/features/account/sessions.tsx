/** The sessions of the signed-in user: device, start and last use of each, with the addresses. All but the current one can be ended. */
import type { Session } from '@arcade/contract/account/calls'
import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { problemOf } from '#src/client/call-error.ts'
import { api, client } from '#src/client/client.ts'
import { useItemAct } from '#src/lists/item-acts.ts'
import { useAutoReload } from '#src/lists/live.ts'
import { Moment } from '#src/ui/moment.tsx'
import { Problem } from '#src/ui/page.tsx'
import { State } from '#src/ui/state.tsx'
import { Cell, RowActs, RowName, WideRow, WideTable } from '#src/ui/wide-table.tsx'
import { capitalised } from '#src/ui/words.ts'
import classes from './account.module.css'

export function Sessions() {
  const query = useQuery(api.account.sessions.queryOptions())
  const { data, error, refetch } = query
  useAutoReload(query)
  const act = useItemAct(api.account.sessions.key())
  const end = (message: string, call: () => Promise<string>) =>
    void act(call, { title: 'End session', message, isDestructive: true })

  if (error && !data) return <Problem {...problemOf(error, () => void refetch())} />
  if (!data) return <output>Loading...</output>
  const { sessions } = data
  return (
    <>
      <WideTable label="Sessions" columns={['Device', 'Last seen', 'Begun', { hidden: 'Acts' }]}>
        {sessions.map((session) => (
          <SessionRow
            key={session.id}
            session={session}
            onEnd={() =>
              end(
                `Are you sure you want to end the session on ${nameDevice(session)}${from(session.lastAddress)}? It has to sign in again. The password links that you made end, too.`,
                async () => {
                  await client.account.endSession({ id: session.id })
                  return 'Session ended.'
                },
              )
            }
          />
        ))}
      </WideTable>
      {sessions.length > 2 && (
        <div className={classes['all']}>
          <Button
            variant="default"
            onClick={() =>
              end(
                'Are you sure you want to end all your sessions but this one? The password links that you made end, too.',
                async () => {
                  await client.account.endOtherSessions()
                  return 'All other sessions ended.'
                },
              )
            }
          >
            End All Others
          </Button>
        </div>
      )}
    </>
  )
}

function SessionRow({ session, onEnd }: { session: Session; onEnd: () => void }) {
  const name = nameDevice(session)
  return (
    <WideRow>
      <Cell isLong>
        <div className={classes['device']}>
          <RowName>{capitalised(name)}</RowName>
          {session.isCurrent && <State is="good">This session</State>}
        </div>
      </Cell>
      <Cell label="Last seen">
        <Moment iso={session.lastSeenAt} />
        {from(session.lastAddress)}
      </Cell>
      <Cell label="Begun">
        <Moment iso={session.begunAt} />
        {from(session.begunAddress)}
      </Cell>
      <Cell isAtEnd>
        {!session.isCurrent && (
          <RowActs>
            <Button
              variant="default"
              size="compact-sm"
              aria-label={`End Session, ${name}${from(session.lastAddress)}`}
              onClick={onEnd}
            >
              End Session
            </Button>
          </RowActs>
        )}
      </Cell>
    </WideRow>
  )
}

/** Names the session's device. Sessions from before devices were recorded have none. */
function nameDevice({ device }: Session): string {
  return device || 'an unknown device'
}

/** Returns ` from` and an address. Sessions from before addresses were recorded have none. */
function from(address: string): string {
  return address && ` from ${address}`
}
