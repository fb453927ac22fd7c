/**
 * Design §9: pages of Telegram users with 1M players against the bare limit, with 10 connections: 5 rows and 50 rows, the first page and a
 * deep one, in both orders. Half of all balances are 0, because ties are the hard part. growth.bench.ts measures 10M players.
 */
import { parseArgs } from 'node:util'
import { playerList } from '@arcade/contract/players/fields'
import { playersHandlers } from '../server/src/features/players/players.ts'
import { addPlayers, cursorAt } from './players.ts'
import {
  type BenchServer,
  type Measured,
  measure,
  report,
  reportRate,
  reportTail,
  show,
  startBare,
  startBenchServer,
  statementsOf,
  stopProcess,
} from './measuring.ts'

const RATIO_BUDGET = 0.75
const P99_BUDGET_MS = 15 // for pages of 5 rows
const DEEP_BUDGET = 1.15
const MILLION = 1_000_000
const { values } = parseArgs({ options: { seconds: { type: 'string', default: '5' } } })
const load = { connections: 10, seconds: Number(values.seconds) }

const findStatement = statementsOf((database) => playersHandlers({ database }))

const questions = [
  { pageSize: 5, sort: 'balance' },
  { pageSize: 50, sort: 'balance' },
  { pageSize: 50, sort: 'a-z' },
] as const

const server = await startBenchServer()
try {
  await addPlayers(server, 0, MILLION)
  await ask(server)
} finally {
  await server.stop()
}

async function ask(running: BenchServer): Promise<void> {
  for (const { pageSize, sort } of questions) {
    const name = `${pageSize} rows by ${sort}`
    const deep = await cursorAt(running.database, sort, 999_900) // near the end of the list
    const path = `${running.url}/api/telegram-users?sort=${sort}&pageSize=${pageSize}`
    const headers = { cookie: running.admin.cookie }
    const bare = await startBare(running, findStatement(`${playerList.name}-${sort}-first-${pageSize}`), [])
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
    show(`${name}: bare`, limit)
    show(`${name}: first page`, first)
    show(`${name}: page after 999,900 rows`, deepPage)
    reportRate(name, { ours: first, limit, atLeast: RATIO_BUDGET })
    if (pageSize === 5) report(`${name}: p99`, { ours: first.p99Ms, unit: 'ms', atMost: P99_BUDGET_MS })
    else reportTail(name, first, limit)
    const [ours, best] = [deepPage.p50Ms, first.p50Ms]
    report(`${name}, page after 999,900 rows against the first: p50`, { ours, limit: best, unit: 'ms', atMost: DEEP_BUDGET })
  }
}

function median(all: Measured[]): Measured {
  return all.toSorted((a, b) => a.requestsPerSecond - b.requestsPerSecond)[Math.floor(all.length / 2)]!
}
