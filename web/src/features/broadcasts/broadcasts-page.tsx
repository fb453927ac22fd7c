/** The broadcasts page, for admins: all broadcasts, newest first, each with its state, its progress and its outcomes so far. */
import type { Broadcast } from '@arcade/contract/broadcasts/calls'
import { isolated } from '@arcade/contract/text'
import { useQuery } from '@tanstack/react-query'
import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { problemOf } from '#src/client/call-error.ts'
import { api } from '#src/client/client.ts'
import { BroadcastStateChip } from '#src/lists/broadcast-state.tsx'
import { useAutoReload } from '#src/lists/live.ts'
import { Pager } from '#src/lists/pager.tsx'
import { asListed } from '#src/lists/use-list.ts'
import { Permitted } from '#src/session.tsx'
import { LinkButton } from '#src/ui/link-button.tsx'
import { Moment } from '#src/ui/moment.tsx'
import { formatted } from '#src/ui/numbers.ts'
import { Page, Panel, PanelText, Problem } from '#src/ui/page.tsx'
import { Cell, RowFacts, RowName, WideRow, WideTable } from '#src/ui/wide-table.tsx'
import { useAudienceWords } from './audience-words.ts'
import classes from './broadcasts.module.css'
import { OutcomeBar } from './outcome-bar.tsx'
import { isMoving, outcomesOf } from './words.ts'

/** How often the page is reloaded while a broadcast is sent, and otherwise. */
const BUSY_REFRESH_MS = 2000
const IDLE_REFRESH_MS = 30_000

export function BroadcastsPage() {
  const { page = 1 } = useSearch({ from: '/shell/management/broadcasts' })
  const navigate = useNavigate()
  const query = useQuery(api.broadcasts.list.queryOptions({ input: { page }, ...asListed }))
  const { data, error, refetch } = query
  const isBusy = data?.broadcasts.some(isMoving) ?? false
  useAutoReload(query, { everyMs: isBusy ? BUSY_REFRESH_MS : IDLE_REFRESH_MS })
  const words = useAudienceWords(data?.broadcasts ?? [])
  return (
    <Page
      title="Broadcasts"
      actions={
        <Permitted needs="broadcasts.write">
          <LinkButton to="/broadcasts/new">New Broadcast</LinkButton>
        </Permitted>
      }
    >
      <Panel>
        {data ? (
          data.total === 0 ? (
            <Nothing />
          ) : (
            <>
              <WideTable
                label="Broadcasts"
                columns={[
                  'Announcement',
                  'State',
                  'Progress',
                  'When',
                  { end: 'Sent' },
                  { end: 'Not received' },
                  { end: 'Unknown' },
                ]}
              >
                {data.broadcasts.map((broadcast) => (
                  <Row key={broadcast.id} broadcast={broadcast} words={words} />
                ))}
              </WideTable>
              {data.pageCount > 1 && (
                <Pager
                  paging={data}
                  onPageChange={(next) => void navigate({ to: '.', search: next > 1 ? { page: next } : {} })}
                />
              )}
            </>
          )
        ) : error ? (
          <Problem {...problemOf(error, () => void refetch())} />
        ) : (
          <output>Loading...</output>
        )}
      </Panel>
    </Page>
  )
}

function Nothing() {
  return (
    <div className={classes['nothing']}>
      <p className={classes['headline']}>No announcement has been sent through Telegram yet.</p>
      <PanelText>
        A broadcast sends an announcement to all players, or to those of a segment, as a message of the game’s bot: at once or at
        a time. Every recipient has an outcome, and a random control group can show what the message brought.
      </PanelText>
      <Permitted needs="broadcasts.write">
        <LinkButton to="/broadcasts/new" variant="default">
          Plan the first broadcast
        </LinkButton>
      </Permitted>
    </div>
  )
}

function Row({ broadcast, words }: { broadcast: Broadcast; words: ReturnType<typeof useAudienceWords> }) {
  const { id, title, state, madeBy, sent, refused, failed, unknown, isPlanned } = broadcast
  const { settled, of } = outcomesOf(broadcast)
  return (
    <WideRow>
      <Cell isLong>
        <RowName facts={[words(broadcast), madeBy !== null && `by ${isolated(madeBy)}`].filter(Boolean).join(' · ')}>
          <Link to="/broadcasts/$id" params={{ id }} className={classes['name']}>
            {title}
          </Link>
        </RowName>
      </Cell>
      <Cell>
        <BroadcastStateChip state={state} />
      </Cell>
      <Cell isLong>
        {state === 'scheduled' ? null : (
          <div className={classes['rowProgress']}>
            <OutcomeBar broadcast={broadcast} />
            <span>{isPlanned ? `${formatted(settled)} of ${formatted(of)}` : `${formatted(of)} recipients chosen so far`}</span>
          </div>
        )}
      </Cell>
      <Cell label="When" isLong>
        <When broadcast={broadcast} />
      </Cell>
      <Cell label="Sent" isAtEnd>
        {formatted(sent)}
      </Cell>
      <Cell label="Not received" isAtEnd>
        {formatted(refused + failed)}
      </Cell>
      <Cell label="Unknown" isAtEnd>
        {unknown === 0 ? formatted(0) : <strong className={classes['alert']}>{formatted(unknown)}</strong>}
      </Cell>
    </WideRow>
  )
}

function When({ broadcast: { state, sendAt, startedAt, doneAt, waitingUntil, expectedAt, madeAt } }: { broadcast: Broadcast }) {
  const [iso, fact] =
    state === 'scheduled'
      ? [sendAt ?? madeAt, 'Begins']
      : state === 'waiting' && waitingUntil !== undefined
        ? [waitingUntil, 'Waits until']
        : doneAt !== undefined
          ? [doneAt, state === 'cancelled' ? 'Cancelled' : 'Done']
          : expectedAt !== undefined
            ? [expectedAt, 'Expected to be done']
            : [startedAt ?? madeAt, 'Begun']
  return (
    <>
      <Moment iso={iso} />
      <RowFacts>{fact}</RowFacts>
    </>
  )
}
