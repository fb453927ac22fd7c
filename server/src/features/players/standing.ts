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

/** $1 is the id. Imports and operators write entries, too, so only entries of the game and claims tell when a player was seen. */
const SEEN_AND_REACHED = `
  select ${isoSql('seen')} as "lastSeen", ${isoSql('opted_out_at')} as "optedOutAt",
         case when unreachable_at is not null then json_build_object('at', ${isoSql('unreachable_at')}, 'reason', unreachable_reason) end as unreachable
    from (
    select greatest(created_at, (select seen_at from player_visits where user_id = $1), (select max(at) from participations where user_id = $1), (
        select at from ledger_entries where user_id = $1 and cause not in ('opening', 'import', 'adjustment', 'reversal')
         order by seq desc limit 1)) as seen, unreachable_at, unreachable_reason, opted_out_at
      from telegram_users left join player_messages using (user_id) where user_id = $1) as player`

interface SeenAndReached {
  lastSeen: string | null
  unreachable: { at: string; reason: RefusalReason } | null
  optedOutAt: string | null
}

export function createStanding(database: Database): Handlers<typeof contract.players>['standing'] {
  const readSeen = database.prepared<SeenAndReached>('seen-and-reached', SEEN_AND_REACHED)

  return async ({ userId }) => {
    const [[seen], rank] = await Promise.all([readSeen([userId]), isErased({ userId }) ? null : rankOf(database.db, userId)])
    if (!seen) throw new Failure('NO_SUCH_PLAYER')
    return { rank: rank?.rank ?? null, isRankExact: rank?.isExact ?? false, ...seen }
  }
}
