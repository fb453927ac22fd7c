/** The state of backups that admins see. */
import type { BackupRun, BackupState } from '@arcade/contract/backups/calls'
import { type BackupStep, backupSteps } from '@arcade/contract/backups/fields'
import type { Config } from '#src/config.ts'
import type { Database } from '#src/db/database.ts'
import { databaseNow } from '#src/db/moments.ts'
import { findPause } from '#src/db/scheduled-work.ts'
import { isBucketAddress, openBelow, openPlace, type Place } from './place.ts'
import { lastRuns } from './runs.ts'
import { alertOf, nextAfter, type Schedule, scheduledSince } from './schedule.ts'

export type BackupSettings = Config['backups']

const SHOWN = 50

/** Returns the schedule, if there is one. */
export function scheduleOf({ address, times }: BackupSettings): Schedule | undefined {
  return times === undefined ? undefined : { address, times }
}

/**
 * Returns the place of a backup in the list, or undefined if this server cannot open it: the list does not hold the credentials of a bucket.
 * @param listed the address in the list
 */
export function placeOf(listed: string, { address }: BackupSettings): Place | undefined {
  const below = openBelow(openPlace(address), listed)
  return below || isBucketAddress(listed) ? below : openPlace(listed)
}

export async function backupState(database: Database, settings: BackupSettings): Promise<BackupState> {
  const schedule = scheduleOf(settings)
  const [now, pause, runs, [lastScheduled], [lastGood], since] = await Promise.all([
    databaseNow(database.db),
    findPause(database.db),
    lastRuns(database, { limit: SHOWN }),
    lastRuns(database, { isScheduled: true, limit: 1 }),
    lastRuns(database, { isScheduled: true, isVerified: true, limit: 1 }),
    schedule && scheduledSince(database, schedule),
  ])
  return {
    place: openPlace(settings.address).address,
    keep: settings.keep,
    schedule: schedule ? { times: schedule.times, nextAt: pause ? null : nextAfter(schedule.times, now).toISOString() } : null,
    pause: pause ? { since: pause.since.toISOString(), reason: pause.reason } : null,
    alert: schedule ? alertOf({ schedule, now, pause, lastScheduled, lastGood, since }) : null,
    backups: runs.map((run) => toBackupRun(run, settings)),
  }
}

function toBackupRun(run: Awaited<ReturnType<typeof lastRuns>>[number], settings: BackupSettings): BackupRun {
  const { id, place, startedAt, finishedAt, verifiedAt, removedAt, rows, bytes, error, verifyError } = run
  const iso = (moment: Date | null): string | null => moment?.toISOString() ?? null
  return {
    id,
    place,
    by: run.isScheduled ? 'schedule' : run.isOfConsole ? 'console' : 'command',
    madeBy: run.madeBy,
    startedAt: startedAt.toISOString(),
    finishedAt: iso(finishedAt),
    verifiedAt: iso(verifiedAt),
    removedAt: iso(removedAt),
    rows,
    bytes,
    error,
    verifyError,
    isCancelled: run.cancelledAt !== null && error !== null && finishedAt === null,
    canBeVerified: finishedAt !== null && removedAt === null && placeOf(place, settings) !== undefined,
    underWay: isStep(run.step)
      ? { step: run.step, percent: run.percent ?? 0, bytes: run.doneBytes ?? 0, isCancelling: run.cancelledAt !== null }
      : null,
  }
}

function isStep(step: string | null): step is BackupStep {
  return step !== null && step in backupSteps
}
