/** Design §9: with an existing database the server is ready within 2 s, started with `npm start` or as a plain process. */
import { type ChildProcess, spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { median, report, ROOT, startProcess, stopProcess, temporaryDirectory } from './measuring.ts'

const BUDGET_MS = 2000
const RUNS = 5

const directory = await temporaryDirectory()
const env = { PORT: '0', DATA_DIR: directory.path }
await stopProcess((await startProcess('server/src/main.ts', env)).child) // the first start creates the database

const alone: number[] = []
const whole: number[] = []
for (let run = 0; run < RUNS; run += 1) {
  alone.push(await timed(async () => (await startProcess('server/src/main.ts', env)).child))
  whole.push(await timed(npmStart))
}
await directory.remove()

for (const [name, times] of [
  ['the process alone', alone],
  ['npm start', whole],
] as const) {
  report(`${name}, median of ${RUNS}`, { ours: median(times), unit: 'ms', atMost: BUDGET_MS })
  report(`${name}, worst of ${RUNS}`, { ours: Math.max(...times), unit: 'ms' })
}

async function timed(start: () => Promise<ChildProcess>): Promise<number> {
  const started = performance.now()
  const child = await start()
  const elapsed = performance.now() - started
  await stopProcess(child)
  return elapsed
}

async function npmStart(): Promise<ChildProcess> {
  const child = spawn('npm', ['start'], { cwd: ROOT, env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'inherit'] })
  for await (const line of createInterface({ input: child.stdout })) {
    if (!line.includes('ready at http')) continue
    child.stdout.resume()
    return child
  }
  throw new Error('npm start ended before it was ready')
}
