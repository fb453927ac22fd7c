/**
 * Design §9: writes and reads of the game with a million players: claims by 32 clients against the same statements from `pgbench`, the disk
 * space of a claim and how soon the dashboard shows it, players in batches of 1,000 against `COPY` into the same tables, a page of a ledger
 * and the leaderboard against the bare limit, and `arcade reconcile` against one scan of the ledger. `--large` adds what has no bound: claims
 * of an item with a limit and of others beside it, and players with expensive ranks.
 * `node bench/claims.bench.ts [--players 1000000] [--seconds 4]`; `pgbench` comes with PostgreSQL (Debian's package `postgresql`).
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createReadStream, createWriteStream } from 'node:fs'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { parseArgs } from 'node:util'
import { sql } from 'kysely'
import { playerDetails } from '@arcade/contract/game/calls'
import type { Followed } from '@arcade/contract/dashboard/calls'
import { MAX_LEADERBOARD } from '@arcade/contract/ledger/calls'
import { SEED_BASE } from '../server/src/import/seed.ts'
import { foldCounters } from '../server/src/counters/counters.ts'
import { DISTRIBUTED_TABLES } from '../server/src/postgres/citus.ts'
import { columnName, playerEntity } from '../server/src/db/entities.ts'
import { reconcile } from '../server/src/ledger/reconcile.ts'
import { ledgerHandlers } from '../server/src/features/ledger.ts'
import { DATABASE, readPassword, ROLE } from '../server/src/postgres/cluster-init.ts'
import { copyIn, copyOut } from '../server/src/postgres/copy.ts'
import { seeded, startFilledServer } from './consoles.ts'
import { claim, claimUntil, prepareClaiming, REWARD } from './claiming.ts'
import { reportLimited } from './limited-claims.ts'
import { openPosting } from './posting.ts'
import {
  IS_LARGE,
  type Measured,
  measure,
  median,
  middle,
  report,
  reportRate,
  reportTail,
  startBare,
  statementsOf,
  stopProcess,
  temporaryDirectory,
} from './measuring.ts'

const CLAIMS_BUDGET = 0.5
const CLAIM_BUDGET_BYTES = 1024
const SHOWN_BUDGET_S = 2
const UPSERT_BUDGET = 0.2
const READ_BUDGET = 0.75
const RECONCILE_BUDGET = 3
const CLIENTS = 32
const CONNECTIONS = 10 // for reads
const ROUNDS = 3
const ITEMS = 2_000
/** Ranks up to this one are counted exactly. */
const LAST_EXACT_RANK = 10_000
const ENTRIES = 60 // of the player whose ledger is read; more than a page of 50
const PLAYED = 4
const BATCH = 1_000
const BATCHES = 50
const CHUNK_BYTES = 256 * 1024
/** The tables that claims write to. */
const CLAIM_TABLES = DISTRIBUTED_TABLES.filter((table) => table !== 'telegram_users')
const { values } = parseArgs({
  options: {
    players: { type: 'string', default: '1000000' },
    seconds: { type: 'string', default: '4' },
    large: { type: 'boolean' },
  },
})
const players = Number(values.players)
const seconds = Number(values.seconds)

/** Reads the rows that `reconcile` reads. `reconcile` hashes each entry twice, each balance and each player once, and compares the hashes. */
const ofAllRows = (sum: string) =>
  `select ${['ledger_entries', 'balances', 'telegram_users'].map((table) => `(select ${sum} from ${table})`).join(', ')}`

const findStatement = statementsOf((recorder) => ledgerHandlers({ database: recorder, caps: new Map() }))

const server = await startFilledServer(seeded(players))
const folder = await temporaryDirectory()
const { database } = server
const { db } = database
try {
  const { headers: bot, tasks } = await prepareClaiming(database, ITEMS)

  await reportClaims(bot, tasks)
  await reportShown(bot, tasks)
  await reportReconcile('about one entry')
  await reportReads(bot)
  await reportUpserts(bot)
  await addRounds()
  await reportReconcile(`${PLAYED + 1} entries`)
  if (IS_LARGE) {
    await reportLimited({ database, settle, load: { url: server.url, headers: bot, tasks, players, clients: CLIENTS }, seconds })
    await reportRanks(bot)
  }
} finally {
  await server.stop()
  await folder.remove()
}

async function reportClaims(bot: Headers, tasks: string[]): Promise<void> {
  const bare: number[] = []
  const ours: number[] = []
  let claims = 0
  let bytes = 0
  for (let round = 0; round < ROUNDS; round += 1) {
    bare.push(await claimsOfPgbench())
    await settle()
    const before = await bytesOnDisk()
    const made = await claimFor(bot, tasks)
    await settle()
    ours.push(made / seconds)
    claims += made
    bytes += (await bytesOnDisk()) - before
  }
  const ratio = median(ours.map((rate, round) => rate / bare[round]!))
  report(`claims by ${CLIENTS} clients`, {
    ours: median(ours),
    limit: median(bare),
    ratio,
    unit: 'a second',
    atLeast: CLAIMS_BUDGET,
  })
  report('disk space of a claim with its idempotency key', { ours: bytes / claims, unit: 'bytes', atMost: CLAIM_BUDGET_BYTES })
}

/** Brings the tables into the state of some minutes later: counter deltas are folded and dead rows vacuumed. */
async function settle(): Promise<void> {
  await foldCounters(database)
  for (const table of CLAIM_TABLES) await sql.raw(`vacuum (analyze) ${table}`).execute(db)
}

async function bytesOnDisk(): Promise<number> {
  const { rows } = await sql<{ bytes: number }>`
    select sum(pg_total_relation_size(name::regclass))::bigint as bytes from unnest(${CLAIM_TABLES}::text[]) as names (name)`.execute(
    db,
  )
  return rows[0]!.bytes
}

/** Runs the server's prepared statements of a claim in pgbench, with a random player and item each. @returns claims per second */
async function claimsOfPgbench(): Promise<number> {
  const salted = `sha256(convert_to((:salt)::text, 'UTF8'))`
  const item = [`'social'`, `('bench-' || (:item)::text)`]
  const claimed = [`(${SEED_BASE} + :player)`, ...item, 'null', String(REWARD), `'bot'`, `'bench'`, `'bench'`, salted, salted]
  // pgbench replaces a word after a colon as a variable, also inside SQL strings.
  const filled = (name: string, parameters: string[]) =>
    `${findStatement(name)
      .replaceAll(/:(?=[A-Z])/g, `' || chr(58) || '`)
      .replaceAll(/\$(\d+)/g, (_, place: string) => parameters[Number(place) - 1]!)
      .replaceAll(/\s+/g, ' ')};`
  const script = join(folder.path, 'claim.sql')
  await writeFile(
    script,
    [
      `\\set player random(1, ${players})`,
      `\\set item random(1, ${ITEMS})`,
      `\\set salt random(1, 1000000000000)`,
      filled(
        'claimed-items',
        item.map((value) => `array[${value}]`),
      ),
      filled('claim', claimed),
      '',
    ].join('\n'),
  )
  const cluster = join(server.dataDir, 'postgres')
  const port = (await readFile(join(cluster, 'postmaster.pid'), 'utf8')).split('\n')[3]!
  const load = ['-n', '-M', 'prepared', '-c', String(CLIENTS), '-j', '2', '-T', String(seconds), '-f', script]
  const child = spawn(await findPgbench(), ['-h', '127.0.0.1', '-p', port, '-U', ROLE, ...load, DATABASE], {
    env: { ...process.env, PGPASSWORD: await readPassword(cluster) },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const texts = Promise.all([child.stdout, child.stderr].map((stream) => Readable.from(stream).toArray()))
  await once(child, 'exit')
  const [stdout = '', stderr = ''] = (await texts).map((parts) => parts.join(''))
  const rate = Number(/tps = ([\d.]+) \(without/.exec(stdout)?.[1])
  if (Number.isNaN(rate)) throw new Error(`pgbench: ${stderr}`)
  return rate
}

/** @returns the path of the newest installed pgbench, or its name, to be found in PATH */
async function findPgbench(): Promise<string> {
  const versions = await readdir('/usr/lib/postgresql').catch(() => [])
  const newest = versions.toSorted((a, b) => Number(b) - Number(a))[0]
  return newest === undefined ? 'pgbench' : `/usr/lib/postgresql/${newest}/bin/pgbench`
}

type Headers = Record<string, string>

/** Claims as fast as possible for `seconds`. @returns the number of claims */
async function claimFor(bot: Headers, tasks: string[]): Promise<number> {
  const until = Date.now() + seconds * 1000
  const { timesMs, failures } = await claimUntil({ url: server.url, headers: bot, tasks, players, clients: CLIENTS, until })
  if (failures.length > 0) throw new Error(failures[0])
  return timesMs.length
}

/** Claims for the leading player, whom the dashboard shows, while all clients claim, and waits for the new balance in its events. */
async function reportShown(bot: Headers, tasks: string[]): Promise<void> {
  const { rows } = await sql<{ id: number }>`select user_id as id from balances order by balance desc, user_id limit 1`.execute(
    db,
  )
  const leader = rows[0]!.id
  const watched = new AbortController()
  const events = await fetch(`${server.url}/api/events`, { headers: { cookie: server.admin.cookie }, signal: watched.signal })
  let waitsFor: { balance: number; settle: () => void } | undefined
  const watching = (async () => {
    let text = ''
    for await (const chunk of events.body!.pipeThrough(new TextDecoderStream())) {
      text += chunk
      for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n')) {
        const [, data] = /^data: (.*)$/m.exec(text.slice(0, end)) ?? []
        text = text.slice(end + 2)
        const { topPlayers } = data === undefined ? { topPlayers: [] } : (JSON.parse(data) as Followed['figures']).activity
        // Another client may have claimed for the leader meanwhile, too.
        if (waitsFor && topPlayers.some(({ userId, balance }) => userId === leader && balance >= waitsFor!.balance))
          waitsFor.settle()
      }
    }
    throw new Error('The dashboard’s events have ended')
  })().catch((error: unknown) => {
    if (!watched.signal.aborted) throw error
  })
  const posting = await openPosting(server.url)
  const times: number[] = []
  const load = claimFor(bot, tasks)
  for (let item = ITEMS; item > ITEMS - 5; item -= 1) {
    const { balance } = await claim(posting, bot, leader, `bench-${item}`)
    const answered = performance.now()
    const shown = new Promise<void>((settled) => {
      waitsFor = { balance, settle: settled }
    })
    await Promise.race([shown, watching])
    times.push((performance.now() - answered) / 1000)
  }
  await load
  posting.close()
  watched.abort()
  await watching
  report(`time until a claim shows on an open dashboard while ${CLIENTS} clients claim, slowest of 5`, {
    ours: Math.max(...times),
    unit: 's',
    atMost: SHOWN_BUDGET_S,
  })
}

/** Adds ledger entries of rounds to every player, as in a game that is some days old. */
async function addRounds(): Promise<void> {
  await sql`
    insert into ledger_entries (user_id, seq, amount, cause, balance)
    select user_id, entries + n, 1, 'round', balance + n from balances, generate_series(1, ${PLAYED}::int) n`.execute(db)
  await sql`update balances set entries = entries + ${PLAYED}, balance = balance + ${PLAYED}`.execute(db)
  await sql`vacuum (full, analyze) balances`.execute(db)
  await sql`vacuum (analyze) ledger_entries`.execute(db)
}

async function reportReconcile(shape: string): Promise<void> {
  const proofs: number[] = []
  const scans: number[] = []
  const counts: number[] = []
  const hashes: number[] = []
  for (let round = 0; round < ROUNDS; round += 1) {
    scans.push(await timed(() => sql`select sum(amount) from ledger_entries`.execute(db)))
    counts.push(await timed(() => sql.raw(ofAllRows('count(*)')).execute(db)))
    hashes.push(await timed(() => sql.raw(ofAllRows('bit_xor(hashint8extended(user_id, 0))')).execute(db)))
    proofs.push(
      await timed(() =>
        reconcile(database, ({ userId, text }) => {
          throw new Error(`${userId}: ${text}`)
        }),
      ),
    )
  }
  const [ours, limit] = [median(proofs), median(scans)]
  report(`reconciling all balances with their entries, ${shape} a player`, { ours, limit, unit: 's', atMost: RECONCILE_BUDGET })
  report(`counting the rows that this reads, ${shape} a player`, { ours: median(counts), limit, unit: 's' })
  report(`hashing the rows that this reads, once, ${shape} a player`, { ours: median(hashes), limit, unit: 's' })
}

async function reportReads(bot: Headers): Promise<void> {
  const player = SEED_BASE + 1
  const { post, close } = await openPosting(server.url)
  for (let entry = 0; entry < ENTRIES; entry += 1)
    await post(`/bot/v1/players/${player}/entries`, bot, { amount: 1, cause: 'round', reference: `bench-${entry}` })
  close()
  const calls = [
    {
      name: 'a page of a ledger',
      statement: 'player-entries',
      parameters: [player, null],
      path: `/bot/v1/players/${player}/entries`,
    },
    { name: 'the leaderboard', statement: 'leaderboard', parameters: [], path: `/bot/v1/leaderboard?limit=${MAX_LEADERBOARD}` },
  ]
  for (const { name, statement, parameters, path } of calls) {
    const bare = await startBare(server, findStatement(statement), parameters)
    const load = { connections: CONNECTIONS, seconds: seconds / 2 }
    const limits: Measured[] = []
    const ours: Measured[] = []
    for (let round = 0; round < ROUNDS; round += 1) {
      limits.push(await measure({ ...load, url: bare.url }))
      ours.push(await measure({ ...load, url: server.url + path, headers: bot }))
    }
    await stopProcess(bare.child)
    reportRate(name, { ours: middle(ours), limit: middle(limits), atLeast: READ_BUDGET })
    reportTail(name, middle(ours), middle(limits))
  }
}

/** The first call of a Mini App: the player with their rank. */
async function reportRanks(bot: Headers): Promise<void> {
  const ranks = [
    { name: 'the first', place: 1 },
    { name: 'the last exact one', place: LAST_EXACT_RANK },
    { name: 'one in the middle', place: players / 2 },
  ]
  for (const { name, place } of ranks) {
    const { rows } = await sql<{ id: number }>`
      select user_id as id from balances order by balance desc, user_id offset ${place - 1} limit 1`.execute(db)
    const path = `/bot/v1/players/${rows[0]!.id}`
    const { p50Ms, p99Ms } = await measure({
      connections: CONNECTIONS,
      seconds: seconds / 2,
      url: server.url + path,
      headers: bot,
    })
    report(`a player with their rank, ${name}: p50`, { ours: p50Ms, unit: 'ms' })
    report(`a player with their rank, ${name}: p99`, { ours: p99Ms, unit: 'ms' })
  }
}

/** Adds and changes players with two concurrent batches at a time, and copies the same rows under other ids by COPY. */
async function reportUpserts(bot: Headers): Promise<void> {
  const first = 1_000_000_000
  const total = BATCHES * BATCH
  const batches = (change: string) =>
    Array.from({ length: BATCHES }, (_, batch) =>
      Array.from({ length: BATCH }, (_player, place) => playerRow(first + batch * BATCH + place, change)),
    )
  const upsert = async (change: string): Promise<number> => {
    const waiting = batches(change)
    const lane = async (): Promise<void> => {
      const { post, close } = await openPosting(server.url)
      for (let batch = waiting.shift(); batch; batch = waiting.shift()) await post('/bot/v1/players', bot, { players: batch })
      close()
    }
    return total / (await timed(() => Promise.all([lane(), lane()])))
  }
  const added = await upsert('')
  const changed = await upsert(' II')
  const copied = total / (await copyPlayers(first, total))
  report('players added in batches of 1,000', { ours: added, limit: copied, unit: 'a second', atLeast: UPSERT_BUDGET })
  report('players changed in batches of 1,000', { ours: changed, limit: copied, unit: 'a second' })
}

function playerRow(userId: number, change: string): Record<string, unknown> {
  return {
    userId,
    firstName: `Åse${change} ${userId % 1000}`,
    lastName: `Last${userId % 5000}`,
    username: `bench_${userId}`,
    ...(userId % 2 === 0 && { tonWalletAddress: `UQ${String(userId).repeat(4)}` }),
    ...(userId % 3 === 0 && { email: `player${userId}@example.org` }),
  }
}

/** Copies the rows of players under other ids. @returns the time in seconds */
async function copyPlayers(first: number, total: number): Promise<number> {
  const tables = {
    telegram_users: ['created_at', ...playerDetails.map((name) => columnName(playerEntity, name))],
    balances: ['balance', 'imported', 'entries'],
  }
  const client = await database.connect('bench')
  try {
    const file = (table: string) => join(folder.path, table)
    for (const [table, names] of Object.entries(tables)) {
      const rows = `copy (select user_id + ${total}, ${names.join(', ')} from ${table} where user_id between ${first} and ${first + total - 1}) to stdout`
      await pipeline(Readable.from(copyOut(client, rows, CHUNK_BYTES)), createWriteStream(file(table)))
    }
    return await timed(async () => {
      for (const [table, names] of Object.entries(tables)) {
        const rows = createReadStream(file(table), { highWaterMark: CHUNK_BYTES }) as AsyncIterable<Buffer>
        await copyIn(client, `copy ${table} (user_id, ${names.join(', ')}) from stdin`, rows)
      }
    })
  } finally {
    await client.end()
  }
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const started = performance.now()
  await work()
  return (performance.now() - started) / 1000
}
