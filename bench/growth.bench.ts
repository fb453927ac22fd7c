/**
 * Design §9: what the console's pages take with ten thousand, a hundred thousand, a million and (with `--large`) ten million players and as
 * many participations, 10 connections that ask the same (4 that count); the limit of each is the same question at a tenth of the rows, and from a million
 * on it is a bound. BENCH_DATA_DIR keeps the seeded consoles, a folder each, for the next time.
 */
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { sql } from 'kysely'
import { seed } from '../server/src/cli/seed.ts'
import { readCounters } from '../server/src/db/counters.ts'
import type { Database } from '../server/src/db/database.ts'
import { IS_LARGE, type Measured, measure, report, show, startBenchServer } from './harness.ts'
import { cursorAt } from './players.ts'

const GROWTH_BUDGET = 1.3
/** Differences of less are the machine's. */
const SAME_MS = 1
const MILLION = 1_000_000
const SECONDS = 5
/** A question that was not asked lately is read from the disk at first. */
const SECONDS_OF_WARMUP = 2
const CONNECTIONS = 10
/** Counted from the newest, whose number is rounder than others and shares more of its trigrams. */
const TYPICAL_PLAYER = 1234
/** The server refuses more, lest they take all of its database. */
const COUNTS_AT_ONCE = 4
const sizes = [10_000, 100_000, MILLION, ...(IS_LARGE ? [10 * MILLION] : [])]

const kept = process.env['BENCH_DATA_DIR']

let before = new Map<string, Measured>()
for (const size of sizes) {
  const measured = await measureAt(size)
  for (const [question, { p50Ms: ours, p99Ms }] of measured) {
    const limit = before.get(question)?.p50Ms
    const isBound = size > MILLION && limit !== undefined && Math.abs(ours - limit) > SAME_MS
    const name = `${question}, ${size.toLocaleString('en')}`
    report(`${name}: p50`, { ours, unit: 'ms', ...(limit !== undefined && { limit }), ...(isBound && { atMost: GROWTH_BUDGET }) })
    report(`${name}: p99`, { ours: p99Ms, unit: 'ms' })
  }
  before = measured
}

async function measureAt(size: number): Promise<Map<string, Measured>> {
  const server = await startBenchServer(kept === undefined ? {} : { DATA_DIR: join(kept, String(size)) })
  try {
    const { database, url, admin } = server
    const [players = 0] = await readCounters(database.db, [{ of: 'players' }])
    if (players < size) await seed({ database, telegramUsers: size, participations: size, log: (line) => console.log(line) })
    await settle(database)
    const results = new Map<string, Measured>()
    for (const [question, path] of Object.entries(await questions(database, size))) {
      const headers = { cookie: admin.cookie }
      const load = { url: url + path, headers, connections: path.includes('/count') ? COUNTS_AT_ONCE : CONNECTIONS }
      await measure({ ...load, seconds: SECONDS_OF_WARMUP })
      const measured = await measure({ ...load, seconds: SECONDS })
      show(`${size}, ${question}`, measured)
      results.set(question, measured)
    }
    return results
  } finally {
    await server.stop()
  }
}

/** Waits until tables that were filled are vacuumed. */
async function settle({ db }: Database): Promise<void> {
  for (let isBusy = true; isBusy; await pause(1000)) {
    const { rows } = await sql`select from pg_stat_progress_vacuum`.execute(db)
    isBusy = rows.length > 0
  }
}

async function questions(database: Database, size: number): Promise<Record<string, string>> {
  const { rows: items } = await sql<{ kind: string; id: string }>`
    select kind, item_id as id from participations group by kind, item_id order by count(*) desc limit 1`.execute(database.db)
  const { rows: players } = await sql<{ username: string }>`
    select username from telegram_users where username is not null order by user_id desc offset ${TYPICAL_PLAYER} limit 1`.execute(
    database.db,
  )
  const deep = await cursorAt(database, 'balance', size / 2)
  const list = '/api/telegram-users'
  return {
    'list of 5': list,
    'list of 50, A-Z': `${list}?sort=a-z&pageSize=50`,
    'deep page of 50': `${list}?pageSize=50&after=${deep}`,
    'search of a whole username': `${list}?search=${players[0]?.username}`,
    "search of a username's part, ten times as many players": `${list}?search=moon_77`,
    'search found nowhere': `${list}?search=zzqx`,
    'search of a common name': `${list}?search=kofi`,
    'search of a common name, A-Z': `${list}?search=kofi&sort=a-z`,
    'count of everybody': `${list}/count`,
    'count of a common name': `${list}/count?search=kofi`,
    'history: participants': `/api/history/${items[0]?.kind}/${items[0]?.id}/participants`,
    'dashboard: figures': '/api/metrics',
    'dashboard: activity': '/api/activity?range=all',
  }
}
