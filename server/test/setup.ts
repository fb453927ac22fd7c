/** Runs around every test: fails it if it printed anything or sent a statement that Citus refuses, and empties the tables after it. */
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
afterAll(expectDistributable) // for statements that processes reported after the last test
afterAll(removePrepared)
