/** Reads broadcasts as operators see them: their state, the outcomes of their recipients, and when they are expected to be done. */
import { sql } from 'kysely'
import type { Broadcast, BroadcastRecipient } from '@arcade/contract/broadcasts/calls'
import type { RecipientOutcome } from '@arcade/contract/broadcasts/fields'
import { type Player, playerName } from '@arcade/contract/players/fields'
import { countLastMinute, countRecipients } from '#src/broadcasts/chunks.ts'
import { codesOf, costOf, type Counts, figuresOf, outcomeInWords, OUTCOMES } from '#src/broadcasts/outcomes.ts'
import { findWaiting, type Waiting } from '#src/broadcasts/pace.ts'
import { endingOf, shownState, type StoredState } from '#src/broadcasts/state.ts'
import type { Database } from '#src/db/database.ts'
import { databaseNow, isoSql } from '#src/db/moments.ts'
import { namesOfUsers } from '#src/identity/accounts.ts'
import { isId, readCursor, writeCursor } from '#src/lists/cursors.ts'

const RECIPIENTS_PAGE_SIZE = 50
const iso = (column: string) => sql.raw(isoSql(column))

interface Row {
  number: number
  id: string
  announcementId: string
  title: string
  state: StoredState
  isPaused: boolean
  problem: string | null
  filter: Broadcast['filter']
  holdBack: number
  starsEach: number | null
  starsMost: number | null
  madeBy: string | null
  madeAt: string
  sendAt: string | null
  endsAt: string | null
  startedAt: string | null
  doneAt: string | null
  isPlanned: boolean
  counts: Counts | null
}

const SELECT_BROADCASTS = sql`
  select number, id, announcement_id as "announcementId", title, state, is_paused as "isPaused", problem, filter::json as filter,
         hold_back as "holdBack", stars_each as "starsEach", stars_most as "starsMost", made_by as "madeBy", counts,
         planned_at is not null as "isPlanned", ${iso('made_at')} as "madeAt", ${iso('send_at')} as "sendAt",
         ${iso('ends_at')} as "endsAt", ${iso('started_at')} as "startedAt", ${iso('done_at')} as "doneAt"
    from broadcasts`

export interface Reading {
  database: Database
  /** Messages of all servers together in a second. */
  ratePerSecond: number
}

/** Returns a page of all broadcasts, newest first. */
export async function readBroadcasts(
  reading: Reading,
  { page, pageSize }: { page: number; pageSize: number },
): Promise<{ broadcasts: Broadcast[]; total: number }> {
  const { db } = reading.database
  const { rows } = await sql<Row>`
    ${SELECT_BROADCASTS} order by number desc limit ${pageSize} offset ${(page - 1) * pageSize}`.execute(db)
  const { rows: all } = await sql<{ total: number }>`select count(*) as total from broadcasts`.execute(db)
  return { broadcasts: await toBroadcasts(reading, rows), total: all[0]!.total }
}

export async function readBroadcast(reading: Reading, id: string): Promise<Broadcast | undefined> {
  const { rows } = await sql<Row>`${SELECT_BROADCASTS} where id = ${id}`.execute(reading.database.db)
  const [broadcast] = await toBroadcasts(reading, rows)
  return broadcast
}

async function toBroadcasts(reading: Reading, rows: readonly Row[]): Promise<Broadcast[]> {
  const { db } = reading.database
  const names = await namesOfUsers(
    db,
    rows.map(({ madeBy }) => madeBy),
  )
  const waiting = rows.some(({ state }) => state === 'sending') ? await findWaiting(db) : undefined
  const now = await databaseNow(db)
  const read: Broadcast[] = []
  for (const row of rows) read.push(await toBroadcast(reading, row, { waiting, now, madeBy: names.get(row.madeBy) ?? null }))
  return read
}

async function toBroadcast(
  { database: { db }, ratePerSecond }: Reading,
  row: Row,
  { waiting, now, madeBy }: { waiting: Waiting | undefined; now: Date; madeBy: string | null },
): Promise<Broadcast> {
  const counts = row.counts ?? (row.state === 'scheduled' ? {} : await countRecipients(db, row.number))
  const figures = figuresOf(counts, endingOf(row.state))
  const state = shownState(row, waiting !== undefined)
  const recent = row.state === 'sending' ? await countLastMinute(db, row.number) : undefined
  const isUnderWay = state === 'sending' || state === 'waiting'
  const waitsUntil = state === 'waiting' ? waiting : undefined
  const pace = Math.min(ratePerSecond, recent?.perSecond ?? ratePerSecond)
  return {
    id: row.id,
    announcementId: row.announcementId,
    title: row.title,
    state,
    isPlanned: row.isPlanned,
    filter: row.filter,
    holdBack: row.holdBack,
    ...(row.starsEach !== null &&
      row.starsMost !== null && {
        paid: { starsEach: row.starsEach, most: row.starsMost },
        starsSpent: costOf(figures.sent, row.starsEach),
      }),
    madeBy,
    madeAt: row.madeAt,
    ...given('sendAt', row.sendAt),
    ...given('startedAt', row.startedAt),
    ...given('doneAt', row.doneAt),
    ...figures,
    ...(waitsUntil && { waitingUntil: waitsUntil.until.toISOString(), waitingFor: waitsUntil.reason }),
    ...given('endsAt', row.endsAt),
    ...(isUnderWay &&
      row.isPlanned && {
        expectedAt: new Date(
          Math.max(now.getTime(), waitsUntil?.until.getTime() ?? 0) + (figures.pending / pace) * 1000,
        ).toISOString(),
      }),
    perMinute: recent?.count ?? 0,
    blocksPerThousand:
      Math.round((1000 * figures.refusedFor.blocked * 10) / Math.max(1, figures.sent + figures.refusedFor.blocked)) / 10,
    ...given('problem', row.problem),
  }
}

function given<Name extends string>(name: Name, value: string | null): { [Key in Name]?: string } {
  return (value === null ? {} : { [name]: value }) as { [Key in Name]?: string }
}

interface FoundRecipient extends Pick<Player, 'firstName' | 'lastName' | 'username'> {
  userId: number
  chunk: number
  outcome: number
  at: string | null
}

/** Returns recipients with one outcome in the order in which they were or are sent to; undefined if there is no such broadcast. */
export async function readRecipients(
  { database: { db } }: Pick<Reading, 'database'>,
  { id, outcome, after }: { id: string; outcome: RecipientOutcome; after?: string | undefined },
): Promise<{ recipients: BroadcastRecipient[]; after: string | null } | undefined> {
  const { rows: found } = await sql<Pick<Row, 'number' | 'state'>>`select number, state from broadcasts where id = ${id}`.execute(
    db,
  )
  const [broadcast] = found
  if (!broadcast) return undefined
  const cursorName = `broadcast:${id}:${outcome}`
  const [fromChunk, fromUser] = after === undefined ? [-1, 0] : readCursor<[number, number]>(after, cursorName, [isId, isId])
  const codes = codesOf(outcome)
  const { rows: chunks } = await sql<{ chunk: number; isDone: boolean }>`
    select chunk, done_at is not null as "isDone" from broadcast_chunks
     where broadcast = ${broadcast.number} and chunk >= ${fromChunk}
       and (leased_by is not null or counts::jsonb ?| ${codes.map(String)}::text[])
     order by chunk limit ${RECIPIENTS_PAGE_SIZE + 1}`.execute(db)
  // In a chunk that is done, pending recipients are those whose turn had not come when the broadcast ended.
  const done = chunks.filter(({ isDone }) => isDone).map(({ chunk }) => chunk)
  const pending = sql`(r.outcome = ${OUTCOMES.pending} and r.chunk = any(${done}::int[]))`
  const has =
    outcome === 'skipped'
      ? sql`(r.outcome = any(${codes}::int[]) or ${pending})`
      : sql`(r.outcome = any(${codes}::int[]) and not ${pending})`
  const { rows } = await sql<FoundRecipient>`
    select r.user_id as "userId", r.chunk, r.outcome, ${iso('r.at')} as at, first_name as "firstName", last_name as "lastName", username
      from broadcast_recipients r left join telegram_users t on t.user_id = r.user_id
     where r.broadcast = ${broadcast.number} and r.chunk = any(${chunks.map(({ chunk }) => chunk)}::int[])
       and (r.chunk, r.user_id) > (${fromChunk}::int, ${fromUser}::bigint) and ${has}
     order by r.chunk, r.user_id limit ${RECIPIENTS_PAGE_SIZE + 1}`.execute(db)
  const shown = rows.slice(0, RECIPIENTS_PAGE_SIZE)
  const last = rows.length > RECIPIENTS_PAGE_SIZE ? shown.at(-1) : undefined
  const nextChunk = chunks.length > RECIPIENTS_PAGE_SIZE ? chunks.at(-1)!.chunk + 1 : undefined
  const next = last ? [last.chunk, last.userId] : nextChunk === undefined ? undefined : [nextChunk, Number.MIN_SAFE_INTEGER]
  const ending = endingOf(broadcast.state) ?? 'ended'
  return {
    recipients: shown.map((row) => ({
      userId: row.userId,
      name: playerName(row),
      ...outcomeInWords(row.outcome, done.includes(row.chunk) ? ending : undefined),
      at: row.at,
    })),
    after: next ? writeCursor([cursorName, ...next]) : null,
  }
}
