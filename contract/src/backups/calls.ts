/** The state of backups, for admins: schedule, recent backups and problems. */
import { z } from 'zod'
import { call } from '#src/call.ts'

const moment = z.iso.datetime()

export const backupRun = z.object({
  id: z.string(),
  /** A folder on the server, or a URL without credentials. */
  place: z.string(),
  isScheduled: z.boolean(),
  startedAt: moment,
  /** When the backup was complete; null while it runs or if it failed. */
  finishedAt: moment.nullable(),
  /** When a trial restore succeeded and matched the saved data; null if that has not happened. */
  verifiedAt: moment.nullable(),
  /** When it was removed to make room for newer backups. */
  removedAt: moment.nullable(),
  rows: z.int().nullable(),
  bytes: z.int().nullable(),
  /** Why the backup failed, or why it cannot be used. */
  error: z.string().nullable(),
})
export type BackupRun = z.infer<typeof backupRun>

export const backupState = z.object({
  /** The configured schedule; null if no backups are scheduled. */
  schedule: z.object({ place: z.string(), times: z.string(), keep: z.int(), nextAt: moment.nullable() }).nullable(),
  /** Set after a restore: scheduled work is paused until an operator resumes it. */
  pause: z.object({ since: moment, reason: z.string() }).nullable(),
  /** A problem that an admin should know about at once. */
  alert: z.string().nullable(),
  /** The latest backups, newest first. */
  backups: z.array(backupRun),
})
export type BackupState = z.infer<typeof backupState>

export const backups = {
  state: call(['admin'])
    .route({
      method: 'GET',
      path: '/api/backups',
      tags: ['Backups'],
      summary: 'The plan of backups, the last ones, what is wrong',
    })
    .output(backupState),
}
