/**
 * Segments: shared views of the list of players. An item can be for the players of one. A view keeps the address of its page; this module
 * reads the filter in it as the page does, and asks whether it matches a player.
 */
import { sql } from 'kysely'
import type { List } from '@arcade/contract/entity'
import { isDay } from '@arcade/contract/filter-values'
import { playersFilter } from '@arcade/contract/players/calls'
import { playerList, type PlayersFilter } from '@arcade/contract/players/fields'
import type { Database } from '#src/db/database.ts'
import { playerEntity, sourceSql } from '#src/db/entities.ts'
import { batchedReads } from '#src/db/shared-reads.ts'
import { LOOK_PARAMETERS } from '#src/lists/personal.ts'
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
  const given = [...new URLSearchParams(address)].filter(([name]) => !LOOK_PARAMETERS.has(name))
  const filter = Object.fromEntries(given.map(([name, value]) => readPart(name, value)))
  const read = playersFilter.safeParse(filter)
  const isRepeated = Object.keys(filter).length < given.length
  return read.success && !isRepeated ? read.data : undefined
}

/** Returns the name and the value of a filter of the list. A name or day that cannot be read stays as it is, and the schema refuses it. */
function readPart(name: string, value: string): [name: string, value: string] {
  if (name === 'q') return ['search', value]
  const [filterName, filter] = Object.entries(filters).find(([, one]) => one.kind === 'before' && one.dayName === name) ?? [
    name,
    filters[name],
  ]
  if (filter?.kind !== 'from' && filter?.kind !== 'before') return [name, value]
  if (!isDay(value)) return [filterName, value]
  return [filterName, new Date(Date.parse(value) + (filter.kind === 'before' ? DAY_MS : 0)).toISOString()]
}
