/** What admins see of backups: the plan, the last ones, and what is wrong with them. */
import { z } from 'zod'
import { call } from '#src/call.ts'

const moment = z.iso.datetime()

export const backupRun = z.object({
  id: z.string(),
  /** A folder of the server, or an address without credentials. */
  place: z.string(),
  isScheduled: z.boolean(),
  startedAt: moment,
  /** When all of it was saved; null before, and for one that failed. */
  finishedAt: moment.nullable(),
  /** When it had been restored on trial and was what had been saved. */
  verifiedAt: moment.nullable(),
  /** When it made room for newer ones. */
  removedAt: moment.nullable(),
  rows: z.int().nullable(),
  bytes: z.int().nullable(),
  /** Why it could not be made, or why it is of no use. */
  error: z.string().nullable(),
})
export type BackupRun = z.infer<typeof backupRun>

export const backupState = z.object({
  /** What the operator has set; null if no backups are scheduled. */
  schedule: z.object({ place: z.string(), times: z.string(), keep: z.int(), nextAt: moment.nullable() }).nullable(),
  /** Scheduled work waits for a person since a restore. */
  pause: z.object({ since: moment, reason: z.string() }).nullable(),
  /** What an admin should know at once. */
  alert: z.string().nullable(),
  /** The last ones, newest first. */
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
