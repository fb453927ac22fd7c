/** security.md, Crash: after kill -9 of the server, of PostgreSQL or of both, how soon it serves again (2 s; 5 s without a restart). */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { startProcess, stopProcess, temporaryDirectory, verdict } from './harness.ts'

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
  report(`after kill -9 of ${what} the next start is ready ≤ ${READY_BUDGET_MS} ms`, times, READY_BUDGET_MS)
}

const times: number[] = []
for (let run = 0; run < RUNS; run += 1) {
  process.kill(await postmaster(), 'SIGKILL')
  const started = performance.now()
  while ((await fetch(`${server.url}/readyz`)).status === 200) await pause(5)
  while ((await fetch(`${server.url}/readyz`)).status !== 200) await pause(20)
  times.push(performance.now() - started)
}
report(`after kill -9 of PostgreSQL alone the server serves again ≤ ${RECOVERED_BUDGET_MS} ms`, times, RECOVERED_BUDGET_MS)
await stopProcess(server.child)
await directory.remove()

function report(question: string, measured: number[], budgetMs: number): void {
  const worst = Math.max(...measured)
  verdict(question, worst <= budgetMs, `worst of ${measured.length}: ${worst.toFixed(0)} ms`)
}
