/** The audit as a list: newest first, filtered, paged by cursors. It includes entries that are not sealed yet. */
import { sql } from 'kysely'
import { auditActionLabels, auditList } from '@arcade/contract/audit/fields'
import { auditReasonSql } from '#src/db/audit-reasons.ts'
import { lower } from '#src/db/collations.ts'
import { auditEntity } from '#src/db/entities.ts'
import { disjoint, type SearchCondition, serveList } from '#src/lists/list.ts'
import { startsWithInIndex } from '#src/lists/search.ts'

export const servedAudit = serveList<typeof auditList>({
  list: auditList,
  entity: auditEntity,
  // Columns of type `json` are cast to text, so that the driver does not parse them.
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

/**
 * Matches the beginning of an actor's or record's name or of a reason, a word of an action, or the whole id of an actor, a record or an act.
 */
function searchEntries(text: string): SearchCondition {
  const beginsSo = ['actor_name', 'record_name'].map((column) => startsWithInIndex(lower(sql.ref(column)), text))
  const idConditions = ['actor_id', 'record_id'].map((column) => sql<boolean>`${sql.ref(column)} = ${text}`)
  const actConditions = UUID.test(text) ? [sql<boolean>`act_id = ${text}::uuid`] : []
  const reason = lower(sql.raw(auditReasonSql))
  const isReason = startsWithInIndex(reason, text)
  const actions = actionsInWords(text)
  const actionConditions = actions.length > 0 ? [sql<boolean>`action in (${sql.join(actions)})`] : []
  const found = [...beginsSo, isReason, ...idConditions, ...actConditions, ...actionConditions]
  return { matches: sql<boolean>`(${sql.join(found, sql` or `)})`, conditions: disjoint(found) }
}

/** Returns the actions that have the text in their label, from the beginning of a word on: `balance` finds `Adjusted a balance`. */
function actionsInWords(text: string): string[] {
  const wanted = ` ${text.toLowerCase()}`
  return Object.entries(auditActionLabels).flatMap(([action, label]) =>
    ` ${label.toLowerCase()}`.includes(wanted) ? [action] : [],
  )
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i
