/** The audit trail as a list: newest first, filtered, paged by cursors. */
import { sql } from 'kysely'
import { auditList } from '@arcade/contract/entities/audit'
import { auditEntity } from '#src/db/entities.ts'
import { type Condition, serveList } from '#src/lists/list.ts'
import type { SearchCondition } from '#src/lists/search.ts'

export const servedAudit = serveList<typeof auditList>({
  list: auditList,
  entity: auditEntity,
  // Columns of the type `json`, which the driver would read.
  derived: { changes: 'changes::text', detail: 'detail::text' },
  conditions: {},
  sheet: { sheetName: 'Audit', flags: {} },
  search: searchEntries,
  counted: () => '(select seq - base_seq from audit_head)',
})

/** The beginning of a person's or record's name, or a whole id of a person, record or request. */
function searchEntries(text: string): SearchCondition {
  const beginsSo = ['actor_name', 'record_name'].map(
    (column) =>
      sql<boolean>`(lower(${sql.ref(column)}) ~>=~ lower(${text}::text) and lower(${sql.ref(column)}) ~<~ (lower(${text}::text) || chr(1114111)))`,
  )
  const isId = ['actor_id', 'record_id'].map((column) => sql<boolean>`${sql.ref(column)} = ${text}`)
  const isAct = UUID.test(text) ? [sql<boolean>`act_id = ${text}::uuid`] : []
  const found: Condition[] = [...beginsSo, ...isId, ...isAct]
  const ways = found.map((way, index) => {
    const earlier = found.slice(0, index).map((other) => sql<boolean>`(${other}) is not true`)
    return sql<boolean>`${sql.join([way, ...earlier], sql` and `)}`
  })
  return { matches: sql<boolean>`(${sql.join(found, sql` or `)})`, ways }
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i
