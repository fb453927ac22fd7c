/** The calls of the game about balances (design §8): claims, entries of the game's own, the entries of a player, and who has most. */
import type { contract } from '@arcade/contract/contract'
import type { HistoryKind } from '@arcade/contract/entities/history'
import { type Claimed, type Entered, ENTRIES_PAGE_SIZE, LEADERBOARD_MAX, type LedgerEntry } from '@arcade/contract/ledger'
import { Failure, type Handlers, playerOf } from '#src/calls.ts'
import type { Database } from '#src/db/database.ts'
import { playerEntity, sourceSql } from '#src/db/entities.ts'
import { isId, keysetPage, readCursor, writeCursor } from '#src/lists/cursors.ts'
import { createClaims } from './claims.ts'
import { ENTRY } from './entry-once.ts'
import { createGameEntries } from './game-entries.ts'

interface EntryRow extends Omit<LedgerEntry, 'id' | 'item' | 'reference'> {
  reference: string | null
  kind: HistoryKind | null
  itemId: string | null
  period: string | null
}

type Ranked = { rank: number; userId: number; username: string | null; firstName: string | null; balance: number }

export function ledgerHandlers({ database }: { database: Database }): Handlers<typeof contract.ledger> {
  const { db } = database
  const claim = createClaims(database)
  const enter = createGameEntries(database)
  const readEntries = database.prepared<EntryRow>('player-entries', ENTRIES)
  const readLeaders = database.prepared<Ranked>('leaderboard', LEADERS)

  return {
    claim: (input, context): Promise<Claimed> => claim({ ...input, userId: playerOf(context, input.userId) }, context),

    enter: (input, context): Promise<Entered> => enter({ ...input, userId: playerOf(context, input.userId) }, context),

    async entries({ userId: asked, after }, context) {
      const userId = playerOf(context, asked)
      const list = `entries:${userId}`
      const [before] = after === undefined ? [null] : readCursor<[number]>(after, list, [isId])
      const rows = await readEntries([userId, before])
      if (rows.length === 0) await refuseUnknown(userId)
      const page = keysetPage(rows, {
        size: ENTRIES_PAGE_SIZE,
        direction: after === undefined ? undefined : 'after',
        toCursor: ({ seq }) => writeCursor([list, seq]),
      })
      return { entries: page.rows.map((row) => toEntry(userId, row)), after: page.after }
    },

    // All who ask share one read, whatever their limit.
    leaderboard: async ({ limit }) => ({ players: (await readLeaders([])).slice(0, limit) }),
  }

  async function refuseUnknown(userId: number): Promise<void> {
    const found = await db.selectFrom('balances').select('user_id').where('user_id', '=', userId).executeTakeFirst()
    if (!found) throw new Failure('NO_SUCH_PLAYER')
  }
}

function toEntry(userId: number, { kind, itemId, period, reference, ...row }: EntryRow): LedgerEntry {
  return {
    id: `${userId}-${row.seq}`,
    ...row,
    ...(kind !== null && { item: { kind, id: itemId ?? '', period: period ?? '' } }),
    ...(reference !== null && { reference }),
  }
}

const ENTRIES = `
  select ${ENTRY}, reference, kind, item_id as "itemId", period from ledger_entries
   where user_id = $1::bigint and seq < coalesce($2::bigint, 9223372036854775807) order by seq desc limit ${ENTRIES_PAGE_SIZE + 1}`

/** Numbered outside, so that the index is walked no further than the limit. */
const LEADERS = `
  select row_number() over (order by balance desc, user_id) as rank, user_id as "userId", username, first_name as "firstName", balance from (
    select user_id, username, first_name, balance from ${sourceSql(playerEntity, 'balance')}
     order by balance desc, user_id limit ${LEADERBOARD_MAX}) as leaders order by rank`
