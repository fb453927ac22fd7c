/** The game's calls about balances (design §8): claims, entries that the game makes, the entries of a player, and the leaderboard. */
import type { contract } from '@arcade/contract/contract'
import { type ClaimResult, type EntryResult, MAX_LEADERBOARD, type LedgerEntry } from '@arcade/contract/ledger/calls'
import { type Handlers, playerOf } from '#src/calls.ts'
import type { EntryCaps } from '#src/ledger/caps.ts'
import type { Database } from '#src/db/database.ts'
import { playerEntity, sourceSql } from '#src/db/entities.ts'
import { createAdjustments } from '#src/ledger/adjustments.ts'
import { IS_OPEN } from '#src/ledger/blocks.ts'
import { createClaims } from '#src/ledger/claims.ts'
import { createEntryPages, type StoredEntry, toEntry } from '#src/ledger/entry-pages.ts'
import { createGameEntries } from '#src/ledger/game-entries.ts'

type Ranked = { rank: number; userId: number; username: string | null; firstName: string | null; balance: number }

export function ledgerHandlers({ database, caps }: { database: Database; caps: EntryCaps }): Handlers<typeof contract.ledger> {
  const claim = createClaims(database, caps)
  const enter = createGameEntries(database, caps)
  const { adjust, reverse } = createAdjustments(database)
  const readEntries = createEntryPages<StoredEntry>(database, 'player-entries')
  const readLeaders = database.prepared<Ranked>('leaderboard', LEADERS)

  return {
    claim: (input, context): Promise<ClaimResult> => claim({ ...input, userId: playerOf(context, input.userId) }, context),

    enter: (input, context): Promise<EntryResult> => enter({ ...input, userId: playerOf(context, input.userId) }, context),

    adjust,
    reverse,

    async entries({ userId: requestedId, after }, context) {
      const userId = playerOf(context, requestedId)
      const page = await readEntries(userId, after)
      return { entries: page.rows.map((row): LedgerEntry => toEntry(userId, row)), after: page.after }
    },

    // All callers share one read, whatever their limit.
    leaderboard: async ({ limit }) => ({ players: (await readLeaders([])).slice(0, limit) }),
  }
}

/** Players read for the leaderboard: twice its length, so that enough are left when erased players are taken out. */
const LEADERS_READ = 2 * MAX_LEADERBOARD

/**
 * Ranks are numbered outside the limit, so that the index is read no further. Blocked players have no rank. An erased player keeps the rank,
 * but is not listed: somebody who saw the player there before would recognise the player's new number (ADR 22).
 */
const LEADERS = `
  select rank, user_id as "userId", username, first_name as "firstName", balance from (
    select row_number() over (order by balance desc, user_id) as rank, * from (
      select user_id, username, first_name, balance from ${sourceSql(playerEntity, 'balance')}
       where ${IS_OPEN} order by balance desc, user_id limit ${LEADERS_READ}) as highest) as leaders
   where user_id > 0 order by rank limit ${MAX_LEADERBOARD}`
