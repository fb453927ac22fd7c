/**
 * Segments: shared views of the list of players. An item can be for the players of one. A view keeps the address of its page; this module
 * reads the filter in it as the page does, and asks whether it matches a player.
 */
import { sql } from 'kysely'
import { addressParameters, nameInAddress, readAddressFilters } from '@arcade/contract/address-filters'
import type { List } from '@arcade/contract/entity'
import { playersFilter } from '@arcade/contract/players/calls'
import { playerList, type PlayersFilter } from '@arcade/contract/players/fields'
import type { Database } from '#src/db/database.ts'
import { playerEntity, sourceSql } from '#src/db/entities.ts'
import { batchedReads } from '#src/db/shared-reads.ts'
import { whereFilter } from '#src/lists/where.ts'
import { servedPlayers } from './players-list.ts'

/** Returns those of the segments to which a player belongs now. */
export type Membership = (userId: number, segmentIds: readonly string[]) => Promise<Set<string>>

const filters: List['filters'] = playerList.filters
const DAY_MS = 24 * 60 * 60 * 1000

/** Answers from the player's own rows, on one shard. Nobody belongs to a segment that is private, is gone, or cannot be read. */
export function createMembership(database: Database): Membership {
  const readAddresses = database.prepared<{ address: string | null }>('segment-addresses', ADDRESSES)
  const readAddress = batchedReads((ids: string[]) => readAddresses([ids]))

  return async (userId, segmentIds) => {
    const ids = [...new Set(segmentIds)]
    const views = await Promise.all(ids.map((id) => readAddress(id)))
    const segments = ids.flatMap((id, index) => {
      const filter = segmentFilter(views[index]?.address ?? undefined)
      return filter ? { id, matches: whereFilter(servedPlayers, filter, undefined).sql.matches } : []
    })
    if (segments.length === 0) return new Set()
    const isIn = segments.map(({ matches }, index) => sql`(${matches}) is true as ${sql.ref(`s${index}`)}`)
    const { rows } = await sql<Record<string, boolean>>`
      select ${sql.join(isIn)} from ${sql.raw(sourceSql(playerEntity))} where user_id = ${userId}`.execute(database.db)
    return new Set(segments.flatMap(({ id }, index) => (rows[0]?.[`s${index}`] ? id : [])))
  }
}

/** The addresses of the segments with the ids $1, in that order; null for one that is gone or private. */
const ADDRESSES = `
  select address from unnest($1::text[]) with ordinality as asked (id, ordinal)
    left join saved_views as view on view.id = asked.id and list = 'telegramUsers' and private_to is null order by ordinal`

/**
 * Reads the filter in the address of a view. Days are days in UTC, because a segment has no time zone.
 * @returns undefined for an address with an unknown, invalid or repeated part: the page would show more players than the segment was made for
 */
export function segmentFilter(address: string | undefined): PlayersFilter | undefined {
  if (address === undefined) return undefined
  const { values, unread } = readAddressFilters(playerList, addressParameters(new URLSearchParams(address)))
  if (unread.length > 0) return undefined
  const filter = Object.entries(filters).map(([name, one]) => {
    const value = values[nameInAddress(name, one)]
    return [name, one.kind === 'from' ? startOf(value) : one.kind === 'before' ? startOf(value, DAY_MS) : value]
  })
  const read = playersFilter.safeParse({ search: values['q'], ...Object.fromEntries(filter) })
  return read.success ? read.data : undefined
}

/** Returns the start of a day in UTC, or the moment that is `laterMs` after it. */
function startOf(day: string | number | undefined, laterMs = 0): string | undefined {
  return day === undefined ? undefined : new Date(Date.parse(String(day)) + laterMs).toISOString()
}
