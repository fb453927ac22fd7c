/** Around every test: nothing may be printed, every statement must be valid on a distributed database, and no row outlives a test. */
import { afterAll, afterEach, beforeEach, expect, vi } from 'vitest'
import { sentStatements, type SentStatement } from '#src/postgres/connections.ts'
import { distributionFaults } from './distribution-rules.ts'
import { removePrepared } from './processes.ts'
import { closeTestDatabase, emptyTables } from './test-database.ts'

const METHODS = ['debug', 'log', 'info', 'warn', 'error'] as const
let noise: string[] = []
const sent = new Set<string>()

sentStatements.subscribe((statement) => void sent.add((statement as SentStatement).text))

beforeEach(() => {
  noise = []
  for (const method of METHODS)
    vi.spyOn(console, method).mockImplementation((...args: unknown[]) => void noise.push(`console.${method}: ${args.join(' ')}`))
})

afterEach(async () => {
  await emptyTables()
  const printed = noise
  noise = []
  expect(printed, 'console noise; a test that expects output spies on it itself').toEqual([])
  expectDistributable()
})

function expectDistributable(): void {
  const faults = [...sent].flatMap(distributionFaults)
  sent.clear()
  expect(faults, 'statements that a distributed database refuses (docs/scaling.md)').toEqual([])
}

afterAll(closeTestDatabase)
afterAll(expectDistributable) // what processes said when the last test was over
afterAll(removePrepared)
