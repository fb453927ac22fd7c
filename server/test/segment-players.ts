/** Players for tests of segments, and the filters of segments in plain words of JavaScript, to compare the database's answers with. */
import { type Kysely, sql } from 'kysely'
import { type FilterGroup, readGroups } from '@arcade/contract/filter-values'
import { playerList, type PlayersFilter } from '@arcade/contract/players/fields'
import type { Tables } from '#src/db/tables.ts'
import { giveBalances } from './players.ts'

export interface SegmentPlayer {
  userId: number
  balance: number
  /** Days since the player joined and was seen; null if that is not known. */
  joined: number | null
  seen: number | null
  reach: 'unreachable' | 'optedOut' | 'reachable'
  isBlocked: boolean
  /** Items as `kind:id`. */
  items: ReadonlySet<string>
  /** What the player has of the filter `has`. */
  has: ReadonlySet<string>
}

/** Returns the filter `any` of these groups. */
export const anyOf = (...groups: object[]): string => JSON.stringify(groups)

/** Filters of segments: of many and few players, alone and together, in groups and with a search. */
export const segmentFilters: readonly PlayersFilter[] = [
  { tookPart: 'social:even' },
  { tookPart: 'social:rare' },
  { tookPart: 'social:poor' },
  { tookPart: 'daily:twice' },
  { tookPart: 'announcement:a:b' },
  { tookPart: 'social:unknown' },
  { notTookPart: 'social:even' },
  { notTookPart: 'social:most' },
  { notTookPart: 'social:rare', seenDays: 7 },
  { seenDays: 2 },
  { joinedDays: 30 },
  { reach: 'reachable' },
  { reach: 'unreachable' },
  { reach: 'optedOut', wallet: 'any' },
  { has: 'email,twitter' },
  { has: 'wallet', tookPart: 'social:poor', status: 'unblocked' },
  { any: anyOf({ tookPart: 'social:rare' }, { has: 'twitter,wallet', seenDays: 5 }) },
  { any: anyOf({ tookPart: 'social:poor' }, { notTookPart: 'social:even', reach: 'reachable' }), balanceMin: 3000 },
  { any: anyOf({ tookPart: 'announcement:a:b' }, { has: 'twitter', tookPart: 'daily:twice' }, { has: 'ton,bsc' }) },
  { any: anyOf({ tookPart: 'social:even' }), search: 'player_7' },
  { tookPart: 'social:poor', search: 'player' },
]

/**
 * Adds players with the ids 1 to `count`, the richest first, who took part in items: `social:even` every other one, `social:rare` one of
 * 1,000, `social:most` all but one of 1,000, `social:poor` the poorer half, `daily:twice` every fifth on two days, `announcement:a:b` the
 * 300 richest.
 */
export async function addSegmentPlayers(db: Kysely<Tables>, count: number): Promise<void> {
  await sql`insert into telegram_users (user_id, username, first_name, created_at, email, twitter_username, ton_wallet_address, bsc_wallet)
    select n, case when n % 3 > 0 then 'player_' || n end, case when n % 4 > 0 then 'Name ' || n % 100 end,
      case when n % 9 > 0 then now() - (n % 400 + 0.5) * interval '1 day' end,
      case when n % 2 = 0 then n || '@example.org' end, case when n % 7 = 0 then 'tweets_' || n end,
      case when n % 11 = 0 then 'EQ' || n end, case when n % 13 = 0 then '0x' || n end
    from generate_series(1, ${count}::int) n`.execute(db)
  await giveBalances(db, `${count} - telegram_users.user_id / 2`)
  await sql`insert into participations (user_id, kind, item_id, period, at)
    select n, kind, id, period, now() - interval '400 days' from generate_series(1, ${count}::int) n, lateral (values
      ('social', 'even', '', n % 2 = 0), ('social', 'rare', '', n % 1000 = 7), ('social', 'most', '', n % 1000 <> 7),
      ('social', 'poor', '', n > ${count}::int / 2), ('daily', 'twice', '2026-01-01', n % 5 = 0), ('daily', 'twice', '2026-01-02', n % 5 = 0),
      ('announcement', 'a:b', '', n <= 300)) as item (kind, id, period, is_done) where is_done`.execute(db)
  await sql`insert into player_visits (user_id, seen_at)
    select n, now() - (n % 60 + 0.5) * interval '1 day' from generate_series(1, ${count}::int) n where n % 8 > 0`.execute(db)
  await sql`insert into player_messages (user_id, unreachable_at, opted_out_at)
    select n, case when n % 10 = 3 then now() end, case when n % 10 <> 3 and n % 2000 <> 5 then now() end
      from generate_series(1, ${count}::int) n where n % 10 = 3 or n % 50 = 7 or n % 2000 = 5`.execute(db)
  await sql`update balances set blocked_at = now(), block_reason = 'x' where user_id % 500 = 1`.execute(db)
  await sql`analyze telegram_users, balances, participations, player_visits, player_messages`.execute(db)
}

/** Returns the players as they were added, without reading them. */
export function segmentPlayers(count: number): SegmentPlayer[] {
  return Array.from({ length: count }, (_, index) => segmentPlayer(index + 1, count))
}

function segmentPlayer(n: number, count: number): SegmentPlayer {
  const items = {
    'social:even': n % 2 === 0,
    'social:rare': n % 1000 === 7,
    'social:most': n % 1000 !== 7,
    'social:poor': n > Math.floor(count / 2),
    'daily:twice': n % 5 === 0,
    'announcement:a:b': n <= 300,
  }
  const [ton, bsc] = [n % 11 === 0, n % 13 === 0]
  const has = { username: n % 3 > 0, email: n % 2 === 0, twitter: n % 7 === 0, ton, bsc, wallet: ton || bsc }
  return {
    userId: n,
    balance: count - Math.floor(n / 2),
    joined: n % 9 > 0 ? (n % 400) + 0.5 : null,
    seen: n % 8 > 0 ? (n % 60) + 0.5 : null,
    reach: n % 10 === 3 ? 'unreachable' : n % 50 === 7 ? 'optedOut' : 'reachable',
    isBlocked: n % 500 === 1,
    items: namesOf(items),
    has: namesOf(has),
  }
}

function namesOf(flags: Readonly<Record<string, boolean>>): ReadonlySet<string> {
  return new Set(Object.keys(flags).filter((name) => flags[name]))
}

type Meaning = (player: SegmentPlayer, value: string | number) => boolean

const within = (days: number | null, most: number): boolean => days !== null && days <= most

const meanings: Readonly<Record<string, Meaning>> = {
  balanceMin: ({ balance }, least) => balance >= Number(least),
  balanceMax: ({ balance }, most) => balance <= Number(most),
  wallet: ({ has }, wallet) =>
    wallet === 'any' ? has.has('wallet') : wallet === 'none' ? !has.has('wallet') : has.has(String(wallet)),
  status: ({ isBlocked }, status) => (status === 'erased' ? false : isBlocked === (status === 'blocked')),
  tookPart: ({ items }, item) => items.has(String(item)),
  notTookPart: ({ items }, item) => !items.has(String(item)),
  seenDays: ({ seen }, days) => within(seen, Number(days)),
  joinedDays: ({ joined }, days) => within(joined, Number(days)),
  reach: (player, reach) => player.reach === reach,
  has: ({ has }, options) =>
    String(options)
      .split(',')
      .every((option) => has.has(option)),
  search: ({ userId, has }, text) => has.has('username') && `player_${userId}`.includes(String(text)),
}

/** Whether a player matches a filter. */
export function isMatch(player: SegmentPlayer, { any, ...filter }: PlayersFilter): boolean {
  const groups = any === undefined ? undefined : readGroups(playerList, any)!
  return matchesAll(player, filter as FilterGroup) && (groups?.some((group) => matchesAll(player, group)) ?? true)
}

function matchesAll(player: SegmentPlayer, group: FilterGroup): boolean {
  return Object.entries(group).every(([name, value]) => meanings[name]!(player, value))
}
