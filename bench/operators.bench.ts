/**
 * A minute of heavy work (15 with `--large`): 200 operators who read, search, open and save with human pauses, 60 of them with the
 * dashboard open, while imports of 100,000 players and two spreadsheets of all players run again and again. Then the same with claims of
 * the game instead of imports, at half the rate that the server reaches with claims alone. The event loop delay is how late a timer
 * fires: the figure of `GET /metrics` minus the timer's own 10 ms. Some rows measure it at rest and during a single piece of work. The
 * operators and the import share the server's two processors. Each runs in its own session, because Linux divides processors among
 * sessions, so that they compete with the server like other machines or terminals.
 * `node bench/operators.bench.ts [--minutes 1] [--players 1000000] [--beside imports,claims]`
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createWriteStream } from 'node:fs'
import { mkdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { parseArgs } from 'node:util'
import { PASSWORD } from '../server/test/console-server.ts'
import { canvas } from '../server/test/test-images.ts'
import { type Claimed, type Claiming, prepareClaiming } from './claiming.ts'
import { seeded, startFilledServer } from './consoles.ts'
import { IS_LARGE, median, percentile, report, residentMb, ROOT, temporaryDirectory } from './measuring.ts'
import { inProcess } from './in-process.ts'
import type { LoadResult, OperatorLoad } from './operator-load.ts'

const LIST_P99_BUDGET_MS = 100
const LOOP_P99_BUDGET_MS = 20
const MEMORY_BUDGET = 1.2
const OPERATORS = 200
const DASHBOARDS = 60
const EXPORTERS = 2
const IMPORTED = 100_000
const WARM_UP_MS = 10_000
const CLAIM_CLIENTS = 32
/** Enough tasks that few claims are repeats. */
const CLAIMED_TASKS = 200
const CLAIMED_ALONE_MS = 10_000
const SIGN_INS = 20
/** The timer interval of prom-client's event loop monitor, in ms. */
const LOOP_TIMER_MS = 10
const METRICS_TOKEN = 'operators-bench-token'

const { values } = parseArgs({
  options: {
    minutes: { type: 'string', default: IS_LARGE ? '15' : '1' },
    players: { type: 'string', default: IS_LARGE ? '10000000' : '1000000' },
    beside: { type: 'string', default: 'imports,claims' },
    large: { type: 'boolean' },
  },
})
const players = Number(values.players)
const measuredMs = Number(values.minutes) * 60_000
/** The length of the two intervals whose memory is compared, in ms: the second one and the last one. */
const minuteMs = Math.min(60_000, measuredMs / 4)

const temporary = await temporaryDirectory()
const server = await startFilledServer(seeded(players), { METRICS_TOKEN })
try {
  await reportSingleWorks()
  const load = await prepareLoad()
  if (values.beside.includes('imports')) await reportBesideImports(load)
  if (values.beside.includes('claims')) await reportBesideClaims(load)
} finally {
  await server.stop()
  await temporary.remove()
}

/** Measures the event loop delay during one long piece of work at a time. */
async function reportSingleWorks(): Promise<void> {
  const image = await canvas(6000, 5000).png().toBuffer()
  // Another account, because the number of sessions is limited: signing in as the admin would end the admin's session.
  const person = { fname: 'Often', lname: 'Here', email: `often${Date.now()}@gmail.com`, userType: 'admin' } as const
  await server.addPerson(person)
  const signIn = { body: JSON.stringify({ email: person.email, password: PASSWORD }), cookie: '' }
  const works: [name: string, work: () => Promise<unknown>][] = [
    ['the server is idle', () => pause(5000)],
    ['a spreadsheet of all players is written', () => call('/downloadTelegramUsersData')],
    [
      'an image of 30 megapixels is decoded',
      () => call('/api/files/announcements?name=large.png', { body: image, type: 'image/png' }),
    ],
    [
      `${SIGN_INS} people sign in at once`,
      () => Promise.all(Array.from({ length: SIGN_INS }, () => call('/api/session', signIn))),
    ],
  ]
  for (const [name, work] of works) {
    await loopDelay()
    await work()
    const { p99Ms, maxMs } = await loopDelay()
    const isAtRest = name === works[0]?.[0]
    report(`event loop delay while ${name}: p99`, { ours: p99Ms, unit: 'ms', ...(!isAtRest && { atMost: LOOP_P99_BUDGET_MS }) })
    report(`event loop delay while ${name}: longest`, { ours: maxMs, unit: 'ms' })
  }
}

async function reportBesideImports(load: Operators): Promise<void> {
  const directories = await Promise.all([0, 1].map((round) => writePlayers(join(temporary.path, String(round)), round)))
  const { seconds, failures } = await reportOperators(load, 'imports', (until) => importAgain(directories, until))
  report(`imports of ${IMPORTED.toLocaleString('en')} players: median`, { ours: median(seconds), unit: 's' })
  reportFailures('imports', failures)
}

async function reportBesideClaims(load: Operators): Promise<void> {
  const claiming: Omit<Claiming, 'until'> = {
    url: server.url,
    ...(await prepareClaiming(server.database, CLAIMED_TASKS)),
    players,
    clients: CLAIM_CLIENTS,
  }
  const alone = await inProcess<Claimed>('claim-load.ts', {
    ...claiming,
    until: Date.now() + CLAIMED_ALONE_MS,
  } satisfies Claiming)
  const most = alone.timesMs.length / (CLAIMED_ALONE_MS / 1000)
  report('claims alone', { ours: most, unit: 'a second' })
  const { timesMs, failures } = await reportOperators(load, 'claims', (until) =>
    inProcess<Claimed>('claim-load.ts', { ...claiming, perSecond: most / 2, until } satisfies Claiming),
  )
  report('claims', { ours: timesMs.length / ((measuredMs + WARM_UP_MS) / 1000), unit: 'a second' })
  for (const share of [0.5, 0.99]) report(`claims: p${share * 100}`, { ours: percentile(timesMs, share), unit: 'ms' })
  reportFailures('claims', failures)
}

type Operators = Omit<OperatorLoad, 'measuredFrom' | 'until'>

/** Measures the operators while `work` runs. Returns the result of `work`, with the failures of both. */
async function reportOperators<Found extends { failures: string[] }>(
  load: Operators,
  beside: string,
  work: (until: number) => Promise<Found>,
): Promise<Found> {
  const measuredFrom = Date.now() + WARM_UP_MS
  const until = measuredFrom + measuredMs
  const [found, worked, memory, loop, main] = await Promise.all([
    inProcess<LoadResult>('operator-load.ts', { ...load, measuredFrom, until } satisfies OperatorLoad),
    work(until),
    watchMemory(until),
    pause(measuredFrom - Date.now())
      .then(loopDelay)
      .then(() => pause(until - Date.now()))
      .then(loopDelay),
    mainThreadShares(measuredFrom, until),
  ])
  const { timesMs } = found
  const during = `${OPERATORS} operators during ${beside}, ${values.minutes} min, ${players.toLocaleString('en')} players`
  report(`list pages of ${during}: p50`, { ours: percentile(timesMs.list, 0.5), unit: 'ms' })
  report(`list pages during ${beside}: p99`, { ours: percentile(timesMs.list, 0.99), unit: 'ms', atMost: LIST_P99_BUDGET_MS })
  for (const [name, times] of [
    ['searches and their counts', timesMs.search],
    ['records', timesMs.record],
    ['changes saved', timesMs.save],
  ] as const)
    for (const share of [0.5, 0.99]) report(`${name}: p${share * 100}`, { ours: percentile(times, share), unit: 'ms' })
  report(`event loop delay during ${beside}: p99`, { ours: loop.p99Ms, unit: 'ms', atMost: LOOP_P99_BUDGET_MS })
  report(`event loop delay during ${beside}: longest`, { ours: loop.maxMs, unit: 'ms' })
  if (main) {
    report("the server's main thread: running", { ours: main.busy, unit: '% of the time' })
    report("the server's main thread: waiting for a processor", { ours: main.waiting, unit: '% of the time' })
  }
  reportMemory(memory, measuredFrom, beside)
  const asked = Object.values(timesMs).reduce((sum, times) => sum + times.length, 0)
  report('requests', { ours: asked / (measuredMs / 1000), unit: 'a second' })
  report('events to each dashboard', { ours: found.events / DASHBOARDS / (measuredMs / 60_000), unit: 'a minute' })
  report('spreadsheets of all players, two at once: median', { ours: median(found.exportSeconds), unit: 's' })
  const processorShare = (found.cpuSeconds / (measuredMs / 1000)) * 100
  report('processor time of the load itself', { ours: processorShare, unit: '% of a processor' })
  return { ...worked, failures: [...found.failures, ...worked.failures] }
}

function reportFailures(beside: string, failures: string[]): void {
  for (const failure of failures.slice(0, 10)) console.error(failure)
  report(`failed requests, streams, ${beside} and spreadsheets`, { ours: failures.length, unit: 'times', atMost: 0 })
}

/** Writes the same players with other balances for each round, so that each import changes all of them. */
async function writePlayers(directory: string, round: number): Promise<string> {
  await mkdir(directory)
  const file = createWriteStream(join(directory, 'telegramUsers.ndjson'))
  for (let n = 0; n < IMPORTED; n += 1) {
    const userId = 700_000_000 + n
    const line = {
      userId,
      firstName: `Player ${n}`,
      username: `imported_${n}`,
      email: `imported${n}@example.org`,
      balance: n + round,
    }
    if (!file.write(`${JSON.stringify(line)}\n`)) await once(file, 'drain')
  }
  file.end()
  await once(file, 'finish')
  return directory
}

async function importAgain(directories: string[], until: number): Promise<{ seconds: number[]; failures: string[] }> {
  const seconds: number[] = []
  const failures: string[] = []
  for (let round = 0; Date.now() < until; round += 1) {
    const started = performance.now()
    const child = spawn(process.execPath, [join(ROOT, 'server/src/cli/arcade.ts'), 'import', directories[round % 2]!], {
      env: { PATH: process.env['PATH'], HOME: process.env['HOME'], DATA_DIR: server.dataDir },
      cwd: temporary.path,
      stdio: ['ignore', 'ignore', 'inherit'],
      detached: true,
    })
    const [code] = (await once(child, 'exit')) as [number | null]
    if (code === 0) seconds.push((performance.now() - started) / 1000)
    else failures.push(`the import ended with ${code}`)
  }
  return { seconds, failures }
}

/** Creates an account, a session and a task for each operator. */
async function prepareLoad(): Promise<Operators> {
  const operators: OperatorLoad['operators'] = []
  for (let n = 0; n < OPERATORS; n += 1) {
    const person = { fname: 'Operator', lname: `${n}`, email: `operator${n}.${Date.now()}@gmail.com`, userType: 'admin' } as const
    const { token } = await server.addPerson(person)
    const task = { priority: 1000 + n, type: 'twitter', title: `Follow number ${n}`, link: 'https://x.com/arcade', reward: 5 }
    const { id } = (await (await call('/api/social-tasks', { body: JSON.stringify(task) })).json()) as { id: string }
    operators.push({ cookie: `session=${token}`, taskId: id })
  }
  return { url: server.url, operators, dashboards: DASHBOARDS, exporters: EXPORTERS, players }
}

interface Sample {
  at: number
  mb: number
}

async function watchMemory(until: number): Promise<Sample[]> {
  const samples: Sample[] = []
  for (; Date.now() < until; await pause(500)) samples.push({ at: Date.now(), mb: await residentMb(server.pid) })
  return samples
}

function reportMemory(samples: Sample[], from: number, beside: string): void {
  const between = (low: number, high: number): number =>
    median(samples.filter(({ at }) => at >= low && at < high).map(({ mb }) => mb))
  const second = between(from + minuteMs, from + 2 * minuteMs)
  const last = between(from + measuredMs - minuteMs, Infinity)
  const peak = Math.max(...samples.map(({ mb }) => mb))
  const compared = { limit: second, unit: 'MB', atMost: MEMORY_BUDGET }
  report(`memory of the server during ${beside}, last minute against second`, { ours: last, ...compared })
  report(`memory of the server during ${beside}, peak against second minute`, { ours: peak, unit: 'MB', limit: second })
}

interface Call {
  body?: string | Buffer<ArrayBuffer>
  type?: string
  cookie?: string
}

/** Sends a request as the admin: POST if there is a body, else GET. Resolves when the whole answer is read. */
async function call(
  path: string,
  { body, type = 'application/json', cookie = server.admin.cookie }: Call = {},
): Promise<Response> {
  const headers = { cookie, 'sec-fetch-site': 'same-origin' }
  const posted = body === undefined ? { headers } : { method: 'POST', body, headers: { ...headers, 'content-type': type } }
  const answer = await fetch(server.url + path, posted)
  const read = await answer.arrayBuffer()
  if (!answer.ok) throw new Error(`${path} answered ${answer.status}: ${Buffer.from(read).toString().slice(0, 200)}`)
  return new Response(read, answer)
}

/** Reads the event loop delay since the last call; each call resets it. */
async function loopDelay(): Promise<{ p99Ms: number; maxMs: number }> {
  const answer = await fetch(`${server.url}/metrics`, { headers: { authorization: `Bearer ${METRICS_TOKEN}` } })
  const text = await answer.text()
  const ms = (name: string): number => {
    const seconds = new RegExp(`^nodejs_eventloop_lag_${name}_seconds (\\S+)`, 'm').exec(text)?.[1]
    return Number(seconds) * 1000 - LOOP_TIMER_MS
  }
  return { p99Ms: ms('p99'), maxMs: ms('max') }
}

/** How long the server's main thread ran and waited for a processor, in percent of the time. Undefined if Linux does not count it. */
async function mainThreadShares(from: number, until: number): Promise<{ busy: number; waiting: number } | undefined> {
  const read = async (): Promise<[busyMs: number, waitingMs: number] | undefined> => {
    const text = await readFile(`/proc/${server.pid}/task/${server.pid}/schedstat`, 'utf8').catch(() => undefined)
    const [busy, waiting] = text?.split(' ').map((nanoseconds) => Number(nanoseconds) / 1e6) ?? []
    return busy === undefined || waiting === undefined ? undefined : [busy, waiting]
  }
  await pause(from - Date.now())
  const before = await read()
  await pause(until - Date.now())
  const after = await read()
  if (!before || !after) return undefined
  const [busy, waiting] = [0, 1].map((index) => ((after[index]! - before[index]!) / (until - from)) * 100)
  return { busy: busy!, waiting: waiting! }
}
