/** The game's calls (design §8) except those that move balances: its players, and the tasks and announcements they can see. */
import { type Kysely, sql } from 'kysely'
import type { contract } from '@arcade/contract/contract'
import { type GameAnnouncement, type GameTask, type PlayerResult, type PlayerRow, playerRow } from '@arcade/contract/game/calls'
import type { HistoryKind } from '@arcade/contract/history/fields'
import { Failure, type Handlers, playerOf } from '#src/calls.ts'
import { idOrderSql } from '#src/db/collations.ts'
import type { Database } from '#src/db/database.ts'
import { announcementEntity, selectList, taskEntity } from '#src/db/entities.ts'
import { readActiveNews, readNews, markNewsSeen } from '#src/items/news.ts'
import { announcementStateSql, taskStateSql } from '#src/items/state.ts'
import { createMembership } from '#src/players/segments.ts'
import { TODAY } from '#src/ledger/periods.ts'
import { rankOf } from '#src/ledger/ranks.ts'
import type { Tables } from '#src/db/tables.ts'
import { keyOf, serveFile } from '#src/files/serve-file.ts'
import type { Files } from '#src/files/files.ts'
import { createOnce } from '#src/identity/idempotency.ts'
import { findPlayer, writePlayer, writePlayers } from './write-players.ts'

const taskFields = ['id', 'type', 'title', 'link', 'reward', 'priority', 'verifiedByBot'] as const
const announcementFields = [
  ...([
    'id',
    'type',
    'title',
    'subtitle',
    'description',
    'link',
    'linkType',
    'inputText',
    'reward',
    'verifiedByBot',
    'image',
    'icon',
  ] as const),
]

interface ForSegment {
  /** The segment of players for whom the item is; null if it is for everyone. */
  segmentId: string | null
}

interface AnnouncementRow extends Omit<GameAnnouncement, 'isDone' | 'isNew'>, ForSegment {
  news: number
  /** The announcement's position in the list, from 1. Null in the only row when no announcement is active. */
  ordinal: number | null
  upTo: number
}

export function gameHandlers({ database, files }: { database: Database; files: Files }): Handlers<typeof contract.game> {
  const { db } = database
  const isMember = createMembership(database)
  const readTasks = database.prepared<Omit<GameTask, 'isDone'> & ForSegment>(
    'game-tasks',
    `select ${selectList(taskEntity, { derived: { numberOfParticipants: '', state: '' }, only: taskFields })}, segment_id as "segmentId" from tasks
      where collection = $1 and ${taskStateSql()} = 'live' order by tasks.priority, tasks.id`,
  )
  // One statement, so that no activation comes between reading the announcements and the news number. If no announcement is active, it
  // returns one row with the number alone. Players see only what is live.
  const readAnnouncements = database.prepared<AnnouncementRow>(
    'game-announcements',
    `select shown.*, epoch as "upTo" from status_epoch left join (
       select ${selectList(announcementEntity, { derived: { numberOfParticipants: '', state: '' }, only: announcementFields })}, segment_id as "segmentId", news,
              row_number() over (order by news desc, created_at desc, ${idOrderSql('id')}) as ordinal
         from announcements where ${announcementStateSql()} = 'live') as shown on true order by ordinal`,
  )

  /** The live announcements that name a file. */
  const readFileOwners = database.prepared<ForSegment>(
    'game-file-owners',
    `select segment_id as "segmentId" from announcements where $1 in (image_key, icon_key) and ${announcementStateSql()} = 'live'`,
  )

  return {
    async upsertMany({ players }, context) {
      const rows = checkRows(players)
      return createOnce(database, context, {
        async create(tx) {
          const { added, changed } = await writePlayers(
            tx,
            rows.flatMap((row) => ('player' in row ? row.player : [])),
          )
          const statusOf = (id: number) => (added.has(id) ? 'created' : changed.has(id) ? 'updated' : 'unchanged')
          return {
            results: rows.map((row) =>
              'player' in row ? { userId: row.player.userId, status: statusOf(row.player.userId) } : row.failed,
            ),
          }
        },
      })
    },

    async upsert({ userId, ...input }, context) {
      return { player: await writePlayer(database, playerOf(context, userId), input) }
    },

    async player({ userId: requestedId }, context) {
      const userId = playerOf(context, requestedId)
      const player = await findPlayer(db, userId)
      if (!player) throw new Failure('NO_SUCH_PLAYER')
      const [seen, news, rank] = await Promise.all([seenNewsOf(userId), readActiveNews(db), rankOf(db, userId)])
      const unseen = news.filter(({ newest }) => newest > seen)
      const hasNews = (await itemsFor(userId, unseen)).length > 0
      return { player, rank: rank!.rank, isRankExact: rank!.isExact, isBlocked: rank!.isBlocked, hasNews }
    },

    async tasks({ userId: requestedId, collection }, context) {
      const userId = playerOf(context, requestedId)
      const [tasks, done] = await Promise.all([readTasks([collection]), doneBy(userId, collection)])
      const shown = await itemsFor(userId, tasks)
      return { tasks: shown.map(({ segmentId: _segmentId, ...task }) => ({ ...task, isDone: done.has(task.id) })) }
    },

    async announcements({ userId: requestedId }, context) {
      const userId = playerOf(context, requestedId)
      const [rows, seen, done] = await Promise.all([readAnnouncements([]), seenNewsOf(userId), doneBy(userId, 'announcement')])
      const shown = await itemsFor(
        userId,
        rows.filter(({ ordinal }) => ordinal !== null),
      )
      const announcements = shown.map(({ news, ordinal: _ordinal, upTo: _upTo, segmentId: _segmentId, ...announcement }) => ({
        ...announcement,
        isDone: done.has(announcement.id),
        isNew: news > seen,
      }))
      return { announcements, upTo: rows[0]!.upTo }
    },

    async file(input, context) {
      const live = await readFileOwners([keyOf(input)])
      // A player gets the files of what its list shows. A bot asks for all players.
      const shown = context.caller.kind === 'player' ? await itemsFor(context.caller.userId, live) : live
      if (shown.length === 0) throw new Failure('NOT_FOUND')
      return serveFile(files, input, context)
    },

    async seen({ userId: requestedId, upTo }, context) {
      const userId = playerOf(context, requestedId)
      // The news number only grows, so no answer can have contained a higher one.
      if (upTo > (await readNews(db)))
        throw new Failure('INVALID_INPUT', { message: 'upTo must be a value of an earlier answer.' })
      return createOnce(database, context, {
        async create(tx) {
          if (!(await markNewsSeen(tx, userId, upTo))) throw new Failure('NO_SUCH_PLAYER')
          return { success: true }
        },
      })
    },
  }

  /** Returns the items that are for everyone or for a segment to which the player belongs now. */
  async function itemsFor<Item extends ForSegment>(userId: number, items: readonly Item[]): Promise<readonly Item[]> {
    const segments = items.flatMap(({ segmentId }) => segmentId ?? [])
    if (segments.length === 0) return items
    const ownSegments = await isMember(userId, segments)
    return items.filter(({ segmentId }) => segmentId === null || ownSegments.has(segmentId))
  }

  /** Returns the news number up to which a player has seen the news. @throws Failure NO_SUCH_PLAYER */
  async function seenNewsOf(userId: number): Promise<number> {
    const found = await db
      .selectFrom('telegram_users')
      .select('seen_status_epoch')
      .where('user_id', '=', userId)
      .executeTakeFirst()
    if (!found) throw new Failure('NO_SUCH_PLAYER')
    return found.seen_status_epoch
  }

  /** Returns the ids of the items of a kind that a player has done. Daily tasks count if done today (UTC). */
  async function doneBy(userId: number, kind: HistoryKind): Promise<Set<string>> {
    const rows = await findDone(db, userId, kind)
    if (rows.length === 0) await seenNewsOf(userId) // throws if there is no such player
    return new Set(rows.map(({ id }) => id))
  }
}

async function findDone(db: Kysely<Tables>, userId: number, kind: HistoryKind): Promise<{ id: string }[]> {
  const isToday = kind === 'daily' ? sql`and period = ${sql.raw(TODAY)}` : sql``
  const { rows } = await sql<{ id: string }>`
    select item_id as id from participations where user_id = ${userId} and kind = ${kind} ${isToday}`.execute(db)
  return rows
}

const MAX_MESSAGE_LENGTH = 200

/** Returns for each row the player to write, or why it fails. If several rows are about one player, only the first is written. */
function checkRows(rows: readonly unknown[]): ({ player: PlayerRow } | { failed: PlayerResult })[] {
  const known = new Set<number>()
  return rows.map((row) => {
    const checked = playerRow.safeParse(row)
    const { userId: rawId } = (row ?? {}) as { userId?: unknown }
    const userId = Number.isFinite(rawId) ? (rawId as number) : null
    const fail = (message: string) => ({ failed: { userId, status: 'failed' as const, message } })
    // The message may quote the name of an unknown field, which can be long or malformed Unicode.
    if (!checked.success) return fail(checked.error.issues[0]!.message.slice(0, MAX_MESSAGE_LENGTH).toWellFormed())
    if (known.has(checked.data.userId)) return fail('An earlier row of this batch has the same player.')
    known.add(checked.data.userId)
    return { player: checked.data }
  })
}
