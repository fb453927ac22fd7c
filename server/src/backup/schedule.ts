/** The schedule of backups: when one is due, and by which rules one counts as late. */
import { Cron } from 'croner'
import type { Database } from '#src/db/database.ts'
import { databaseNow } from '#src/db/moments.ts'
import { findPause, type Pause } from '#src/db/scheduled-work.ts'
import { openPlace } from './place.ts'
import { CUT_OFF, lastRuns } from './runs.ts'

export interface Schedule {
  /** The address below which the backups lie. */
  address: string
  /** When they are made (cron, UTC). */
  times: string
}

/** Whether a scheduled backup is due and scheduled work is not paused. */
export async function isDue(database: Database, schedule: Schedule): Promise<boolean> {
  if (await findPause(database.db)) return false
  const [last, before] = await lastRuns(database, { isScheduled: true, limit: 2 })
  // A backup during which the server ended is made again, but only once: the backup itself may have ended both servers.
  if (last?.error === CUT_OFF && before?.error !== CUT_OFF) return true
  const since = last?.startedAt ?? (await beginSchedule(database, schedule))
  return nextAfter(schedule.times, since) <= (await databaseNow(database.db))
}

/** Returns the time since which this schedule is in force: the first time that a server asked. */
async function beginSchedule(database: Database, schedule: Schedule): Promise<Date> {
  await database.db
    .insertInto('backup_schedules')
    .values({ place: openPlace(schedule.address).address, times: schedule.times })
    .onConflict((conflict) => conflict.doNothing())
    .execute()
  return (await scheduledSince(database, schedule)) ?? databaseNow(database.db)
}

/** Returns the time since which the schedule is in force, or undefined if no server has asked for a due backup yet. */
export async function scheduledSince({ db }: Database, { address, times }: Schedule): Promise<Date | undefined> {
  const found = await db
    .selectFrom('backup_schedules')
    .select('since')
    .where('place', '=', openPlace(address).address)
    .where('times', '=', times)
    .executeTakeFirst()
  return found?.since
}

export function nextAfter(times: string, moment: Date): Date {
  return new Cron(times, { timezone: 'UTC' }).nextRun(moment) ?? new Date(8.64e15)
}

interface Circumstances {
  schedule: Schedule
  now: Date
  pause: Pause | undefined
  lastScheduled: { error: string | null } | undefined
  lastGood: { startedAt: Date } | undefined
  /** The time since which the schedule is in force. */
  since: Date | undefined
}

/** Returns what admins should know about scheduled backups, or null if all is well. */
export function alertOf({ schedule, now, pause, lastScheduled, lastGood, since }: Circumstances): string | null {
  if (pause) return 'Scheduled backups are paused since a restore. To let them go on, run on the server: npm run arcade -- resume'
  if (lastScheduled?.error) return `The last scheduled backup failed: ${lastScheduled.error}`
  const from = lastGood?.startedAt ?? since
  // A backup that is late by a whole period is missing; until then it may still be under way.
  if (!from || nextAfter(schedule.times, nextAfter(schedule.times, from)) >= now) return null
  if (lastGood) return `There is no scheduled backup since ${lastGood.startedAt.toISOString()}.`
  return `There is no scheduled backup at all, though backups are scheduled since ${from.toISOString()}.`
}
