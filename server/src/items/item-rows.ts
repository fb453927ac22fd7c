/** The row of a task or announcement, which are in two tables, for code that treats all items alike. */
import { type RawBuilder, sql } from 'kysely'
import type { RecordKind } from '@arcade/contract/audit/fields'
import type { HistoryKind } from '@arcade/contract/history/fields'
import { taskCollections } from '@arcade/contract/tasks/fields'

export interface ItemKey {
  kind: HistoryKind
  id: string
}

/** The table of a kind of items. */
export function itemTable(kind: HistoryKind): RawBuilder<unknown> {
  return sql.table(kind === 'announcement' ? 'announcements' : 'tasks')
}

/** The condition that selects an item in its table. */
export function isItem({ kind, id }: ItemKey): RawBuilder<boolean> {
  return kind === 'announcement' ? sql<boolean>`id = ${id}` : sql<boolean>`collection = ${kind} and id = ${id}`
}

/** An item as the audit trail names it. */
export function itemRecord({ kind, id }: ItemKey, title: string): { kind: RecordKind; id: string; name: string } {
  return { kind: kind === 'announcement' ? kind : taskCollections[kind].recordKind, id, name: title }
}
