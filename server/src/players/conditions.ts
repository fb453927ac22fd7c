/**
 * The filters of players that ask other tables of players: what they took part in, when they were last seen, and whether the bot can send
 * them messages. All of these tables are divided by the player's id, so each lookup stays on one shard.
 */
import { type RawBuilder, sql } from 'kysely'
import { playerList } from '@arcade/contract/players/fields'
import { readItem } from '@arcade/contract/filter-values'
import { columnName, playerEntity } from '#src/db/entities.ts'
import type { Condition, Lookup } from '#src/lists/list.ts'
import { all, daysAgo } from '#src/lists/where.ts'

/**
 * Looks up rows of the player in a table.
 * @param rows the table and its condition. The alias of its first column is `player`, so that `user_id` is that of the list's row
 */
function lookup(rows: RawBuilder<unknown>, isWanted = true): Lookup {
  const found = (more: RawBuilder<unknown>): Condition => {
    const exists = sql<boolean>`exists (select player from ${rows} and player = user_id ${more})`
    return isWanted ? exists : sql<boolean>`not ${exists}`
  }
  // "is true" keeps the planner from a join, and the second comparison from reading all rows into a hash table for a few players.
  return { ofRow: sql<boolean>`(${found(sql`and player >= user_id`)}) is true`, asJoin: found(sql``) }
}

/** Players who took part, or did not take part, in an item. @param text the item as `kind:id` */
export function tookPart(text: string, isWanted: boolean): Lookup {
  const item = readItem(text)
  if (!item) throw new Error(`This is not an item: ${text}`)
  return lookup(sql`participations as took (player) where kind = ${item.kind} and item_id = ${item.id}`, isWanted)
}

/** Players who were seen in the last days. */
export function seenWithin(days: number): Lookup {
  return lookup(sql`player_visits as visits (player) where seen_at >= ${daysAgo(days)}`)
}

type Reach = keyof typeof playerList.filters.reach.options

const isUnreachable = lookup(sql`player_messages as messages (player) where unreachable_at is not null`)
const wantsNone = lookup(sql`player_messages as messages (player) where opted_out_at is not null`)
const isOutOfReach = lookup(
  sql`player_messages as messages (player) where (unreachable_at is not null or opted_out_at is not null)`,
  false,
)

/** Whether messages of the bot reach a player, as far as it is known. Erased players have no address any more. */
export const reaches: Record<Reach, Lookup> = {
  reachable: {
    ofRow: sql`(user_id > 0 and ${isOutOfReach.ofRow})`,
    asJoin: sql`user_id > 0 and ${isOutOfReach.asJoin}`,
  },
  unreachable: isUnreachable,
  optedOut: wantsNone,
}

type Has = keyof typeof playerList.filters.has.options

/** Players who have a value in one of the fields that the option is about. */
function hasAny(option: Has): Condition {
  const fields = playerList.filters.has.optionFields[option]
  return sql`(${sql.join(
    fields.map((field) => sql`${sql.ref(columnName(playerEntity, field))} is not null`),
    sql` or `,
  )})`
}

/** Players who have all of these. @param options separated by commas */
export function hasAll(options: string): Condition {
  return all(options.split(',').map((option) => hasAny(option as Has)))
}
