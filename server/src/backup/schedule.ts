/**
 * Scheduled backups: each is made once for all servers of a database, verified, and makes room by removing the oldest. Hides whose turn
 * it is, what a server that ended has left behind, and when something is wrong.
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
import { tryTurn } from '#src/db/turns.ts'
import { findPause } from '#src/db/scheduled-work.ts'
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
  /** Makes a backup if one is due and no other server is at it. A chore. */
  runDue(): Promise<void>
}

/** Where a trial's database is. */
export function scratchDirOf(dataDir: string): string {
  return join(dataDir, 'backup-trial')
}

export function createBackupSchedule({ database, fileStore, settings, dataDir, log }: ScheduleOptions): BackupSchedule {
  const { address, times, keep } = settings
  let isBusy = false
  let isCleared = false

  /** The end of a server leaves the database of a trial running, which nobody would end before the next trial. */
  async function clearTrial(): Promise<void> {
    isCleared = true
    const scratchDir = scratchDirOf(dataDir)
    await refuseOtherRestore(scratchDir)
    await removeScratch(scratchDir, log)
  }

  async function isDue(): Promise<boolean> {
    if (await findPause(database.db)) return false
    const [last, before] = await lastRuns(database, { isScheduled: true, limit: 2 })
    // One that the end of its server cut off is made anew, unless that happened twice: it may be what ends servers.
    if (last?.error === CUT_OFF && before?.error !== CUT_OFF) return true
    return nextAfter(times, last?.startedAt ?? (await beginSchedule())) <= (await databaseNow(database.db))
  }

  /** Since when this schedule is in force: the first time that a server asks. */
  async function beginSchedule(): Promise<Date> {
    await database.db
      .insertInto('backup_schedules')
      .values({ place: openPlace(address).address, times })
      .onConflict((conflict) => conflict.doNothing())
      .execute()
    return (await scheduledSince(database, settings)) ?? databaseNow(database.db)
  }

  async function run(): Promise<void> {
    await markCutOff(database.db)
    const name = (await databaseNow(database.db))
      .toISOString()
      .replace(/\.\d+Z$/, 'Z')
      .replaceAll(':', '-')
    const place = openPlace(address).below(name)
    const act = actOfProcess('system', 'BACKUP_SCHEDULE')
    await recordRun(
      { act, database, place, isScheduled: true },
      {
        make: () => makeBackup({ database, fileStore, place }),
        verify: () => verifyBackup(place, { scratchDir: scratchDirOf(dataDir), log }),
      },
    )
    for (const { id, place: old } of await runsToRemove(database, { keep, below: openPlace(address).address })) {
      await removeBackup(openPlace(address).below(old.slice(old.lastIndexOf('/') + 1)))
      await database.db
        .updateTable('backups')
        .set({ removed_at: sql<Date>`now()` })
        .where('id', '=', id)
        .execute()
    }
  }

  return {
    async runDue() {
      if (isBusy || database.freeSpaceLow()) return
      isBusy = true
      try {
        if (!isCleared) await clearTrial()
        if (!(await isDue())) {
          await markCutOffIfIdle(database)
          return
        }
        const client = await database.connect('arcade backup schedule')
        try {
          const isOurs = await tryLock(client, 'pg_try_advisory_lock', LOCKS.backupSchedule)
          // Another server may have made it between the look and the lock.
          if (isOurs && (await isDue())) await run()
        } finally {
          destroy(client)
        }
      } finally {
        isBusy = false
      }
    },
  }
}

/** A run that a server's end cut off would look like one under way for ever. */
async function markCutOffIfIdle(database: Database): Promise<void> {
  const [last] = await lastRuns(database, { isScheduled: true, limit: 1 })
  if (last === undefined || last.error !== null || last.verifiedAt !== null) return
  await database.transaction(async (tx) => {
    if (await tryTurn(tx, 'backupSchedule')) await markCutOff(tx)
  })
}

/** Undefined as long as no server has asked whether a backup is due. */
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

/** What admins see. @param settings undefined where no backups are scheduled */
export async function backupState(database: Database, settings: BackupSettings | undefined): Promise<BackupState> {
  const [now, pause, runs, [lastScheduled], [lastGood], since] = await Promise.all([
    databaseNow(database.db),
    findPause(database.db),
    lastRuns(database, { limit: SHOWN }),
    lastRuns(database, { isScheduled: true, limit: 1 }),
    lastRuns(database, { isScheduled: true, isVerified: true, limit: 1 }),
    settings && scheduledSince(database, settings),
  ])
  const alert = ((): string | null => {
    if (settings === undefined) return null
    if (pause)
      return 'Scheduled backups are paused since a restore. Whoever runs the server lets them go on with: npm run arcade -- resume'
    if (lastScheduled?.error) return `The last scheduled backup failed: ${lastScheduled.error}`
    const from = lastGood?.startedAt ?? since
    // One that is late by a whole turn is missing, and not just under way.
    if (!from || nextAfter(settings.times, nextAfter(settings.times, from)) >= now) return null
    if (lastGood) return `There is no scheduled backup since ${lastGood.startedAt.toISOString()}.`
    return `There is no scheduled backup at all, though backups are scheduled since ${from.toISOString()}.`
  })()
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
    alert,
    backups: runs.map(({ startedAt, finishedAt, verifiedAt, removedAt, ...run }) => ({
      ...run,
      startedAt: startedAt.toISOString(),
      finishedAt: iso(finishedAt),
      verifiedAt: iso(verifiedAt),
      removedAt: iso(removedAt),
    })),
  }
}
