/**
 * Reads pages of a player's ledger entries, newest first, for both the game and the console.
 */
import type { HistoryKind } from '@arcade/contract/history/fields'
import { ENTRIES_PAGE_SIZE, type LedgerEntry } from '@arcade/contract/ledger/calls'
import { Failure } from '#src/calls.ts'
import type { Database } from '#src/db/database.ts'
import { isId, keysetPage, readCursor, writeCursor } from '#src/lists/cursors.ts'
import { ENTRY, type EntryRow } from './entry-once.ts'

export interface StoredEntry extends EntryRow {
  reference: string | null
  kind: HistoryKind | null
  itemId: string | null
  period: string | null
}

export interface EntryPage<Row> {
  rows: readonly Row[]
  /** The cursor of the next page; null on the last one. */
  after: string | null
}

/**
 * @param more further columns of each entry, and tables joined with `ledger_entries`
 * @returns a function that reads a page, the first one without `after`. It throws the Failure NO_SUCH_PLAYER
 */
export function createEntryPages<Row extends StoredEntry>(
  database: Pick<Database, 'db' | 'prepared'>,
  name: string,
  more: { columns: string; joins: string } = { columns: '', joins: '' },
): (userId: number, after: string | undefined) => Promise<EntryPage<Row>> {
  const read = database.prepared<Row>(name, pageSql(more))

  return async (userId, after) => {
    const list = `entries:${userId}`
    const [before] = after === undefined ? [null] : readCursor<[number]>(after, list, [isId])
    const rows = await read([userId, before])
    if (rows.length === 0) await refuseUnknown(database, userId)
    return keysetPage(rows, {
      size: ENTRIES_PAGE_SIZE,
      direction: after === undefined ? undefined : 'after',
      toCursor: ({ seq }) => writeCursor([list, seq]),
    })
  }
}

async function refuseUnknown({ db }: Pick<Database, 'db'>, userId: number): Promise<void> {
  const found = await db.selectFrom('balances').select('user_id').where('user_id', '=', userId).executeTakeFirst()
  if (!found) throw new Failure('NO_SUCH_PLAYER')
}

/** Returns the fields of an entry that the game sees. */
export function toEntry(
  userId: number,
  { seq, amount, cause, balance, at, kind, itemId, period, reference }: StoredEntry,
): LedgerEntry {
  return {
    id: `${userId}-${seq}`,
    seq,
    amount,
    cause,
    balance,
    at,
    ...(kind !== null && { item: { kind, id: itemId ?? '', period: period ?? '' } }),
    ...(reference !== null && { reference }),
  }
}

function pageSql({ columns, joins }: { columns: string; joins: string }): string {
  return `
  select ${ENTRY}, reference, kind, item_id as "itemId", period ${columns} from ledger_entries ${joins}
   where user_id = $1::bigint and seq < coalesce($2::bigint, 9223372036854775807) order by seq desc limit ${ENTRIES_PAGE_SIZE + 1}`
}
