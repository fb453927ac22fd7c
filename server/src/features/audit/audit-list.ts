/** The audit trail as a list: newest first, filtered, paged by cursors, sealed or not. */
import { sql } from 'kysely'
import { auditList } from '@arcade/contract/audit/fields'
import { auditEntity } from '#src/db/entities.ts'
import { serveList } from '#src/lists/list.ts'
import { disjoint, type SearchCondition, startsWithInIndex } from '#src/lists/search.ts'

export const servedAudit = serveList<typeof auditList>({
  list: auditList,
  entity: auditEntity,
  // Columns of the type `json`, which the driver would read.
  derived: { changes: 'changes::text', detail: 'detail::text' },
  conditions: {},
  sheet: {
    sheetName: 'Audit',
    flags: {},
    inWords: { action: { storedHeader: 'Action' }, actorKind: true, recordKind: true },
  },
  search: searchEntries,
  indexedFilters: ['action', 'recordKind', 'actorKind', 'actorId', 'recordId'],
  counted: () => '((select seq - base_seq from audit_head) + (select count(*) from audit_open))',
})

/** The beginning of a person's or record's name, or a whole id of a person, record or request. */
function searchEntries(text: string): SearchCondition {
  const beginsSo = ['actor_name', 'record_name'].map((column) => startsWithInIndex(sql`lower(${sql.ref(column)})`, text))
  const isId = ['actor_id', 'record_id'].map((column) => sql<boolean>`${sql.ref(column)} = ${text}`)
  const isAct = UUID.test(text) ? [sql<boolean>`act_id = ${text}::uuid`] : []
  const found = [...beginsSo, ...isId, ...isAct]
  return { matches: sql<boolean>`(${sql.join(found, sql` or `)})`, conditions: disjoint(found) }
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i
