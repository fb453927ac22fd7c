/**
 * Design §9: pages of Telegram users at 1M players against the bare limit, 10 connections: 5 rows, 50 rows with the total, first and deep,
 * both orders. `--large` goes on to 10M, which must stay within 1.3 × of 1M. Half of all balances are 0: ties are the hard part.
 */
import { parseArgs } from 'node:util'
import { sql } from 'kysely'
import type { Database } from '../server/src/db/database.ts'
import { telegramUsersHandlers } from '../server/src/features/telegram-users/telegram-users.ts'
import { type BenchServer, type Measured, measure, show, startBare, startBenchServer, stopProcess, verdict } from './harness.ts'

const RATIO_BUDGET = 0.6
const P99_BUDGET_MS = 15
const GROWTH_BUDGET = 1.3
const DEEP_BUDGET = 1.3
const MILLION = 1_000_000
const BATCH = 100_000 // within the pool's statement timeout
const { values } = parseArgs({
  options: { large: { type: 'boolean', default: false }, seconds: { type: 'string', default: '5' } },
})
const load = { connections: 10, seconds: Number(values.seconds) }

/** Statements as the server prepares them. */
const statements = new Map<string, string>()
const recorder = { prepared: (name: string, text: string) => void statements.set(name, text) }
telegramUsersHandlers({ database: recorder as unknown as Database })

const questions = [
  { pageSize: 5, sort: 'balance' },
  { pageSize: 50, sort: 'balance' },
  { pageSize: 50, sort: 'a-z' },
] as const

const server = await startBenchServer()
try {
  await addPlayers(server, 0, MILLION)
  const atMillion = await ask(server, '1M')
  if (values.large) {
    await addPlayers(server, MILLION, 10 * MILLION)
    const atTen = await ask(server, '10M')
    for (const [name, { p50Ms }] of atTen) {
      const growth = p50Ms / (atMillion.get(name)?.p50Ms ?? Number.NaN)
      verdict(`${name}: 10M ≤ ${GROWTH_BUDGET} × of 1M`, growth <= GROWTH_BUDGET, `× ${growth.toFixed(2)}`)
    }
  }
} finally {
  await server.stop()
}

/** Players of the sample's kind: gaps, names of many scripts, half of them without points. */
async function addPlayers({ database: { db } }: BenchServer, from: number, to: number): Promise<void> {
  const started = performance.now()
  for (let low = from; low < to; low += BATCH) {
    await sql`insert into telegram_users (user_id, created_at, first_name, last_name, username, twitter_username, email, phone_number, ton_wallet_address, bsc_wallet, balance)
      select 100000000 + n * 7919::bigint % 10000019, timestamptz '2026-01-01' + n * interval '1 second',
        case when n % 50 > 0 then (array['Åse', 'Sky', 'Daria', 'Chidi', 'Виктор', 'Ivan', 'محمد', 'Wei', 'Lucía'])[1 + n % 9] || n % 1000 end,
        case when n % 7 > 0 then 'Last' || n % 5000 end, 'moon_' || n, case when n % 2 = 0 then '@moon_' || n end,
        case when n % 3 = 0 then 'player' || n || '@example.org' end, case when n % 4 = 0 then '+62' || n end,
        case when n % 2 = 0 then 'UQ' || md5(n::text) end, case when n % 3 = 0 then '0x' || md5(n::text) end,
        case when n % 2 = 0 then 0 else floor(random() * 100000) end
      from generate_series(${sql.lit(low)}::bigint, ${sql.lit(low + BATCH - 1)}) n`.execute(db)
  }
  await sql`insert into counter_deltas (user_id, name, delta) values (0, 'telegramUsers', ${to - from})`.execute(db)
  await unhurried(db, 'vacuum (analyze) telegram_users')
  console.log(`${((to - from) / MILLION).toFixed(0)}M players added in ${((performance.now() - started) / 1000).toFixed(0)} s`)
}

/** Without the pool's statement timeout. */
async function unhurried(db: Database['db'], statement: string): Promise<void> {
  await db.connection().execute(async (connection) => {
    await sql`set statement_timeout = 0`.execute(connection)
    await sql.raw(statement).execute(connection)
    await sql`reset statement_timeout`.execute(connection)
  })
}

async function ask(running: BenchServer, size: string): Promise<Map<string, Measured>> {
  const results = new Map<string, Measured>()
  for (const { pageSize, sort } of questions) {
    const name = `${pageSize} rows by ${sort}`
    const deep = await deepCursor(running, sort)
    const path = `${running.url}/api/telegram-users?sort=${sort}&pageSize=${pageSize}`
    const headers = { cookie: running.admin.cookie }
    const bare = await startBare(running, statements.get(`telegram-users-${sort}-first-${pageSize}`) ?? '', [])
    const limits: Measured[] = []
    const firsts: Measured[] = []
    const deeps: Measured[] = []
    for (let round = 0; round < 3; round += 1) {
      limits.push(await measure({ ...load, url: bare.url }))
      firsts.push(await measure({ ...load, url: path, headers }))
      deeps.push(await measure({ ...load, url: `${path}&after=${deep}`, headers }))
    }
    await stopProcess(bare.child)
    const [limit, first, deepPage] = [median(limits), median(firsts), median(deeps)]
    show(`${size}, ${name}: bare`, limit)
    show(`${size}, ${name}: first page`, first)
    show(`${size}, ${name}: 1,000,000 rows down`, deepPage)
    const ratio = first.requestsPerSecond / limit.requestsPerSecond
    verdict(`${size}, ${name} ≥ ${RATIO_BUDGET * 100} % of bare`, ratio >= RATIO_BUDGET, `${(ratio * 100).toFixed(0)} %`)
    verdict(`${size}, ${name}: p99 ≤ ${P99_BUDGET_MS} ms`, first.p99Ms <= P99_BUDGET_MS, `${first.p99Ms.toFixed(1)} ms`)
    verdict(
      `${size}, ${name}: deep ≤ ${DEEP_BUDGET} × of first`,
      deepPage.p50Ms <= first.p50Ms * DEEP_BUDGET,
      `× ${(deepPage.p50Ms / first.p50Ms).toFixed(2)}`,
    )
    results.set(name, first)
  }
  return results
}

/** The cursor after which the 200,000th page of five begins, as the server would have given it. */
async function deepCursor({ database: { db } }: BenchServer, sort: 'balance' | 'a-z'): Promise<string> {
  const [key, order] =
    sort === 'balance'
      ? [sql`balance::text`, sql`balance desc, user_id`]
      : [sql`lower(first_name)`, sql`lower(first_name), user_id`]
  const { rows } = await sql<{ key: string | null; user_id: number }>`
    select ${key} as key, user_id from telegram_users order by ${order} offset 999900 limit 1`.execute(db)
  return Buffer.from(JSON.stringify([sort, rows[0]?.key, rows[0]?.user_id])).toString('base64url')
}

function median(all: Measured[]): Measured {
  return all.toSorted((a, b) => a.requestsPerSecond - b.requestsPerSecond)[Math.floor(all.length / 2)]!
}
