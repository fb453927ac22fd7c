/** Telegram Users (§2, §3, §7, §9): the list in any order, searched and filtered, a player's page, and how many there are. */
import { sql } from 'kysely'
import type { contract } from '@arcade/contract/contract'
import { participantFields } from '@arcade/contract/history/fields'
import type { PlayerBlock, PlayerParticipation } from '@arcade/contract/players/calls'
import type { Player } from '@arcade/contract/players/fields'
import { actOf } from '#src/audit/audit.ts'
import { Failure, type Handlers } from '#src/calls.ts'
import { idOrderSql } from '#src/db/collations.ts'
import type { Database } from '#src/db/database.ts'
import { isoSql, microsecondsSql, momentParameter } from '#src/db/moments.ts'
import { participantEntity, playerEntity, selectList, sourceSql } from '#src/db/entities.ts'
import { namesOfUsers } from '#src/identity/accounts.ts'
import { cursorList } from '#src/lists/cursor-list.ts'
import { isMicroseconds, isText, keysetPage, readCursor, writeCursor } from '#src/lists/cursors.ts'
import { type ServedList, servedTo } from '#src/lists/list.ts'
import { forPersonalAccess, personalMasks, seesPersonal, statementName } from '#src/lists/personal.ts'
import { playerBlocks } from './blocks.ts'
import { erasePlayer } from './erase.ts'
import { servedPlayers } from '#src/players/players-list.ts'
import { readTexts } from '#src/players/told-texts.ts'
import { createStanding } from './standing.ts'

const PARTICIPATIONS_PAGE_SIZE = 50
/** The order of a player's participations that have the same time. */
const ORDER_AT_SAME_TIME = sql.raw(['kind', 'item_id', 'period'].map(idOrderSql).join(', '))

type FoundPlayer = Player & { taken: number; earned: number; block: PlayerBlock | null }

/** Returns SQL for a player, the number and reward of the participations, and the block. $1 is the id. */
const playerSql = ({ masks }: Pick<ServedList, 'masks'>) => `
  select ${selectList(playerEntity, { derived: {}, masks })}, taken, earned, case when blocked_at is not null
      then json_build_object('reason', block_reason, 'by', blocked_by, 'at', ${isoSql('blocked_at')}) end as block
    from ${sourceSql(playerEntity)}, lateral (
      select count(*) as taken, coalesce(sum(reward), 0) as earned
        from participations p left join history_items h using (kind, item_id) where p.user_id = telegram_users.user_id
    ) as part where user_id = $1`

export function playersHandlers({ database }: { database: Database }): Handlers<typeof contract.players> {
  const { db } = database
  const list = cursorList(database, servedPlayers)
  const readPlayer = forPersonalAccess((sees) => {
    const seen = servedTo(servedPlayers, sees)
    return database.prepared<FoundPlayer>(`${statementName(seen)}-one`, playerSql(seen))
  })

  return {
    async list(query, context) {
      const { rows: users, markedIds: blocked, ...page } = await list.page(query, context)
      return { users, ...page, ...(blocked && { blocked }) }
    },

    count: ({ exact, ...filter }, context) => list.count(filter, context, { isExact: exact }),

    async get({ userId }, context) {
      const [found] = await readPlayer(context)([userId])
      if (!found) throw new Failure('NO_SUCH_PLAYER')
      const { taken: total, earned: reward, block, ...player } = found
      const readText = await readTexts(db, context, block ? [userId] : [])
      return {
        ...player,
        participations: { total, reward },
        block: block && {
          ...block,
          reason: readText(userId, block.reason),
          by: (await namesOfUsers(db, [block.by])).get(block.by) ?? null,
        },
      }
    },

    standing: createStanding(database),

    ...playerBlocks(database),

    async erase({ userId }, context) {
      const anonymousId = await database.transaction((tx) => erasePlayer(tx, actOf(context), userId))
      return { success: true, userId: anonymousId }
    },

    async participations({ userId, after }, context) {
      const masks = seesPersonal(context) ? {} : personalMasks(participantFields)
      const userInput = sql.raw(selectList(participantEntity, { derived: {}, only: ['userInput'], masks }))
      const keyTests = [isMicroseconds, isText, isText, isText] as const
      const key =
        after === undefined ? undefined : readCursor<[string, string, string, string]>(after, `player:${userId}`, [...keyTests])
      const at = momentParameter(key?.[0] ?? '0')
      const afterCursor = key
        ? sql`and (at < ${at} or (at = ${at} and (${ORDER_AT_SAME_TIME}) > (${key[1]}, ${key[2]}, ${key[3]})))`
        : sql``
      const { rows } = await sql<PlayerParticipation & { key: string }>`
        select kind, item_id as id, period, coalesce(title, '') as title, coalesce(type, '') as type, coalesce(reward, 0) as reward,
          ${userInput}, ${sql.raw(isoSql('at'))} as timestamp, ${sql.raw(microsecondsSql('at'))} as key
        from participations p left join history_items h using (kind, item_id)
        where user_id = ${userId} ${afterCursor}
        order by at desc, ${ORDER_AT_SAME_TIME} limit ${PARTICIPATIONS_PAGE_SIZE + 1}`.execute(db)
      if (rows.length === 0) await refuseUnknown(userId)
      const toCursor = (row: (typeof rows)[number]): string =>
        writeCursor([`player:${userId}`, row.key, row.kind, row.id, row.period])
      const page = keysetPage(rows, {
        size: PARTICIPATIONS_PAGE_SIZE,
        direction: after === undefined ? undefined : 'after',
        toCursor,
      })
      const participations = page.rows.map(({ key: _key, ...participation }) => participation)
      return { participations, after: page.after }
    },

    async neighbours({ userId, ...query }, context) {
      const neighbours = await list.neighbours(userId, query, context)
      if (!neighbours) throw new Failure('NO_SUCH_PLAYER')
      return neighbours
    },
  }

  async function refuseUnknown(userId: number): Promise<void> {
    const found = await db.selectFrom('telegram_users').select('user_id').where('user_id', '=', userId).executeTakeFirst()
    if (!found) throw new Failure('NO_SUCH_PLAYER')
  }
}
