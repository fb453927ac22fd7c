/** Telegram Users (§2, §3, §7, §9): the list in any order, searched and filtered, a player's page, and how many there are. */
import { sql } from 'kysely'
import type { contract } from '@arcade/contract/contract'
import type { PlayerParticipation } from '@arcade/contract/players'
import type { Player } from '@arcade/contract/entities/player'
import { Failure, type Handlers, unlessGone } from '#src/calls.ts'
import { isMicroseconds, isText, keysetPage, readCursor, writeCursor } from '#src/lists/cursors.ts'
import type { Database } from '#src/db/database.ts'
import { microsecondsSql, momentOf } from '#src/db/moments.ts'
import { isTimeout } from '#src/postgres/errors.ts'
import { type Filter, filterOf } from './filter.ts'
import { cursorAt, orders, type Place, placeAt, readingOf } from './orders.ts'
import { createPages, FIELDS, MAX_HITS, PLAYER_COUNT, type PlayerRow } from './pages.ts'

const PARTICIPATIONS_PAGE_SIZE = 50
/** Each holds a connection of its own for as long as it takes. */
const MAX_COUNTS = 4
const COUNT_TIMEOUT_SECONDS = 30

export function playersHandlers({ database }: { database: Database }): Handlers<typeof contract.players> {
  const { db } = database
  const pages = createPages(database)
  const countAll = database.prepared<{ total: number }>('telegram-users-total', `select ${PLAYER_COUNT} as total`)
  let counting = 0

  return {
    async list({ sort, reversed, pageSize, after, before, ...filters }) {
      const list = { sort, reversed }
      const filter = filterOf(filters)
      const cursor = after ?? before
      const direction = after !== undefined ? 'after' : before !== undefined ? 'before' : undefined
      const place = cursor === undefined ? undefined : placeAt(cursor, list)
      const read = await pages.read(filter, readingOf(list, direction ?? 'after', place), pageSize + 1)
      const total = read.total ?? (filter.isEmpty ? ((await countAll([]))[0]?.total ?? 0) : null)
      const page = keysetPage(read.rows, { size: pageSize, direction, cursorOf: (row) => cursorAt(row, list) })
      return {
        users: page.rows.map(toWire),
        pageSize,
        pageCount: total === null ? null : Math.max(1, Math.ceil(total / pageSize)),
        total,
        after: page.after,
        before: page.before,
      }
    },

    async count(filters, { signal }) {
      const filter = filterOf(filters)
      if (filter.isEmpty) return { total: (await countAll([]))[0]?.total ?? 0 }
      if (counting >= MAX_COUNTS) throw tooSlow()
      counting += 1
      try {
        return { total: await countMatches(database, filter, signal) }
      } finally {
        counting -= 1
      }
    },

    async get({ userId }) {
      const { rows } = await sql<PlayerRow & { taken: number; earned: number }>`
        select ${sql.raw(FIELDS)}, taken, earned from telegram_users, lateral (
          select count(*) as taken, coalesce(sum(reward), 0) as earned
            from participations p left join history_items h using (kind, item_id) where p.user_id = telegram_users.user_id
        ) as part where user_id = ${userId}`.execute(db)
      const [player] = rows
      if (!player) throw new Failure('NO_SUCH_PLAYER')
      return { ...toWire(player), participations: { total: player.taken, reward: player.earned } }
    },

    async participations({ userId, after }) {
      const isPlace = [isMicroseconds, isText, isText, isText] as const
      const key =
        after === undefined ? undefined : readCursor<[string, string, string, string]>(after, `player:${userId}`, [...isPlace])
      const at = momentOf(key?.[0] ?? '0')
      const isNext = key
        ? sql`and (at < ${at} or (at = ${at} and (kind, item_id, period) > (${key[1]}, ${key[2]}, ${key[3]})))`
        : sql``
      const { rows } = await sql<Omit<PlayerParticipation, 'timestamp'> & { at: Date; key: string }>`
        select kind, item_id as id, period, coalesce(title, '') as title, coalesce(type, '') as type, coalesce(reward, 0) as reward,
          user_input as "userInput", at, ${sql.raw(microsecondsSql('at'))} as key
        from participations p left join history_items h using (kind, item_id)
        where user_id = ${userId} ${isNext}
        order by at desc, kind, item_id, period limit ${PARTICIPATIONS_PAGE_SIZE + 1}`.execute(db)
      if (rows.length === 0 && !(await placeOf(userId, 'user-id'))) throw new Failure('NO_SUCH_PLAYER')
      const cursorOf = (row: (typeof rows)[number]): string =>
        writeCursor([`player:${userId}`, row.key, row.kind, row.id, row.period])
      const page = keysetPage(rows, {
        size: PARTICIPATIONS_PAGE_SIZE,
        direction: after === undefined ? undefined : 'after',
        cursorOf,
      })
      const participations = page.rows.map(({ at: moment, key: _key, ...row }) => ({ ...row, timestamp: moment.toISOString() }))
      return { participations, after: page.after }
    },

    async neighbours({ userId, sort, reversed, ...filters }) {
      const list = { sort, reversed }
      const filter = filterOf(filters)
      const place = await placeOf(userId, sort)
      if (!place) throw new Failure('NO_SUCH_PLAYER')
      const [previous, next] = await Promise.all(
        (['before', 'after'] as const).map((way) => pages.read(filter, readingOf(list, way, place), 1)),
      )
      return { previous: previous?.rows[0]?.userId ?? null, next: next?.rows[0]?.userId ?? null }
    },
  }

  async function placeOf(userId: number, sort: keyof typeof orders): Promise<Place | undefined> {
    const { rows } = await sql<Place>`
      select user_id as "userId", ${sql.raw(orders[sort].keyText)} as key from telegram_users where user_id = ${userId}`.execute(
      db,
    )
    return rows[0]
  }
}

/** However long the list; given up when the client leaves. */
async function countMatches(database: Database, { isMatch, found }: Filter, signal: AbortSignal): Promise<number> {
  try {
    return await database.snapshot(async (snapshot) => {
      await snapshot.query(`set statement_timeout = '${COUNT_TIMEOUT_SECONDS}s'`)
      const hits = found.map(
        (condition) => sql`(select user_id from telegram_users where ${condition} limit ${sql.lit(MAX_HITS + 1)})`,
      )
      const few = sql`select count(*) as total from (${sql.join(hits, sql` union all `)}) as hits`.compile(database.db)
      const [counted] = await unlessGone(snapshot.query<{ total: number }>(few.sql, [...few.parameters]), signal)
      if (counted !== undefined && counted.total <= MAX_HITS) return counted.total
      const every = sql`select count(*) as total from telegram_users where ${isMatch}`.compile(database.db)
      const [row] = await unlessGone(snapshot.query<{ total: number }>(every.sql, [...every.parameters]), signal)
      return row?.total ?? 0
    })
  } catch (error) {
    throw isTimeout(error) ? tooSlow(error) : error
  }
}

function tooSlow(cause?: unknown): Failure {
  return new Failure('UNAVAILABLE', {
    message: 'Counting takes too long right now. Please narrow the filter down, or try again later.',
    retryAfterSeconds: 5,
    cause,
  })
}

function toWire(row: PlayerRow): Player {
  return {
    userId: row.userId,
    createdAt: row.createdAt === null ? null : new Date(row.createdAt).toISOString(),
    firstName: row.firstName,
    lastName: row.lastName,
    username: row.username,
    twitterUsername: row.twitterUsername,
    instagramUsername: row.instagramUsername,
    linkedInUsername: row.linkedInUsername,
    discordUsername: row.discordUsername,
    youtubeUsername: row.youtubeUsername,
    email: row.email,
    phoneNumber: row.phoneNumber,
    tonWalletAddress: row.tonWalletAddress,
    bscWallet: row.bscWallet,
    balance: row.balance,
  }
}
