/**
 * Stands between the import's batches and their writers: a record that was changed or deleted in the console stays as it is, and the sum of
 * the balances that a dry run takes back is known.
 */
import { type Kysely, sql, type Transaction } from 'kysely'
import type { RecordKind } from '@arcade/contract/audit/fields'
import type { Tables } from '#src/db/tables.ts'
import type { Batches } from '#src/import/import.ts'

/** A move-in has read all documents before it writes, so its memory is larger than an import's, and its batches are smaller. */
const BATCH_ROWS = 2_000

/** Records of these collections have an audit entry with the changed fields for each change in the console; an import writes none. */
const auditedKinds: Readonly<Record<string, RecordKind>> = {
  users: 'user',
  socialTask: 'socialTask',
  dailyTask: 'dailyTask',
  announcements: 'announcement',
}

export interface MoveInBatches extends Batches {
  /** The sums of the balances of each batch's players, as decimals. */
  balances: { before: string; after: string }[]
}

/** @param onKept called with the ids of rows that were not written, because the record was changed in the console */
export function moveInBatches(onKept: (collection: string, ids: string[]) => void): MoveInBatches {
  let stored = (): void => {}
  const balances: MoveInBatches['balances'] = []
  return {
    rows: BATCH_ROWS,
    balances,
    async write(tx, { collection, rows }, writer) {
      const kind = auditedKinds[collection]
      const kept =
        kind === undefined
          ? new Set<string>()
          : await findChanged(
              tx,
              kind,
              rows.map(({ id }) => String(id)),
            )
      const sumBefore = collection === 'telegramUsers' ? await sumOf(tx, rows) : undefined
      const written = await writer(
        tx,
        rows.filter(({ id }) => !kept.has(String(id))),
      )
      const sumAfter = sumBefore === undefined ? undefined : await sumOf(tx, rows)
      stored = () => {
        const keptIds = [...kept, ...(written.kept ?? [])]
        if (keptIds.length > 0) onKept(collection, keptIds)
        if (sumBefore !== undefined && sumAfter !== undefined) balances.push({ before: sumBefore, after: sumAfter })
      }
      return written
    },
    stored: () => stored(),
  }
}

/** Returns which of these records were changed or deleted in the console. */
export async function findChanged(tx: Kysely<Tables>, kind: RecordKind, ids: string[]): Promise<Set<string>> {
  const { rows } = await sql<{ id: string }>`select distinct record_id as id from audit_trail
    where record_kind = ${kind} and record_id = any(${ids}) and changes is not null`.execute(tx)
  return new Set(rows.map(({ id }) => id))
}

async function sumOf(tx: Transaction<Tables>, rows: readonly Record<string, unknown>[]): Promise<string> {
  const { rows: sums } = await sql<{ sum: string }>`select coalesce(sum(balance), 0)::text as sum from balances
    where user_id = any(${rows.map((row) => Number(row['user_id']))}::bigint[])`.execute(tx)
  return sums[0]!.sum
}
