/**
 * The history document of every task and announcement (§3 socialTasksHistory, dailyTasksHistory, announcementHistory): made with the
 * item, changed with it, and left as it is when the item is deleted. Whoever writes an item calls this in the same transaction.
 */
import { type Kysely, type RawBuilder, sql } from 'kysely'
import type { HistoryKind, Tables } from './tables.ts'

const details = ['title', 'type', 'link', 'link_type', 'description', 'input_text', 'reward']
const columns = sql.raw(['kind', 'item_id', ...details, 'created_at'].join(', '))
const isUpdated = sql.raw(details.map((column) => `${column} = excluded.${column}`).join(', '))

/** What the documents of items hold, in the order of `columns`; a condition on the item's `id` can follow. */
const items: Record<HistoryKind, RawBuilder<unknown>> = {
  social: sql`select collection, id, title, image, link, null, null, null, reward, created_at from tasks where collection = 'social'`,
  daily: sql`select collection, id, title, image, link, null, null, null, reward, created_at from tasks where collection = 'daily'`,
  announcement: sql`select 'announcement', id, title, type, link, link_type, description, input_text, reward, created_at from announcements where true`,
}

/**
 * Brings the documents of items that have changed up to date, and makes those that are missing.
 * @param unchanged ids of further items: they get a document where they have none, and keep the one they have
 * @returns the ids of all documents that were written
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
    on conflict (kind, item_id) do update set ${isUpdated}
    where history_items.item_id = any(${changed}) returning item_id as id`.execute(tx)
  return rows.map(({ id }) => id)
}
