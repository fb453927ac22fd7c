/** Announcements as a list (§2, §7): oldest first unless sorted otherwise, searched and filtered, 50 a page. */
import { sql } from 'kysely'
import { announcementList } from '@arcade/contract/announcements/fields'
import type { AuditRecord } from '#src/audit/audit.ts'
import { counterOfRowSql } from '#src/counters/counters.ts'
import { announcementEntity, type DerivedSql } from '#src/db/entities.ts'
import { announcementStateSql } from '#src/items/state.ts'
import { serveList } from '#src/lists/list.ts'
import { searchWithoutIndex } from '#src/lists/search.ts'

export const announcementDerived: DerivedSql<typeof announcementEntity> = {
  numberOfParticipants: counterOfRowSql({ of: 'participants', kind: `'announcement'`, itemId: 'announcements.id' }),
  state: announcementStateSql(),
}

/** An announcement as the audit trail names it. */
export function announcementRecord({ id, title }: { id: string; title: string }): AuditRecord {
  return { kind: 'announcement', id, name: title }
}

export const servedAnnouncements = serveList<typeof announcementList>({
  list: announcementList,
  entity: announcementEntity,
  derived: announcementDerived,
  conditions: {
    status: (status) => sql`status = ${status === 'active'}`,
    state: (state) => sql`${sql.raw(announcementStateSql())} = ${state}`,
  },
  sheet: {
    sheetName: 'Announcements',
    flags: { status: ['Active', 'In Active'] }, // sic, §2
    inWords: { state: true },
  },
  search: (text) => searchWithoutIndex(`title || ' ' || subtitle || ' ' || coalesce(link, '')`, text),
})
