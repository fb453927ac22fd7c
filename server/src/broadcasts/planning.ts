/**
 * Begins broadcasts whose time has come, and chooses their recipients: the message and the filter are those of this moment. Players are
 * looked at in batches, each in a transaction with its chunks, so that any server goes on where a killed one stopped.
 */
import { createHash } from 'node:crypto'
import { type RawBuilder, sql, type Transaction } from 'kysely'
import type { PlayersFilter } from '@arcade/contract/players/fields'
import { audit } from '#src/audit/audit.ts'
import type { Database } from '#src/db/database.ts'
import type { Tables } from '#src/db/tables.ts'
import { servedPlayers } from '#src/players/players-list.ts'
import { type Announced, contentOf, contentProblem } from './message.ts'
import { countRecipients } from './chunks.ts'
import { endBroadcast } from './ending.ts'
import { costOf, type Counts, type OutcomeCode, OUTCOMES } from './outcomes.ts'
import { PLAYERS_WITH_MESSAGES, REASON_SQL } from './reach.ts'
import { actOfServer, broadcastRecord } from './record.ts'
import { whereFilter } from '#src/lists/where.ts'

/** Recipients of a chunk, which one worker sends to: fewer than the 500 allowed, so that workers end at about the same time. */
export const CHUNK_SIZE = 100
/** Players that a transaction looks at: it must end within the statement timeout, also with a slow filter. */
const BATCH_PLAYERS = 50_000

/** Begins a broadcast whose time has come, if there is one that no other server is beginning. Returns whether there was one. */
export async function beginDue(database: Database, miniAppUrl: string | undefined): Promise<boolean> {
  return database.transaction(async (tx) => {
    const { rows } = await sql<{ id: string; number: number; title: string; announcementId: string }>`
      select id, number, title, announcement_id as "announcementId" from broadcasts
       where state = 'scheduled' and not is_paused and coalesce(send_at, made_at) <= now()
       order by coalesce(send_at, made_at), number limit 1 for update skip locked`.execute(tx)
    const [due] = rows
    if (!due) return false
    const act = actOfServer()
    const announcement = await findAnnounced(tx, due.announcementId)
    if (!announcement) {
      const problem = 'The announcement was deleted before its time.'
      await sql`update broadcasts set state = 'cancelled', problem = ${problem}, done_at = now(), counts = '{}' where id = ${due.id}`.execute(
        tx,
      )
      await audit(tx, act, 'broadcast.cancel', { record: broadcastRecord(due), detail: { problem } })
      return true
    }
    const problem = contentProblem(announcement)
    if (problem !== undefined) {
      await sql`update broadcasts set is_paused = true, problem = ${problem} where id = ${due.id}`.execute(tx)
      await audit(tx, act, 'broadcast.pause', { record: broadcastRecord(due), detail: { problem } })
      return true
    }
    const content = JSON.stringify(contentOf(announcement, miniAppUrl))
    await sql`update broadcasts set state = 'planning', started_at = now(), title = ${announcement.title}, content = ${content}
      where id = ${due.id}`.execute(tx)
    await audit(tx, act, 'broadcast.start', { record: broadcastRecord(due) })
    return true
  })
}

export async function findAnnounced(db: Transaction<Tables> | Database['db'], id: string): Promise<Announced | undefined> {
  const { rows } = await sql<Announced>`
    select id, type, title, subtitle, description, link, link_type as "linkType", input_text as "inputText", reward, image_key as image
      from announcements where id = ${id}`.execute(db)
  return rows[0]
}

interface Planned {
  number: number
  id: string
  title: string
  starsEach: number | null
  starsMost: number | null
  filter: PlayersFilter
  holdBack: number
  plannedUpTo: number
}

/** What became of a batch: `none` if there is no broadcast to plan. `broadcast` is the number of the one that failed, if it is known. */
interface PlannedBatch {
  outcome: 'none' | 'planned' | 'failed'
  broadcast?: number | undefined
  error?: unknown
}

/** Chooses recipients among the next players of a broadcast that no other server is planning, except of those that have `failed`. */
export async function planBatch(database: Database, failed: ReadonlySet<number> = new Set()): Promise<PlannedBatch> {
  let number: number | undefined
  try {
    return await database.transaction(async (tx) => {
      const broadcast = await findPlanned(tx, failed)
      if (!broadcast) return { outcome: 'none' }
      number = broadcast.number
      const last = await findLastOfBatch(tx, broadcast.plannedUpTo)
      if (last === null) {
        await finishPlanning(tx, broadcast)
        return { outcome: 'planned' }
      }
      const recipients = await findRecipients(tx, broadcast, last)
      if (recipients.length > 0) await writeRecipients(tx, broadcast, recipients)
      await sql`update broadcasts set planned_up_to = ${last} where number = ${number}`.execute(tx)
      return { outcome: 'planned' }
    })
  } catch (error) {
    return { outcome: 'failed', broadcast: number, error }
  }
}

async function findPlanned(tx: Transaction<Tables>, failed: ReadonlySet<number>): Promise<Planned | undefined> {
  const { rows } = await sql<Planned>`
    select number, id, title, filter::json as filter, hold_back as "holdBack", stars_each as "starsEach", stars_most as "starsMost",
           coalesce(planned_up_to, 0) as "plannedUpTo" from broadcasts
     where state = 'planning' and not is_paused and number <> all(${[...failed]}::bigint[])
     order by number limit 1 for update skip locked`.execute(tx)
  return rows[0]
}

/** Lets sending begin, unless it could cost more Stars than were confirmed. */
async function finishPlanning(tx: Transaction<Tables>, broadcast: Planned): Promise<void> {
  const { number, starsEach, starsMost } = broadcast
  await sql`update broadcasts set state = 'sending', planned_at = now() where number = ${number}`.execute(tx)
  if (starsEach === null || starsMost === null) return
  const { [OUTCOMES.pending]: messages = 0 } = await countRecipients(tx, number)
  const cost = costOf(messages, starsEach)
  if (cost <= starsMost) return
  const problem = `${messages} messages would cost ${cost} Stars, more than the ${starsMost} that were confirmed.`
  await sql`update broadcasts set problem = ${problem} where number = ${number}`.execute(tx)
  await endBroadcast(tx, broadcast, { ending: 'cancelled', act: actOfServer() })
}

async function findLastOfBatch(tx: Transaction<Tables>, after: number): Promise<number | null> {
  const { rows } = await sql<{ last: number | null }>`
    select max(user_id) as last from (
      select user_id from telegram_users where user_id > ${after} order by user_id limit ${sql.lit(BATCH_PLAYERS)}) as batch`.execute(
    tx,
  )
  return rows[0]?.last ?? null
}

interface Recipient {
  userId: number
  outcome: OutcomeCode
}

async function findRecipients(
  tx: Transaction<Tables>,
  { id, filter, holdBack, plannedUpTo }: Planned,
  last: number,
): Promise<Recipient[]> {
  const { rows } = await sql<Recipient>`
    select user_id as "userId", ${REASON_SQL} as outcome from ${PLAYERS_WITH_MESSAGES}
     where user_id > ${plannedUpTo} and user_id <= ${last} and ${matches(filter)} order by user_id`.execute(tx)
  // Only players who would get the message are held back: otherwise the control group would not be like the others.
  return rows.map((row) =>
    row.outcome === OUTCOMES.pending && isHeldBack(id, row.userId, holdBack) ? { ...row, outcome: OUTCOMES.held } : row,
  )
}

function matches(filter: PlayersFilter): RawBuilder<boolean> {
  return sql<boolean>`(${whereFilter(servedPlayers, filter, undefined).sql.matches})`
}

/** Whether a player is in the control group: random for each broadcast, and the same if a batch is planned again. */
function isHeldBack(id: string, userId: number, percent: number): boolean {
  if (percent === 0) return false
  const hash = createHash('sha256').update(`${id}:${userId}`).digest()
  return hash.readUInt32BE(0) / 2 ** 32 < percent / 100
}

async function writeRecipients(tx: Transaction<Tables>, { number }: Planned, recipients: readonly Recipient[]): Promise<void> {
  const { rows } = await sql<{ first: number }>`
    select coalesce(max(chunk) + 1, 0) as first from broadcast_chunks where broadcast = ${number}`.execute(tx)
  const first = rows[0]!.first
  const chunks = Array.from({ length: Math.ceil(recipients.length / CHUNK_SIZE) }, (_, index) =>
    recipients.slice(index * CHUNK_SIZE, (index + 1) * CHUNK_SIZE),
  )
  await sql`
    insert into broadcast_recipients (user_id, broadcast, chunk, outcome)
    select user_id, ${number}::int, chunk, outcome
      from unnest(${recipients.map(({ userId }) => userId)}::bigint[], ${recipients.map((_, index) => first + Math.floor(index / CHUNK_SIZE))}::int[],
                  ${recipients.map(({ outcome }) => outcome)}::smallint[]) as planned (user_id, chunk, outcome)`.execute(tx)
  const counts = chunks.map(countsOf)
  await sql`
    insert into broadcast_chunks (broadcast, chunk, size, counts, done_at)
    select ${number}::int, chunk, size, counts::json, case when is_open then null else now() end
      from unnest(${chunks.map((_, index) => first + index)}::int[], ${chunks.map(({ length }) => length)}::int[],
                  ${counts.map((one) => JSON.stringify(one))}::text[], ${counts.map((one) => OUTCOMES.pending in one)}::boolean[])
        as planned (chunk, size, counts, is_open)`.execute(tx)
}

function countsOf(recipients: readonly Recipient[]): Counts {
  const counts: Counts = {}
  for (const { outcome } of recipients) counts[outcome] = (counts[outcome] ?? 0) + 1
  return counts
}
