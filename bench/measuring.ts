/** Shared by all benches: starting a server on a fresh data directory, measuring load over keep-alive connections, reporting results. */
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { appendFileSync } from 'node:fs'
import { mkdtemp, readFile, readlink, rm } from 'node:fs/promises'
import http from 'node:http'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { type Browser, chromium } from '@playwright/test'
import type { Database } from '../server/src/db/database.ts'
import { DATABASE, readPassword, ROLE } from '../server/src/postgres/cluster-init.ts'
import { type ConsoleServer, startConsoleServer } from '../server/test/console-server.ts'

export const ROOT = resolve(import.meta.dirname, '..')

/** Whether to use ten million rows instead of one million. */
export const IS_LARGE = process.env['BENCH_LARGE'] === 'yes' || process.argv.includes('--large')

/** How long one round of requests is measured: short, because a run of all benches measures several hundred of them. */
export const ROUND_SECONDS = 2

export interface BenchServer extends ConsoleServer {
  /** The Cookie header of a signed-in admin, and their e-mail. */
  admin: { cookie: string; email: string }
}

/** Creates a directory for one run. `remove` deletes it. */
export async function temporaryDirectory(): Promise<{ path: string; remove: () => Promise<void> }> {
  const path = await mkdtemp(join(tmpdir(), 'arcade-bench-'))
  return { path, remove: () => rm(path, { recursive: true, force: true }) }
}

/** Starts `node FILE` and waits until it prints its address. */
export async function startProcess(file: string, env: Record<string, string>): Promise<{ url: string; child: ChildProcess }> {
  const child = spawn(process.execPath, [resolve(ROOT, file)], {
    env: { PATH: process.env['PATH'], ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  for await (const line of createInterface({ input: child.stdout })) {
    const url = /ready at (http:\S+)/.exec(line)?.[1]
    if (url) {
      child.stdout.resume()
      return { url, child }
    }
  }
  throw new Error(`${file} ended before it was ready`)
}

export async function stopProcess(child: ChildProcess): Promise<void> {
  child.kill('SIGTERM')
  if (child.exitCode === null) await once(child, 'exit')
}

/** Starts the real server on a fresh data directory, or on the fresh database at DATABASE_URL, and signs an admin in. */
export async function startBenchServer(env: Record<string, string> = {}): Promise<BenchServer> {
  const server = await startConsoleServer({ RATE_LIMIT: 'off', ...env })
  const email = `bench${Date.now()}@gmail.com` // unique, because a kept DATA_DIR has the admins of earlier runs
  const { token } = await server.addPerson({ fname: 'Bench', lname: 'Admin', email, userType: 'admin' })
  return { ...server, admin: { cookie: `session=${token}`, email } }
}

/** Opens Chromium, at the CHROMIUM_PATH that `npm run bench` sets. */
export function openBrowser(): Promise<Browser> {
  const executablePath = process.env['CHROMIUM_PATH']
  return chromium.launch({
    ...(executablePath !== undefined && { executablePath }),
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-sync',
    ],
  })
}

/** Returns the resident memory of a Node process and its Node children, in MB. The program's code, which they share, counts once. */
export async function residentMb(pid: number): Promise<number> {
  const children = (await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8')).trim().split(' ').filter(Boolean)
  const program = await readlink(`/proc/${pid}/exe`)
  const isOurs = async (id: string): Promise<boolean> => (await readlink(`/proc/${id}/exe`).catch(() => '')) === program
  const sizes = children.map(async (id) => ((await isOurs(id)) ? memoryOf(id, 'RssAnon').catch(() => 0) : 0))
  return (await Promise.all([memoryOf(pid, 'VmRSS'), ...sizes])).reduce((sum, size) => sum + size, 0)
}

async function memoryOf(pid: number | string, kind: 'VmRSS' | 'RssAnon'): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8')
  return Number(new RegExp(`${kind}:\\s+(\\d+)`).exec(status)?.[1] ?? 0) / 1024
}

/**
 * Returns a function that finds the SQL of a prepared statement by its name.
 * @param prepare creates the handlers that prepare the statements
 */
export function statementsOf(prepare: (database: Database) => unknown): (name: string) => string {
  const statements = new Map<string, string>()
  const record = (name: string, text: string) => void statements.set(name, text)
  const recorder = { prepared: record, preparedTexts: record, statement: record }
  prepare({ ...recorder, reads: recorder } as unknown as Database)
  return (name) => {
    const text = statements.get(name)
    if (text === undefined) throw new Error(`There is no statement ${name}, only ${[...statements.keys()].join(', ')}`)
    return text
  }
}

export function median(values: number[]): number {
  return percentile(values, 0.5)
}

/** Returns the round with the median rate. */
export function middle(rounds: readonly Measured[]): Measured {
  return rounds.toSorted((a, b) => a.requestsPerSecond - b.requestsPerSecond)[Math.floor(rounds.length / 2)]!
}

/** Returns the percentile: share 0.99 is p99. NaN if there are no values. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
}

/**
 * Starts the bare limit (bare/server.ts) for a query on the server's own database.
 * @param parameters a set of parameters, or several sets that the requests take in turn
 */
export async function startBare(
  server: BenchServer,
  sql: string,
  parameters: unknown[] | unknown[][],
): Promise<{ url: string; child: ChildProcess }> {
  const cluster = join(server.dataDir, 'postgres')
  const port = Number((await readFile(join(cluster, 'postmaster.pid'), 'utf8')).split('\n')[3])
  const database = { host: '127.0.0.1', port, user: ROLE, database: DATABASE, password: await readPassword(cluster) }
  const env = { BENCH_DATABASE: JSON.stringify(database), BENCH_SQL: sql, BENCH_PARAMETERS: JSON.stringify(parameters) }
  return startProcess('bench/bare/server.ts', env)
}

export interface Load {
  /** One address for all requests, or several that the requests take in turn: equal requests at the same time share a read (ADR 11). */
  url: string | readonly string[]
  connections: number
  seconds: number
  /** One set for all connections, or one for each. */
  headers?: Record<string, string> | Record<string, string>[]
  method?: string
  body?: string
}

export interface Measured {
  requestsPerSecond: number
  p50Ms: number
  p99Ms: number
}

/**
 * Sends requests one after another on each of `connections` keep-alive connections, for `seconds` after a warm-up of half that time.
 * @throws Error at an answer other than 200
 */
export async function measure({ url, connections, seconds, headers = {}, method = 'GET', body }: Load): Promise<Measured> {
  const agent = new http.Agent({ keepAlive: true, maxSockets: connections })
  const addresses = typeof url === 'string' ? [url] : url
  let sentRequests = 0
  const length = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) }
  const request = (connection: number) =>
    new Promise<number>((settle, reject) => {
      const started = performance.now()
      const own = Array.isArray(headers) ? headers[connection % headers.length] : headers
      const address = addresses[sentRequests++ % addresses.length]!
      const sent = http.request(address, { agent, method, headers: { ...own, ...length } }, (answer) => {
        answer.resume()
        answer.once('end', () =>
          answer.statusCode === 200
            ? settle(performance.now() - started)
            : reject(new Error(`${address} answered ${answer.statusCode}`)),
        )
      })
      sent.once('error', reject)
      sent.end(body)
    })
  const run = async (until: number): Promise<number[]> => {
    const times: number[] = []
    const worker = async (connection: number) => {
      while (performance.now() < until) times.push(await request(connection))
    }
    await Promise.all(Array.from({ length: connections }, (_, connection) => worker(connection)))
    return times
  }
  await run(performance.now() + seconds * 500)
  const started = performance.now()
  const times = await run(started + seconds * 1000)
  const elapsed = (performance.now() - started) / 1000
  agent.destroy()
  return { requestsPerSecond: times.length / elapsed, p50Ms: percentile(times, 0.5), p99Ms: percentile(times, 0.99) }
}

export function show(name: string, { requestsPerSecond, p50Ms, p99Ms }: Measured): void {
  const rate = requestsPerSecond.toFixed(0).padStart(7)
  console.log(`${name.padEnd(44)} ${rate} requests/s   p50 ${p50Ms.toFixed(1)} ms   p99 ${p99Ms.toFixed(1)} ms`)
}

const TAIL_BUDGET = 2

/** Reports p99. Design §9 has no budget for it here, so it may be at most twice that of the bare limit in the same run. */
export function reportTail(question: string, ours: Measured, limit: Measured): void {
  report(`${question}: p99`, { ours: ours.p99Ms, limit: limit.p99Ms, unit: 'ms', atMost: TAIL_BUDGET })
}

/** @param ratio the median ratio of several rounds; by default the ratio of `ours` and `limit` */
export function reportRate(
  question: string,
  { ours, limit, atLeast, ratio }: { ours: Measured; limit: Measured; atLeast?: number; ratio?: number },
): void {
  const [rate, most] = [ours.requestsPerSecond, limit.requestsPerSecond]
  report(question, {
    ours: rate,
    limit: most,
    ...(ratio !== undefined && { ratio }),
    unit: 'requests/s',
    ...(atLeast !== undefined && { atLeast }),
  })
}

/** A measured figure. The bound applies to the ratio if there is a limit, unless `boundsOurs`. Without a bound the figure is only printed. */
export interface Finding {
  ours: number
  unit: string
  /** The best possible figure, measured in the same run. */
  limit?: number
  /** The median ratio of several rounds, if it is not ours ÷ limit. */
  ratio?: number
  atMost?: number
  atLeast?: number
  /** Whether the bound applies to the figure itself although there is a limit. */
  boundsOurs?: boolean
}

/** The exit code if a bound is missed; scripts/bench.ts knows it too. */
const BEYOND = 3

/** Prints a row and passes it to `npm run bench`, which writes docs/performance.md. If the bound is missed, the process will end with 3. */
export function report(question: string, finding: Finding): void {
  const { ours, unit, limit, atMost, atLeast } = finding
  const ratio = finding.ratio ?? (limit === undefined ? undefined : ours / limit)
  const isOfRatio = ratio !== undefined && finding.boundsOurs !== true
  const compared = isOfRatio ? ratio : ours
  const bound = atMost ?? atLeast
  // The comparison must fail for NaN.
  const isMet = bound === undefined || (atMost === undefined ? compared >= bound : compared <= bound)
  const inRatio = (value: number): string => (atLeast === undefined ? `× ${value.toFixed(2)}` : `${(value * 100).toFixed(0)} %`)
  const inUnit = (value: number): string => `${rounded(value)} ${unit}`
  const row = {
    question,
    ours: inUnit(ours),
    limit: limit === undefined ? undefined : inUnit(limit),
    ratio: ratio === undefined ? undefined : inRatio(ratio),
    bound: bound === undefined ? undefined : `${atMost === undefined ? '≥' : '≤'} ${isOfRatio ? inRatio(bound) : inUnit(bound)}`,
    isMet,
  }
  const than = row.limit === undefined ? '' : `, ${row.ratio} of ${row.limit}`
  const verdict = bound === undefined ? 'info  ' : isMet ? 'met   ' : 'MISSED'
  console.log(`${verdict} ${question}: ${row.ours}${than}${row.bound === undefined ? '' : ` (${row.bound})`}`)
  const file = process.env['BENCH_ROWS']
  if (file !== undefined) appendFileSync(file, `${JSON.stringify(row)}\n`)
  if (!isMet) process.exitCode = BEYOND
}

/** Formats with three significant digits, or as an integer from 1,000 on. */
function rounded(value: number): string {
  const digits = Math.abs(value) < 1000 ? { maximumSignificantDigits: 3 } : { maximumFractionDigits: 0 }
  return value.toLocaleString('en', digits)
}
