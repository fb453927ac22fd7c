/**
 * Design §9: the filters of segments over 1M players with two million participations: the count that an operator sees while editing one, and
 * pages in orders in which the matches are near, far or spread.
 */
import { sql } from 'kysely'
import { createMembership } from '../server/src/players/segments.ts'
import { generated, seeded, startFilledServer } from './consoles.ts'
import { type BenchServer, IS_LARGE, measure, percentile, report, ROUND_SECONDS, show } from './measuring.ts'
import { unhurried } from './players.ts'

const MILLION = 1_000_000
const PLAYERS = IS_LARGE ? 10 * MILLION : MILLION
const players = IS_LARGE ? seeded(PLAYERS) : generated(PLAYERS) // seeding is faster
/** The counts of one operator, who edits a filter. */
const COUNT_BUDGET_MS = IS_LARGE ? 1000 : 300
const PAGE_BUDGET_MS = 200
const MEMBERSHIP_BUDGET_MS = 20
const BATCH = 200_000

const groups = JSON.stringify([{ tookPart: 'social:half' }, { has: 'email,phone', seenDays: 7 }])
const rareGroups = JSON.stringify([{ tookPart: 'social:few' }, { has: 'email,phone', seenDays: 1, notTookPart: 'social:half' }])

/** The filters; a different lower bound of the balance makes each request a different question. */
const filters: Readonly<Record<string, Record<string, string>>> = {
  'took part, 1 in 2': { tookPart: 'social:half' },
  'took part, 1 in 1,000': { tookPart: 'social:few' },
  'did not take part, 1 in 1,000': { notTookPart: 'social:nearly' },
  'seen within 7 days, 1 in 9': { seenDays: '7' },
  'seen within a day, 1 in 60': { seenDays: '1' },
  'cannot be reached, 1 in 10': { reach: 'unreachable' },
  'can be reached, has a wallet, seen within 30 days': { reach: 'reachable', has: 'wallet', seenDays: '30' },
  'has e-mail, phone and both wallets, took part, 1 in 2,000': {
    has: 'email,phone,ton,bsc',
    tookPart: 'social:poor',
    notTookPart: 'social:nearly',
  },
  'two groups, 1 in 2': { any: groups },
  'two groups, 1 in 500': { any: rareGroups },
}

const server = await startFilledServer({ name: `active-${PLAYERS}`, after: players, fill: addActivity })
try {
  const load = { seconds: ROUND_SECONDS, headers: { cookie: server.admin.cookie } }
  const url = (path: string, query: Record<string, string>): string[] =>
    Array.from(
      { length: 500 },
      (_, n) =>
        `${server.url}/api/telegram-users${path}?${new URLSearchParams({ ...query, balanceMin: String(-n - 1) }).toString()}`,
    )
  for (const [name, filter] of Object.entries(filters)) {
    const counted = await measure({ ...load, connections: 1, url: url('/count', filter) })
    show(`count: ${name}`, counted)
    report(`count: ${name}: p99`, { ours: counted.p99Ms, unit: 'ms', atMost: COUNT_BUDGET_MS })
  }
  for (const sort of ['balance', 'a-z', 'newest'])
    for (const [name, filter] of Object.entries(filters)) {
      const paged = await measure({ ...load, connections: 2, url: url('', { ...filter, sort, pageSize: '25' }) })
      show(`${sort}: ${name}`, paged)
      report(`25 rows by ${sort}: ${name}: p99`, { ours: paged.p99Ms, unit: 'ms', atMost: PAGE_BUDGET_MS })
    }
  await measureMembership()
} finally {
  await server.stop()
}

/** Participations, visits and refused messages of the players. The players of `poor` are the ones without points. */
async function addActivity({ database: { db } }: BenchServer): Promise<void> {
  const { rows } = await sql<{
    low: string
    high: string
  }>`select min(user_id) as low, max(user_id) as high from telegram_users`.execute(db)
  const { low, high } = rows[0]!
  for (let from = Number(low); from <= Number(high); from += BATCH) {
    const within = sql`from telegram_users join balances using (user_id) where user_id >= ${from} and user_id < ${from + BATCH}`
    await sql`insert into participations (user_id, kind, item_id, period, at)
      select user_id, 'social', item, '', now() - user_id % 400 * interval '1 day' from (select user_id, balance ${within}) as player,
        lateral (values ('half', user_id % 2 = 0), ('few', user_id % 1000 = 7), ('nearly', user_id % 1000 <> 8), ('poor', balance = 0)) as done (item, is_done)
       where is_done`.execute(db)
    await sql`insert into player_visits (user_id, seen_at)
      select user_id, now() - user_id % 61 * interval '1 day' ${within} and user_id % 10 > 0`.execute(db)
    await sql`insert into player_messages (user_id, unreachable_at) select user_id, now() ${within} and user_id % 10 = 3`.execute(
      db,
    )
  }
  await unhurried(db, 'vacuum (analyze) participations, player_visits, player_messages')
}

/** Asks for one player after the other, as claims of an item for a segment do. */
async function measureMembership(): Promise<void> {
  const { db } = server.database
  const address = new URLSearchParams({ any: groups, reach: 'reachable', balanceMin: '0' }).toString()
  await db.insertInto('saved_views').values({ id: 'segment', list: 'telegramUsers', name: 'Segment', address }).execute()
  const isMember = createMembership(server.database)
  const { rows } = await sql<{ id: number }>`select user_id as id from telegram_users order by random() limit 2000`.execute(db)
  const times: number[] = []
  for (const { id } of rows) {
    const started = performance.now()
    await isMember(id, ['segment'])
    times.push(performance.now() - started)
  }
  report('whether a player belongs to a segment: median', { ours: percentile(times, 0.5), unit: 'ms' })
  report('whether a player belongs to a segment: p99', {
    ours: percentile(times, 0.99),
    unit: 'ms',
    atMost: MEMBERSHIP_BUDGET_MS,
  })
}
