/**
 * Design §9: writing an XLSX of 1M players takes at most 2 × the time of deflating the same rows as COPY text in one thread, and 64 MB of
 * memory above idle. It runs without the database, to measure only the writer. `node bench/spreadsheet.bench.ts [rows]`. Each subject runs
 * in its own process, since memory left by one would count for the next.
 */
import { fork } from 'node:child_process'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { deflateRawSync } from 'node:zlib'
import { copyText } from '../server/src/postgres/copy-text.ts'
import type { Column } from '../server/src/sheets/cells.ts'
import { writeSheet } from '../server/src/sheets/sheet-writer.ts'
import { report, residentMb } from './measuring.ts'

const TIME_BUDGET = 2 // × the reference, design §9
const RSS_BUDGET_MB = 64 // design §9
const LOOP_BUDGET_MS = 10
const SAMPLE_MS = 20
const BATCH_ROWS = 1000
const POOL_ROWS = 20_000

interface Player {
  userId: number
  createdAt: Date
  balance: number
  texts: (string | null)[]
}

const textFields =
  'firstName lastName username twitterUsername instagramUsername linkedInUsername discordUsername youtubeUsername email phoneNumber ' +
  'tonWalletAddress bscWallet'

const columns: Column[] = [
  { header: 'userId', width: 14, kind: 'number', field: 0 },
  { header: 'createdAt', width: 20, kind: 'date', field: 1 },
  { header: 'balance', width: 12, kind: 'number', field: 2 },
  ...textFields.split(' ').map((header, index): Column => ({ header, width: 20, kind: 'text', field: 3 + index })),
]

/** Generates players like those of the sample data: 9 of 15 cells filled, a third of the names not in Latin script. */
function players(count: number): Player[] {
  const firstNames = [
    'Åse',
    '😀Sky',
    'שרה',
    'Daria',
    'Chidi',
    'Kofi',
    'Виктор',
    'Ivan',
    'محمد',
    'Анна',
    'John',
    'Мария',
    'Lucía',
    'Wei',
  ]
  const lastNames = [
    '李',
    'd’Angelo',
    'Kaya',
    'Nowak',
    'Tanaka',
    'السيد',
    'Silva',
    'Müller',
    'Smith',
    'Петренко',
    "O'Neil",
    'Kim',
  ]
  let state = 42
  const random = (below: number): number => ((state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0) % 65_521) % below
  const code = (length: number, alphabet: string): string =>
    Array.from({ length }, () => alphabet[random(alphabet.length)]).join('')
  const some = (percent: number, value: string): string | null => (random(100) < percent ? value : null)
  const letters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'
  return Array.from({ length: count }, (_, i) => {
    const userId = 100_000_000 + i * 8000 + random(8000)
    const handle = `${['moon', 'ton', 'lucky', 'pixel', 'neo', 'arc'][random(6)]}_${userId % 100_000}`
    const firstName = firstNames[random(firstNames.length)]!
    const texts = [
      firstName,
      some(87, lastNames[random(lastNames.length)]!),
      some(86, handle),
      some(48, `@${handle}`),
      some(41, `ig.${userId % 10_000}`),
      some(20, `in-${userId % 10_000}`),
      some(37, `${firstName.toLowerCase()}#${userId % 10_000}`),
      some(35, `@${handle}tv`),
      some(45, `player${userId}@example.org`),
      some(27, `+62${userId}`),
      some(43, `UQ${code(46, letters)}`),
      some(29, `0x${code(40, '0123456789abcdef')}`),
      // Flattens the strings, as a driver returns them. Otherwise V8 would do it in the measured part.
    ].map((text) => text && Buffer.from(text).toString())
    const createdAt = new Date(1_775_000_000_000 + random(20_000) * 1_000_003)
    return { userId, createdAt, balance: random(4) ? random(60_000) * 71 : random(60_000) / 4, texts }
  })
}

/** The rows as chunks of COPY text, as the database sends them. */
function chunks(pool: Player[]): Buffer[] {
  const rows = pool.map(({ userId, createdAt, balance, texts }) => [userId, createdAt, balance, ...texts])
  return Array.from({ length: rows.length / BATCH_ROWS }, (_, i) => copyText(rows.slice(i * BATCH_ROWS, (i + 1) * BATCH_ROWS)))
}

async function* repeat(pool: Buffer[], rows: number): AsyncGenerator<Buffer> {
  for (let done = 0; done < rows; done += BATCH_ROWS) yield pool[(done / BATCH_ROWS) % pool.length]!
}

interface Result {
  seconds: number
  /** Of all threads. Unlike `seconds`, it hardly depends on other work of the machine. */
  cpuSeconds: number
  megabytes: number
  rssMb: number
  loopP99Ms: number
  loopMaxMs: number
}

/** Reads the stream to its end and returns the time and the memory above idle, of this process and its writer process. */
async function measure(open: () => ReadableStream<Uint8Array>): Promise<Result> {
  globalThis.gc?.() // memory from generating the rows does not count
  await sleep(300)
  const idle = await residentMb(process.pid)
  let peak = idle
  let bytes = 0
  const sampler = setInterval(() => {
    void residentMb(process.pid).then((now) => (peak = Math.max(peak, now)))
  }, SAMPLE_MS)
  const loop = monitorEventLoopDelay({ resolution: 1 })
  loop.enable()
  const cpu = process.cpuUsage()
  const start = performance.now()
  for await (const chunk of open()) bytes += chunk.length
  const seconds = (performance.now() - start) / 1000
  const cpuSeconds = cpuSince(cpu)
  loop.disable()
  clearInterval(sampler)
  const loopMs = { loopP99Ms: loop.percentile(99) / 1e6, loopMaxMs: loop.max / 1e6 }
  return { seconds, cpuSeconds, megabytes: bytes / 1e6, rssMb: peak - idle, ...loopMs }
}

/** The reference: deflates rows as COPY text that exists already, in one call and one thread. */
function reference(pool: Player[], rows: number, level: number): Result {
  const line = (row: Player): string =>
    `${[row.userId, row.createdAt.toISOString(), ...row.texts.map((text) => text ?? '\\N'), row.balance].join('\t')}\n`
  const copy = Buffer.from(pool.map(line).join(''))
  const cpu = process.cpuUsage()
  const start = performance.now()
  let bytes = 0
  for (let done = 0; done < rows; done += pool.length) bytes += deflateRawSync(copy, { level }).length
  const seconds = (performance.now() - start) / 1000
  return { seconds, cpuSeconds: cpuSince(cpu), megabytes: bytes / 1e6, rssMb: 0, loopP99Ms: 0, loopMaxMs: 0 }
}

function cpuSince(start: NodeJS.CpuUsage): number {
  const { user, system } = process.cpuUsage(start)
  return (user + system) / 1e6
}

async function run(subject: string, rows: number): Promise<Result> {
  const pool = players(Math.min(POOL_ROWS, rows))
  if (subject !== 'spreadsheet') return reference(pool, rows, Number(subject))
  const copied = chunks(pool)
  return measure(() => writeSheet({ format: 'xlsx', sheetName: 'Players', columns, rows: repeat(copied, rows) }))
}

function inOwnProcess(subject: string, rows: number): Promise<Result> {
  return new Promise((resolve, reject) => {
    const child = fork(fileURLToPath(import.meta.url), [String(rows), subject], { execArgv: ['--expose-gc'] })
    child.once('message', (result) => resolve(result as Result))
    child.once('error', reject).once('exit', (code) => reject(new Error(`${subject} ended with ${code} and no result`)))
  })
}

if (import.meta.main) {
  const rows = Number(process.argv[2] ?? 1_000_000)
  const subject = process.argv[3]
  if (subject) {
    process.send!(await run(subject, rows))
    process.disconnect()
  } else {
    const copy = await inOwnProcess('6', rows)
    const copyFast = await inOwnProcess('1', rows)
    const xlsx = await inOwnProcess('spreadsheet', rows)
    console.table({ 'COPY text, deflate 6': copy, 'COPY text, deflate 1': copyFast, 'writeSheet()': xlsx })
    report(`XLSX of ${rows.toLocaleString('en')} players`, {
      ours: xlsx.seconds,
      limit: copy.seconds,
      unit: 's',
      atMost: TIME_BUDGET,
    })
    report('memory above idle', { ours: xlsx.rssMb, unit: 'MB', atMost: RSS_BUDGET_MB })
    report('event loop delay: p99', { ours: xlsx.loopP99Ms, unit: 'ms', atMost: LOOP_BUDGET_MS })
  }
}
