/** Announcements as a list (§2, §7): oldest first unless sorted otherwise, searched and filtered, 50 a page, and as a spreadsheet. */
import { type Kysely, type RawBuilder, sql } from 'kysely'
import {
  type Announcement,
  announcementList,
  type AnnouncementsFilter,
  type AnnouncementsSort,
} from '@arcade/contract/entities/announcement'
import type { contract } from '@arcade/contract/contract'
import { errorCatalogue } from '@arcade/contract/errors'
import { type Target, targetCondition } from '#src/lists/bulk.ts'
import type { CallContext, Handlers } from '#src/calls.ts'
import { counterSql, readCounters } from '#src/db/counters.ts'
import type { Database } from '#src/db/database.ts'
import type { Tables } from '#src/db/tables.ts'
import type { DownloadAnswer, Downloads } from '#src/sheets/download.ts'
import type { Column } from '#src/sheets/spreadsheet.ts'

const [PAGE_SIZE] = announcementList.pageSizes
const PARTICIPANTS = counterSql({ of: 'participants', kind: `'announcement'`, itemId: 'announcements.id' })

const keys: Record<AnnouncementsSort, string> = {
  created: 'created_at',
  title: 'lower(title)',
  reward: 'reward',
  participants: PARTICIPANTS,
}

/** The announcements that a filter matches. There are thousands at most, so no index helps. */
export function announcementsCondition({ search = '', type, status }: AnnouncementsFilter): RawBuilder<boolean> {
  const parts = [sql`true`]
  if (type !== undefined) parts.push(sql`type = ${type}`)
  if (status !== undefined) parts.push(sql`status = ${status === 'active'}`)
  if (search !== '') {
    parts.push(sql`strpos(lower(title || ' ' || subtitle || ' ' || coalesce(link, '')), lower(${search}::text)) > 0`)
  }
  return sql<boolean>`${sql.join(parts, sql` and `)}`
}

export function announcementsList({ db }: Database): Handlers<typeof contract.announcements>['list'] {
  return async ({ page, sort, reversed, ...filter }) => {
    const isMatch = announcementsCondition(filter)
    const direction = reversed ? 'desc' : 'asc'
    const [rows, { total }] = await Promise.all([
      db
        .selectFrom('announcements')
        .select(shown)
        .where(isMatch)
        .orderBy(sql.raw(keys[sort]), direction)
        .orderBy('id', direction)
        .limit(PAGE_SIZE)
        .offset((page - 1) * PAGE_SIZE)
        .execute(),
      db
        .selectFrom('announcements')
        .select(sql<number>`count(*)`.as('total'))
        .where(isMatch)
        .executeTakeFirstOrThrow(),
    ])
    const announcements = await withParticipants(db, rows)
    const pageCount = Math.max(1, Math.ceil(total / PAGE_SIZE))
    const message = total === 0 ? { message: errorCatalogue.NO_ANNOUNCEMENTS_FOUND.message } : {}
    return { announcements, ...message, page, pageSize: PAGE_SIZE, pageCount, total }
  }
}

export const shown = [
  'id',
  'type',
  'title',
  'subtitle',
  'description',
  'link',
  'link_type as linkType',
  'input_text as inputText',
  'reward',
  'status',
  'image_key as image',
  'image_name as imageName',
  'icon_key as icon',
  'icon_name as iconName',
  'created_at',
  'version',
] as const

type ShownRow = Omit<Announcement, 'createdAt' | 'numberOfParticipants'> & { created_at: Date }

export async function withParticipants(db: Kysely<Tables>, rows: ShownRow[]): Promise<Announcement[]> {
  const participants = await readCounters(
    db,
    rows.map(({ id }) => ({ of: 'participants', kind: 'announcement', itemId: id })),
  )
  return rows.map(({ created_at: createdAt, ...row }, index) => ({
    ...row,
    createdAt: createdAt.toISOString(),
    numberOfParticipants: participants[index] ?? 0,
  }))
}

interface SheetRow {
  title: string
  subtitle: string
  type: string
  description: string | null
  link: string | null
  link_type: string | null
  input_text: string | null
  reward: number
  status: boolean
  image_name: string | null
  icon_name: string | null
  participants: number
  created_at: Date
}

const columns: Column<SheetRow>[] = [
  { header: 'Title', width: 40, kind: 'text', value: (row) => row.title },
  { header: 'Subtitle', width: 40, kind: 'text', value: (row) => row.subtitle },
  { header: 'Type', width: 10, kind: 'text', value: (row) => row.type },
  { header: 'Description', width: 48, kind: 'text', value: (row) => row.description },
  { header: 'Link', width: 48, kind: 'text', value: (row) => row.link },
  { header: 'Link Type', width: 12, kind: 'text', value: (row) => row.link_type },
  { header: 'Input Text', width: 32, kind: 'text', value: (row) => row.input_text },
  { header: 'Reward', width: 12, kind: 'number', value: (row) => row.reward },
  { header: 'Status', width: 12, kind: 'text', value: (row) => (row.status ? 'Active' : 'In Active') }, // sic, §2
  { header: 'Image Name', width: 24, kind: 'text', value: (row) => row.image_name },
  { header: 'Icon Name', width: 24, kind: 'text', value: (row) => row.icon_name },
  { header: 'Participants', width: 14, kind: 'number', value: (row) => row.participants },
  { header: 'Created At', width: 20, kind: 'date', value: (row) => row.created_at },
]

/** POST /api/exports: picked announcements, or those of a filter. */
export function announcementsSelection({ database, downloads }: { database: Database; downloads: Downloads }) {
  return (
    { target, exportId }: { target: Target<AnnouncementsFilter>; exportId?: string | undefined },
    context: CallContext,
  ): Promise<DownloadAnswer> =>
    downloads.selection<SheetRow>({
      context,
      exportId,
      target: 'announcements',
      selection: target,
      fileName: 'announcements.xlsx',
      sheetName: 'Announcements',
      columns,
      from: sql`announcements where ${targetCondition(target, announcementsCondition)}`.compile(database.db),
      fields: `title, subtitle, type, description, link, link_type, input_text, reward, status, image_name, icon_name,
        ${PARTICIPANTS} as participants, created_at`,
      orderBy: 'created_at, id',
    })
}
