/**
 * Design §9: downloading an XLSX of 1M players takes at most 2 × the time of `COPY` to stdout and deflating the same rows in one thread, at
 * most 64 MB of the server's memory above idle, and leaves the p99 of other requests at 100 ms or less.
 * `node bench/export.bench.ts [players]`
 */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { deflateRawSync } from 'node:zlib'
import pg from 'pg'
import { DATABASE, readPassword, ROLE } from '../server/src/postgres/cluster-init.ts'
import { generated, startFilledServer } from './consoles.ts'
import { type BenchServer, median, percentile, report, residentMb } from './measuring.ts'

const TIME_BUDGET = 2
const RSS_BUDGET_MB = 64
const P99_BUDGET_MS = 100
const PROBE_EVERY_MS = 20
const ROUNDS = 3
const players = Number(process.argv[2] ?? 1_000_000)

const server = await startFilledServer(generated(players))
try {
  const first = await exportAll(server) // warms up the server's code and the database's cache
  const copies: number[] = []
  const sheets: Export[] = []
  for (let round = 0; round < ROUNDS; round += 1) {
    copies.push(await copyAndDeflate(server))
    sheets.push(await exportAll(server))
  }
  const busy = await withProbe(server, () => exportAll(server))
  const [copy, sheet] = [median(copies), median(sheets.map(({ seconds }) => seconds))]
  const growth = Math.max(...[first, ...sheets].map(({ growthMb }) => growthMb))
  report(`XLSX of ${players.toLocaleString('en')} players`, { ours: sheet, limit: copy, unit: 's', atMost: TIME_BUDGET })
  report('size of the XLSX', { ours: (sheets[0]?.bytes ?? 0) / 1e6, unit: 'MB' })
  report('memory of the server above idle', { ours: growth, unit: 'MB', atMost: RSS_BUDGET_MB })
  report('other requests during the export: p50', { ours: busy.p50Ms, unit: 'ms' })
  report('other requests during the export: p99', { ours: busy.p99Ms, unit: 'ms', atMost: P99_BUDGET_MS })
} finally {
  await server.stop()
}

/** The reference: reads the same rows in the same order as COPY text and deflates them at zlib's default level, in this thread. */
async function copyAndDeflate({ dataDir }: BenchServer): Promise<number> {
  const cluster = join(dataDir, 'postgres')
  const port = Number((await readFile(join(cluster, 'postmaster.pid'), 'utf8')).split('\n')[3])
  const client = new pg.Client({ host: '127.0.0.1', port, user: ROLE, database: DATABASE, password: await readPassword(cluster) })
  await client.connect()
  const started = performance.now()
  let pending: Buffer[] = []
  let size = 0
  const take = (chunk: Buffer): void => {
    pending.push(chunk)
    size += chunk.length
    if (size < 2 ** 20) return
    deflateRawSync(Buffer.concat(pending))
    ;[pending, size] = [[], 0]
  }
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const ignore = (): void => {}
  // pg does not support COPY, but accepts a query object that handles the protocol's messages.
  client.query({
    submit: (connection: { query: (text: string) => void }) =>
      connection.query(`copy (select user_id, created_at, first_name, last_name, username, twitter_username, instagram_username, linked_in_username,
        discord_username, youtube_username, email, phone_number, ton_wallet_address, bsc_wallet, balance
        from balances join telegram_users using (user_id) order by balance desc, user_id) to stdout`),
    handleCopyData: ({ chunk }: { chunk: Buffer }) => take(Buffer.from(chunk)),
    handleError: reject,
    handleReadyForQuery: () => resolve(),
    handleRowDescription: ignore,
    handleDataRow: ignore,
    handlePortalSuspended: ignore,
    handleEmptyQuery: ignore,
    handleCommandComplete: ignore,
  } as unknown as pg.Submittable)
  await promise
  deflateRawSync(Buffer.concat(pending))
  const seconds = (performance.now() - started) / 1000
  await client.end()
  return seconds
}

interface Export {
  seconds: number
  bytes: number
  /**
   * The highest resident memory of the server and its process of sheets, minus that before the export. The first export starts that
   * process, which is most of its growth; later exports use the memory that the first one left.
   */
  growthMb: number
}

async function exportAll({ url, admin, pid }: BenchServer): Promise<Export> {
  await pause(500)
  const idle = await residentMb(pid)
  let peak = idle
  let isRunning = true
  const sampling = (async () => {
    for (; isRunning; await pause(50)) peak = Math.max(peak, await residentMb(pid))
  })()
  const started = performance.now()
  const response = await fetch(`${url}/downloadTelegramUsersData`, { headers: { cookie: admin.cookie } })
  if (response.status !== 200 || response.headers.get('x-row-count') !== String(players))
    throw new Error(`answered ${response.status}`)
  let bytes = 0
  for await (const chunk of response.body ?? []) bytes += (chunk as Uint8Array).length
  const seconds = (performance.now() - started) / 1000
  isRunning = false
  await sampling
  return { seconds, bytes, growthMb: peak - idle }
}

/** Requests pages as an admin while `work` runs, and returns their times. */
async function withProbe(
  { url, admin }: BenchServer,
  work: () => Promise<unknown>,
): Promise<{ p50Ms: number; p99Ms: number; requests: number }> {
  let isRunning = true
  const times: number[] = []
  const probing = (async () => {
    for (; isRunning; await pause(PROBE_EVERY_MS)) {
      const started = performance.now()
      await (await fetch(`${url}/api/telegram-users`, { headers: { cookie: admin.cookie } })).arrayBuffer()
      times.push(performance.now() - started)
    }
  })()
  await work()
  isRunning = false
  await probing
  return { p50Ms: percentile(times, 0.5), p99Ms: percentile(times, 0.99), requests: times.length }
}
