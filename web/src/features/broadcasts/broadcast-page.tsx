/** The page of one broadcast: how far it is, the outcome of every recipient, the acts on it, and what it has brought. */
import type { Broadcast } from '@arcade/contract/broadcasts/calls'
import { isolated } from '@arcade/contract/text'
import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { problemOf } from '#src/client/call-error.ts'
import { api, client } from '#src/client/client.ts'
import { BackToListButton } from '#src/lists/back-to-list.tsx'
import { useItemHref } from '#src/lists/form-hrefs.ts'
import { useItemAct } from '#src/lists/item-acts.ts'
import { useAutoReload } from '#src/lists/live.ts'
import { Permitted } from '#src/session.tsx'
import { AppLink } from '#src/ui/app-link.tsx'
import { FormWithAside } from '#src/ui/form-page.tsx'
import { Moment } from '#src/ui/moment.tsx'
import { counted, formatted } from '#src/ui/numbers.ts'
import { Page, Panel, Problem } from '#src/ui/page.tsx'
import { useAudienceWords } from './audience-words.ts'
import classes from './broadcasts.module.css'
import { ChangeTimesButton } from './change-times.tsx'
import { MessagePreview } from './message-preview.tsx'
import { Progress } from './progress.tsx'
import { Recipients } from './recipients.tsx'
import { Report } from './report.tsx'
import { isMoving, isOver } from './words.ts'

/** How often the page is reloaded while the broadcast is sent, and otherwise. */
const BUSY_REFRESH_MS = 2000
const IDLE_REFRESH_MS = 15_000

export function BroadcastPage() {
  const { id } = useParams({ from: '/shell/management/broadcasts/$id' })
  const query = useQuery(api.broadcasts.get.queryOptions({ input: { id } }))
  const { data, error, refetch } = query
  useAutoReload(query, { everyMs: data && isMoving(data) ? BUSY_REFRESH_MS : IDLE_REFRESH_MS })
  return (
    <Page
      title={data?.title ?? 'Broadcast'}
      actions={
        <>
          <BackToListButton to="/broadcasts" />
          {data && (
            <Permitted needs="broadcasts.write">
              <Acts broadcast={data} />
            </Permitted>
          )}
        </>
      }
    >
      {data ? (
        <Shown broadcast={data} />
      ) : (
        <Panel>{error ? <Problem {...problemOf(error, () => void refetch())} /> : <output>Loading...</output>}</Panel>
      )}
    </Page>
  )
}

function Shown({ broadcast }: { broadcast: Broadcast }) {
  const { id, state } = broadcast
  if (state === 'scheduled')
    return (
      <FormWithAside>
        <UpcomingPreview id={broadcast.announcementId} />
        <Panel>
          <Progress broadcast={broadcast} />
        </Panel>
        <Plan broadcast={broadcast} />
      </FormWithAside>
    )
  return (
    <>
      <Panel>
        <Progress broadcast={broadcast} />
      </Panel>
      <UnknownOnes broadcast={broadcast} />
      {broadcast.startedAt !== undefined && <Report id={id} isOver={isOver(broadcast)} sent={broadcast.sent} />}
      <Plan broadcast={broadcast} />
      <Panel title="Recipients">
        <Recipients broadcast={broadcast} />
      </Panel>
    </>
  )
}

/** The message as it would be sent now: the announcement can change until sending begins. */
function UpcomingPreview({ id }: { id: string }) {
  const { data } = useQuery(api.announcements.get.queryOptions({ input: { id }, retry: false }))
  return <MessagePreview announcement={data} />
}

/** The buttons for what can be done in this state. */
function Acts({ broadcast }: { broadcast: Broadcast }) {
  const { id, title, state, pending } = broadcast
  const act = useItemAct(api.broadcasts.key())
  if (isOver(broadcast)) return null
  const handlePause = () =>
    void act(async () => {
      await client.broadcasts.pause({ id })
      return 'The broadcast is paused.'
    })
  const handleResume = () =>
    void act(async () => {
      await client.broadcasts.resume({ id })
      return 'The broadcast goes on.'
    })
  const handleCancel = () =>
    void act(
      async () => {
        await client.broadcasts.cancel({ id })
        return 'The broadcast is cancelled.'
      },
      {
        title: 'Cancel broadcast',
        message:
          state === 'scheduled'
            ? `Are you sure you want to cancel ${isolated(title)}? Nobody gets the message.`
            : `Are you sure you want to cancel ${isolated(title)}? ${counted(pending, 'waiting player')} ${pending === 1 ? 'gets' : 'get'} no message. It cannot be resumed.`,
        isDestructive: true,
      },
    )
  return (
    <>
      <Button variant="default" onClick={handleCancel}>
        Cancel Broadcast
      </Button>
      {state === 'scheduled' && <ChangeTimesButton broadcast={broadcast} />}
      {state === 'paused' && <Button onClick={handleResume}>Resume</Button>}
      {(state === 'sending' || state === 'waiting') && (
        <Button variant="default" onClick={handlePause}>
          Pause
        </Button>
      )}
    </>
  )
}

/** Says what an unknown outcome means, and offers to send the message again. */
function UnknownOnes({ broadcast: { id, unknown } }: { broadcast: Broadcast }) {
  const act = useItemAct(api.broadcasts.key())
  if (unknown === 0) return null
  const players = counted(unknown, 'player')
  const handleResend = () =>
    void act(
      async () => {
        const { affected } = await client.broadcasts.resendUnknown({ id })
        return `The message is sent again to ${counted(affected, 'player')}.`
      },
      {
        title: 'Send again',
        message: `Are you sure you want to send the message again to ${players}? Those who have it already get it twice.`,
        confirmLabel: `Send again to ${players}`,
      },
    )
  return (
    <section aria-label="Unknown outcomes" className={classes['unknown']}>
      <p>
        <strong>{unknown === 1 ? 'One answer was lost.' : `${formatted(unknown)} answers were lost.`}</strong> The message may or
        may not have arrived, so it is never sent again by itself.
      </p>
      <Permitted needs="broadcasts.write">
        <Button variant="default" onClick={handleResend}>
          Send again to {players}
        </Button>
      </Permitted>
    </section>
  )
}

/** What was decided when the broadcast was made. */
function Plan({ broadcast }: { broadcast: Broadcast }) {
  const { announcementId, title, holdBack, madeBy, madeAt, sendAt, endsAt, paid, starsSpent } = broadcast
  const words = useAudienceWords([broadcast])
  const href = useItemHref()('announcement', announcementId)
  return (
    <Panel title="Plan">
      <dl className={classes['plan']}>
        <div>
          <dt>Announcement</dt>
          <dd>{href === undefined ? isolated(title) : <AppLink href={href}>{isolated(title)}</AppLink>}</dd>
        </div>
        <div>
          <dt>Recipients</dt>
          <dd>{words(broadcast)}</dd>
        </div>
        <div>
          <dt>Control group</dt>
          <dd>{holdBack === 0 ? 'None' : `${holdBack} %, chosen at random`}</dd>
        </div>
        <div>
          <dt>Begins</dt>
          <dd>{sendAt === undefined ? 'At once' : <Moment iso={sendAt} />}</dd>
        </div>
        {endsAt !== undefined && (
          <div>
            <dt>Ends at the latest</dt>
            <dd>
              <Moment iso={endsAt} />
            </dd>
          </div>
        )}
        {paid && (
          <div>
            <dt>Paid sending</dt>
            <dd>
              {formatted(starsSpent ?? 0)} of at most {formatted(paid.most)} Stars spent, {formatted(paid.starsEach)} a message
            </dd>
          </div>
        )}
        <div>
          <dt>Made</dt>
          <dd>
            <Moment iso={madeAt} />
            {madeBy !== null && ` by ${isolated(madeBy)}`}
          </dd>
        </div>
      </dl>
    </Panel>
  )
}
