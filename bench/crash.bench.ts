/** security.md, Crash: how soon the server is ready again after kill -9 of the server or of both (2 s), or of PostgreSQL (5 s). */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { report, startProcess, stopProcess, temporaryDirectory } from './measuring.ts'

const READY_BUDGET_MS = 2000
const RECOVERED_BUDGET_MS = 5000
const RUNS = 3

const directory = await temporaryDirectory()
const start = () => startProcess('server/src/main.ts', { PORT: '0', DATA_DIR: directory.path })
const postmaster = async () => Number((await readFile(join(directory.path, 'postgres/postmaster.pid'), 'utf8')).split('\n')[0])

let server = await start()
for (const [what, kill] of [
  ['the server', async () => server.child.kill('SIGKILL')],
  ['both', async () => process.kill(await postmaster(), 'SIGKILL') && server.child.kill('SIGKILL')],
] as const) {
  const times: number[] = []
  for (let run = 0; run < RUNS; run += 1) {
    await kill()
    const started = performance.now()
    server = await start()
    times.push(performance.now() - started)
  }
  reportWorst(`after kill -9 of ${what}: until the next start is ready`, times, READY_BUDGET_MS)
}

const times: number[] = []
for (let run = 0; run < RUNS; run += 1) {
  process.kill(await postmaster(), 'SIGKILL')
  const started = performance.now()
  while ((await fetch(`${server.url}/readyz`)).status === 200) await pause(5)
  while ((await fetch(`${server.url}/readyz`)).status !== 200) await pause(20)
  times.push(performance.now() - started)
}
reportWorst('after kill -9 of PostgreSQL alone: until the server serves again', times, RECOVERED_BUDGET_MS)
await stopProcess(server.child)
await directory.remove()

function reportWorst(question: string, measured: number[], atMost: number): void {
  report(`${question}, worst of ${measured.length}`, { ours: Math.max(...measured), unit: 'ms', atMost })
}
