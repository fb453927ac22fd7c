/**
 * The process that simulates the operators of operators.bench.ts. Each operator has as many connections as a browser and sends the requests
 * of the console's pages. It parses an answer only if the next request needs something from it.
 */
import http from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import { activityRanges } from '@arcade/contract/dashboard/fields'
import { SEED_BASE } from '../server/src/import/seed.ts'
import { seededRandom } from '../server/test/size.ts'
import { answerParent } from './in-process.ts'

export interface OperatorLoad {
  url: string
  /** For each operator, the Cookie header and the task that they change now and then. */
  operators: { cookie: string; taskId: string }[]
  /** How many operators also have the dashboard open. */
  dashboards: number
  /** How many operators also download the spreadsheet of all players again and again. */
  exporters: number
  players: number
  /** In ms since 1970. Earlier requests are a warm-up. */
  measuredFrom: number
  /** In ms since 1970. */
  until: number
}

const kinds = ['list', 'search', 'record', 'save'] as const
type Kind = (typeof kinds)[number]

export interface LoadResult {
  /** For each answer, the time from the request to its last byte. */
  timesMs: Record<Kind, number[]>
  exportSeconds: number[]
  /** Number of events that all dashboards together received. */
  events: number
  /** The messages of failed requests. */
  failures: string[]
  cpuSeconds: number
}

interface Operator {
  cookie: string
  taskId: string
  agent: http.Agent
  /** The address of the open list of players. */
  list: string
  /** The cursor of its next page. */
  after: string | undefined
}

/** Connections of each operator, as many as browsers open. */
const SOCKETS_EACH = 6
/** The median pause between two acts. Pauses are log-normal, so a few are many times as long. */
const THINK_MEDIAN_MS = 4000
const THINK_SPREAD = 0.8
const THINK_LIMITS_MS = [500, 60_000] as const
const PLAYERS = '/api/telegram-users'
const sorts = ['balance', 'balance', 'balance', 'a-z', 'newest']
const pageSizes = [5, 5, 25, 50]
const otherLists = [
  '/api/social-tasks',
  '/api/daily-tasks',
  '/api/announcements',
  '/api/users',
  '/api/history/social',
  '/api/audit',
]
const words = ['moon', 'Kofi', 'lucky_4', 'Петров', 'player12', '0x3f', 'sky.77', 'nobody of that name']

/** What operators do, with the share of each in percent. */
const acts: [share: number, act: (operator: Operator) => Promise<unknown>][] = [
  [35, pageDown],
  [15, openList],
  [15, searchPlayers],
  [20, openPlayer],
  [10, openOtherList],
  [5, saveTask],
]

const random = seededRandom()
const result: LoadResult = {
  timesMs: { list: [], search: [], record: [], save: [] },
  exportSeconds: [],
  events: 0,
  failures: [],
  cpuSeconds: 0,
}
let load: OperatorLoad

answerParent((received: OperatorLoad) => {
  load = received
  return run()
})

async function run(): Promise<LoadResult> {
  const operators = load.operators.map((one): Operator => {
    const agent = new http.Agent({ keepAlive: true, maxSockets: SOCKETS_EACH })
    return { ...one, agent, list: PLAYERS, after: undefined }
  })
  let before = process.cpuUsage()
  const marking = pause(load.measuredFrom - Date.now()).then(() => (before = process.cpuUsage()))
  await Promise.all([
    marking,
    ...operators.map(operate),
    ...operators.slice(0, load.dashboards).map(watchDashboard),
    ...operators.slice(-load.exporters).map(exportAgain),
  ])
  const { user, system } = process.cpuUsage(before)
  for (const { agent } of operators) agent.destroy()
  return { ...result, cpuSeconds: (user + system) / 1e6 }
}

async function operate(operator: Operator): Promise<void> {
  await pause(random() * (load.measuredFrom - Date.now()))
  while (Date.now() < load.until) {
    await chosenAct()(operator)
    await think()
  }
}

function chosenAct(): (operator: Operator) => Promise<unknown> {
  let left = random() * acts.reduce((sum, [share]) => sum + share, 0)
  return acts.find(([share]) => (left -= share) < 0)?.[1] ?? openList
}

/** Waits for a log-normal time (Box–Muller transform), at most until the end of the load. */
async function think(): Promise<void> {
  const normal = Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random())
  const wanted = THINK_MEDIAN_MS * Math.exp(THINK_SPREAD * normal)
  const [least, most] = THINK_LIMITS_MS
  await pause(Math.max(0, Math.min(Math.max(least, wanted), most, load.until - Date.now())))
}

async function openList(operator: Operator): Promise<void> {
  operator.list = `${PLAYERS}?sort=${oneOf(sorts)}&pageSize=${oneOf(pageSizes)}`
  await readPage(operator, 'list', operator.list)
}

async function pageDown(operator: Operator): Promise<void> {
  if (operator.after === undefined) await openList(operator)
  else await readPage(operator, 'list', `${operator.list}&after=${operator.after}`)
}

/** Searches as the page does, with one request for the hits and one for their count. */
async function searchPlayers(operator: Operator): Promise<void> {
  const isWholeName = random() < 0.5
  const text = isWholeName ? `moon_${1 + Math.floor(random() * load.players)}` : oneOf(words)
  const search = `search=${encodeURIComponent(text)}`
  operator.list = `${PLAYERS}?${search}`
  await Promise.all([
    readPage(operator, 'search', operator.list),
    ask(operator, { kind: 'search', path: `${PLAYERS}/count?${search}` }),
  ])
}

async function readPage(operator: Operator, kind: Kind, path: string): Promise<void> {
  const text = await ask(operator, { kind, path })
  operator.after = text === undefined ? undefined : /"after":"([^"]+)"/.exec(text)?.[1]
}

async function openPlayer(operator: Operator): Promise<void> {
  const player = `${PLAYERS}/${SEED_BASE + 1 + Math.floor(random() * load.players)}`
  const paths = [player, `${player}/participations`, `${player}/neighbours`]
  await Promise.all(paths.map((path) => ask(operator, { kind: 'record', path })))
}

async function openOtherList(operator: Operator): Promise<void> {
  await ask(operator, { kind: 'list', path: oneOf(otherLists) })
}

/** Opens a task, waits, and saves it with another reward. */
async function saveTask(operator: Operator): Promise<void> {
  const path = `/api/social-tasks/${operator.taskId}`
  const text = await ask(operator, { kind: 'record', path })
  if (text === undefined) return
  await think()
  const { priority, type, title, link, version } = JSON.parse(text) as Record<string, unknown>
  const body = JSON.stringify({ priority, type, title, link, version, reward: Math.floor(random() * 1000) })
  await ask(operator, { kind: 'save', path, method: 'PUT', body })
}

interface Question {
  kind: Kind
  path: string
  method?: string
  body?: string
}

/** Sends a request. Resolves to the answer's text, or to undefined after a failure. */
function ask({ agent, cookie }: Operator, { kind, path, method = 'GET', body }: Question): Promise<string | undefined> {
  const headers = { cookie, 'sec-fetch-site': 'same-origin', ...(body !== undefined && { 'content-type': 'application/json' }) }
  const started = Date.now()
  const startedAt = performance.now()
  return new Promise((settle) => {
    const fail = (reason: string): void => {
      result.failures.push(`${method} ${path}: ${reason}`)
      settle(undefined)
    }
    const request = (): void => {
      const sent = http.request(load.url + path, { agent, method, headers }, read)
      sent.once('error', (error: NodeJS.ErrnoException) => {
        // The server may close an idle connection just as it is used again. Browsers then repeat the request too (RFC 9112, 9.3.1).
        if (sent.reusedSocket && error.code === 'ECONNRESET' && method === 'GET') request()
        else fail(error.message)
      })
      sent.end(body)
    }
    const read = (answer: http.IncomingMessage): void => {
      const chunks: Buffer[] = []
      answer.on('data', (chunk: Buffer) => chunks.push(chunk))
      answer.once('error', (error) => fail(error.message))
      answer.once('end', () => {
        const text = Buffer.concat(chunks).toString()
        if (answer.statusCode !== 200) return fail(`${answer.statusCode} ${text.slice(0, 200)}`)
        if (started >= load.measuredFrom) result.timesMs[kind].push(performance.now() - startedAt)
        settle(text)
      })
    }
    request()
  })
}

/** Reads a stream of events until the end of the load. */
async function watchDashboard(operator: Operator): Promise<void> {
  await pause(random() * (load.measuredFrom - Date.now()))
  const count = (chunk: Buffer): void => void (result.events += chunk.toString('latin1').split('event: ').length - 1)
  await stream(operator, `/api/events?range=${oneOf(activityRanges)}`, count)
  if (Date.now() < load.until) result.failures.push('GET /api/events: the stream ended')
}

async function exportAgain(operator: Operator): Promise<void> {
  while (Date.now() < load.until) {
    const started = performance.now()
    const isWhole = await stream(operator, '/downloadTelegramUsersData', () => {})
    if (isWhole) result.exportSeconds.push((performance.now() - started) / 1000)
    else if (Date.now() < load.until) await pause(1000) // a loop without a pause would add load
  }
}

/** Reads a stream. Resolves to whether it was complete. Being cut off by the end of the load is not a failure. */
function stream({ cookie }: Operator, path: string, onData: (chunk: Buffer) => void): Promise<boolean> {
  return new Promise((settle) => {
    const signal = AbortSignal.timeout(Math.max(1, load.until - Date.now()))
    const fail = (reason: string): void => {
      if (!signal.aborted) result.failures.push(`GET ${path}: ${reason}`)
      settle(false)
    }
    const headers = { cookie, 'sec-fetch-site': 'same-origin' }
    const sent = http.request(load.url + path, { agent: false, headers, signal }, (answer) => {
      answer.on('data', onData)
      answer.once('error', (error) => fail(error.message))
      answer.once('end', () => (answer.statusCode === 200 ? settle(true) : fail(String(answer.statusCode))))
    })
    sent.once('error', (error) => fail(error.message))
    sent.end()
  })
}

function oneOf<T>(values: readonly T[]): T {
  return values[Math.floor(random() * values.length)]!
}
