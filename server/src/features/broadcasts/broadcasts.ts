/** The calls with which admins plan, send, follow and stop broadcasts. */
import { randomUUID } from 'node:crypto'
import { sql, type Transaction } from 'kysely'
import type { Broadcast, BroadcastPlan } from '@arcade/contract/broadcasts/calls'
import { BASE_RATE } from '@arcade/contract/broadcasts/fields'
import { smallestDifference } from '@arcade/contract/broadcasts/statistics'
import type { contract } from '@arcade/contract/contract'
import type { Count } from '@arcade/contract/field-schemas'
import { personalFilters } from '@arcade/contract/personal'
import { playerList, type PlayersFilter } from '@arcade/contract/players/fields'
import { actOf, audit } from '#src/audit/audit.ts'
import type { Broadcasts } from '#src/broadcasts/broadcasts.ts'
import { countRecipients, reopenUnknown } from '#src/broadcasts/chunks.ts'
import { endBroadcast } from '#src/broadcasts/ending.ts'
import { type Announced, contentProblem } from '#src/broadcasts/message.ts'
import { costOf, OUTCOMES } from '#src/broadcasts/outcomes.ts'
import { findAnnounced } from '#src/broadcasts/planning.ts'
import { broadcastRecord } from '#src/broadcasts/record.ts'
import { endingOf, type StoredState } from '#src/broadcasts/state.ts'
import { type CallContext, Failure, type Handlers, signedIn } from '#src/calls.ts'
import type { Database } from '#src/db/database.ts'
import { databaseNow } from '#src/db/moments.ts'
import type { Tables } from '#src/db/tables.ts'
import { takeLock } from '#src/db/transaction-locks.ts'
import { createOnce } from '#src/identity/idempotency.ts'
import { findTelegram } from '#src/identity/telegram-links.ts'
import { type CursorList, cursorList } from '#src/lists/cursor-list.ts'
import { refuseKeptSearch, refusePersonalFilters, seesPersonal } from '#src/lists/personal.ts'
import { servedPlayers } from '#src/players/players-list.ts'
import { readBroadcast, readBroadcasts, readRecipients } from './read-broadcasts.ts'

const PAGE_SIZE = 50

export interface BroadcastServices {
  database: Database
  broadcasts: Broadcasts
  /** Messages of all servers together in a second. */
  ratePerSecond: number
}

export function broadcastsHandlers(services: BroadcastServices): Omit<Handlers<typeof contract.broadcasts>, 'report'> {
  const { database, broadcasts, ratePerSecond } = services
  const { db } = database
  const players = cursorList(database, servedPlayers)

  async function test(
    announcement: Announced | undefined,
    context: CallContext,
    record: { id: string; title: string } | undefined,
  ) {
    if (!announcement) throw new Failure('ANNOUNCEMENT_NOT_FOUND')
    refuseUnsendable(broadcasts, announcement)
    const chatId = await findOwnTelegram(db, signedIn(context).id)
    const answer = await broadcasts.sendTest(announcement, chatId)
    if (answer.kind !== 'sent') throw new Failure('TELEGRAM_REFUSED', { message: refusalInWords(answer) })
    await database.transaction((tx) =>
      audit(tx, actOf(context), 'broadcast.test', {
        record: record ? broadcastRecord(record) : { kind: 'announcement', id: announcement.id, name: announcement.title },
      }),
    )
    return { success: true } as const
  }

  return {
    async list({ page }, context) {
      const { total, broadcasts: read } = await readBroadcasts(services, { page, pageSize: PAGE_SIZE })
      return {
        broadcasts: read.map((one) => redactFilter(context, one)),
        page,
        pageSize: PAGE_SIZE,
        pageCount: Math.max(1, Math.ceil(total / PAGE_SIZE)),
        total,
      }
    },

    async get({ id }, context) {
      return redactFilter(context, (await readBroadcast(services, id)) ?? noBroadcast())
    },

    plan({ filter = {}, holdBack = 0 }, context) {
      refuseAudience(filter, context)
      return plan(players, { filter, holdBack, ratePerSecond, context })
    },

    async create({ announcementId, filter = {}, holdBack = 0, sendAt, endsAt, paid }, context) {
      refuseAudience(filter, context)
      const create = async (tx: Transaction<Tables>) => {
        const announcement = await findAnnounced(tx, announcementId)
        if (!announcement) throw new Failure('ANNOUNCEMENT_NOT_FOUND')
        refuseUnsendable(broadcasts, announcement)
        await refusePastEnd(tx, endsAt)
        await takeLock(tx, 'broadcasts')
        const id = randomUUID()
        const { title } = announcement
        await sql`
          insert into broadcasts (id, number, announcement_id, title, filter, state, send_at, ends_at, hold_back, stars_each, stars_most, made_by)
          select ${id}, coalesce(max(number), 0) + 1, ${announcementId}, ${title}, ${JSON.stringify(filter)}, 'scheduled',
                 ${sendAt ?? null}::timestamptz, ${endsAt ?? null}::timestamptz, ${holdBack}::smallint, ${paid?.starsEach ?? null}::numeric,
                 ${paid?.most ?? null}::numeric, ${signedIn(context).id} from broadcasts`.execute(tx)
        await audit(tx, actOf(context), 'broadcast.create', {
          record: broadcastRecord({ id, title }),
          detail: {
            announcement: announcementId,
            filter,
            holdBack,
            ...(sendAt && { sendAt }),
            ...(endsAt && { endsAt }),
            ...(paid && { paid }),
          },
        })
        return { success: true, id } as const
      }
      return createOnce(database, context, { create })
    },

    async reschedule({ id, sendAt, endsAt }, context) {
      await change(database, id, async (tx, broadcast) => {
        if (broadcast.state !== 'scheduled') throw new Failure('BROADCAST_BEGUN')
        await refusePastEnd(tx, endsAt)
        await sql`update broadcasts set send_at = ${sendAt ?? null}::timestamptz, ends_at = ${endsAt ?? null}::timestamptz
          where id = ${id}`.execute(tx)
        const detail = { ...(sendAt && { sendAt }), ...(endsAt && { endsAt }) }
        await audit(tx, actOf(context), 'broadcast.reschedule', { record: broadcastRecord(broadcast), detail })
      })
      return { success: true }
    },

    async pause({ id }, context) {
      await change(database, id, async (tx, broadcast) => {
        if (broadcast.isPaused) return
        await sql`update broadcasts set is_paused = true, problem = null where id = ${id}`.execute(tx)
        await audit(tx, actOf(context), 'broadcast.pause', { record: broadcastRecord(broadcast) })
      })
      return { success: true }
    },

    async resume({ id }, context) {
      if (!broadcasts.isOn) throw new Failure('TELEGRAM_OFF')
      await change(database, id, async (tx, broadcast) => {
        if (!broadcast.isPaused) return
        // The image is uploaded again, because another bot would not know what the last one called it.
        await sql`update broadcasts set is_paused = false, problem = null, photo_id = null where id = ${id}`.execute(tx)
        await audit(tx, actOf(context), 'broadcast.resume', { record: broadcastRecord(broadcast) })
      })
      return { success: true }
    },

    async cancel({ id }, context) {
      await change(database, id, (tx, broadcast) => endBroadcast(tx, broadcast, { ending: 'cancelled', act: actOf(context) }))
      return { success: true }
    },

    async resendUnknown({ id }, context) {
      if (!broadcasts.isOn) throw new Failure('TELEGRAM_OFF')
      const affected = await database.transaction(async (tx) => {
        const broadcast = await lock(tx, id)
        if (!['sending', 'done'].includes(broadcast.state)) throw new Failure('BROADCAST_OVER')
        const reopened = await reopenUnknown(tx, broadcast.number)
        if (reopened === 0) return 0
        await refuseCost(tx, broadcast, reopened)
        // The end that the operator chose was for the first attempt.
        await sql`update broadcasts set state = 'sending', done_at = null, counts = null, ends_at = case when state = 'sending' then ends_at end
          where id = ${id}`.execute(tx)
        await audit(tx, actOf(context), 'broadcast.resend', {
          record: broadcastRecord(broadcast),
          detail: { recipients: reopened },
        })
        return reopened
      })
      return { success: true, affected }
    },

    async test({ id }, context) {
      const { rows } = await sql<{ title: string; announcementId: string }>`
        select title, announcement_id as "announcementId" from broadcasts where id = ${id}`.execute(db)
      const found = rows[0] ?? noBroadcast()
      return test(await findAnnounced(db, found.announcementId), context, { id, title: found.title })
    },

    async testAnnouncement({ announcementId }, context) {
      return test(await findAnnounced(db, announcementId), context, undefined)
    },

    async recipients(query) {
      return (await readRecipients(services, query)) ?? noBroadcast()
    },
  }
}

/** @throws Failure FORBIDDEN if the recipients would tell something about personal fields that the caller may not see */
function refuseAudience(filter: PlayersFilter, context: CallContext): void {
  refusePersonalFilters(playerList, filter, context)
  refuseKeptSearch(filter.search, context)
}

/** Returns a broadcast without the parts of its filter that tell something about personal fields that the caller may not see. */
function redactFilter(context: CallContext, { filter, ...broadcast }: Broadcast): Broadcast {
  if (seesPersonal(context)) return { filter, ...broadcast }
  const withheld = [...personalFilters(playerList, filter), ...(filter.search ? ['search'] : [])]
  const shown = Object.fromEntries(Object.entries(filter).filter(([name]) => !withheld.includes(name)))
  return { ...broadcast, filter: shown, ...(withheld.length > 0 && { isFilterWithheld: true as const }) }
}

const PAST_END = 'It must end in the future'

async function refusePastEnd(tx: Transaction<Tables>, endsAt: string | undefined): Promise<void> {
  if (endsAt !== undefined && Date.parse(endsAt) <= (await databaseNow(tx)).getTime())
    throw new Failure('INVALID_INPUT', { message: PAST_END, fields: { endsAt: PAST_END } })
}

function noBroadcast(): never {
  throw new Failure('NO_SUCH_BROADCAST')
}

/** @throws Failure TELEGRAM_OFF, MESSAGE_TOO_LONG */
function refuseUnsendable(broadcasts: Broadcasts, announcement: Announced): void {
  if (!broadcasts.isOn) throw new Failure('TELEGRAM_OFF')
  const problem = contentProblem(announcement)
  if (problem !== undefined) throw new Failure('MESSAGE_TOO_LONG', { message: problem })
}

interface Locked {
  id: string
  number: number
  title: string
  state: StoredState
  isPaused: boolean
  starsEach: number | null
  starsMost: number | null
}

async function lock(tx: Transaction<Tables>, id: string): Promise<Locked> {
  const { rows } = await sql<Locked>`
    select id, number, title, state, is_paused as "isPaused", stars_each as "starsEach", stars_most as "starsMost"
      from broadcasts where id = ${id} for update`.execute(tx)
  return rows[0] ?? noBroadcast()
}

/** Changes a broadcast that is not over. @throws Failure NO_SUCH_BROADCAST, BROADCAST_OVER */
async function change(
  database: Database,
  id: string,
  work: (tx: Transaction<Tables>, broadcast: Locked) => Promise<void>,
): Promise<void> {
  await database.transaction(async (tx) => {
    const broadcast = await lock(tx, id)
    if (endingOf(broadcast.state)) throw new Failure('BROADCAST_OVER')
    await work(tx, broadcast)
  })
}

/** @throws Failure INVALID_INPUT if sending again could cost more Stars than were confirmed */
async function refuseCost(tx: Transaction<Tables>, { number, starsEach, starsMost }: Locked, again: number): Promise<void> {
  if (starsEach === null || starsMost === null) return
  const { [OUTCOMES.sent]: sent = 0, [OUTCOMES.pending]: pending = 0 } = await countRecipients(tx, number)
  // A message whose outcome is unknown may have been paid for.
  if (costOf(sent + pending + again, starsEach) > starsMost)
    throw new Failure('INVALID_INPUT', { message: `This could cost more than the ${starsMost} Stars that were confirmed.` })
}

async function findOwnTelegram(db: Database['db'], userId: string): Promise<number> {
  const link = await findTelegram(db, userId)
  if (!link) throw new Failure('NO_OWN_TELEGRAM')
  return link.telegramId
}

function refusalInWords(answer: Exclude<Awaited<ReturnType<Broadcasts['sendTest']>>, { kind: 'sent' }>): string {
  if (answer.kind === 'refused') return REFUSALS[answer.reason]
  if (answer.kind === 'wait') return `Telegram asks to wait for ${Math.ceil(answer.seconds)} seconds.`
  if (answer.kind === 'unreachable') return `Telegram cannot be reached (${answer.text}).`
  if (answer.kind === 'unknown') return `Telegram’s answer was lost (${answer.text}). Look whether the message has arrived.`
  return `Telegram did not take the message: ${answer.text}`
}

const REFUSALS = {
  blocked: 'You have blocked the bot in Telegram.',
  deactivated: 'Your Telegram account is deactivated.',
  notFound: 'Telegram does not find your chat with the bot. Open the bot and press Start first.',
}

interface Planning {
  filter: PlayersFilter
  holdBack: number
  ratePerSecond: number
  context: CallContext
}

/**
 * Says whom a broadcast would reach. Beyond 10,000 players the list estimates their number, because nobody should wait for it while choosing
 * filters.
 */
async function plan(
  players: CursorList<typeof playerList>,
  { filter, holdBack, ratePerSecond, context }: Planning,
): Promise<BroadcastPlan> {
  const { status = 'unblocked', reach = 'reachable' } = filter
  const isOutOfReach = status !== 'unblocked' || reach !== 'reachable'
  const [matching, reached] = await Promise.all([
    players.count(filter, context, { isExact: true }),
    isOutOfReach ? { total: 0, isMore: false } : players.count({ ...filter, status, reach }, context, { isExact: true }),
  ])
  const isApproximate = matching.isMore || reached.isMore
  const reachable = sizeOf(reached)
  const held = Math.round((reachable * holdBack) / 100)
  const difference = smallestDifference({ messaged: reachable - held, held, base: BASE_RATE })
  return {
    recipients: reachable - held,
    isApproximate,
    held,
    ...(!isApproximate && { skipped: matching.total - reachable }),
    minutes: Math.ceil((reachable - held) / ratePerSecond / 60),
    ...(difference !== undefined && { smallestDifference: difference }),
  }
}

function sizeOf({ total, about }: Count): number {
  return about ?? total
}
