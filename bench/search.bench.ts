/**
 * Design §9: searching 1M players, with 10 connections, each request for another text or from another position. The budget is for a part of a
 * username. The other terms are harder: common, short, in another script, without hits, with hits far down in the order, or deep in the
 * list.
 */
import { parseArgs } from 'node:util'
import { randomPlayers } from './players.ts'
import { generated, startFilledServer } from './consoles.ts'
import { type BenchServer, measure, report, ROUND_SECONDS, show } from './measuring.ts'

const BUDGET_MS = 50
const OTHERS_BUDGET_MS = 200
const MILLION = 1_000_000
const { values } = parseArgs({ options: { seconds: { type: 'string', default: String(ROUND_SECONDS) } } })
const load = { connections: 10, seconds: Number(values.seconds) }

/** Requests of a question, so that equal ones are seldom made at the same time. */
const DIFFERENT = 1000

interface Question {
  name: string
  /** The query of the n-th request. */
  query: (n: number) => Record<string, string>
  /** Where the pages begin; by default they are the first ones. */
  from?: 'random positions by balance' | 'positions A-Z before the hits' | 'page 41'
  mostMs?: number
  isMedian?: boolean
}

const lettersOf = (n: number): string =>
  Array.from({ length: 4 }, (_, at) => 'bcdfghjkqxz'[Math.floor(n / 11 ** at) % 11]).join('')
const NAMES = ['lucía', 'chidi', 'daria', 'ivan', 'sky', 'wei', 'lucia', 'виктор', 'chidi5', 'daria7']

const questions: readonly Question[] = [
  { name: 'parts of usernames, 111 hits', query: (n) => ({ search: `oon_${7000 + n}` }), mostMs: BUDGET_MS },
  { name: 'whole usernames', query: (n) => ({ search: `moon_${100_000 + n * 7}` }), mostMs: BUDGET_MS },
  { name: 'no hits', query: (n) => ({ search: `zq${lettersOf(n)}` }), mostMs: BUDGET_MS },
  { name: 'common term, 1,000,000 hits', query: () => ({ search: 'moon' }), from: 'random positions by balance' },
  {
    name: 'common term, 50 rows a page',
    query: () => ({ search: 'example.org', pageSize: '50' }),
    from: 'random positions by balance',
  },
  { name: 'two letters', query: () => ({ search: 'sk' }), from: 'random positions by balance' },
  { name: 'one letter', query: () => ({ search: 'z' }), from: 'random positions by balance' },
  { name: 'Cyrillic name', query: () => ({ search: 'виктор' }), from: 'random positions by balance' },
  { name: 'Cyrillic name and number', query: (n) => ({ search: `виктор${n}` }) },
  { name: 'beginnings of wallets', query: (n) => ({ search: `0x${(0xa000 + n * 7).toString(16)}` }) },
  {
    name: 'parts of usernames, by username reversed',
    query: (n) => ({ search: `oon_${7000 + n}`, sort: 'username', reversed: 'true' }),
  },
  {
    name: 'name with hits far down the order, A-Z, from different positions',
    query: () => ({ search: 'lucía', sort: 'a-z' }),
    from: 'positions A-Z before the hits',
  },
  {
    name: 'names with hits far down the order, A-Z, each of ten for one connection',
    query: (n) => ({ search: NAMES[n % NAMES.length]!, sort: 'a-z' }),
    isMedian: true,
  },
  {
    name: 'parts of usernames, by balance, from different positions',
    query: (n) => ({ search: `oon_${10 + (n % 90)}` }),
    from: 'random positions by balance',
  },
  {
    name: 'filter by wallet and different balances, newest first, page 41',
    query: (n) => ({ wallet: 'bsc', balanceMin: String(90_000 + n), sort: 'newest' }),
    from: 'page 41',
  },
]

const server = await startFilledServer(generated(MILLION))
try {
  const players = await randomPlayers(server.database, DIFFERENT)
  const byBalance = players.map(({ positions }) => positions.balance.cursor)
  const beforeHits = players.flatMap(
    ({
      positions: {
        'a-z': { key, cursor },
      },
    }) => (key !== null && key < 'l' ? cursor : []),
  )
  for (const { name, query, from, mostMs = OTHERS_BUDGET_MS, isMedian = false } of questions) {
    const cursors =
      from === 'page 41'
        ? [await cursorAfter(server, query(0), 40)]
        : from === 'positions A-Z before the hits'
          ? beforeHits
          : byBalance
    const url = Array.from({ length: DIFFERENT }, (_, n) =>
      addressOf(server, { ...query(n), ...(from !== undefined && { after: cursors[n % cursors.length]! }) }),
    )
    const measured = await measure({ ...load, url, headers: { cookie: server.admin.cookie } })
    show(name, measured)
    if (isMedian) report(`${name}: median`, { ours: measured.p50Ms, unit: 'ms', atMost: mostMs })
    report(`${name}: p99`, { ours: measured.p99Ms, unit: 'ms', ...(!isMedian && { atMost: mostMs }) })
  }
} finally {
  await server.stop()
}

function addressOf({ url }: BenchServer, query: Record<string, string>): string {
  return `${url}/api/telegram-users?${new URLSearchParams(query).toString()}`
}

/** Returns the cursor after the first `pages` pages. */
async function cursorAfter(running: BenchServer, query: Record<string, string>, pages: number): Promise<string> {
  let after: string | null = null
  for (let page = 0; page < pages; page += 1) {
    const answer: Response = await fetch(addressOf(running, { ...query, ...(after !== null && { after }) }), {
      headers: { cookie: running.admin.cookie },
    })
    after = ((await answer.json()) as { after: string | null }).after
    if (after === null) throw new Error(`${query['search'] ?? 'the filter'} has only ${page + 1} pages`)
  }
  return after!
}
