/** Bulk calls for announcements: delete them with their files, activate them, deactivate them. */
import { type RawBuilder, sql, type Transaction } from 'kysely'
import type { contract } from '@arcade/contract/contract'
import { actOf, audit, type AuditEntryInput, changesBetween } from '#src/audit/audit.ts'
import { announcementEntity } from '#src/db/entities.ts'
import { raiseNews } from '#src/items/news.ts'
import { actOnMany } from '#src/lists/bulk.ts'
import { type Condition, whereTarget } from '#src/lists/list.ts'
import type { CallContext, Handlers } from '#src/calls.ts'
import type { Database } from '#src/db/database.ts'
import type { Tables } from '#src/db/tables.ts'
import type { Files } from '#src/files/files.ts'
import type { Trash } from '#src/audit/trash.ts'
import { announcementRecord, servedAnnouncements } from './announcements-list.ts'

type Bulk = Pick<Handlers<typeof contract.announcements>, 'removeMany' | 'setStatus'>

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
  return removed
}

export function announcementsBulk({ database, files, trash }: Services): Bulk {
  return {
    removeMany({ target, dryRun, expected }, context) {
      return actOnMany(database, { dryRun, expected }, async (tx) => {
        const where = await lockAnnouncements(tx, whereTarget(servedAnnouncements, target, context))
        return { rows: await removeAnnouncements(tx, context, { trash, files, where }) }
      })
    },

    /** Skips announcements that have the status already. Activating announcements is news for players. */
    setStatus({ target, status, dryRun, expected }, context) {
      return actOnMany(database, { dryRun, expected }, async (tx) => {
        const changed = await tx
          .updateTable('announcements')
          .set({ status, version: sql`version + 1` })
          .where(await lockAnnouncements(tx, whereTarget(servedAnnouncements, target, context)))
          .where('status', '<>', status)
          .returning(['id', 'title', 'status', 'version'])
          .execute()
        const action = status ? 'announcement.activate' : 'announcement.deactivate'
        await audit(tx, actOf(context), action, changed.map(statusEntry))
        if (status)
          await raiseNews(
            tx,
            changed.map(({ id }) => id),
          )
        return { rows: changed }
      })
    },
  }
}

/** Locks the targeted rows in the order of their ids, so that two acts on the same rows wait for each other instead of deadlocking. */
async function lockAnnouncements(tx: Transaction<Tables>, targeted: RawBuilder<boolean>): Promise<RawBuilder<boolean>> {
  const locked = await tx.selectFrom('announcements').select('id').where(targeted).orderBy('id').forUpdate().execute()
  return sql<boolean>`id = any(${locked.map(({ id }) => id)})`
}

/** Returns the audit entry for an announcement whose status has just been toggled. */
export function statusEntry(changed: { id: string; title: string; status: boolean; version: number }): AuditEntryInput {
  const { status, version } = changed
  return { record: announcementRecord(changed), changes: { status: [!status, status] }, detail: { version } }
}

export function fileKeys({ image, icon }: { image: string | null; icon: string | null }): string[] {
  return [image, icon].filter((key) => key !== null)
}
