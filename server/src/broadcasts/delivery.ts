/**
 * Sends one message to one recipient and writes the outcome. `sending` is written before the call, only if the recipient was pending, so
 * two workers never send to the same recipient; a worker that dies leaves it behind, and it becomes unknown.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { sql } from 'kysely'
import type { Logger } from 'pino'
import type { RefusalReason } from '@arcade/contract/broadcasts/fields'
import type { Database } from '#src/db/database.ts'
import type { TelegramCall } from './message.ts'
import { COUNTED_OUTCOMES, type OutcomeCode, OUTCOMES, REFUSED, SKIPPED, WEEK_AGO_SQL } from './outcomes.ts'
import type { Telegram, TelegramAnswer } from './telegram.ts'

/** Pauses before a message is sent again after Telegram said that it could not send it. */
const BUSY_PAUSES_MS = [1000, 3000]
/** After this many turns of a recipient in which Telegram could not send, the message counts as failed. Until then it is sent again later. */
const MAX_BUSY_TURNS = 3
/** The pause between attempts to write a definite outcome while the database is away, and the most attempts. */
const WRITE_PAUSE_MS = 500
const WRITE_ATTEMPTS = 60

/** What became of a recipient's turn. */
export type Delivery =
  | TelegramAnswer
  /** Somebody else has sent to this recipient, the player was erased, or has got as many messages as the cap allows. */
  | { kind: 'taken' }

export interface Recipient {
  userId: number
  broadcast: number
}

export interface Deliver {
  (recipient: Recipient, call: TelegramCall): Promise<Delivery>
}

const BEGIN = `
  update broadcast_recipients set outcome = ${OUTCOMES.sending}, at = now()
   where user_id = $1 and broadcast = $2 and outcome = ${OUTCOMES.pending} returning outcome`

/**
 * Does what BEGIN does, and keeps a cap of $3 messages a week. Several broadcasts may be sent to a player at the same time: each locks all of the player's
 * rows that count or may count soon, in the same order, so the second one sees what the first one has begun.
 */
const BEGIN_WITHIN_CAP = `
  with others as materialized (
    select outcome from broadcast_recipients
     where user_id = $1 and outcome in (${OUTCOMES.pending}, ${COUNTED_OUTCOMES.join()}) and coalesce(at > ${WEEK_AGO_SQL}, true)
     order by broadcast for update)
  update broadcast_recipients set at = now(),
         outcome = case when (select count(*) from others where outcome in (${COUNTED_OUTCOMES.join()})) >= $3::int
                        then ${SKIPPED.cap} else ${OUTCOMES.sending} end
   where user_id = $1 and broadcast = $2 and outcome = ${OUTCOMES.pending} returning outcome`

// `sent` replaces every other outcome. Any other answer replaces only `sending` or `unknown`.
const WRITE_SENT = `
  update broadcast_recipients set outcome = ${OUTCOMES.sent}, at = now()
   where user_id = $1 and broadcast = $2 and outcome <> ${OUTCOMES.sent}`

const WRITE_OTHER = `
  update broadcast_recipients set outcome = $3::smallint, at = now()
   where user_id = $1 and broadcast = $2 and outcome in (${OUTCOMES.sending}, ${OUTCOMES.unknown})`

const PUT_BACK = `
  update broadcast_recipients set outcome = ${OUTCOMES.pending}, at = null
   where user_id = $1 and broadcast = $2 and outcome = ${OUTCOMES.sending}`

interface DeliveryOptions {
  log: Logger
  /** The most messages that a player gets in seven days; undefined for no cap. */
  messagesAWeek?: number | undefined
  busyPausesMs?: readonly number[]
}

export function createDelivery(
  database: Database,
  telegram: Telegram,
  { log, messagesAWeek, busyPausesMs = BUSY_PAUSES_MS }: DeliveryOptions,
): Deliver {
  const cap = messagesAWeek === undefined ? [] : [messagesAWeek]
  const begin =
    messagesAWeek === undefined
      ? database.statement<{ outcome: number }>('broadcast-begin', BEGIN)
      : database.statement<{ outcome: number }>('broadcast-begin-within-cap', BEGIN_WITHIN_CAP)
  const writeSent = database.statement('broadcast-sent', WRITE_SENT)
  const writeOther = database.statement('broadcast-outcome', WRITE_OTHER)
  const putBack = database.statement('broadcast-put-back', PUT_BACK)

  /** The turns in which Telegram could not send, by broadcast and recipient. */
  const busyTurns = new Map<string, number>()

  /** Counts the recipient's turn. Returns whether there is another one after this answer. */
  function countTurn({ userId, broadcast }: Recipient, { kind }: TelegramAnswer): boolean {
    const key = `${broadcast} ${userId}`
    const turns = (busyTurns.get(key) ?? 0) + 1
    const isBusy = kind === 'busy' && turns < MAX_BUSY_TURNS
    if (isBusy) busyTurns.set(key, turns)
    else busyTurns.delete(key)
    return isBusy
  }

  async function surely(run: () => Promise<unknown>): Promise<void> {
    for (let attempt = 1; ; attempt += 1) {
      try {
        await run()
        return
      } catch (error) {
        if (attempt === WRITE_ATTEMPTS) throw error
        log.warn({ err: error }, 'The outcome of a message could not be written and will be tried again')
        await pause(WRITE_PAUSE_MS, undefined, { ref: false })
      }
    }
  }

  async function write(recipient: Recipient, answer: TelegramAnswer): Promise<void> {
    const { userId, broadcast } = recipient
    const isLater = countTurn(recipient, answer)
    if (answer.kind === 'sent') return surely(() => writeSent([userId, broadcast]))
    const code = isLater ? undefined : codeOf(answer)
    if (code === undefined) return surely(() => putBack([userId, broadcast]))
    await surely(() => writeOther([userId, broadcast, code]))
    if (answer.kind === 'refused') await surely(() => markUnreachable(database, userId, answer.reason))
  }

  return async (recipient, call) => {
    const [begun] = await begin([recipient.userId, recipient.broadcast, ...cap])
    if (begun?.outcome !== OUTCOMES.sending) return { kind: 'taken' }
    let answer = await telegram.send(call)
    for (const ms of busyPausesMs) {
      if (answer.kind !== 'busy') break
      await pause(ms, undefined, { ref: false })
      answer = await telegram.send(call)
    }
    await write(recipient, answer)
    return answer
  }
}

/** Returns the outcome that an answer means; undefined if the recipient is pending again. */
function codeOf(answer: Exclude<TelegramAnswer, { kind: 'sent' }>): OutcomeCode | undefined {
  if (answer.kind === 'refused') return REFUSED[answer.reason]
  if (answer.kind === 'failed' || answer.kind === 'busy') return OUTCOMES.failed
  return answer.kind === 'unknown' ? OUTCOMES.unknown : undefined
}

/** The player gets no message until he or she comes back. */
async function markUnreachable({ db }: Database, userId: number, reason: RefusalReason): Promise<void> {
  await sql`
    insert into player_messages (user_id, unreachable_at, unreachable_reason) values (${userId}, now(), ${reason})
    on conflict (user_id) do update set unreachable_at = excluded.unreachable_at, unreachable_reason = excluded.unreachable_reason`.execute(
    db,
  )
}
