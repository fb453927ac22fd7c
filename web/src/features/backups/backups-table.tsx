/** The last backups, one in a row: when, by whom, how it ended, its size, where it is; complete ones can be verified. */
import type { BackupRun } from '@arcade/contract/backups/calls'
import { isolated } from '@arcade/contract/text'
import { Button } from '@mantine/core'
import { Moment, momentText } from '#src/ui/moment.tsx'
import { formatted } from '#src/ui/numbers.ts'
import { State } from '#src/ui/state.tsx'
import { Cell, RowActs, RowFacts, RowName, WideRow, WideTable } from '#src/ui/wide-table.tsx'
import classes from './backups.module.css'
import { elapsedText, sizeText } from './words.ts'

interface BackupsTableProps {
  runs: BackupRun[]
  /** Where the server makes backups: of those below it only the name is shown. */
  folder: string
  /** A backup is being made or verified, so none can be verified now. */
  isBusy: boolean
  onVerify: (run: BackupRun) => void
}

const columns = ['Begun', 'State', { end: 'Rows' }, { end: 'Size' }, { end: 'Took' }, 'Place', { hidden: 'Verify' }]

export function BackupsTable({ runs, folder, isBusy, onVerify }: BackupsTableProps) {
  return (
    <WideTable label="Last Backups" columns={columns}>
      {runs.map((run) => {
        const { id, place, startedAt, finishedAt, rows, bytes, canBeVerified } = run
        return (
          <WideRow key={id}>
            <Cell>
              <RowName facts={makerOf(run)}>
                <Moment iso={startedAt} />
              </RowName>
            </Cell>
            <Cell isLong>
              <Outcome run={run} />
            </Cell>
            <Cell label="Rows" isAtEnd>
              {rows === null ? null : formatted(rows)}
            </Cell>
            <Cell label="Size" isAtEnd>
              {bytes === null ? null : <span className={classes['nowrap']}>{sizeText(bytes)}</span>}
            </Cell>
            <Cell label="Took" isAtEnd>
              {finishedAt === null ? null : <span className={classes['nowrap']}>{elapsedText(startedAt, finishedAt)}</span>}
            </Cell>
            <Cell label="Place" isLong>
              {place.startsWith(`${folder}/`) ? (
                <span title={place} className={classes['nowrap']}>
                  {place.slice(folder.length + 1)}
                </span>
              ) : (
                place
              )}
            </Cell>
            <Cell isAtEnd>
              {canBeVerified && (
                <RowActs>
                  <Button
                    variant="default"
                    size="compact-sm"
                    aria-label={`Verify the backup of ${momentText(startedAt)}`}
                    aria-disabled={isBusy || undefined}
                    data-disabled={isBusy}
                    onClick={() => onVerify(run)}
                  >
                    Verify
                  </Button>
                </RowActs>
              )}
            </Cell>
          </WideRow>
        )
      })}
    </WideTable>
  )
}

function makerOf({ by, madeBy }: BackupRun): string {
  if (by === 'schedule') return 'On schedule'
  if (by === 'command') return 'By command'
  return madeBy === null ? 'In the console' : `By ${isolated(madeBy)}`
}

function Outcome({ run }: { run: BackupRun }) {
  const { finishedAt, verifiedAt, removedAt, error, verifyError, isCancelled, underWay } = run
  if (underWay) return <State is="busy">{finishedAt === null ? 'Being made' : 'Being verified'}</State>
  if (isCancelled) return <State is="quiet">Cancelled</State>
  if (error !== null)
    return (
      <>
        <State is="bad">{finishedAt === null ? 'Failed' : 'Unusable'}</State>
        <RowFacts>{error}</RowFacts>
      </>
    )
  if (removedAt !== null) return <State is="quiet">Removed for newer ones</State>
  if (finishedAt === null) return <State is="busy">Being made</State>
  return (
    <>
      <State is={verifiedAt === null ? 'quiet' : 'good'}>{verifiedAt === null ? 'Made, not verified' : 'Verified'}</State>
      {verifiedAt !== null && (
        <RowFacts>
          <Moment iso={verifiedAt} />
        </RowFacts>
      )}
      {verifyError !== null && <RowFacts>The last verification did not end: {verifyError}</RowFacts>}
    </>
  )
}
