/** The audit as a list: newest first, filtered, paged by cursors. It includes entries that are not sealed yet. */
import { sql } from 'kysely'
import { auditActionLabels, auditList, type RecordKind } from '@arcade/contract/audit/fields'
import { WITHHELD } from '@arcade/contract/personal'
import { auditReasonSql } from '#src/db/audit-reasons.ts'
import { lower } from '#src/db/collations.ts'
import { auditEntity } from '#src/db/entities.ts'
import { type Condition, type SearchCondition, serveList } from '#src/lists/list.ts'
import { startsWithInIndex } from '#src/lists/search.ts'
import { disjoint } from '#src/lists/where.ts'

/** Whether entries about each kind of record may contain personal fields of players: texts about a player, searches and filters. */
const tells: Readonly<Record<RecordKind, boolean>> = {
  user: false,
  socialTask: false,
  dailyTask: false,
  announcement: false,
  player: true,
  view: true,
  file: false,
  list: true,
  token: false,
  webhook: false,
  broadcast: true,
  invitation: false,
  role: false,
  installation: false,
}
const tellingKinds = (Object.keys(tells) as RecordKind[]).filter((kind) => tells[kind])
/** Kinds of these whose names are neither the title of an item nor the name of a list. */
const namedByPeople: readonly RecordKind[] = ['player', 'view']

/** SQL for whether an entry is about a record of these kinds. */
function maySay(kinds: readonly RecordKind[]): string {
  return `coalesce(record_kind, '') in (${kinds.map((kind) => `'${kind}'`).join(', ')})`
}

/** SQL for a JSON value that stays if it is a number, true, false or null. */
function withoutTexts(value: string): string {
  return `case when json_typeof(${value}) in ('string', 'object', 'array') then '"${WITHHELD}"'::json else ${value} end`
}

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
  search: (text) => searchEntries(text, { isWhole: true }),
  withoutPersonal: {
    search: (text) => searchEntries(text, { isWhole: false }),
    masks: {
      recordName: `case when ${maySay(namedByPeople)} then null else record_name end`,
      changes: `case when ${maySay(tellingKinds)} then (
        select json_object_agg(name, json_build_array(${withoutTexts('pair -> 0')}, ${withoutTexts('pair -> 1')}))::text
          from json_each(changes) as change (name, pair)) else changes::text end`,
      detail: `case when ${maySay(tellingKinds)} then (
        select json_object_agg(name, ${withoutTexts('value')})::text from json_each(detail) as fact (name, value)) else detail::text end`,
    },
  },
  markCondition: `record_kind = 'player'`, // the entries are parsed for names of players only if there are any
  indexedFilters: ['action', 'recordKind', 'actorKind', 'actorId', 'recordId'],
  counted: () => '((select seq - base_seq from audit_head) + (select count(*) from audit_open))',
})

/**
 * Matches the beginning of an actor's or record's name or of a reason, a word of an action, or the whole id of an actor, a record or an act.
 * @param isWhole false for people who may not see personal fields of players: reasons and names that people gave are not searched
 */
function searchEntries(text: string, { isWhole }: { isWhole: boolean }): SearchCondition {
  const [isActor, isRecord] = ['actor_name', 'record_name'].map((column) => startsWithInIndex(lower(sql.ref(column)), text)) as [
    Condition,
    Condition,
  ]
  const idConditions = ['actor_id', 'record_id'].map((column) => sql<boolean>`${sql.ref(column)} = ${text}`)
  const actConditions = UUID.test(text) ? [sql<boolean>`act_id = ${text}::uuid`] : []
  const reason = lower(sql.raw(auditReasonSql))
  const named = isWhole
    ? [isActor, isRecord, startsWithInIndex(reason, text)]
    : [isActor, sql<boolean>`(${isRecord} and not ${sql.raw(maySay(namedByPeople))})`]
  const actions = actionsInWords(text)
  const actionConditions = actions.length > 0 ? [sql<boolean>`action in (${sql.join(actions)})`] : []
  const found = [...named, ...idConditions, ...actConditions, ...actionConditions]
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
