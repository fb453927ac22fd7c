/** What the benchmarks share: a server of their own on a fresh data directory, a load over keep-alive connections, and how findings are told. */
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

/** Whether ten million rows are wanted where a million is usual. */
export const IS_LARGE = process.env['BENCH_LARGE'] === 'yes' || process.argv.includes('--large')

export interface BenchServer extends ConsoleServer {
  /** The Cookie header of a signed-in admin, and their e-mail. */
  admin: { cookie: string; email: string }
}

/** A directory for one run, removed by `remove`. */
export async function temporaryDirectory(): Promise<{ path: string; remove: () => Promise<void> }> {
  const path = await mkdtemp(join(tmpdir(), 'arcade-bench-'))
  return { path, remove: () => rm(path, { recursive: true, force: true }) }
}

/** Starts `node FILE` and waits for the line that holds its address. */
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

/** The real server on a fresh data directory, or a fresh database of DATABASE_URL, with an admin signed in. */
export async function startBenchServer(env: Record<string, string> = {}): Promise<BenchServer> {
  const server = await startConsoleServer({ RATE_LIMIT: 'off', ...env })
  const email = `bench${Date.now()}@gmail.com` // a DATA_DIR that stays has those of the times before
  const { token } = await server.addPerson({ fname: 'Bench', lname: 'Admin', email, userType: 'admin' })
  return { ...server, admin: { cookie: `session=${token}`, email } }
}

/** `npm run bench` finds the browser and hands its path on. */
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

/** The resident memory of a process of Node and of those that it has started; the program itself, which all of them share, counts once. */
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
 * Gives a statement as the server prepares it, by its name.
 * @param prepare makes the handlers that prepare it
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

/** The round with the median rate. */
export function middle(rounds: readonly Measured[]): Measured {
  return rounds.toSorted((a, b) => a.requestsPerSecond - b.requestsPerSecond)[Math.floor(rounds.length / 2)]!
}

/** What so large a share of the values is below: 0.99 is p99. Not a number where there are none. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
}

/** The bare limit for a query on the server's own database: see bare/server.ts. */
export async function startBare(
  server: BenchServer,
  sql: string,
  parameters: unknown[],
): Promise<{ url: string; child: ChildProcess }> {
  const cluster = join(server.dataDir, 'postgres')
  const port = Number((await readFile(join(cluster, 'postmaster.pid'), 'utf8')).split('\n')[3])
  const database = { host: '127.0.0.1', port, user: ROLE, database: DATABASE, password: await readPassword(cluster) }
  const env = { BENCH_DATABASE: JSON.stringify(database), BENCH_SQL: sql, BENCH_PARAMETERS: JSON.stringify(parameters) }
  return startProcess('bench/bare/server.ts', env)
}

export interface Load {
  /** For all connections, or for each. */
  url: string | string[]
  connections: number
  seconds: number
  /** For all connections, or for each. */
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
 * Requests one after another on each of `connections` keep-alive connections, for so many seconds after a warm-up.
 * @throws Error on an answer that is not 200
 */
export async function measure({ url, connections, seconds, headers = {}, method = 'GET', body }: Load): Promise<Measured> {
  const agent = new http.Agent({ keepAlive: true, maxSockets: connections })
  const length = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) }
  const request = (connection: number) =>
    new Promise<number>((settle, reject) => {
      const started = performance.now()
      const own = Array.isArray(headers) ? headers[connection % headers.length] : headers
      const address = typeof url === 'string' ? url : url[connection % url.length]!
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
  await run(performance.now() + 1000)
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

/** Design §9 gives no time for the slowest requests of these lists. They may take twice as long as the bare limit's in the same run. */
export function reportTail(question: string, ours: Measured, limit: Measured): void {
  report(`${question}: p99`, { ours: ours.p99Ms, limit: limit.p99Ms, unit: 'ms', atMost: TAIL_BUDGET })
}

/** @param ratio of several rounds; that of the two by default */
export function reportRate(
  question: string,
  { ours, limit, atLeast, ratio }: { ours: Measured; limit: Measured; atLeast: number; ratio?: number },
): void {
  const [rate, most] = [ours.requestsPerSecond, limit.requestsPerSecond]
  report(question, { ours: rate, limit: most, ...(ratio !== undefined && { ratio }), unit: 'requests/s', atLeast })
}

/** What was measured. Without a limit the bound is one of the figure itself, with one it is one of the ratio; a figure without a bound is told only. */
export interface Finding {
  ours: number
  unit: string
  /** What would be best, measured in the same run. */
  limit?: number
  /** Where it is not ours ÷ limit, but the median of several rounds. */
  ratio?: number
  atMost?: number
  atLeast?: number
}

const BEYOND = 3

/** Prints a row of docs/performance.md and hands it to `npm run bench`, which writes it. Beyond its bound the process ends with 3. */
export function report(question: string, finding: Finding): void {
  const { ours, unit, limit, atMost, atLeast } = finding
  const ratio = finding.ratio ?? (limit === undefined ? undefined : ours / limit)
  const compared = ratio ?? ours
  const bound = atMost ?? atLeast
  // Not a number is beyond every bound.
  const isMet = bound === undefined || (atMost === undefined ? compared >= bound : compared <= bound)
  const inRatio = (value: number): string => (atLeast === undefined ? `× ${value.toFixed(2)}` : `${(value * 100).toFixed(0)} %`)
  const inUnit = (value: number): string => `${rounded(value)} ${unit}`
  const row = {
    question,
    ours: inUnit(ours),
    limit: limit === undefined ? undefined : inUnit(limit),
    ratio: ratio === undefined ? undefined : inRatio(ratio),
    bound:
      bound === undefined
        ? undefined
        : `${atMost === undefined ? '≥' : '≤'} ${ratio === undefined ? inUnit(bound) : inRatio(bound)}`,
    isMet,
  }
  const than = row.limit === undefined ? '' : `, ${row.ratio} of ${row.limit}`
  const verdict = bound === undefined ? 'told  ' : isMet ? 'met   ' : 'MISSED'
  console.log(`${verdict} ${question}: ${row.ours}${than}${row.bound === undefined ? '' : ` (${row.bound})`}`)
  const file = process.env['BENCH_ROWS']
  if (file !== undefined) appendFileSync(file, `${JSON.stringify(row)}\n`)
  if (!isMet) process.exitCode = BEYOND
}

/** Three digits, or all before the point. */
function rounded(value: number): string {
  const digits = Math.abs(value) < 1000 ? { maximumSignificantDigits: 3 } : { maximumFractionDigits: 0 }
  return value.toLocaleString('en', digits)
}
