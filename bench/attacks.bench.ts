/**
 * security.md, Availability: how long others wait, at most, while one client attacks for a second. It is the median of three such seconds,
 * because the attacker runs on the same two processors. Meanwhile another client reads the leaderboard with a bot token and asks `/healthz`,
 * again and again. Attackers are guests, who send a thousand requests on one connection or some on each of many connections without waiting
 * for answers; players' clients; the receiver of a webhook; and a stolen token or session that sends large bodies. Where Node itself makes
 * others wait, a bare server is attacked, too.
 */
import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { BOT_TOKEN, signInitData } from '../server/test/init-data.ts'
import { actOfProcess } from '../server/src/audit/audit.ts'
import { createBotToken } from '../server/src/identity/bot-tokens.ts'
import type { Attack } from './attacking.ts'
import { prepareClaiming } from './claiming.ts'
import { inProcess } from './in-process.ts'
import { median, report, startBenchServer, startProcess, stopProcess } from './measuring.ts'

const MAX_MS = 100
const ROUNDS = 3
const ROUND_SECONDS = 1
const MB = 1024 * 1024
/** An attack whose requests Node reads to the end of a chunk, although the connection is closed at one of the first. */
const READ_TO_THE_END = '1,000 requests for /api/session on each of 64 connections'

const server = await startBenchServer({ TELEGRAM_BOT_TOKEN: BOT_TOKEN, WEBHOOK_NETWORKS: '127.0.0.0/8' })
try {
  const { headers: bot } = await prepareClaiming(server.database, 1)
  const { token } = await createBotToken(server.database, actOfProcess('command', 'bench'), { name: 'other', scope: 'read' })
  const other = { authorization: `Bearer ${token}` }
  const admin = { cookie: server.admin.cookie, 'content-type': 'application/json' }
  const player = { authorization: `tma ${signInitData({ user: JSON.stringify({ id: 7 }) })}` }
  const receiverPort = await freePort()
  const webhook = await addWebhook(admin, `http://127.0.0.1:${receiverPort}/`)

  const pages = (path: string, connections = 1, pipelined = 1000): Partial<Attack> => ({ path, connections, pipelined })
  const players = (body: string): Partial<Attack> => ({ method: 'POST', path: '/bot/v1/players', headers: bot, body })
  const history = (body: string): Partial<Attack> => ({ method: 'POST', path: '/download-history', headers: admin, body })
  const attacks: Record<string, Partial<Attack>> = {
    'nobody attacks': { connections: 0 },
    '1,000 requests for /api/docs on one connection': pages('/api/docs'),
    '1,000 requests for /api/openapi.json on one connection': pages('/api/openapi.json'),
    '1,000 requests for the page on one connection': pages('/'),
    '32 requests for the page on each of 64 connections': pages('/', 64, 32),
    '32 requests for /api/session on each of 64 connections': pages('/api/session', 64, 32),
    [READ_TO_THE_END]: pages('/api/session', 64),
    '1,000 reads of the leaderboard by a player’s client on one connection': { ...pages('/bot/v1/leaderboard'), headers: player },
    '32 reads of the leaderboard by players’ clients on each of 64 connections': {
      ...pages('/bot/v1/leaderboard', 64, 32),
      headers: player,
    },
    '30 requests for /api/docs on each of 300 connections that read nothing': {
      ...pages('/api/docs', 300, 30),
      readsNothing: true,
    },
    'a receiver of webhooks that sends interim answers for ever': {
      method: 'POST',
      path: `/api/webhooks/${webhook}/test`,
      headers: admin,
      body: '{}',
      receiverPort,
    },
    '2 MB of numbers without commas': players(`[${'1.5e3 '.repeat((2 * MB) / 6 - 1)}]`),
    '2 MB of numbers between colons': players('1.5e3:'.repeat((2 * MB) / 6)),
    '2 MB of empty objects': players(`[${'{},'.repeat((2 * MB) / 3 - 1)}{}]`),
    '2 MB of escapes': players(`["${String.raw`\u0041`.repeat((2 * MB) / 6 - 2)}"]`),
    '8 MB of escapes to /download-history': history(`["${String.raw`\u0041`.repeat((8 * MB) / 6 - 2)}"]`),
    '8 MB to /download-history with 130,000 long numbers': history(
      `[${`${'1.2345678901234567'.padEnd(62, ' ')},`.repeat(130_000)}1]`,
    ),
    '8 MB to /download-history with 127,000 field names': history(`[${manyFields(1280, 99)}]`),
    '8 MB to /download-history with 10,000 field names': history(`[${manyFields(100, 99)}]`),
  }
  for (const [name, attack] of Object.entries(attacks)) {
    const all: Attack = {
      url: server.url,
      method: 'GET',
      path: '/',
      headers: {},
      pipelined: 1,
      connections: 1,
      seconds: ROUND_SECONDS,
      ...attack,
    }
    const waited = await usualLongestWait(all, { url: server.url, paths: ['/healthz', '/bot/v1/leaderboard'], headers: other })
    report(`${name}: the longest wait of others`, { ours: waited, unit: 'ms', atMost: MAX_MS })
    if (name === READ_TO_THE_END) await reportBare(all, waited)
  }
} finally {
  await server.stop()
}

interface Asking {
  url: string
  paths: readonly string[]
  headers?: Record<string, string>
}

/** Attacks several times, and returns the median of the longest waits. */
async function usualLongestWait(attack: Attack, asking: Asking): Promise<number> {
  const waits: number[] = []
  for (let round = 0; round < ROUNDS; round += 1) waits.push(await longestWait(attack, asking))
  return median(waits)
}

/** Attacks while another client asks, again and again. Returns the milliseconds of its longest wait. */
async function longestWait(attack: Attack, { url, paths, headers = {} }: Asking): Promise<number> {
  let isOver = false
  const attacking = inProcess<null>('attacking.ts', attack).finally(() => (isOver = true))
  let longest = 0
  while (!isOver) {
    for (const path of paths) {
      const started = performance.now()
      const answer = await fetch(url + path, { headers })
      await answer.arrayBuffer()
      if (answer.status !== 200) throw new Error(`${path} answered ${answer.status}`)
      longest = Math.max(longest, performance.now() - started)
    }
  }
  await attacking
  return longest
}

/** Reports how much longer others wait than at a bare server under the same attack. */
async function reportBare(attack: Attack, ours: number): Promise<void> {
  const { url, child } = await startProcess('bench/bare/closing-server.ts', {})
  const limit = await usualLongestWait({ ...attack, url }, { url, paths: ['/'] })
  await stopProcess(child)
  report(`${READ_TO_THE_END}: the longest wait of others, against a bare server`, { ours, limit, unit: 'ms' })
}

function manyFields(objects: number, fieldsEach: number): string {
  const field = (object: number, n: number): string => `"f${object}_${n}${'x'.repeat(40)}":1`
  return Array.from(
    { length: objects },
    (_object, index) => `{${Array.from({ length: fieldsEach }, (_field, n) => field(index, n)).join()}}`,
  ).join()
}

async function freePort(): Promise<number> {
  const listener = createServer().listen(0, '127.0.0.1')
  await once(listener, 'listening')
  const { port } = listener.address() as AddressInfo
  listener.close()
  await once(listener, 'close')
  return port
}

async function addWebhook(headers: Record<string, string>, url: string): Promise<string> {
  const body = JSON.stringify({ url, events: ['task.changed'] })
  const answer = await fetch(`${server.url}/api/webhooks`, { method: 'POST', headers, body })
  if (!answer.ok) throw new Error(await answer.text())
  return ((await answer.json()) as { id: string }).id
}
