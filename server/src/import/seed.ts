/**
 * `npm run seed -- --telegram-users N --participants N` (design §8): makes synthetic players and participations inside PostgreSQL. The same
 * numbers always give the same rows; rows that exist already stay.
 */
import { CompiledQuery, sql } from 'kysely'
import { type ActivityDeltas, beginActivity, addParticipationCount, addPlayerCount } from '#src/counters/activity.ts'
import type { BalanceBucket } from '#src/counters/counter-keys.ts'
import { addDelta, addToCounters, foldCounters } from '#src/counters/counters.ts'
import { databaseNow } from '#src/db/moments.ts'
import type { Database } from '#src/db/database.ts'
import type { HistoryKind } from '@arcade/contract/history/fields'
import { keepReserve } from './disk-reserve.ts'
import { inLargePortions, vacuum } from './import-vacuum.ts'
import { tasksWriter, writeAnnouncements } from './import-write.ts'
import { seedAnnouncements, seedTasks } from './seed-items.ts'
import { balancesSql, participationsSql, telegramUsersSql } from './seed-rows.ts'

export interface SeedOptions {
  database: Database
  /** The least number of synthetic players that the database has afterwards. */
  telegramUsers: number
  /** The least number of synthetic participations that the database has afterwards. Items are made if there are none. */
  participations: number
  log?: (line: string) => void
}

/** The numbers of rows that were added. */
export interface SeedReport {
  telegramUsers: number
  participations: number
  seconds: number
}

/** Ids of synthetic players start after this number: it lies above 2^52, where Telegram's ids end (Bot API, User.id), and below 2^53. */
export const SEED_BASE = 5_000_000_000_000_000

/** Rows that one statement inserts. A stopped command keeps its finished statements, and the next run does not repeat them. */
const CHUNK_ROWS = 50_000
/** Bytes that a chunk may write to disk, including indexes and PostgreSQL's write-ahead log. */
const CHUNK_WRITES_BYTES = 64 * 1024 * 1024
/** Connections that insert at the same time: PostgreSQL works with one process for each, so two use two cores. */
const LANES = 2
const VACUUM_EVERY_ROWS = 1_000_000
const HOUR_MS = 3_600_000

export async function seed({ database, telegramUsers, participations, log = () => {} }: SeedOptions): Promise<SeedReport> {
  const start = performance.now()
  const today = new Date((await databaseNow(database.db)).setUTCHours(0, 0, 0, 0)).toISOString()
  const context = { database, log, today }
  const report = { telegramUsers: 0, participations: 0, seconds: 0 }
  if (telegramUsers > 0) report.telegramUsers = await seedTelegramUsers(context, telegramUsers)
  if (participations > 0) report.participations = await seedParticipations(context, participations)
  await foldCounters(database)
  report.seconds = (performance.now() - start) / 1000
  log(`Done in ${report.seconds.toFixed(1)} s`)
  return report
}

interface Context {
  database: Database
  log: (line: string) => void
  /** The last midnight UTC. Seeded rows have times within the twelve months before it. */
  today: string
}

/** The rows numbered `from` to `to`, both included. Existing rows stay as they are. */
interface Chunk {
  from: number
  to: number
  /** Adds `rows` rows of the hour `at` to the counter deltas. */
  count: (activity: ActivityDeltas, at: Date, rows: number) => void
  sql: string
  /** Statements that insert the same rows' data into other tables; that of balances returns their buckets. */
  otherTables?: readonly string[]
  params: unknown[]
}

async function seedTelegramUsers(context: Context, total: number): Promise<number> {
  const parts = ranges(total).map((range) => ({
    ...range,
    count: addPlayerCount,
    sql: telegramUsersSql,
    otherTables: balancesSql,
    params: [SEED_BASE, context.today],
  }))
  return insertChunks(context, { tables: ['telegram_users', 'balances', 'ledger_entries'], noun: 'players', chunks: parts })
}

async function seedParticipations(context: Context, total: number): Promise<number> {
  const items = await ensureItems(context)
  const chunks = shares(items.length, total).flatMap((share, index): Chunk[] => {
    const { kind, id } = items[index]!
    return ranges(share).map((range) => ({
      ...range,
      count: (activity, at, rows) => addParticipationCount(activity, { kind, itemId: id }, at, rows),
      sql: participationsSql,
      params: [SEED_BASE, context.today, kind, id],
    }))
  })
  return insertChunks(context, { tables: ['participations'], noun: 'participations', chunks })
}

async function insertChunks(
  { database, log }: Context,
  work: { tables: string[]; noun: string; chunks: Chunk[] },
): Promise<number> {
  const { tables, noun, chunks } = work
  const start = performance.now()
  const waiting = [...chunks]
  let added = 0
  let sinceVacuum = 0
  const lane = async (): Promise<void> => {
    for (let chunk = waiting.shift(); chunk; chunk = waiting.shift()) {
      await keepReserve(database, { done: `${added} ${noun}`, batchBytes: LANES * CHUNK_WRITES_BYTES })
      const rows = await insertChunk(database, chunk)
      added += rows
      sinceVacuum += rows
      if (sinceVacuum >= VACUUM_EVERY_ROWS && waiting.length > 0) {
        sinceVacuum = 0
        log(`${added} ${noun} added …`)
        await vacuum(database, tables, log)
      }
    }
  }
  const lanes = await Promise.allSettled(Array.from({ length: LANES }, lane))
  for (const ended of lanes) if (ended.status === 'rejected') throw ended.reason
  if (added > 0) await vacuum(database, tables, log)
  const seconds = (performance.now() - start) / 1000
  log(`${added} ${noun} added in ${seconds.toFixed(1)} s (${Math.round(added / seconds)} rows/s)`)
  return added
}

async function insertChunk(database: Database, { from, to, count, sql: text, otherTables = [], params }: Chunk): Promise<number> {
  return database.transaction(async (tx) => {
    await inLargePortions(tx)
    const query: CompiledQuery<{ hour: number }> = CompiledQuery.raw(text, [from, to, ...params])
    const { rows } = await tx.executeQuery(query)
    const activity = await beginActivity(tx)
    for (const one of otherTables) {
      const opening: CompiledQuery<{ bucket: BalanceBucket }> = CompiledQuery.raw(one, [from, to, ...params])
      const { rows: opened } = await tx.executeQuery(opening)
      for (const { bucket } of opened) addDelta(activity.deltas, { of: 'balances', bucket }, 1)
    }
    const hours = Map.groupBy(rows, ({ hour }) => hour)
    for (const [hour, added] of hours) count(activity, new Date(hour * HOUR_MS), added.length)
    await addToCounters(tx, activity.deltas)
    return rows.length
  })
}

function ranges(total: number): { from: number; to: number }[] {
  return Array.from({ length: Math.ceil(total / CHUNK_ROWS) }, (_, index) => ({
    from: index * CHUNK_ROWS + 1,
    to: Math.min(total, (index + 1) * CHUNK_ROWS),
  }))
}

/** Distributes `total` by Zipf's law: the first item gets a quarter to a third of it, the last ones a few percent. */
export function shares(items: number, total: number): number[] {
  const weights = Array.from({ length: items }, (_, index) => 1 / (index + 1))
  const sum = weights.reduce((all, weight) => all + weight, 0)
  const parts = weights.map((weight) => Math.floor((weight / sum) * total))
  const rest = total - parts.reduce((all, part) => all + part, 0)
  return parts.map((part, index) => (index === 0 ? part + rest : part))
}

interface HistoryItem {
  kind: HistoryKind
  id: string
}

/** Returns all history documents in an order that looks shuffled and is always the same. */
async function ensureItems({ database, log, today }: Context): Promise<HistoryItem[]> {
  const created = await database.transaction(async (tx) => {
    // The lock makes a second command at the same time see the items that the first one made.
    await sql`lock table history_items in share row exclusive mode`.execute(tx)
    const found = await tx.selectFrom('history_items').select('item_id').limit(1).executeTakeFirst()
    if (found) return false
    for (const collection of ['social', 'daily'] as const) await tasksWriter(collection)(tx, seedTasks(collection, today))
    await writeAnnouncements(tx, seedAnnouncements(today))
    return true
  })
  if (created) log('There was no task and no announcement: 12 social tasks, 7 daily tasks and 9 announcements added')
  const { rows } =
    await sql<HistoryItem>`select kind, item_id as id from history_items order by md5(kind || ' ' || item_id)`.execute(
      database.db,
    )
  return rows
}
