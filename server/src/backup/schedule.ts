/**
 * Scheduled backups. One of the servers of a database makes each backup, verifies it and removes the oldest one. Hides which server does so,
 * the remains of servers that ended during a backup, and the rules by which a backup counts as late.
 */
import { join } from 'node:path'
import { Cron } from 'croner'
import { sql } from 'kysely'
import type { Logger } from 'pino'
import type { BackupState } from '@arcade/contract/backups/calls'
import { actOfProcess } from '#src/audit/audit.ts'
import type { Config } from '#src/config.ts'
import type { Database } from '#src/db/database.ts'
import { databaseNow } from '#src/db/moments.ts'
import { tryTakeLock } from '#src/db/transaction-locks.ts'
import { findPause, type Pause } from '#src/db/scheduled-work.ts'
import type { FileStore } from '#src/files/disk.ts'
import { destroy } from '#src/postgres/connections.ts'
import { LOCKS, tryLock } from '#src/postgres/lock-holder.ts'
import { makeBackup, removeBackup } from './backup.ts'
import { openPlace } from './place.ts'
import { verifyBackup } from './restore.ts'
import { refuseOtherRestore, removeScratch } from './target.ts'
import { CUT_OFF, lastRuns, markCutOff, recordRun, runsToRemove } from './runs.ts'

export type BackupSettings = NonNullable<Config['backups']>

export interface ScheduleOptions {
  database: Database
  fileStore: FileStore
  settings: BackupSettings
  dataDir: string
  log: Logger
}

export interface BackupSchedule {
  /** Makes a backup if one is due and no other server is making it. A background task calls this. */
  runDue(): Promise<void>
}

/** Returns the folder of the temporary database with which a backup is verified. */
export function scratchDirOf(dataDir: string): string {
  return join(dataDir, 'backup-trial')
}

export function createBackupSchedule(options: ScheduleOptions): BackupSchedule {
  const { database } = options
  let isBusy = false
  let isCleared = false
  return {
    async runDue() {
      if (isBusy || database.freeSpaceLow()) return
      isBusy = true
      try {
        if (!isCleared) {
          isCleared = true
          await clearTrial(options)
        }
        if (await isDue(options)) await backUpInTurn(options)
        else await markCutOffIfIdle(database)
      } finally {
        isBusy = false
      }
    },
  }
}

/** Stops and removes a temporary database that a server left running when it ended; otherwise it would run until the next backup. */
async function clearTrial({ dataDir, log }: ScheduleOptions): Promise<void> {
  const scratchDir = scratchDirOf(dataDir)
  await refuseOtherRestore(scratchDir)
  await removeScratch(scratchDir, log)
}

async function isDue({ database, settings }: ScheduleOptions): Promise<boolean> {
  if (await findPause(database.db)) return false
  const [last, before] = await lastRuns(database, { isScheduled: true, limit: 2 })
  // A backup during which the server ended is made again, but only once: the backup itself may have ended both servers.
  if (last?.error === CUT_OFF && before?.error !== CUT_OFF) return true
  const since = last?.startedAt ?? (await beginSchedule(database, settings))
  return nextAfter(settings.times, since) <= (await databaseNow(database.db))
}

/** Returns the time since which this schedule is in force: the first time that a server asked. */
async function beginSchedule(database: Database, settings: BackupSettings): Promise<Date> {
  await database.db
    .insertInto('backup_schedules')
    .values({ place: openPlace(settings.address).address, times: settings.times })
    .onConflict((conflict) => conflict.doNothing())
    .execute()
  return (await scheduledSince(database, settings)) ?? databaseNow(database.db)
}

/** Makes the backup unless another server is making it or has made it. */
async function backUpInTurn(options: ScheduleOptions): Promise<void> {
  const client = await options.database.connect('arcade backup schedule')
  try {
    const isOurs = await tryLock(client, 'pg_try_advisory_lock', LOCKS.backupSchedule)
    // Another server may have made it between the check and the lock.
    if (isOurs && (await isDue(options))) await backUp(options)
  } finally {
    destroy(client)
  }
}

/** Makes a backup, verifies it and removes those that are too many. */
async function backUp({ database, fileStore, settings, dataDir, log }: ScheduleOptions): Promise<void> {
  await markCutOff(database.db)
  const place = openPlace(settings.address).below(nameOf(await databaseNow(database.db)))
  const act = actOfProcess('system', 'BACKUP_SCHEDULE')
  await recordRun(
    { act, database, place, isScheduled: true },
    {
      make: () => makeBackup({ database, fileStore, place }),
      verify: () => verifyBackup(place, { scratchDir: scratchDirOf(dataDir), log }),
    },
  )
  await removeOldBackups(database, settings)
}

/** Returns the name of a backup's folder, such as 2026-11-22T03-00-00Z. */
function nameOf(moment: Date): string {
  return moment
    .toISOString()
    .replace(/\.\d+Z$/, 'Z')
    .replaceAll(':', '-')
}

async function removeOldBackups(database: Database, { address, keep }: BackupSettings): Promise<void> {
  for (const { id, place } of await runsToRemove(database, { keep, below: openPlace(address).address })) {
    await removeBackup(openPlace(address).below(place.slice(place.lastIndexOf('/') + 1)))
    await database.db
      .updateTable('backups')
      .set({ removed_at: sql<Date>`now()` })
      .where('id', '=', id)
      .execute()
  }
}

/** Marks backups of ended servers as failed; otherwise they would look as if they were still being made. */
async function markCutOffIfIdle(database: Database): Promise<void> {
  const [last] = await lastRuns(database, { isScheduled: true, limit: 1 })
  if (last === undefined || last.error !== null || last.verifiedAt !== null) return
  await database.transaction(async (tx) => {
    if (await tryTakeLock(tx, 'backupSchedule')) await markCutOff(tx)
  })
}

/** Returns the time since which the schedule is in force, or undefined if no server has asked for a due backup yet. */
async function scheduledSince({ db }: Database, { address, times }: BackupSettings): Promise<Date | undefined> {
  const found = await db
    .selectFrom('backup_schedules')
    .select('since')
    .where('place', '=', openPlace(address).address)
    .where('times', '=', times)
    .executeTakeFirst()
  return found?.since
}

function nextAfter(times: string, moment: Date): Date {
  return new Cron(times, { timezone: 'UTC' }).nextRun(moment) ?? new Date(8.64e15)
}

const SHOWN = 50

/** Returns the state of backups that admins see. @param settings undefined if no backups are scheduled */
export async function backupState(database: Database, settings: BackupSettings | undefined): Promise<BackupState> {
  const [now, pause, runs, [lastScheduled], [lastGood], since] = await Promise.all([
    databaseNow(database.db),
    findPause(database.db),
    lastRuns(database, { limit: SHOWN }),
    lastRuns(database, { isScheduled: true, limit: 1 }),
    lastRuns(database, { isScheduled: true, isVerified: true, limit: 1 }),
    settings && scheduledSince(database, settings),
  ])
  const iso = (moment: Date | null): string | null => moment?.toISOString() ?? null
  return {
    schedule:
      settings === undefined
        ? null
        : {
            place: openPlace(settings.address).address,
            times: settings.times,
            keep: settings.keep,
            nextAt: pause ? null : nextAfter(settings.times, now).toISOString(),
          },
    pause: pause ? { since: pause.since.toISOString(), reason: pause.reason } : null,
    alert: settings === undefined ? null : alertOf({ settings, now, pause, lastScheduled, lastGood, since }),
    backups: runs.map(({ startedAt, finishedAt, verifiedAt, removedAt, ...run }) => ({
      ...run,
      startedAt: startedAt.toISOString(),
      finishedAt: iso(finishedAt),
      verifiedAt: iso(verifiedAt),
      removedAt: iso(removedAt),
    })),
  }
}

interface Circumstances {
  settings: BackupSettings
  now: Date
  pause: Pause | undefined
  lastScheduled: { error: string | null } | undefined
  lastGood: { startedAt: Date } | undefined
  /** The time since which the schedule is in force. */
  since: Date | undefined
}

/** Returns what admins should know about scheduled backups, or null if all is well. */
function alertOf({ settings, now, pause, lastScheduled, lastGood, since }: Circumstances): string | null {
  if (pause) return 'Scheduled backups are paused since a restore. To let them go on, run on the server: npm run arcade -- resume'
  if (lastScheduled?.error) return `The last scheduled backup failed: ${lastScheduled.error}`
  const from = lastGood?.startedAt ?? since
  // A backup that is late by a whole period is missing; until then it may still be under way.
  if (!from || nextAfter(settings.times, nextAfter(settings.times, from)) >= now) return null
  if (lastGood) return `There is no scheduled backup since ${lastGood.startedAt.toISOString()}.`
  return `There is no scheduled backup at all, though backups are scheduled since ${from.toISOString()}.`
}
