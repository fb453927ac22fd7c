/**
 * Design §9: reading Telegram users with 1M players against the bare limit, with 10 connections. Each request asks a different question: a
 * page from a random position, a random player, a part of a random username. The bare limit runs the same prepared statement with the same
 * parameters. Half of all balances are 0, because ties are the hard part. The first page, which simultaneous requests share (ADR 11), and a
 * page near the end stand beside them. growth.bench.ts measures 10M players.
 */
import { parseArgs } from 'node:util'
import { playerList } from '@arcade/contract/players/fields'
import { playersHandlers } from '../server/src/features/players/players.ts'
import { cursorAt, type RandomPlayer, randomPlayers } from './players.ts'
import { generated, startFilledServer } from './consoles.ts'
import {
  type BenchServer,
  measure,
  type Measured,
  middle,
  report,
  reportRate,
  reportTail,
  ROUND_SECONDS,
  show,
  startBare,
  statementsOf,
  stopProcess,
} from './measuring.ts'

const P99_BUDGET_MS = 15 // for pages of 5 rows
const DEEP_BUDGET = 1.15
/**
 * For searches, as multiples of the median time in which the bare server reads 5 rows: 12 ms and 60 ms on a machine on which it takes 0.8 ms.
 */
const SEARCH_P50_BUDGET = 15
const SEARCH_P99_BUDGET = 75
const MILLION = 1_000_000
/** Players from whose positions pages are read, so that equal questions are seldom asked at the same time. */
const DIFFERENT = 1000
const ROUNDS = 3
const { values } = parseArgs({ options: { seconds: { type: 'string', default: String(ROUND_SECONDS) } } })
const load = { connections: 10, seconds: Number(values.seconds) }

const findStatement = statementsOf((database) => playersHandlers({ database }))

const pages = [
  { pageSize: 5, sort: 'balance', atLeast: 0.6 },
  { pageSize: 50, sort: 'balance', atLeast: 0.55 },
  { pageSize: 50, sort: 'a-z', atLeast: 0.6 },
] as const
const PLAYER_BUDGET = 0.35

const server = await startFilledServer(generated(MILLION))
try {
  const players = await randomPlayers(server.database, DIFFERENT)
  const bareMs: number[] = []
  for (const page of pages) bareMs.push(await comparePages(server, page, players))
  await comparePlayers(server, players)
  await reportSearches(server, players, bareMs[0]!)
} finally {
  await server.stop()
}

/** @returns the median time of the bare server, in milliseconds */
async function comparePages(
  running: BenchServer,
  { pageSize, sort, atLeast }: (typeof pages)[number],
  players: readonly RandomPlayer[],
): Promise<number> {
  const name = `${pageSize} rows by ${sort}`
  const path = `${running.url}/api/telegram-users?sort=${sort}&pageSize=${pageSize}`
  const positions = players.flatMap(({ positions: { [sort]: position } }) => (position.key === null ? [] : position))
  const deep = await cursorAt(running.database, sort, 999_900) // near the end of the list
  const bare = await startBare(
    running,
    findStatement(`${playerList.name}-${sort}-after-${pageSize}`),
    positions.map(({ key, id }) => [key, id]),
  )
  const urls = {
    limit: bare.url,
    ours: positions.map(({ cursor }) => `${path}&after=${cursor}`),
    first: path,
    deep: `${path}&after=${deep}`,
  }
  const { limit, ours, first, deep: deepPage } = await measureByTurns(running, urls)
  await stopProcess(bare.child)
  reportRate(`${name}, from different positions`, { ours, limit, atLeast })
  if (pageSize === 5) report(`${name}, from different positions: p99`, { ours: ours.p99Ms, unit: 'ms', atMost: P99_BUDGET_MS })
  else reportTail(`${name}, from different positions`, ours, limit)
  reportRate(`${name}, the first page for all, a shared read`, { ours: first, limit })
  const [own, best] = [deepPage.p50Ms, first.p50Ms]
  report(`${name}, page after 999,900 rows against the first: p50`, { ours: own, limit: best, unit: 'ms', atMost: DEEP_BUDGET })
  return limit.p50Ms
}

/** Compares a player's page with reading the player's row by its key. */
async function comparePlayers(running: BenchServer, players: readonly RandomPlayer[]): Promise<void> {
  const ids = players.map(({ id }) => id)
  const bare = await startBare(
    running,
    'select * from telegram_users join balances using (user_id) where user_id = $1',
    ids.map((id) => [id]),
  )
  const { limit, ours } = await measureByTurns(running, {
    limit: bare.url,
    ours: ids.map((id) => `${running.url}/api/telegram-users/${id}`),
  })
  await stopProcess(bare.child)
  reportRate('the pages of different players', { ours, limit, atLeast: PLAYER_BUDGET })
}

async function reportSearches(running: BenchServer, players: readonly RandomPlayer[], bareMs: number): Promise<void> {
  const searches = players.map(({ username }, index) => username.slice(0, 6 + (index % 6)))
  const { ours } = await measureByTurns(running, {
    ours: searches.map((search) => `${running.url}/api/telegram-users?search=${encodeURIComponent(search)}`),
  })
  const name = 'searches for 6 to 11 letters of different usernames'
  const toBare = (ms: number) => ({ ours: ms, limit: bareMs, ratio: ms / bareMs, unit: 'ms' })
  report(`${name}: p50, against 5 rows of the bare server`, { ...toBare(ours.p50Ms), atMost: SEARCH_P50_BUDGET })
  report(`${name}: p99, against the median of 5 rows of the bare server`, { ...toBare(ours.p99Ms), atMost: SEARCH_P99_BUDGET })
}

/** Measures the addresses by turns, so that other work of the machine slows all of them alike, and returns each one's middle round. */
async function measureByTurns<Name extends string>(
  { admin }: BenchServer,
  urls: Record<Name, string | readonly string[]>,
): Promise<Record<Name, Measured>> {
  const rounds = new Map<Name, Measured[]>()
  const entries = Object.entries(urls) as [Name, string | readonly string[]][]
  for (let round = 0; round < ROUNDS; round += 1)
    for (const [name, url] of entries) {
      const measured = await measure({ ...load, url, headers: { cookie: admin.cookie } })
      rounds.set(name, [...(rounds.get(name) ?? []), measured])
    }
  const found = entries.map(([name]) => [name, middle(rounds.get(name)!)] as const)
  for (const [name, measured] of found) show(name, measured)
  return Object.fromEntries(found) as Record<Name, Measured>
}
