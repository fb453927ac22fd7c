/** Refuses imported items that are for a segment which this console does not have. */
import { sql, type Transaction } from 'kysely'
import type { Tables } from '#src/db/tables.ts'
import { IS_SEGMENT } from '#src/items/availability.ts'
import type { Columns } from './import-rows.ts'

/** Returns the rows without those of a segment that this console does not have: without it they would be for everyone. */
export async function withoutUnknownSegments(
  tx: Transaction<Tables>,
  rows: Columns[],
): Promise<{ rows: Columns[]; rejected: Map<Columns, string> }> {
  const isForSegment = (row: Columns): boolean => typeof row['segment_id'] === 'string'
  const named = [...new Set(rows.filter(isForSegment).map((row) => String(row['segment_id'])))]
  if (named.length === 0) return { rows, rejected: new Map() }
  const { rows: found } = await sql<{ id: string }>`
    select id from saved_views where id = any(${named}) and ${sql.raw(IS_SEGMENT)} order by id for key share`.execute(tx)
  const known = new Set(found.map(({ id }) => id))
  const isUnknown = (row: Columns): boolean => isForSegment(row) && !known.has(String(row['segment_id']))
  const reason = (row: Columns): string =>
    `There is no shared view of Telegram Users with the id ${String(row['segment_id'])} (segmentId)`
  return {
    rows: rows.filter((row) => !isUnknown(row)),
    rejected: new Map(rows.filter(isUnknown).map((row) => [row, reason(row)])),
  }
}
