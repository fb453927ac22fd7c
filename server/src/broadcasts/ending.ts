/** Ends broadcasts: those that are done, those whose end has come, and those that an operator cancels. */
import { type Kysely, sql, type Transaction } from 'kysely'
import { type Act, audit } from '#src/audit/audit.ts'
import type { Database } from '#src/db/database.ts'
import type { Tables } from '#src/db/tables.ts'
import { countRecipients, endChunks, settleChunks } from './chunks.ts'
import { actOfServer, broadcastRecord } from './record.ts'
import { type Ending, endingOf, type StoredState } from './state.ts'

interface Ended {
  number: number
  id: string
  title: string
}

/** Whether no broadcast is to be sent, is being sent or has to be added up. */
export async function areAllFinished({ db }: Pick<Database, 'db'>): Promise<boolean> {
  const { rows } = await sql`select from broadcasts where counts is null limit 1`.execute(db)
  return rows.length === 0
}

/** Ends the broadcasts that were sent to everybody or whose end has come, and adds up their outcomes. */
export async function finishEnded(database: Database): Promise<void> {
  while (await endNext(database));
  while (await addUpNext(database));
}

async function endNext(database: Database): Promise<boolean> {
  return database.transaction(async (tx) => {
    const { rows } = await sql<Ended>`
      select number, id, title from broadcasts b
       where (state in ('scheduled', 'planning', 'sending') and ends_at <= now())
          or (state = 'sending' and not exists (
                select from broadcast_chunks c where c.broadcast = b.number and (c.done_at is null or c.leased_by is not null)))
       order by number limit 1 for update skip locked`.execute(tx)
    const [broadcast] = rows
    if (!broadcast) return false
    await endBroadcast(tx, broadcast, { ending: 'ended', act: actOfServer() })
    return true
  })
}

/** Ends a broadcast, whose row must be locked. Messages under way are finished; nobody else gets one. */
export async function endBroadcast(
  tx: Kysely<Tables>,
  broadcast: Ended,
  { ending, act }: { ending: Ending; act: Act },
): Promise<void> {
  const state = ending === 'ended' ? 'done' : 'cancelled'
  await sql`update broadcasts set state = ${state}, is_paused = false, done_at = now() where number = ${broadcast.number}`.execute(
    tx,
  )
  await endChunks(tx, broadcast.number, ending)
  await audit(tx, act, ending === 'ended' ? 'broadcast.finish' : 'broadcast.cancel', { record: broadcastRecord(broadcast) })
}

/** Adds up an ended broadcast that no worker sends any more. Returns whether there was one. */
async function addUpNext(database: Database): Promise<boolean> {
  return database.transaction(async (tx) => {
    const { rows } = await sql<{ number: number; state: StoredState }>`
      select number, state from broadcasts b
       where state in ('done', 'cancelled') and counts is null
         and not exists (select from broadcast_chunks c where c.broadcast = b.number and c.lease_until > now())
       order by number limit 1 for update skip locked`.execute(tx)
    const [broadcast] = rows
    const ending = broadcast && endingOf(broadcast.state)
    if (!ending || !(await settleChunks(tx, broadcast.number))) return false
    await endChunks(tx, broadcast.number, ending)
    const counts = await countRecipients(tx, broadcast.number)
    await sql`update broadcasts set counts = ${JSON.stringify(counts)}::json where number = ${broadcast.number}`.execute(tx)
    return true
  })
}

/**
 * Pauses each broadcast of a restored backup: the console that made the backup may have sent it since, which the backup does not know.
 * @param moment the time of the backup
 */
export async function pauseRestored(db: Kysely<Tables>, moment: string): Promise<void> {
  const problem = `This console was restored from a backup of ${moment}. Players may have got the message since; they would get it again.`
  await sql`update broadcasts set is_paused = true, problem = ${problem} where state in ('scheduled', 'planning', 'sending')`.execute(
    db,
  )
}

/**
 * Pauses the broadcasts of announcements that an operator deletes or switches off, because the operator may have found a mistake. A scheduled
 * broadcast is left alone: if its announcement is deleted, it is cancelled at its time, unless the announcement is restored before.
 */
export async function pauseBroadcastsOf(
  tx: Transaction<Tables>,
  act: Act,
  { announcementIds, because }: { announcementIds: readonly string[]; because: 'deleted' | 'switched off' },
): Promise<void> {
  const problem = `The announcement was ${because}. Resume to send it to the others all the same, or cancel.`
  const { rows } = await sql<{ id: string; title: string }>`
    update broadcasts set is_paused = true, problem = ${problem}
     where announcement_id = any(${announcementIds}) and state in ('planning', 'sending') and not is_paused
    returning id, title`.execute(tx)
  if (rows.length === 0) return
  const entries = rows.map((row) => ({ record: broadcastRecord(row), detail: { problem } }))
  await audit(tx, act, 'broadcast.pause', entries)
}
