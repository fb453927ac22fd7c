/**
 * Times of requests on one PostgreSQL and on a Citus cluster, by the number of shards. docs/scaling.md has the results. Needs CITUS_URL,
 * the address of the cluster's coordinator. Requests are sent one after another, so that their times include no waiting for each other.
 * Claims and searches are also sent by several clients at once.
 */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { sql } from 'kysely'
import { checkConsole } from '../server/src/cli/check.ts'
import { distributeTables } from '../server/src/cli/distribute.ts'
import { importDirectory } from '../server/src/import/import.ts'
import { SEED_BASE, seed } from '../server/src/import/seed.ts'
import { foldCounters } from '../server/src/counters/counters.ts'
import { DISTRIBUTED_TABLES } from '../server/src/postgres/citus.ts'
import { diskStore } from '../server/src/files/disk.ts'
import { createClusterDatabase, dropClusterDatabase } from '../server/test/citus.ts'
import { withDatabase } from '../server/test/test-server.ts'
import { type Claiming, claimUntil, prepareClaiming } from './claiming.ts'
import { type BenchServer, median, startBenchServer } from './measuring.ts'

const { values } = parseArgs({
  options: {
    players: { type: 'string', default: '1000000' },
    shards: { type: 'string', default: '1,8,32' },
    seconds: { type: 'string', default: '3' },
  },
})
const players = Number(values.players)
const IMPORTED = 10_000
const clients = [1, 4, 16] as const
/** Enough tasks that few claims are repeats. */
const CLAIMED_TASKS = 1000
const SEARCHED_FROM = 10_000

/** Question → its cost, in ms unless the question names another unit. */
type Costs = Map<string, string>

const clusterUrl = process.env['CITUS_URL']
if (clusterUrl === undefined) console.log('Left out: CITUS_URL names no cluster.')
else await compare(clusterUrl)

async function compare(cluster: string): Promise<void> {
  const name = `arcade_bench_${process.pid}`
  await createClusterDatabase(cluster, name)
  const server = await startBenchServer({ DATABASE_URL: withDatabase(cluster, name) })
  const columns = new Map<string, Costs>()
  try {
    const { database } = server
    await seed({ database, telegramUsers: players, participations: players, log: (line) => console.log(line) })
    const claiming = await prepareClaiming(database, CLAIMED_TASKS)
    columns.set('one PostgreSQL', await ask(server, claiming))
    for (const shards of values.shards.split(',').map(Number)) {
      const started = performance.now()
      if (columns.size === 1) await distributeTables(database, shards, (line) => console.log(line))
      else await changeShardCount(server, shards)
      await analyze(server)
      console.log(`${shards} shards after ${((performance.now() - started) / 1000).toFixed(0)} s`)
      columns.set(`${shards} shards`, await ask(server, claiming))
    }
    print(columns)
  } finally {
    await server.stop()
    await dropClusterDatabase(cluster, name)
  }
}

async function changeShardCount({ database }: BenchServer, shards: number): Promise<void> {
  const client = await database.connect('bench')
  await client.query(`select alter_distributed_table('telegram_users', shard_count => ${shards}, cascade_to_colocated => true)`)
  await client.end()
}

async function analyze({ database }: BenchServer): Promise<void> {
  const client = await database.connect('bench')
  for (const table of DISTRIBUTED_TABLES) await client.query(`vacuum (analyze) ${table}`)
  await client.end()
}

async function ask(server: BenchServer, claiming: Pick<Claiming, 'headers' | 'tasks'>): Promise<Costs> {
  const costs: Costs = new Map()
  for (const [name, paths] of Object.entries(await calls(server)))
    costs.set(name, await callCost(server, paths, claiming.headers))
  for (const count of clients) {
    costs.set(`claims, ${count} at once (a second)`, await claimsPerSecond(server, claiming, count))
    costs.set(`searches of a whole username, ${count} at once (a second)`, await searchesPerSecond(server, count))
  }
  const timed: [string, () => Promise<unknown>][] = [
    ['counters folded (s)', () => foldCounters(server.database)],
    [`import of ${IMPORTED} players (s)`, () => importPlayers(server)],
    ['spreadsheet of all players (s)', () => exportAll(server)],
    ['`arcade check` (s)', () => checkAll(server)],
  ]
  for (const [name, work] of timed) {
    const started = performance.now()
    await work()
    costs.set(name, ((performance.now() - started) / 1000).toFixed(1))
  }
  for (const table of ['telegram_users', 'participations']) costs.set(`${table}, bytes a row`, await bytesOf(server, table))
  for (const [name, cost] of costs) console.log(`  ${name.padEnd(48)} ${cost}`)
  return costs
}

/** Question → its paths, which are requested in turn. */
async function calls(server: BenchServer): Promise<Record<string, string[]>> {
  const list = '/api/telegram-users'
  const { rows } = await sql<{ kind: string; id: string }>`select kind, item_id as id from history_items limit 1`.execute(
    server.database.db,
  )
  const item = `/api/history/${rows[0]?.kind}/${rows[0]?.id}`
  const deep = await pageDown(server, `${list}?pageSize=100`, 30)
  return {
    'history of tasks': ['/api/history/social'],
    dashboard: ['/api/metrics'],
    'a player, with participations': hundredPlayers((id) => `${list}/${id}`),
    'first page by balance': [list],
    'page 31 of 100 rows by balance': [deep],
    'participants of an item, 50': [`${item}/participants`],
    'search: a whole username': Array.from({ length: 20 }, (_, n) => `${list}?search=${4000 + n}`),
    'search: many hits': [`${list}?search=moon`],
    'search: nothing found': Array.from({ length: 20 }, (_, n) => `${list}?search=zzq${n}x`),
    'filter: newest with a wallet': [`${list}?wallet=bsc&sort=newest`],
    'a common name, A to Z': [`${list}?search=kofi&sort=a-z`],
    'count of a search': [`${list}/count?search=moon`],
    'dashboard: activity': ['/api/activity?range=all'],
    'the game: a player with the rank': hundredPlayers((id) => `/bot/v1/players/${id}`),
    'the game: a page of a ledger': hundredPlayers((id) => `/bot/v1/players/${id}/entries`),
    'the game: the leaderboard': ['/bot/v1/leaderboard'],
  }
}

/** Returns paths for a hundred players. */
function hundredPlayers(path: (id: number) => string): string[] {
  return Array.from({ length: 100 }, (_, n) => path(SEED_BASE + 1 + ((n * 97) % players)))
}

async function pageDown({ url, admin }: BenchServer, first: string, pages: number): Promise<string> {
  let path = first
  for (let down = 0; down < pages; down += 1) {
    const answer = await fetch(url + path, { headers: { cookie: admin.cookie } })
    path = `${first}&after=${((await answer.json()) as { after: string }).after}`
  }
  return path
}

/** Returns the median time in ms of calls one after another, as the admin or the bot. */
async function callCost(
  { url, admin }: BenchServer,
  paths: readonly string[],
  bot: Readonly<Record<string, string>>,
): Promise<string> {
  const headers = paths[0]!.startsWith('/bot/') ? bot : { cookie: admin.cookie }
  const times: number[] = []
  const until = performance.now() + Number(values.seconds) * 1000
  for (let call = 0; call < 5 || performance.now() < until; call += 1) {
    const started = performance.now()
    const answer = await fetch(url + paths[call % paths.length]!, { headers })
    await answer.arrayBuffer()
    if (!answer.ok) throw new Error(`${paths[call % paths.length]} answered ${answer.status}`)
    times.push(performance.now() - started)
  }
  return median(times.slice(2)).toFixed(1)
}

async function claimsPerSecond(
  { url }: BenchServer,
  claiming: Pick<Claiming, 'headers' | 'tasks'>,
  clientCount: number,
): Promise<string> {
  const until = Date.now() + Number(values.seconds) * 1000
  const { timesMs, failures } = await claimUntil({ url, ...claiming, players, clients: clientCount, until })
  if (failures.length > 0) throw new Error(failures[0])
  return (timesMs.length / Number(values.seconds)).toFixed(0)
}

/** Returns how many searches a second several operators get together. Each search has another term. */
async function searchesPerSecond({ url, admin }: BenchServer, operators: number): Promise<string> {
  const until = performance.now() + Number(values.seconds) * 1000
  let answered = 0
  const operator = async (index: number): Promise<void> => {
    for (let n = 0; performance.now() < until; n += 1) {
      const path = `/api/telegram-users?search=${SEARCHED_FROM + index * 1000 + n}`
      const answer = await fetch(url + path, { headers: { cookie: admin.cookie } })
      await answer.arrayBuffer()
      if (!answer.ok) throw new Error(`${path} answered ${answer.status}`)
      answered += 1
    }
  }
  await Promise.all(Array.from({ length: operators }, (_, index) => operator(index)))
  return (answered / Number(values.seconds)).toFixed(0)
}

async function importPlayers({ database }: BenchServer): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'arcade-bench-import-'))
  try {
    const first = Date.now()
    const lines = Array.from({ length: IMPORTED }, (_, n) =>
      JSON.stringify({ userId: first + n, firstName: `Player ${n}`, username: `imported_${first + n}`, balance: n }),
    )
    await writeFile(join(directory, 'telegramUsers.ndjson'), lines.join('\n'))
    const { files } = await importDirectory({ database, directory })
    const loaded = files.reduce((sum, file) => sum + file.loaded, 0)
    if (loaded !== IMPORTED) throw new Error(`${loaded} players were imported`)
  } finally {
    await rm(directory, { recursive: true, force: true })
  }
}

async function exportAll({ url, admin }: BenchServer): Promise<void> {
  const headers = { cookie: admin.cookie, 'sec-fetch-site': 'same-origin' }
  const answer = await fetch(`${url}/downloadTelegramUsersData`, { headers })
  if (!answer.ok || !answer.body) throw new Error(`the export answered ${answer.status}`)
  for await (const _ of answer.body);
}

async function checkAll({ database, dataDir }: BenchServer): Promise<void> {
  await checkConsole({ database, store: diskStore(join(dataDir, 'files')), onDifference: () => {} })
}

async function bytesOf({ database: { db } }: BenchServer, table: string): Promise<string> {
  const { rows: distributed } = await sql`select from pg_dist_partition where logicalrelid = ${sql.lit(table)}::regclass`.execute(
    db,
  )
  const size = distributed.length > 0 ? 'citus_total_relation_size' : 'pg_total_relation_size'
  const { rows: sizes } = await sql<{ bytes: number }>`select ${sql.raw(size)}(${sql.lit(table)}::regclass) as bytes`.execute(db)
  const { rows: counts } = await sql<{ rows: number }>`select count(*) as rows from ${sql.table(table)}`.execute(db)
  return ((sizes[0]?.bytes ?? 0) / (counts[0]?.rows ?? 1)).toFixed(0)
}

function print(columns: Map<string, Costs>): void {
  const [first] = columns.values()
  console.log(`\n| ${players} players | ${[...columns.keys()].join(' | ')} |\n|---|${'--:|'.repeat(columns.size)}`)
  for (const name of first?.keys() ?? [])
    console.log(`| ${name} | ${[...columns.values()].map((costs) => costs.get(name)).join(' | ')} |`)
}
