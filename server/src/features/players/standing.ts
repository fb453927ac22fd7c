/**
 * Where a player stands: the rank that the game sees, when the player was last seen, and whether messages reach the player. All of it is
 * read by indexes.
 */
import type { contract } from '@arcade/contract/contract'
import type { RefusalReason } from '@arcade/contract/broadcasts/fields'
import { isErased } from '@arcade/contract/players/fields'
import { Failure, type Handlers } from '#src/calls.ts'
import type { Database } from '#src/db/database.ts'
import { isoSql } from '#src/db/moments.ts'
import { rankOf } from '#src/ledger/ranks.ts'

/** $1 is the id. Imports and operators write entries too, but a player is seen only in those of the game and in claims. */
const LAST_SEEN = `
  select ${isoSql('seen')} as "lastSeen",
         (select json_build_object('at', ${isoSql('unreachable_at')}, 'reason', unreachable_reason)
            from player_messages where user_id = $1 and unreachable_at is not null) as unreachable,
         (select ${isoSql('opted_out_at')} from player_messages where user_id = $1) as "optedOutAt" from (
    select greatest(created_at, (select seen_at from player_visits where user_id = $1), (select max(at) from participations where user_id = $1), (
        select at from ledger_entries where user_id = $1 and cause not in ('opening', 'import', 'adjustment', 'reversal')
         order by seq desc limit 1)) as seen
      from telegram_users where user_id = $1) as player`

interface Seen {
  lastSeen: string | null
  unreachable: { at: string; reason: RefusalReason } | null
  optedOutAt: string | null
}

export function createStanding(database: Database): Handlers<typeof contract.players>['standing'] {
  const readSeen = database.prepared<Seen>('last-seen', LAST_SEEN)

  return async ({ userId }) => {
    const [[seen], rank] = await Promise.all([readSeen([userId]), isErased({ userId }) ? null : rankOf(database.db, userId)])
    if (!seen) throw new Failure('NO_SUCH_PLAYER')
    return { rank: rank?.rank ?? null, isRankExact: rank?.isExact ?? false, ...seen }
  }
}
