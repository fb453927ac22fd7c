/**
 * Design §9: searching 1M players, 10 connections. The budget is that of a username's part; the other terms are the hard ones: common,
 * short, of another script, found nowhere, together with an order that knows nothing of them and deep in the list.
 */
import { parseArgs } from 'node:util'
import { addPlayers } from './players.ts'
import { type BenchServer, measure, report, show, startBenchServer } from './harness.ts'

const BUDGET_MS = 50
const OTHERS_BUDGET_MS = 200
const MILLION = 1_000_000
const { values } = parseArgs({ options: { seconds: { type: 'string', default: '5' } } })
const load = { connections: 10, seconds: Number(values.seconds) }

const questions = [
  { name: "username's part, 111 players", query: { search: 'oon_7777' }, mostMs: BUDGET_MS },
  { name: 'whole username', query: { search: 'moon_123456' }, mostMs: BUDGET_MS },
  { name: 'found nowhere', query: { search: 'zzqx' }, mostMs: BUDGET_MS },
  { name: 'common: all million', query: { search: 'moon' } },
  { name: 'common, 50 a page', query: { search: 'example.org', pageSize: '50' } },
  { name: 'two letters', query: { search: 'sk' } },
  { name: 'one letter', query: { search: 'z' } },
  { name: 'Cyrillic name', query: { search: 'виктор' } },
  { name: 'Cyrillic name and number', query: { search: 'виктор40' } },
  { name: 'beginning of a wallet', query: { search: '0xabcd' } },
  { name: 'username reversed', query: { search: 'oon_7777', sort: 'username', reversed: 'true' } },
  { name: 'name in another part of the order', query: { search: 'lucía', sort: 'a-z' } },
  {
    name: 'ten such names at once, by ten people',
    isMedian: true,
    query: ['lucía', 'chidi', 'daria', 'ivan', 'sky', 'wei', 'lucia', 'виктор', 'chidi5', 'daria7'].map((search) => ({
      search,
      sort: 'a-z',
    })),
  },
  { name: 'part, by balance, deep', query: { search: 'oon_77' }, pagesDown: 40 },
  { name: 'wallet and balance, newest, deep', query: { wallet: 'bsc', balanceMin: '90000', sort: 'newest' }, pagesDown: 40 },
]

const server = await startBenchServer()
try {
  await addPlayers(server, 0, MILLION)
  for (const { name, query, mostMs = OTHERS_BUDGET_MS, pagesDown = 0, isMedian = false } of questions) {
    const url = Array.isArray(query)
      ? await Promise.all(query.map((one) => pageDown(server, one, pagesDown)))
      : await pageDown(server, query, pagesDown)
    const measured = await measure({ ...load, url, headers: { cookie: server.admin.cookie } })
    show(name, measured)
    if (isMedian) report(`${name}: median`, { ours: measured.p50Ms, unit: 'ms', atMost: mostMs })
    report(`${name}: p99`, { ours: measured.p99Ms, unit: 'ms', ...(!isMedian && { atMost: mostMs }) })
  }
} finally {
  await server.stop()
}

/** The address of a page so many pages after the first. */
async function pageDown({ url, admin }: BenchServer, query: Record<string, string>, pages: number): Promise<string> {
  const first = `${url}/api/telegram-users?${new URLSearchParams(query).toString()}`
  let page = first
  for (let down = 0; down < pages; down += 1) {
    const answer = await fetch(page, { headers: { cookie: admin.cookie } })
    const { after } = (await answer.json()) as { after: string | null }
    if (after === null) throw new Error(`${first} has only ${down + 1} pages`)
    page = `${first}&after=${after}`
  }
  return page
}
