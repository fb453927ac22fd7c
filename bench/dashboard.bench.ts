/**
 * The dashboard's two calls with 1M players and 1M participations against the bare limit: the same prepared statements with the same
 * parameters from `node:http`, with 10 connections. Seeding writes the counters, so each range has as many as in a live game.
 * The dashboard can ask five questions only, so all callers share reads here, as operators do (ADR 11).
 */
import { activityRanges } from '@arcade/contract/dashboard/fields'
import type { Database } from '../server/src/db/database.ts'
import { createFigures } from '../server/src/features/dashboard/figures.ts'
import { seeded, startFilledServer } from './consoles.ts'
import { measure, reportRate, reportTail, ROUND_SECONDS, show, startBare, stopProcess } from './measuring.ts'

const RATIO_BUDGET = 0.6
const ROWS = 1_000_000
const load = { connections: 10, seconds: Number(process.argv[2] ?? ROUND_SECONDS) }

const server = await startFilledServer(seeded(ROWS))
try {
  const headers = { cookie: server.admin.cookie }
  const calls = [
    { name: 'metrics', path: '/api/metrics', run: (of: Figures) => of.metrics() },
    ...activityRanges.map((range) => ({
      name: `activity, ${range}`,
      path: `/api/activity?range=${range}`,
      run: (of: Figures) => of.activity(range),
    })),
  ]
  for (const { name, path, run } of calls) {
    const { text, parameters } = await findStatement(server.database, run)
    const bare = await startBare(server, text, parameters)
    const limit = await measure({ ...load, url: bare.url })
    await stopProcess(bare.child)
    const measured = await measure({ ...load, url: server.url + path, headers })
    show(`node:http and the statement of ${name}`, limit)
    show(name, measured)
    reportRate(`${name}, a shared read`, { ours: measured, limit, atLeast: RATIO_BUDGET })
    reportTail(`${name}, a shared read`, measured, limit)
  }
} finally {
  await server.stop()
}

type Figures = ReturnType<typeof createFigures>

/** Returns the last statement that a call sends. The call for activity sends another one before, which reads the time. */
async function findStatement(
  database: Database,
  run: (figures: Figures) => Promise<unknown>,
): Promise<{ text: string; parameters: unknown[] }> {
  let last: { text: string; parameters: unknown[] } | undefined
  const prepared = <Row>(name: string, text: string) => {
    const ask = database.prepared<Row>(`bench ${name}`, text)
    return (parameters: unknown[]) => {
      last = { text, parameters }
      return ask(parameters)
    }
  }
  await run(createFigures({ prepared }))
  if (!last) throw new Error('the call sent no statement')
  return last
}
