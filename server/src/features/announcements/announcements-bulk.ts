/** Bulk calls for announcements: delete them with their files, activate them, deactivate them, move their dates, end them. */
import { type RawBuilder, sql, type Transaction } from 'kysely'
import type { contract } from '@arcade/contract/contract'
import { actOf, audit, type AuditEntryInput, changesBetween } from '#src/audit/audit.ts'
import { pauseBroadcastsOf } from '#src/broadcasts/ending.ts'
import { announcementEntity } from '#src/db/entities.ts'
import { endNow, type Redated, shiftDates } from '#src/items/dates.ts'
import { actOnMany } from '#src/lists/bulk.ts'
import type { Condition } from '#src/lists/list.ts'
import { whereTarget } from '#src/lists/where.ts'
import type { CallContext, Handlers } from '#src/calls.ts'
import type { Database } from '#src/db/database.ts'
import type { Tables } from '#src/db/tables.ts'
import type { Files } from '#src/files/files.ts'
import type { Trash } from '#src/audit/trash.ts'
import { announcementRecord, servedAnnouncements } from './announcements-list.ts'
import { scheduleText, type Switched, switchStatus } from './switch-status.ts'

type Bulk = Pick<Handlers<typeof contract.announcements>, 'removeMany' | 'setStatus' | 'shift' | 'end'>

interface Services {
  database: Database
  files: Files
  trash: Trash
}

/** Moves announcements and their files to the trash, and writes audit entries. Returns the removed rows. */
export async function removeAnnouncements(
  tx: Transaction<Tables>,
  context: CallContext,
  { trash, files, where }: Omit<Services, 'database'> & { where: Condition },
) {
  const act = actOf(context)
  const removed = await trash.remove(tx, act, { entity: announcementEntity, kind: 'announcement', nameColumn: 'title', where })
  await files.withdraw(tx, removed.flatMap(fileKeys), 'purge')
  const entries = removed.map((row) => ({ record: announcementRecord(row), changes: changesBetween(row, null) }))
  await audit(tx, act, 'announcement.remove', entries)
  await pauseBroadcastsOf(tx, act, { announcementIds: removed.map(({ id }) => id), because: 'deleted' })
  return removed
}

export function announcementsBulk({ database, files, trash }: Services): Bulk {
  return {
    removeMany({ target, dryRun, expected }, context) {
      return actOnMany(database, context, { dryRun, expected }, async (tx) => {
        const where = await lockAnnouncements(tx, whereTarget(servedAnnouncements, target, context))
        return { rows: await removeAnnouncements(tx, context, { trash, files, where }) }
      })
    },

    /** Skips announcements that have the status already. Activating announcements is news for players. */
    async setStatus({ target, status, dryRun, expected }, context) {
      let switched: Switched[] = []
      const summary = await actOnMany(database, context, { dryRun, expected }, async (tx) => {
        const where = whereTarget(servedAnnouncements, target, context)
        switched = await switchStatus(tx, actOf(context), { where, status })
        return { rows: switched }
      })
      return { ...summary, ...scheduleText(switched) }
    },

    shift({ target, days, minutes, zone, dryRun, expected }, context) {
      return actOnMany(database, context, { dryRun, expected }, async (tx) => {
        const where = whereTarget(servedAnnouncements, target, context)
        const { changed, refused } = await shiftDates(tx, 'announcement', { where, days, minutes, zone })
        await audit(tx, actOf(context), 'announcement.schedule', changed.map(datesEntry))
        return { rows: changed, refusals: refused }
      })
    },

    end({ target, dryRun, expected }, context) {
      return actOnMany(database, context, { dryRun, expected }, async (tx) => {
        const changed = await endNow(tx, 'announcement', whereTarget(servedAnnouncements, target, context))
        await audit(tx, actOf(context), 'announcement.end', changed.map(datesEntry))
        return { rows: changed }
      })
    },
  }
}

/** Returns the audit entry for an announcement whose dates an act has changed. */
function datesEntry({ before, after, version, ...record }: Redated): AuditEntryInput {
  return { record: announcementRecord(record), changes: changesBetween({ ...before }, { ...after }), detail: { version } }
}

/** Locks the targeted rows in the order of their ids, so that two acts on the same rows wait for each other instead of deadlocking. */
async function lockAnnouncements(tx: Transaction<Tables>, targeted: RawBuilder<boolean>): Promise<RawBuilder<boolean>> {
  const locked = await tx.selectFrom('announcements').select('id').where(targeted).orderBy('id').forUpdate().execute()
  return sql<boolean>`id = any(${locked.map(({ id }) => id)})`
}

export function fileKeys({ image, icon }: { image: string | null; icon: string | null }): string[] {
  return [image, icon].filter((key) => key !== null)
}
