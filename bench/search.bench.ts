/**
 * Design §9: searching 1M players, with 10 connections. The budget is for a part of a username. The other terms are harder: common, short,
 * in another script, without hits, with hits far down in the order, or deep in the list.
 */
import { parseArgs } from 'node:util'
import { addPlayers } from './players.ts'
import { type BenchServer, measure, report, show, startBenchServer } from './measuring.ts'

const BUDGET_MS = 50
const OTHERS_BUDGET_MS = 200
const MILLION = 1_000_000
const { values } = parseArgs({ options: { seconds: { type: 'string', default: '5' } } })
const load = { connections: 10, seconds: Number(values.seconds) }

const questions = [
  { name: 'part of a username, 111 hits', query: { search: 'oon_7777' }, mostMs: BUDGET_MS },
  { name: 'whole username', query: { search: 'moon_123456' }, mostMs: BUDGET_MS },
  { name: 'no hits', query: { search: 'zzqx' }, mostMs: BUDGET_MS },
  { name: 'common term, 1,000,000 hits', query: { search: 'moon' } },
  { name: 'common term, 50 rows a page', query: { search: 'example.org', pageSize: '50' } },
  { name: 'two letters', query: { search: 'sk' } },
  { name: 'one letter', query: { search: 'z' } },
  { name: 'Cyrillic name', query: { search: 'виктор' } },
  { name: 'Cyrillic name and number', query: { search: 'виктор40' } },
  { name: 'beginning of a wallet', query: { search: '0xabcd' } },
  { name: 'part of a username, by username reversed', query: { search: 'oon_7777', sort: 'username', reversed: 'true' } },
  { name: 'name with hits far down the order, A-Z', query: { search: 'lucía', sort: 'a-z' } },
  {
    name: 'ten such names at once, another on each connection',
    isMedian: true,
    query: ['lucía', 'chidi', 'daria', 'ivan', 'sky', 'wei', 'lucia', 'виктор', 'chidi5', 'daria7'].map((search) => ({
      search,
      sort: 'a-z',
    })),
  },
  { name: 'part of a username, by balance, page 41', query: { search: 'oon_77' }, pagesDown: 40 },
  {
    name: 'filter by wallet and balance, newest first, page 41',
    query: { wallet: 'bsc', balanceMin: '90000', sort: 'newest' },
    pagesDown: 40,
  },
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

/** Returns the address of the page that comes `pages` pages after the first. */
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
