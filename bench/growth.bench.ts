/**
 * Design §9: what the console's pages take with ten thousand, a hundred thousand, a million and (with `--large`) ten million players and as
 * many participations, 10 connections that ask the same (4 that count); the limit of each is the same question at a tenth of the rows, asked by
 * turns, and from a million on it is a bound. Also how long it takes to tell all players that there is news. BENCH_DATA_DIR keeps the seeded consoles, a folder each, for the next time.
 */
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { sql } from 'kysely'
import { seed } from '../server/src/import/seed.ts'
import { readCounters } from '../server/src/counters/counters.ts'
import type { Database } from '../server/src/db/database.ts'
import { type BenchServer, IS_LARGE, type Measured, measure, median, middle, report, show, startBenchServer } from './harness.ts'
import { cursorAt } from './players.ts'
import { openPosting } from './posting.ts'

const GROWTH_BUDGET = 1.3
/** Differences of less are the machine's. */
const SAME_MS = 1
const MILLION = 1_000_000
const ROUNDS = 3
const SECONDS = 2 // a round
/** A question that was not asked lately is read from the disk at first. */
const SECONDS_OF_WARMUP = 2
const CONNECTIONS = 10
/** Counted from the newest, whose number is rounder than others and shares more of its trigrams. */
const TYPICAL_PLAYER = 1234
/** Design §9: the status update of all players. */
const NEWS_BUDGET_MS = 10
const ACTIVATIONS = 200
/** The server refuses more, lest they take all of its database. */
const COUNTS_AT_ONCE = 4
const sizes = [10_000, 100_000, MILLION, ...(IS_LARGE ? [10 * MILLION] : [])]

const kept = process.env['BENCH_DATA_DIR']

interface Console {
  size: number
  server: BenchServer
  /** The paths that are asked for, by what they ask. */
  questions: Record<string, string>
}

const open: Console[] = []
try {
  for (const size of sizes) {
    const whole = await openConsole(size)
    open.unshift(whole)
    for (const question of Object.keys(whole.questions)) await compare(question, open)
    await tellNews(whole)
    if (open.length > 1) await open.pop()?.server.stop()
  }
} finally {
  for (const { server } of open) await server.stop()
}

async function openConsole(size: number): Promise<Console> {
  const server = await startBenchServer(kept === undefined ? {} : { DATA_DIR: join(kept, String(size)) })
  const { database } = server
  const [players = 0] = await readCounters(database.db, [{ of: 'players' }])
  if (players < size) await seed({ database, telegramUsers: size, participations: size, log: (line) => console.log(line) })
  await settle(database)
  return { size, server, questions: await questionsTo(database, size) }
}

/** @param consoles the one that is measured, and that of a tenth of its rows */
async function compare(question: string, consoles: Console[]): Promise<void> {
  const [ours, limit] = await askByTurns(question, consoles)
  const { size } = consoles[0]!
  const name = `${question}, ${size.toLocaleString('en')}`
  show(name, ours!)
  const isBound = size > MILLION && limit !== undefined && Math.abs(ours!.p50Ms - limit.p50Ms) > SAME_MS
  const compared = limit && { limit: limit.p50Ms, ...(isBound && { atMost: GROWTH_BUDGET }) }
  report(`${name}: p50`, { ours: ours!.p50Ms, unit: 'ms', ...compared })
  report(`${name}: p99`, { ours: ours!.p99Ms, unit: 'ms' })
}

/** What the machine does meanwhile slows down one as much as another. */
async function askByTurns(question: string, consoles: Console[]): Promise<Measured[]> {
  for (const one of consoles) await ask(one, question, SECONDS_OF_WARMUP)
  const measured = consoles.map((): Measured[] => [])
  for (let round = 0; round < ROUNDS; round += 1)
    for (const [index, one] of consoles.entries()) measured[index]!.push(await ask(one, question, SECONDS))
  return measured.map(middle)
}

function ask({ server: { url, admin }, questions }: Console, question: string, seconds: number): Promise<Measured> {
  const path = questions[question]!
  const connections = path.includes('/count') ? COUNTS_AT_ONCE : CONNECTIONS
  return measure({ url: url + path, headers: { cookie: admin.cookie }, connections, seconds })
}

/** An announcement is activated, which is news for every player, and made inactive again, one call after the other. */
async function tellNews({ size, server: { url, admin } }: Console): Promise<void> {
  const { post, close } = await openPosting(url)
  const headers = { cookie: admin.cookie, origin: url, 'content-type': 'application/json' }
  const announcement = { type: 'desc', title: 'Bench', subtitle: 'S', description: 'News', reward: 0 }
  const { id } = (await post('/api/announcements', headers, announcement)) as { id: string }
  const times: number[] = []
  for (let turn = 0; turn < ACTIVATIONS; turn += 1) {
    const startedAt = performance.now()
    await post(`/api/announcements/${id}/status`, headers, { status: false })
    times.push(performance.now() - startedAt)
    await post(`/api/announcements/${id}/status`, headers, { status: true })
  }
  close()
  report(`an announcement activated for ${size.toLocaleString('en')} players: median`, {
    ours: median(times),
    unit: 'ms',
    atMost: NEWS_BUDGET_MS,
  })
}

/** Waits until tables that were filled are vacuumed. */
async function settle({ db }: Database): Promise<void> {
  for (let isBusy = true; isBusy; await pause(1000)) {
    const { rows } = await sql`select from pg_stat_progress_vacuum`.execute(db)
    isBusy = rows.length > 0
  }
}

async function questionsTo(database: Database, size: number): Promise<Record<string, string>> {
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
