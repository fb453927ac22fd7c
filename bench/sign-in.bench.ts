/** Signing in, against argon2id alone with the same cost, and refusing an unknown e-mail, which must take as long as a wrong password. */
import { hashPassword, isPassword } from '../server/src/identity/passwords.ts'
import { PASSWORD } from '../server/test/console-server.ts'
import { measure, report, ROUND_SECONDS, show, startBenchServer } from './measuring.ts'

const RATIO_BUDGET = 0.6
const DIFFERENCE_BUDGET = 1.15
const CONNECTIONS = 4

const server = await startBenchServer()
const url = `${server.url}/api/session`
const headers = { 'content-type': 'application/json' }

const bare = await hashesPerSecond()
const signed = await measure({
  url,
  method: 'POST',
  headers,
  body: JSON.stringify({ email: server.admin.email, password: PASSWORD }),
  connections: CONNECTIONS,
  seconds: ROUND_SECONDS,
})
console.log(`${'argon2id alone'.padEnd(44)} ${bare.toFixed(0).padStart(7)} hashes/s`)
show('POST /api/session, right password', signed)
report('signing in', { ours: signed.requestsPerSecond, limit: bare, unit: 'a second', atLeast: RATIO_BUDGET })

const [wrong, unknown] = [await refusedMs(server.admin.email), await refusedMs('nobody@gmail.com')]
const [shorter = 0, longer = 0] = [wrong, unknown].toSorted((a, b) => a - b)
report('refusing an unknown e-mail or a wrong password: the slower against the faster', {
  ours: longer,
  limit: shorter,
  unit: 'ms',
  atMost: DIFFERENCE_BUDGET,
})
await server.stop()

async function hashesPerSecond(): Promise<number> {
  const hashed = await hashPassword(PASSWORD)
  const until = performance.now() + ROUND_SECONDS * 1000
  let count = 0
  const worker = async () => {
    while (performance.now() < until) {
      await isPassword(PASSWORD, hashed)
      count += 1
    }
  }
  await Promise.all(Array.from({ length: CONNECTIONS }, worker))
  return count / ROUND_SECONDS
}

/** Returns the median time in ms of 60 refused sign-ins, one after another. */
async function refusedMs(email: string): Promise<number> {
  const times: number[] = []
  for (let attempt = 0; attempt < 60; attempt += 1) {
    const started = performance.now()
    await (
      await fetch(url, { method: 'POST', headers, body: JSON.stringify({ email, password: 'wrong password' }) })
    ).arrayBuffer()
    times.push(performance.now() - started)
  }
  return times.toSorted((a, b) => a - b)[30] ?? Number.NaN
}
