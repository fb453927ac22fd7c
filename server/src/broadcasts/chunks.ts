/**
 * Chunks of recipients: leased by one worker at a time, prepared, and counted when they are released. Hides the leases, and what becomes of
 * messages whose server died while it was sending them.
 */
import { type Kysely, sql } from 'kysely'
import type { Database } from '#src/db/database.ts'
import type { Tables } from '#src/db/tables.ts'
import { COUNTED_OUTCOMES, type Counts, OUTCOMES, SKIPPED, WEEK_AGO_SQL } from './outcomes.ts'
import type { Lease } from './pace.ts'
import { PLAYERS_WITH_MESSAGES, REASON_SQL } from './reach.ts'
import { type Ending, endingOf, IS_BEING_SENT, type StoredState } from './state.ts'

/** How long a lease lasts without being renewed. After the death of a server, others go on with its chunks after this time. */
export const LEASE_SECONDS = 10

export interface LeasedChunk extends Lease {
  id: string
  content: string
  photoId: string | null
  isPaid: boolean
}

/** Chunks of broadcasts that are being sent, which no worker has. */
const FREE_CHUNKS = sql.raw(`
  broadcast_chunks c join broadcasts b on b.number = c.broadcast
    where ${IS_BEING_SENT} and c.done_at is null and (c.lease_until is null or c.lease_until <= now())`)

/** Counts the chunks that a worker could lease, up to `most`. */
export async function countFreeChunks({ db }: Pick<Database, 'db'>, most: number): Promise<number> {
  const { rows } = await sql<{ count: number }>`
    select count(*) as count from (select from ${FREE_CHUNKS} limit ${most}) as chunks`.execute(db)
  return rows[0]!.count
}

/** Leases the next free chunk to a worker. @returns undefined if no chunk is free */
export async function leaseChunk({ db }: Pick<Database, 'db'>, leasedBy: string): Promise<LeasedChunk | undefined> {
  const { rows } = await sql<LeasedChunk>`
    with free as materialized (
      select c.broadcast, c.chunk from ${FREE_CHUNKS} order by c.broadcast, c.chunk limit 1 for update of c skip locked)
    update broadcast_chunks c set leased_by = ${leasedBy}, lease_until = now() + make_interval(secs => ${LEASE_SECONDS})
      from free, broadcasts b where c.broadcast = free.broadcast and c.chunk = free.chunk and b.number = c.broadcast
    returning c.broadcast, c.chunk, c.leased_by as "leasedBy", b.id, b.content, b.photo_id as "photoId",
              b.stars_each is not null as "isPaid"`.execute(db)
  return rows[0]
}

/** Renews the leases of a server's workers. Does not take back a lease that another worker has by now. */
export async function renewLeases({ db }: Pick<Database, 'db'>, holders: readonly string[]): Promise<void> {
  await sql`update broadcast_chunks set lease_until = now() + make_interval(secs => ${LEASE_SECONDS})
    where leased_by = any(${holders}) and done_at is null`.execute(db)
}

/**
 * Prepares a leased chunk. Recipients to whom an earlier holder was sending become unknown, and players who must get no message are skipped.
 * @param messagesAWeek the most messages that a player gets in seven days; undefined for no cap
 * @returns the ids of the others
 */
export async function prepareChunk(
  { db }: Pick<Database, 'db'>,
  { broadcast, chunk }: Lease,
  messagesAWeek: number | undefined,
): Promise<number[]> {
  await markSendingUnknown(db, { broadcast, chunk })
  const { rows } = await sql<{ userId: number; outcome: number }>`
    select user_id as "userId", ${REASON_SQL} as outcome
      from broadcast_recipients left join ${PLAYERS_WITH_MESSAGES} using (user_id)
     where broadcast = ${broadcast} and chunk = ${chunk} and broadcast_recipients.outcome = ${OUTCOMES.pending} order by user_id`.execute(
    db,
  )
  const capped =
    messagesAWeek === undefined
      ? new Set<number>()
      : await findCapped(
          db,
          rows.map(({ userId }) => userId),
          messagesAWeek,
        )
  const all = rows.map(({ userId, outcome }) => ({
    userId,
    outcome: outcome === OUTCOMES.pending && capped.has(userId) ? SKIPPED.cap : outcome,
  }))
  const skipped = all.filter(({ outcome }) => outcome !== OUTCOMES.pending)
  if (skipped.length > 0)
    await sql`
      update broadcast_recipients set outcome = skipped.outcome, at = now()
        from unnest(${skipped.map(({ userId }) => userId)}::bigint[], ${skipped.map(({ outcome }) => outcome)}::smallint[]) as skipped (id, outcome)
       where user_id = skipped.id and broadcast = ${broadcast} and broadcast_recipients.outcome = ${OUTCOMES.pending}`.execute(db)
  return all.filter(({ outcome }) => outcome === OUTCOMES.pending).map(({ userId }) => userId)
}

/** Marks the messages as unknown that the holder of an expired lease was sending. A definite answer that arrives later corrects them. */
async function markSendingUnknown(db: Kysely<Tables>, { broadcast, chunk }: { broadcast: number; chunk: number }): Promise<void> {
  await sql`update broadcast_recipients set outcome = ${OUTCOMES.unknown}, at = now()
    where broadcast = ${broadcast} and chunk = ${chunk} and outcome = ${OUTCOMES.sending}`.execute(db)
}

async function findCapped(db: Kysely<Tables>, players: readonly number[], most: number): Promise<Set<number>> {
  const { rows } = await sql<{ userId: number }>`
    select user_id as "userId" from broadcast_recipients
     where user_id = any(${players}::bigint[]) and outcome = any(${COUNTED_OUTCOMES}::int[]) and at > ${sql.raw(WEEK_AGO_SQL)}
     group by user_id having count(*) >= ${most}`.execute(db)
  return new Set(rows.map(({ userId }) => userId))
}

/**
 * Counts a chunk's recipients by outcome, and ends the lease if the caller still has it. The chunk is done when nobody in it is pending.
 * The row's lock puts the counts in order. A worker that writes an outcome later counts the chunk again, so the last count is right.
 */
export async function releaseChunk(database: Database, { broadcast, chunk, leasedBy }: Lease): Promise<void> {
  const isLate = await database.transaction(async (tx) => {
    const { rows } = await sql<{ isMine: boolean; isLeased: boolean }>`
      select coalesce(leased_by = ${leasedBy}, false) as "isMine", coalesce(lease_until > now(), false) as "isLeased"
        from broadcast_chunks where broadcast = ${broadcast} and chunk = ${chunk} for update`.execute(tx)
    const [row] = rows
    if (!row || (row.isLeased && !row.isMine)) return false
    await countChunk(tx, { broadcast, chunk })
    return !row.isMine
  })
  // The totals of a broadcast that has ended lack an answer that came after the lease, so they are computed again.
  if (isLate)
    await sql`update broadcasts set counts = null where number = ${broadcast} and state in ('done', 'cancelled')`.execute(
      database.db,
    )
}

/**
 * Counts a chunk and ends its lease, after marking messages under way as unknown and erased players as skipped. The caller has locked its
 * row, and nobody else has a valid lease.
 */
async function countChunk(tx: Kysely<Tables>, chunkKey: { broadcast: number; chunk: number }): Promise<void> {
  const { broadcast, chunk } = chunkKey
  await markSendingUnknown(tx, chunkKey)
  // A player who was erased meanwhile has a new id, which no worker has in its list.
  await sql`update broadcast_recipients set outcome = ${SKIPPED.erased}, at = now()
    where broadcast = ${broadcast} and chunk = ${chunk} and outcome = ${OUTCOMES.pending} and user_id < 0`.execute(tx)
  const { rows } = await sql<{ state: StoredState }>`select state from broadcasts where number = ${broadcast}`.execute(tx)
  const { [OUTCOMES.pending]: waiting = 0, ...others } = await countRows(tx, broadcast, [chunk])
  const ending = rows[0] && endingOf(rows[0].state)
  const counts = waiting === 0 ? others : { ...others, [ending ? SKIPPED[ending] : OUTCOMES.pending]: waiting }
  const isDone = waiting === 0 || ending !== undefined
  await sql`update broadcast_chunks set counts = ${JSON.stringify(counts)}::json, leased_by = null, lease_until = null,
      done_at = case when ${isDone}::boolean then coalesce(done_at, now()) end
    where broadcast = ${broadcast} and chunk = ${chunk}`.execute(tx)
}

/** Ends the chunks that no worker has: their recipients are skipped. The others end when they are released. */
export async function endChunks(tx: Kysely<Tables>, broadcast: number, ending: Ending): Promise<void> {
  const [pending, skipped] = [String(OUTCOMES.pending), String(SKIPPED[ending])]
  await sql`
    update broadcast_chunks set done_at = now(),
           counts = (counts::jsonb - ${pending}::text || jsonb_build_object(${skipped}::text, counts::jsonb -> ${pending}::text))::json
     where broadcast = ${broadcast} and done_at is null and leased_by is null`.execute(tx)
}

/**
 * Makes recipients pending again whose outcome is unknown. In their chunks, recipients whose turn had not come when the broadcast ended are
 * marked as skipped first, so that they do not become pending, too.
 * @returns their number
 */
export async function reopenUnknown(tx: Kysely<Tables>, broadcast: number): Promise<number> {
  const { rows } = await sql<{ chunk: number; isDone: boolean }>`
    select chunk, done_at is not null as "isDone" from broadcast_chunks
     where broadcast = ${broadcast} and leased_by is null and counts::jsonb ? ${String(OUTCOMES.unknown)} order by chunk for update`.execute(
    tx,
  )
  const chunks = rows.map(({ chunk }) => chunk)
  if (chunks.length === 0) return 0
  const inChunks = sql`broadcast = ${broadcast} and chunk = any(${chunks}::int[])`
  const done = rows.flatMap(({ chunk, isDone }) => (isDone ? [chunk] : []))
  await sql`update broadcast_recipients set outcome = ${OUTCOMES.skippedEnded}, at = now()
    where broadcast = ${broadcast} and chunk = any(${done}::int[]) and outcome = ${OUTCOMES.pending}`.execute(tx)
  const { numAffectedRows = 0n } = await sql`update broadcast_recipients set outcome = ${OUTCOMES.pending}, at = null
    where ${inChunks} and outcome = ${OUTCOMES.unknown}`.execute(tx)
  const counted = await sql<{ chunk: number; outcome: number; count: number }>`
    select chunk, outcome, count(*) as count from broadcast_recipients where ${inChunks} group by chunk, outcome`.execute(tx)
  const counts = chunks.map((chunk) =>
    Object.fromEntries(counted.rows.filter((row) => row.chunk === chunk).map(({ outcome, count }) => [outcome, count])),
  )
  await sql`update broadcast_chunks c set counts = r.counts::json, done_at = null
      from unnest(${chunks}::int[], ${counts.map((one) => JSON.stringify(one))}::text[]) as r (chunk, counts)
    where c.broadcast = ${broadcast} and c.chunk = r.chunk`.execute(tx)
  return Number(numAffectedRows)
}

/** Counts the chunks of a broadcast whose holders are dead. Returns whether no worker has a chunk of it any more. */
export async function settleChunks(tx: Kysely<Tables>, broadcast: number): Promise<boolean> {
  const { rows } = await sql<{ chunk: number; isLeased: boolean }>`
    select chunk, lease_until > now() as "isLeased" from broadcast_chunks
     where broadcast = ${broadcast} and done_at is null and leased_by is not null order by chunk for update`.execute(tx)
  if (rows.some(({ isLeased }) => isLeased)) return false
  for (const { chunk } of rows) await countChunk(tx, { broadcast, chunk })
  return true
}

async function countRows(db: Kysely<Tables>, broadcast: number, chunks: readonly number[]): Promise<Counts> {
  const { rows } = await sql<{ outcome: number; count: number }>`
    select outcome, count(*) as count from broadcast_recipients
     where broadcast = ${broadcast} and chunk = any(${chunks}::int[]) group by outcome`.execute(db)
  return Object.fromEntries(rows.map(({ outcome, count }) => [outcome, count]))
}

/** Returns the recipients of a broadcast by outcome: kept counts, and those of chunks that are being sent as they are now. */
export async function countRecipients(db: Kysely<Tables>, broadcast: number): Promise<Counts> {
  const { rows } = await sql<{ outcome: number; count: number }>`
    select outcome, sum(count) as count from (
      select key::int as outcome, sum(value::int) as count from broadcast_chunks, json_each_text(counts)
       where broadcast = ${broadcast} and leased_by is null group by key
      union all
      select outcome::int, count(*) from broadcast_recipients
       where broadcast = ${broadcast}
         and chunk = any(array(select chunk from broadcast_chunks where broadcast = ${broadcast} and leased_by is not null))
       group by outcome) as parts group by outcome`.execute(db)
  return Object.fromEntries(rows.map(({ outcome, count }) => [outcome, count]))
}

/**
 * Returns the number of messages that were sent in the last minute, and their rate a second since the first of them, because sending may have
 * begun or resumed only seconds ago. The rate is undefined until a second has passed.
 */
export async function countLastMinute(
  db: Kysely<Tables>,
  broadcast: number,
): Promise<{ count: number; perSecond: number | undefined }> {
  const { rows: recent } = await sql<{ chunk: number }>`
    select chunk from broadcast_chunks
     where broadcast = ${broadcast} and (leased_by is not null or done_at > now() - interval '1 minute')`.execute(db)
  if (recent.length === 0) return { count: 0, perSecond: undefined }
  const { rows } = await sql<{ count: number; seconds: number | null }>`
    select count(*) as count, extract(epoch from now() - min(at))::float as seconds from broadcast_recipients
     where broadcast = ${broadcast} and chunk = any(${recent.map(({ chunk }) => chunk)}::int[])
       and outcome = ${OUTCOMES.sent} and at > now() - interval '1 minute'`.execute(db)
  const { count, seconds } = rows[0]!
  return { count, perSecond: seconds === null || seconds < 1 ? undefined : count / seconds }
}
