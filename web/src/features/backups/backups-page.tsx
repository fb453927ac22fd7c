/** The backups page, for admins: the schedule, the last backups, and whether a trial restore has verified each of them. */
import type { BackupRun, BackupState } from '@arcade/contract/backups/calls'
import { useQuery } from '@tanstack/react-query'
import { api, problemOf } from '#src/client.ts'
import { Moment } from '#src/ui/moment.tsx'
import { Page, Panel, Problem } from '#src/ui/page.tsx'
import { PlainTable } from '#src/ui/plain-table.tsx'
import classes from './backups.module.css'

export function BackupsPage() {
  const { data, error, refetch } = useQuery(api.backups.state.queryOptions({ refetchInterval: REFRESH_MS }))
  return (
    <Page title="Backups">
      {data ? (
        <>
          <Plan state={data} />
          <Runs runs={data.backups} />
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

const REFRESH_MS = 30_000

function Plan({ state: { schedule, pause, alert } }: { state: BackupState }) {
  return (
    <Panel>
      {alert && (
        <p role="alert" className={classes['alert']}>
          {alert}
        </p>
      )}
      {schedule ? (
        <p className={classes['text']}>
          Backups go to {schedule.place} at <code>{schedule.times}</code> (UTC). The last {schedule.keep} good ones are kept.
          {schedule.nextAt && (
            <>
              {' '}
              Next: <Moment iso={schedule.nextAt} />
            </>
          )}
        </p>
      ) : (
        <p className={classes['text']}>No backups are scheduled. To schedule them, set BACKUP_URL on the server.</p>
      )}
      {pause && <p className={classes['text']}>Scheduled work is paused. {pause.reason}</p>}
    </Panel>
  )
}

function Runs({ runs }: { runs: BackupRun[] }) {
  if (runs.length === 0) return <Panel>There is no backup yet.</Panel>
  return (
    <Panel title="Last Backups">
      <PlainTable label="Last Backups" columns={['Begun', 'State', 'Rows', 'Size', 'Place']}>
        {runs.map((run) => (
          <tr key={run.id}>
            <td>
              <Moment iso={run.startedAt} />
            </td>
            <td>{stateOf(run)}</td>
            <td>{run.rows?.toLocaleString('en') ?? ''}</td>
            <td>{run.bytes === null ? '' : `${(run.bytes / 1e6).toFixed(1)} MB`}</td>
            <td>{run.place}</td>
          </tr>
        ))}
      </PlainTable>
    </Panel>
  )
}

function stateOf({ finishedAt, verifiedAt, removedAt, error }: BackupRun): string {
  if (error !== null) return `Failed: ${error}`
  if (removedAt !== null) return 'Removed for newer ones'
  if (verifiedAt !== null) return 'Verified'
  return finishedAt === null ? 'Being made' : 'Made'
}
