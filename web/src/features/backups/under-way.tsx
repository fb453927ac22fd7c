/** The backup that is being made or verified: how far it is, what is being done, and a button that cancels it. */
import type { BackupRun } from '@arcade/contract/backups/calls'
import { backupSteps } from '@arcade/contract/backups/fields'
import { isolated } from '@arcade/contract/text'
import { Button, Progress } from '@mantine/core'
import { Panel } from '#src/ui/page.tsx'
import classes from './backups.module.css'
import { sizeText } from './words.ts'

export function UnderWay({ run, onCancel }: { run: BackupRun; onCancel: () => void }) {
  const { underWay, finishedAt, madeBy } = run
  if (!underWay) return null
  const { step, percent, bytes, isCancelling } = underWay
  const title = finishedAt === null ? 'Backup Under Way' : 'Verification Under Way'
  return (
    <Panel title={title}>
      <div className={classes['underWay']}>
        <div className={classes['progress']}>
          <Progress value={percent} aria-label={title} size="sm" />
          <p>
            <strong>{percent} %</strong> · {sizeText(bytes)} {finishedAt === null ? 'written' : 'read'} · {backupSteps[step]}
            {isCancelling && ' · being cancelled'}
          </p>
          <p className={classes['text']}>
            {finishedAt === null && madeBy !== null && `Started by ${isolated(madeBy)} · `}
            {run.place}
          </p>
        </div>
        <Button variant="default" disabled={isCancelling} onClick={onCancel}>
          Cancel
        </Button>
      </div>
    </Panel>
  )
}
