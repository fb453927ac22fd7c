/**
 * The operators of operators.bench.ts, in a process of their own whose processor time is told apart from the server's. Each has the sockets
 * of one browser and asks what the pages ask; answers are read only where the next question needs something of them.
 */
import http from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import { activityRanges } from '@arcade/contract/dashboard/fields'
import { SEED_BASE } from '../server/src/import/seed.ts'
import { seededRandom } from '../server/test/size.ts'
import { answerParent } from './in-process.ts'

export interface OperatorLoad {
  url: string
  /** Of each operator the Cookie header, and the task that they change now and then. */
  operators: { cookie: string; taskId: string }[]
  /** So many of them have the dashboard open as well. */
  dashboards: number
  /** So many load the spreadsheet of all players again and again. */
  exporters: number
  players: number
  /** Milliseconds since 1970: what is asked before is not measured. */
  measuredFrom: number
  until: number
}

const kinds = ['list', 'search', 'record', 'save'] as const
type Kind = (typeof kinds)[number]

export interface LoadResult {
  /** Of each answer, from the question to its last byte. */
  timesMs: Record<Kind, number[]>
  exportSeconds: number[]
  /** Events that all dashboards got. */
  events: number
  /** What went wrong, in words. */
  failures: string[]
  cpuSeconds: number
}

interface Operator {
  cookie: string
  taskId: string
  agent: http.Agent
  /** The page of players that they see, and where the next one begins. */
  list: string
  after: string | undefined
}

/** As browsers do. */
const SOCKETS_EACH = 6
/** Half of all pauses between two acts are shorter; few are many times as long. */
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

/** What operators do, by how often in a hundred acts. */
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

answerParent((given: OperatorLoad) => {
  load = given
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

/** A log-normal pause (Box and Muller), not beyond the end. */
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

/** The page asks for the hits and for their number. */
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

/** Opens a task, thinks, and saves it with another reward. */
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

/** The answer's text, or undefined after a failure. */
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
        // The server closes what nobody has used for a while, perhaps at this moment: browsers ask again (RFC 9112, 9.3.1), too.
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
    else if (Date.now() < load.until) await pause(1000) // the failure is noted; a loop without a pause would be a load of its own
  }
}

/** Whether it came whole; what the end of the load breaks off is no failure. */
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
