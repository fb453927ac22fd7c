/** Calls for announcements (§2, §3, §5, §7): their rows, their files, and activating them, which is news for every player. */
import { randomUUID } from 'node:crypto'
import { type Kysely, sql, type Transaction } from 'kysely'
import { announcementInput, type AnnouncementInput, MAX_FILE_NAME_LENGTH } from '@arcade/contract/announcements/calls'
import type { contract } from '@arcade/contract/contract'
import type { Announcement } from '@arcade/contract/announcements/fields'
import { errorCatalogue } from '@arcade/contract/errors'
import { actOf, audit, changesBetween } from '#src/audit/audit.ts'
import { checkedInput, earlierVersion } from '#src/audit/versions.ts'
import { createOnce, createOnceInSteps } from '#src/identity/idempotency.ts'
import { type CallContext, Failure, type Handlers } from '#src/calls.ts'
import type { Database } from '#src/db/database.ts'
import { transactionOrDryRun } from '#src/db/dry-run.ts'
import { changedAvailability } from '#src/items/availability.ts'
import { writeHistoryItems } from '#src/items/history-items.ts'
import { announcementEntity, selectedFields, storedFields } from '#src/db/entities.ts'
import { raiseMissingNews } from '#src/items/news.ts'
import { queueEvent } from '#src/audit/outbox.ts'
import { numberedPages } from '#src/lists/numbered-pages.ts'
import type { Tables } from '#src/db/tables.ts'
import { type Files, shownName } from '#src/files/files.ts'
import { serveFile } from '#src/files/serve-file.ts'
import { announcementsBulk, fileKeys, removeAnnouncements } from './announcements-bulk.ts'
import { announcementDerived, announcementRecord, servedAnnouncements } from './announcements-list.ts'
import { duplicateAnnouncement } from './duplicate.ts'
import { scheduleText, switchStatus } from './switch-status.ts'
import type { Trash } from '#src/audit/trash.ts'
import type { Images } from '#src/files/images.ts'

/** The columns of an announcement's own row, without derived fields. */
const stored = storedFields(announcementEntity)

const STATUS_UPDATED = 'Status Updated Successfuly!' // sic, §8

export function announcementsHandlers({
  database,
  files,
  images,
  trash,
}: {
  database: Database
  files: Files
  images: Images
  trash: Trash
}): Handlers<typeof contract.announcements> {
  const { db } = database
  const readPage = numberedPages(database, servedAnnouncements)

  return {
    async list(query, context) {
      const { rows: announcements, ...page } = await readPage(query, context)
      const message = page.total === 0 ? { message: errorCatalogue.NO_ANNOUNCEMENTS_FOUND.message } : {}
      return { announcements, ...message, ...page }
    },

    async get({ id }) {
      const announcement = await db
        .selectFrom('announcements')
        .select(selectedFields(announcementEntity, announcementDerived))
        .where('id', '=', id)
        .executeTakeFirst()
      if (!announcement) throw new Failure('ANNOUNCEMENT_NOT_FOUND')
      return announcement
    },

    async create(input, context) {
      const create = async (tx: Transaction<Tables>) => {
        const id = randomUUID()
        await keepFiles(tx, files, input)
        const availability = await changedAvailability(tx, { item: { kind: 'announcement', id }, before: null, input })
        const announcement = await tx
          .insertInto('announcements')
          .values({ id, ...toColumns(input), ...availability, status: false }) // §3
          .returning(stored)
          .executeTakeFirstOrThrow()
        await writeHistoryItems(tx, 'announcement', { changed: [id] })
        await audit(tx, actOf(context), 'announcement.create', {
          record: announcementRecord(announcement),
          changes: changesBetween(null, announcement),
          detail: { version: 1 },
        })
        return { success: true, id } as const
      }
      return createOnce(database, context, { before: () => refuseMissing(files, input), create })
    },

    /** `staysActive` keeps the status true, and the news number as it is. The row's lock decides whether the status is still true. */
    async update({ id, version, staysActive, ...input }, context) {
      const seen = await db.selectFrom('announcements').select(['image_key', 'icon_key']).where('id', '=', id).executeTakeFirst()
      if (!seen) throw new Failure('ANNOUNCEMENT_NOT_FOUND')
      await refuseMissing(files, input, fileKeys({ image: seen.image_key, icon: seen.icon_key }))
      await database.transaction(async (tx) => {
        const before = await lockAnnouncement(tx, id, version)
        if (staysActive && !before.status) throw new Failure('STALE', { message: 'It was made In Active meanwhile.' })
        await save(tx, { before, input, context, status: staysActive })
      })
      return { success: true }
    },

    async restoreVersion({ id, seq, version, dryRun }, context) {
      const missing = await findMissingFiles({ id, seq, version })
      return transactionOrDryRun(database, dryRun, async (tx) => {
        const before = await lockAnnouncement(tx, id, version)
        const earlier = { ...(await versionOf(tx, before, seq)), ...Object.fromEntries(missing.map((file) => [file, null])) }
        const input = checkedInput(announcementInput, toInput(earlier))
        const changes = Object.keys(changesBetween({ ...before, status: null }, { ...earlier, status: null }))
        const withdrawn = fileKeys(input).filter((key) => !fileKeys(before).includes(key))
        await files.restore(tx, withdrawn)
        const after = changes.length === 0 ? before : await save(tx, { before, input, context, restoredFrom: seq, withdrawn })
        return { success: true, changes: JSON.stringify(changesBetween(before, after)), missing } as const
      })
    },

    async remove({ id }, context) {
      await database.transaction(async (tx) => {
        const removed = await removeAnnouncements(tx, context, { trash, files, where: sql`id = ${id}` })
        if (removed.length === 0) throw new Failure('ANNOUNCEMENT_NOT_FOUND')
      })
      return { success: true }
    },

    /** Compare-and-set: `current` is the status the admin saw. */
    async toggleStatus({ id, status: current }, context) {
      return database.transaction(async (tx) => {
        const switched = await switchStatus(tx, actOf(context), { where: sql`id = ${id}`, status: !current })
        if (switched.length === 0) {
          const found = await tx.selectFrom('announcements').select('id').where('id', '=', id).executeTakeFirst()
          if (!found) throw new Failure('ANNOUNCEMENT_NOT_FOUND')
          throw new Failure('STALE', { message: 'Somebody else has changed the status meanwhile.' })
        }
        return { success: true, message: STATUS_UPDATED, status: !current, ...scheduleText(switched) } as const
      })
    },

    ...announcementsBulk({ database, files, trash }),

    duplicate: duplicateAnnouncement({ database, files }),

    /** Activating raises news by itself. This call covers announcements that are active without it, such as those of an older server. */
    async updateUsersStatus(_input, context) {
      await database.transaction(async (tx) => {
        const raised = await raiseMissingNews(tx)
        if (raised.length === 0) return
        await audit(tx, actOf(context), 'players.status', {})
        await queueEvent(tx, 'announcement.activate', raised.map(announcementRecord))
      })
      return { success: 'success', message: STATUS_UPDATED }
    },

    upload: ({ query: { name }, body }, context) =>
      createOnceInSteps(database, context, async () => {
        const image = await images.prepare(body as Uint8Array)
        const key = await files.put({ folder: 'announcements', name, ...image })
        const record = { kind: 'file', id: key, name: shownName(name, MAX_FILE_NAME_LENGTH) } as const
        // A transaction, so that the upload of a person who may not do it any more is refused here. Nothing then names the file.
        await database.transaction((tx) => audit(tx, actOf(context), 'file.upload', { record }))
        return { key, name: record.name }
      }),

    file: (input, context) => serveFile(files, input, context),
  }

  interface Saving {
    before: StoredAnnouncement
    input: AnnouncementInput
    context: CallContext
    /** The status after saving; false (§3) unless an active announcement stays active. */
    status?: boolean
    /** The number (`seq`) of the audit entry whose version is restored. */
    restoredFrom?: number
    /** Keys of that version's files, which the same transaction has put back in service. */
    withdrawn?: string[]
  }

  async function save(
    tx: Transaction<Tables>,
    { before, input, context, status = false, restoredFrom, withdrawn = [] }: Saving,
  ): Promise<StoredAnnouncement> {
    await keepFiles(tx, files, input, [...fileKeys(before), ...withdrawn])
    const how = restoredFrom !== undefined ? 'restored' : status ? 'keptLive' : 'saved'
    const availability = await changedAvailability(tx, { item: { kind: 'announcement', id: before.id }, before, input, how })
    const after = await tx
      .updateTable('announcements')
      .set({ ...toColumns(input), ...availability, status, version: sql`version + 1` })
      .where('id', '=', before.id)
      .returning(stored)
      .executeTakeFirstOrThrow()
    await writeHistoryItems(tx, 'announcement', { changed: [before.id] })
    await audit(tx, actOf(context), 'announcement.update', {
      record: announcementRecord(after),
      changes: changesBetween(before, after),
      detail: { version: after.version, restoredFrom },
    })
    return after
  }

  /** Returns which files of an earlier version are gone from the store. Runs before the transaction, because a remote store may be slow. */
  async function findMissingFiles({
    id,
    seq,
    version,
  }: {
    id: string
    seq: number
    version: number
  }): Promise<('image' | 'icon')[]> {
    const present = await db.selectFrom('announcements').select(stored).where('id', '=', id).executeTakeFirst()
    if (!present) throw new Failure('ANNOUNCEMENT_NOT_FOUND')
    if (present.version !== version) throw new Failure('STALE')
    const earlier = await versionOf(db, present, seq)
    const kept = fileKeys(present)
    const isGone = async (key: string | null) =>
      key !== null && !kept.includes(key) && (await files.findMissing([key])) !== undefined
    const [image, icon] = await Promise.all([isGone(earlier.image), isGone(earlier.icon)])
    return [...(image ? (['image'] as const) : []), ...(icon ? (['icon'] as const) : [])]
  }
}

type StoredAnnouncement = Omit<Announcement, 'numberOfParticipants' | 'state'>

/** Returns the row, locked for update. @throws Failure ANNOUNCEMENT_NOT_FOUND, STALE */
async function lockAnnouncement(tx: Kysely<Tables>, id: string, version: number | undefined): Promise<StoredAnnouncement> {
  const found = await tx.selectFrom('announcements').select(stored).where('id', '=', id).forUpdate().executeTakeFirst()
  if (!found) throw new Failure('ANNOUNCEMENT_NOT_FOUND')
  if (version !== undefined && found.version !== version) throw new Failure('STALE')
  return found
}

function versionOf(tx: Kysely<Tables>, present: StoredAnnouncement, seq: number): Promise<StoredAnnouncement> {
  const { version } = present
  return earlierVersion(tx, { record: announcementRecord(present), fields: present, version }, seq)
}

/** Returns the input that the form would send for an announcement. */
function toInput({ description, link, linkType, inputText, ...others }: StoredAnnouncement) {
  const { id: _id, createdAt: _createdAt, version: _version, status: _status, ...kept } = others
  const texts = { description: description ?? '', link: link ?? '', linkType: linkType ?? undefined, inputText: inputText ?? '' }
  return { ...kept, ...texts }
}

/** Maps the form to columns (§5): type desc stores the description, type link the link, and link type input also its text. */
function toColumns(input: AnnouncementInput) {
  const { type, title, subtitle, reward } = input
  const isLink = type === 'link'
  return {
    type,
    title,
    subtitle,
    reward,
    description: type === 'desc' ? input.description || null : null,
    link: isLink ? input.link || null : null,
    link_type: isLink ? (input.linkType ?? null) : null,
    input_text: isLink && input.linkType === 'input' ? input.inputText || null : null,
    verified_by_bot: input.verifiedByBot,
    image_key: input.image,
    image_name: input.image === null ? null : input.imageName || 'image',
    icon_key: input.icon,
    icon_name: input.icon === null ? null : input.iconName || 'icon',
  }
}

/** Keeps the files that the row names now and withdraws those it no longer names. @throws Failure INVALID_INPUT if a file is missing */
async function keepFiles(
  tx: Kysely<Tables>,
  files: Files,
  after: Pick<AnnouncementInput, 'image' | 'icon'>,
  before: string[] = [],
): Promise<void> {
  const keys = fileKeys(after)
  const gone = await files.keep(
    tx,
    keys.filter((key) => !before.includes(key)),
  )
  if (gone !== undefined) throw missingFile(gone, after)
  await files.withdraw(
    tx,
    before.filter((key) => !keys.includes(key)),
    'expiry',
  )
}

/** Checks that new files are in the store, before the transaction, because a store may be slow. @throws Failure INVALID_INPUT */
async function refuseMissing(
  files: Files,
  after: Pick<AnnouncementInput, 'image' | 'icon'>,
  before: string[] = [],
): Promise<void> {
  if (after.image !== null && after.image === after.icon) throw refusedFile('icon', 'The image and the icon must be two uploads.')
  const missing = await files.findMissing(fileKeys(after).filter((key) => !before.includes(key)))
  if (missing !== undefined) throw missingFile(missing, after)
}

function missingFile(key: string, { image }: Pick<AnnouncementInput, 'image'>): Failure {
  return refusedFile(
    key === image ? 'image' : 'icon',
    'This file was uploaded too long ago, or another announcement has it. Please choose it again.',
  )
}

function refusedFile(field: 'image' | 'icon', message: string): Failure {
  return new Failure('INVALID_INPUT', { message, fields: { [field]: message } })
}
