/**
 * The history document of every item (§3 socialTasksHistory, dailyTasksHistory, announcementHistory). It is created and changed with the item
 * and stays when the item is deleted. Code that writes an item calls this module in the same transaction.
 */
import { type Kysely, type RawBuilder, sql } from 'kysely'
import { type HistoryKind, historyItemFields } from '@arcade/contract/history/fields'
import { columnName, historyItemEntity, itemSources, storedNames } from '#src/db/entities.ts'
import type { Tables } from '#src/db/tables.ts'

/** The fields that a history document copies from its item. */
const details = storedNames(historyItemFields).filter((name) => name !== 'kind' && name !== 'id')
const detailColumns = details.map((name) => columnName(historyItemEntity, name))
const columns = sql.raw(['kind', 'item_id', ...detailColumns, 'created_at'].join(', '))
const assignments = sql.raw(detailColumns.map((column) => `${column} = excluded.${column}`).join(', '))

/** A SELECT of the documents' values from the items, in the order of `columns`. A condition on the item's `id` may follow. */
const items: Record<HistoryKind, RawBuilder<unknown>> = {
  social: documentsSql('social'),
  daily: documentsSql('daily'),
  announcement: documentsSql('announcement'),
}

/** Fields that this kind of item does not have are missing in its documents. */
function documentsSql(kind: HistoryKind): RawBuilder<unknown> {
  const { entity, where } = itemSources[kind]
  const values = details.map((name) => (name in entity.fields ? columnName(entity, name) : 'null'))
  return sql.raw(`select '${kind}', id, ${values.join(', ')}, created_at from ${entity.table} where ${where}`)
}

/**
 * Updates the documents of changed items and creates missing ones.
 * @param unchanged ids of further items, which get a document if they have none
 * @returns the ids of all written documents
 */
export async function writeHistoryItems(
  tx: Kysely<Tables>,
  kind: HistoryKind,
  { changed, unchanged = [] }: { changed: string[]; unchanged?: string[] },
): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    insert into history_items (${columns})
    select * from (${items[kind]} and id = any(${[...changed, ...unchanged]})) as item (${columns})
    where item_id = any(${changed})
       or not exists (select from history_items h where h.kind = item.kind and h.item_id = item.item_id)
    order by item_id
    on conflict (kind, item_id) do update set ${assignments}
    where history_items.item_id = any(${changed}) returning item_id as id`.execute(tx)
  return rows.map(({ id }) => id)
}

/** Returns the items that have no document. */
export async function itemsWithoutDocument(db: Kysely<Tables>): Promise<{ kind: HistoryKind; id: string }[]> {
  const all = Object.values(items).map((item) => sql`${item}`)
  const { rows } = await sql<{ kind: HistoryKind; id: string }>`
    select kind, item_id as id from (${sql.join(all, sql` union all `)}) as item (${columns})
     where not exists (select from history_items h where h.kind = item.kind and h.item_id = item.item_id) order by kind collate "C", item_id collate "C"`.execute(
    db,
  )
  return rows
}
