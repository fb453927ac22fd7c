/**
 * Reads what a stream of events can follow: the dashboard's figures in full, and of History and players just enough to tell whether an open
 * page is out of date. Listeners that follow the same thing at the same time share one read (db/shared-reads.ts).
 */
import type { Followed, FollowedInput } from '@arcade/contract/dashboard/calls'
import { DEFAULT_ACTIVITY_RANGE } from '@arcade/contract/dashboard/fields'
import type { HistoryKind } from '@arcade/contract/history/fields'
import { participantsNames } from '#src/counters/counter-keys.ts'
import { counterPartsSql, counterSql } from '#src/counters/counters.ts'
import type { Database } from '#src/db/database.ts'
import { isoSql } from '#src/db/moments.ts'
import { allowReplica } from '#src/db/reads.ts'
import type { FigureSource } from './figures.ts'

export type FollowedEvent = { [Name in keyof Followed]: { name: Name; data: Followed[Name] } }[keyof Followed]
export type ReadFollowed = (followed: FollowedInput) => Promise<FollowedEvent>

export function createReadFollowed(
  { reads, prepared }: Pick<Database, 'reads' | 'prepared'>,
  figures: FigureSource,
): ReadFollowed {
  const readKind = reads.prepared<{ titles: number; participants: number }>('followed-kind', KIND)
  const readItem = reads.prepared<{ participants: number }>('followed-item', ITEM)
  const readPlayer = prepared<NonNullable<Followed['player']>>('followed-player', PLAYER)

  return async ({ range = DEFAULT_ACTIVITY_RANGE, history, item, player }) => {
    if (player !== undefined) return { name: 'player', data: (await readPlayer([player]))[0] ?? null }
    // Reads the replica, as the page does: an event from the primary could come earlier, and the page would then read old rows.
    if (history !== undefined) return { name: 'history', data: await allowReplica(undefined, () => readHistory(history, item)) }
    const [metrics, activity] = await Promise.all([figures.metrics(), figures.activity(range)])
    return { name: 'figures', data: { metrics, activity } }
  }

  async function readHistory(kind: HistoryKind, item: string | undefined): Promise<Followed['history']> {
    const [[ofKind], [ofItem]] = await Promise.all([
      readKind([kind, ...participantsNames(kind)]),
      item === undefined ? [] : readItem([kind, item]),
    ])
    return { ...ofKind!, ofItem: ofItem?.participants ?? null }
  }
}

/** $1 is the kind; $2 and $3 are the range of counter names of its items. */
const KIND = `
  select (select count(*) from history_items where kind = $1) as titles,
         (select coalesce(sum(value), 0)::bigint from ${counterPartsSql(['$2', '$3'])} as parts) as participants`

const ITEM = `select ${counterSql({ of: 'participants', kind: '$1::text', itemId: '$2::text' })} as participants`

const PLAYER = `select entries, balance, ${isoSql('blocked_at')} as "blockedAt" from balances where user_id = $1::bigint`
