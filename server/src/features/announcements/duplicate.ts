/** Adds copies of announcements. A draft that is kept to be copied again and again serves as a template. */
import { randomUUID } from 'node:crypto'
import { sql, type Transaction } from 'kysely'
import { MAX_ANNOUNCEMENT_TITLE_LENGTH } from '@arcade/contract/announcements/calls'
import type { Announcement } from '@arcade/contract/announcements/fields'
import type { contract } from '@arcade/contract/contract'
import { actOf, audit, changesBetween } from '#src/audit/audit.ts'
import { Failure, type Handlers } from '#src/calls.ts'
import type { Database } from '#src/db/database.ts'
import { announcementEntity, storedFields } from '#src/db/entities.ts'
import type { Tables } from '#src/db/tables.ts'
import type { Files } from '#src/files/files.ts'
import { createOnce } from '#src/identity/idempotency.ts'
import { titleOfCopy } from '#src/items/copies.ts'
import { writeHistoryItems } from '#src/items/history-items.ts'
import { fileKeys } from './announcements-bulk.ts'
import { announcementRecord } from './announcements-list.ts'

interface Copied {
  title: string
  /** The keys of the copied files, null for none. */
  image: string | null
  icon: string | null
}

/** Two announcements never name the same file, so the copy gets copies of image and icon. One that is lost is left out. */
export function duplicateAnnouncement({
  database,
  files,
}: {
  database: Database
  files: Files
}): Handlers<typeof contract.announcements.duplicate> {
  return ({ id: original }, context) =>
    createOnce(database, context, {
      before: () => copyFiles(original),
      async create(tx, copied) {
        const id = randomUUID()
        const announcement = await insertCopy(tx, { original, id, copied })
        if (!announcement) throw new Failure('ANNOUNCEMENT_NOT_FOUND')
        const gone = await files.keep(tx, fileKeys(copied))
        if (gone !== undefined) throw new Failure('STALE')
        await writeHistoryItems(tx, 'announcement', { changed: [id] })
        await audit(tx, actOf(context), 'announcement.create', {
          record: announcementRecord(announcement),
          changes: changesBetween(null, announcement),
          detail: { version: 1, duplicateOf: original },
        })
        return { success: true, id } as const
      },
    })

  async function copyFiles(id: string): Promise<Copied> {
    const found = await database.db
      .selectFrom('announcements')
      .select(['title', 'image_key', 'icon_key'])
      .where('id', '=', id)
      .executeTakeFirst()
    if (!found) throw new Failure('ANNOUNCEMENT_NOT_FOUND')
    const copy = async (key: string | null) => (key === null ? null : ((await files.copy(key)) ?? null))
    return { title: found.title, image: await copy(found.image_key), icon: await copy(found.icon_key) }
  }
}

async function insertCopy(
  tx: Transaction<Tables>,
  { original, id, copied: { title, image, icon } }: { original: string; id: string; copied: Copied },
): Promise<Omit<Announcement, 'numberOfParticipants' | 'state'> | undefined> {
  const { rows } = await sql<Announcement>`
    insert into announcements (id, type, title, subtitle, description, link, link_type, input_text, reward, verified_by_bot,
           image_key, image_name, icon_key, icon_name, max_participants, daily_budget, segment_id)
    select ${id}, type, ${titleOfCopy(title, MAX_ANNOUNCEMENT_TITLE_LENGTH)}, subtitle, description, link, link_type, input_text, reward,
           verified_by_bot, ${image}, case when ${image}::text is not null then image_name end,
           ${icon}, case when ${icon}::text is not null then icon_name end, max_participants, daily_budget, segment_id
      from announcements where id = ${original} returning ${sql.join(stored)}`.execute(tx)
  return rows[0]
}

/** The columns of an announcement's own row, without derived fields. */
const stored = storedFields(announcementEntity)
