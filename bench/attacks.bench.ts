/**
 * security.md, Availability: how long others wait, at most, while one client attacks. Each attack is repeated for some seconds; meanwhile
 * another client asks `/healthz` again and again. A guest sends a thousand requests on one connection without waiting for answers; a bot
 * sends large bodies that are not JSON.
 */
import { once } from 'node:events'
import { connect } from 'node:net'
import { prepareClaiming } from './claiming.ts'
import { type BenchServer, report, startBenchServer } from './measuring.ts'

const MOST_MS = 100
const SECONDS = 5
const PIPELINED = 1000
const MB = 1024 * 1024

const server = await startBenchServer()
try {
  const { headers: bot } = await prepareClaiming(server.database, 1)
  const attacks: Record<string, () => Promise<void>> = {
    'nobody attacks': () => new Promise((resolve) => void setTimeout(resolve, 100)),
    '1,000 requests for /api/docs on one connection': () => pipeline('/api/docs'),
    '1,000 requests for /api/openapi.json on one connection': () => pipeline('/api/openapi.json'),
    '1,000 requests for the page on one connection': () => pipeline('/'),
    '2 MB of numbers without commas': () => postPlayers(bot, `[${'1.5e3 '.repeat((2 * MB) / 6 - 1)}]`),
    '2 MB of numbers between colons': () => postPlayers(bot, '1.5e3:'.repeat((2 * MB) / 6)),
    '2 MB of empty objects': () => postPlayers(bot, `[${'{},'.repeat((2 * MB) / 3 - 1)}{}]`),
    '2 MB of escapes': () => postPlayers(bot, `["${String.raw`\u0041`.repeat((2 * MB) / 6 - 2)}"]`),
  }
  for (const [name, attack] of Object.entries(attacks)) await reportWaits(server, name, attack)
} finally {
  await server.stop()
}

async function reportWaits({ url }: BenchServer, name: string, attack: () => Promise<void>): Promise<void> {
  const until = performance.now() + SECONDS * 1000
  let longest = 0
  const attacking = (async () => {
    while (performance.now() < until) await attack()
  })()
  while (performance.now() < until) {
    const started = performance.now()
    await (await fetch(`${url}/healthz`)).arrayBuffer()
    longest = Math.max(longest, performance.now() - started)
  }
  await attacking
  report(`${name}: the longest wait of others`, { ours: longest, unit: 'ms', atMost: MOST_MS })
}

/** Sends all requests at once, and waits until the server has answered them or closed the connection. */
async function pipeline(path: string): Promise<void> {
  const socket = connect(Number(new URL(server.url).port), '127.0.0.1')
  socket.on('error', () => {}) // the server may close the connection while the requests are being sent
  socket.resume()
  const request = `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n`
  socket.end(request.repeat(PIPELINED))
  await once(socket, 'close')
}

async function postPlayers(bot: Readonly<Record<string, string>>, body: string): Promise<void> {
  const answer = await fetch(`${server.url}/bot/v1/players`, { method: 'POST', headers: bot, body })
  await answer.arrayBuffer()
}
