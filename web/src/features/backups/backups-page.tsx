/** The backups page, for admins: starts a backup, shows how far it is, verifies and lists the last ones. All admins see the same. */
import type { BackupRun, BackupState } from '@arcade/contract/backups/calls'
import { Button } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { useEffect, useRef } from 'react'
import { problemOf } from '#src/client/call-error.ts'
import { api, client } from '#src/client/client.ts'
import { useItemAct } from '#src/lists/item-acts.ts'
import { useAutoReload } from '#src/lists/live.ts'
import { Moment } from '#src/ui/moment.tsx'
import { Page, Panel, PanelText, Problem } from '#src/ui/page.tsx'
import { toast } from '#src/ui/toast.tsx'
import classes from './backups.module.css'
import { BackupsTable } from './backups-table.tsx'
import { UnderWay } from './under-way.tsx'
import { sizeText } from './words.ts'

/** How often the page is reloaded while a backup is made or verified, and otherwise. */
const BUSY_REFRESH_MS = 1000
const IDLE_REFRESH_MS = 5000

export function BackupsPage() {
  const query = useQuery(
    api.backups.state.queryOptions({
      refetchInterval: ({ state }) => (state.data && underWayIn(state.data) ? BUSY_REFRESH_MS : false),
    }),
  )
  const { data, error, refetch } = query
  useAutoReload(query, { everyMs: IDLE_REFRESH_MS })
  const acts = useBackupActs(data?.backups)
  const current = data && underWayIn(data)

  return (
    <Page
      title="Backups"
      actions={
        <Button
          onClick={() => void acts.start()}
          aria-disabled={current !== undefined || undefined}
          data-disabled={current !== undefined}
        >
          Back up now
        </Button>
      }
    >
      {data ? (
        <>
          <Plan state={data} />
          {current && <UnderWay run={current} onCancel={() => void acts.cancel(current)} />}
          <Panel title="Last Backups">
            {data.backups.length === 0 ? (
              <Nothing state={data} />
            ) : (
              <BackupsTable
                folder={data.place}
                runs={data.backups}
                onVerify={(run) => void acts.verify(run)}
                isBusy={current !== undefined}
              />
            )}
          </Panel>
        </>
      ) : error ? (
        <Panel>
          <Problem {...problemOf(error, () => void refetch())} />
        </Panel>
      ) : (
        <output>Loading...</output>
      )}
    </Page>
  )
}

function useBackupActs(runs: BackupRun[] | undefined) {
  const act = useItemAct(api.backups.key())
  const awaitOutcome = useOutcomes(runs)
  return {
    start: () =>
      act(async () => {
        const { id } = await client.backups.start({})
        awaitOutcome(id)
        return 'Backup started.'
      }),
    verify: ({ id }: BackupRun) =>
      act(async () => {
        await client.backups.verify({ id })
        awaitOutcome(id)
        return 'Verification started.'
      }),
    cancel: ({ id, finishedAt }: BackupRun) =>
      act(
        async () => {
          await client.backups.cancel({ id })
          return finishedAt === null ? 'The backup is being cancelled.' : 'The verification is being cancelled.'
        },
        finishedAt === null
          ? {
              title: 'Cancel backup',
              message: 'Are you sure you want to cancel this backup? What it has saved up to now is removed.',
              isDestructive: true,
            }
          : { title: 'Cancel verification', message: 'Are you sure you want to cancel? The backup itself stays as it is.' },
      ),
  }
}

function underWayIn({ backups }: BackupState): BackupRun | undefined {
  return backups.find(({ underWay }) => underWay !== null)
}

/** Tells in a toast what became of the backups that this page has started or had verified. Returns a function that adds one. */
function useOutcomes(runs: BackupRun[] | undefined): (id: string) => void {
  const awaited = useRef(new Set<string>())
  useEffect(() => {
    for (const run of runs ?? []) {
      if (run.underWay !== null || !awaited.current.delete(run.id)) continue
      const { error, verifyError, verifiedAt, isCancelled, bytes } = run
      if (isCancelled) toast.note('The backup was cancelled.')
      else if (error !== null) toast.failure('The backup cannot be used.', { detail: error })
      else if (verifyError !== null) toast.failure('The backup was not verified.', { detail: verifyError })
      else if (verifiedAt !== null) toast.success('The backup is whole.')
      else toast.success(`Backup made: ${sizeText(bytes ?? 0)}.`, { detail: run.place })
    }
  }, [runs])
  return (id) => void awaited.current.add(id)
}

function Plan({ state: { place, keep, schedule, pause, alert } }: { state: BackupState }) {
  return (
    <Panel>
      {alert && (
        <p role="alert" className={classes['alert']}>
          {alert}
        </p>
      )}
      <dl className={classes['plan']}>
        <div>
          <dt>Place</dt>
          <dd>{place}</dd>
        </div>
        <div>
          <dt>Schedule</dt>
          <dd>
            {schedule ? (
              <>
                <code>{schedule.times}</code> (UTC)
                {schedule.nextAt && (
                  <>
                    , next <Moment iso={schedule.nextAt} />
                  </>
                )}
              </>
            ) : (
              'No backups are scheduled.'
            )}
          </dd>
        </div>
        <div>
          <dt>Kept</dt>
          <dd>{`The last ${keep} ${schedule ? 'scheduled and the last ' + keep + ' ' : ''}started here`}</dd>
        </div>
      </dl>
      {!schedule && (
        <p className={classes['text']}>
          To make them on a schedule, and on another disk or S3, set BACKUP_URL on the server. A lost disk takes backups beside
          the console’s data with it.
        </p>
      )}
      {pause && <p className={classes['text']}>Scheduled work is paused. {pause.reason}</p>}
    </Panel>
  )
}

function Nothing({ state: { place } }: { state: BackupState }) {
  return (
    <div className={classes['nothing']}>
      <p className={classes['headline']}>There is no backup yet.</p>
      <PanelText>
        A backup holds all tables and uploaded files as they are at one moment, while everybody goes on working. Back up now makes
        one in {place}; Verify restores it on trial and compares every row. It is not encrypted, and a command on the server
        restores it into an empty database and file store.
      </PanelText>
    </div>
  )
}
