/**
 * Design §9, with a million players and as many participations: searches whose matches grow with the players, against the fastest plan that
 * PostgreSQL has for them, and activating an announcement, which is news for all players. `--large` adds ten million players and compares
 * each of the console's requests with the same request over a tenth of the rows, with 10 connections (4 for counts), measured alternately.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { sql } from 'kysely'
import { aToZSql } from '../server/src/db/collations.ts'
import type { Database } from '../server/src/db/database.ts'
import { seeded, startFilledServer } from './consoles.ts'
import { type BenchServer, IS_LARGE, measure, type Measured, median, middle, report, ROUND_SECONDS, show } from './measuring.ts'
import { cursorAt } from './players.ts'
import { openPosting } from './posting.ts'

const GROWTH_BUDGET = 1.3
/** Smaller differences, in ms, are noise and have no bound. */
const SAME_MS = 1
const MILLION = 1_000_000
const ROUNDS = 3
const CONNECTIONS = 10
/** The player to search for, counted from the newest. The newest has a round number, which shares more trigrams with others. */
const TYPICAL_PLAYER = 1234
/** Design §9: activating an announcement, whatever the number of players. */
const NEWS_BUDGET_MS = 10
const ACTIVATIONS = 200
/** The server refuses more concurrent counts, so that they cannot use up its database. */
const COUNTS_AT_ONCE = 4
/** A search whose matches grow with the players → the plain statement that finds the ids of the same page. */
const growingSearches: Record<string, string> = {
  'search of a part of a username, hits grow with the players': `
    select user_id from telegram_users join balances using (user_id) where searched_text like '%moonQ77%'
     order by balance desc, user_id limit 6`,
  'search of a common name, A-Z': `
    select user_id from telegram_users where searched_text like '%kofi%' order by ${aToZSql('first_name')}, user_id limit 6`,
}
/** The settings that lead the planner to each of its plans: its own choice, along the order, and by the matches of the search. */
const planSettings = ['', 'set local enable_bitmapscan = off; set local enable_sort = off', 'set local enable_indexscan = off']
const sizes = IS_LARGE ? [MILLION, 10 * MILLION] : [MILLION]

interface Console {
  size: number
  server: BenchServer
  /** Name of a question → path of its request. */
  questions: Record<string, string>
}

const open: Console[] = []
try {
  for (const size of sizes) {
    const whole = await openConsole(size)
    open.unshift(whole)
    if (open.length > 1) for (const question of Object.keys(whole.questions)) await compareSizes(question, open)
    for (const [question, plain] of Object.entries(growingSearches)) await comparePlans(question, plain, whole)
    await reportNews(whole)
  }
} finally {
  for (const { server } of open) await server.stop()
}

async function openConsole(size: number): Promise<Console> {
  const server = await startFilledServer(seeded(size))
  await settle(server.database)
  return { size, server, questions: await questionsTo(server.database, size) }
}

/** @param consoles the measured console, and the one with a tenth of its rows */
async function compareSizes(question: string, consoles: Console[]): Promise<void> {
  const [ours, limit] = await askByTurns(question, consoles)
  const name = nameOf(question, consoles[0]!)
  show(name, ours!)
  const isBound = Math.abs(ours!.p50Ms - limit!.p50Ms) > SAME_MS
  const compared = { limit: limit!.p50Ms, ...(isBound && { atMost: GROWTH_BUDGET }) }
  report(`${name}: p50`, { ours: ours!.p50Ms, unit: 'ms', ...compared })
  report(`${name}: p99`, { ours: ours!.p99Ms, unit: 'ms' })
}

function nameOf(question: string, { size }: Console): string {
  return `${question}, ${size.toLocaleString('en')} players`
}

/** Compares one client's search with the plain statement, in the fastest of PostgreSQL's plans. */
async function comparePlans(question: string, plain: string, whole: Console): Promise<void> {
  const {
    server: { url, admin, database },
    questions,
  } = whole
  const path = questions[question]!
  const { p50Ms } = await measure({ url: url + path, headers: { cookie: admin.cookie }, connections: 1, seconds: ROUND_SECONDS })
  const plans: number[] = []
  for (const settings of planSettings) {
    const times: number[] = []
    for (let round = 0; round < ROUNDS; round += 1)
      await database.db.transaction().execute(async (tx) => {
        await sql.raw(`set local statement_timeout = '60s'; ${settings}`).execute(tx)
        const startedAt = performance.now()
        await sql.raw(plain).execute(tx)
        times.push(performance.now() - startedAt)
      })
    plans.push(median(times))
  }
  report(`${nameOf(question, whole)}: p50 of one client, to the fastest plan`, {
    ours: p50Ms,
    limit: Math.min(...plans),
    unit: 'ms',
  })
}

/** Measures the consoles alternately, so that other work of the machine slows all of them alike. */
async function askByTurns(question: string, consoles: Console[]): Promise<Measured[]> {
  const measured = consoles.map((): Measured[] => [])
  for (let round = 0; round < ROUNDS; round += 1)
    for (const [index, one] of consoles.entries()) measured[index]!.push(await ask(one, question))
  return measured.map(middle)
}

function ask({ server: { url, admin }, questions }: Console, question: string): Promise<Measured> {
  const path = questions[question]!
  const connections = path.includes('/count') ? COUNTS_AT_ONCE : CONNECTIONS
  return measure({ url: url + path, headers: { cookie: admin.cookie }, connections, seconds: ROUND_SECONDS })
}

/** Activates an announcement, which is news for every player, and deactivates it again, many times. */
async function reportNews({ size, server: { url, admin } }: Console): Promise<void> {
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
  report(`activating an announcement for ${size.toLocaleString('en')} players: median`, {
    ours: median(times),
    unit: 'ms',
    atMost: NEWS_BUDGET_MS,
  })
}

/** Waits until no vacuum of the filled tables runs. */
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
    'search of a part of a username, hits grow with the players': `${list}?search=moon_77`,
    'search without a hit': `${list}?search=zzqx`,
    'search of a common name': `${list}?search=kofi`,
    'search of a common name, A-Z': `${list}?search=kofi&sort=a-z`,
    'count of all players': `${list}/count`,
    'count of a common name': `${list}/count?search=kofi`,
    'history: participants': `/api/history/${items[0]?.kind}/${items[0]?.id}/participants`,
    'dashboard: figures': '/api/metrics',
    'dashboard: activity': '/api/activity?range=all',
    'dashboard: today': '/api/today',
  }
}
