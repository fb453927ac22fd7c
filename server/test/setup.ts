/**
 * Runs around every test: fails it if it printed anything, sent a statement that Citus refuses or one that depends on the database's
 * locale, and empties the tables after it.
 */
import { afterAll, afterEach, beforeEach, expect, vi } from 'vitest'
import { sentStatements, type SentStatement } from '#src/postgres/connections.ts'
import { collationFaults } from './collation-rules.ts'
import { distributionFaults } from './distribution-rules.ts'
import { removePrepared } from './processes.ts'
import { closeTestDatabase, emptyTables } from './test-database.ts'

const METHODS = ['debug', 'log', 'info', 'warn', 'error'] as const
let noise: string[] = []
const sent = new Set<string>()

const record = (statement: unknown): void => void sent.add((statement as SentStatement).text)
sentStatements.subscribe(record)
afterAll(() => sentStatements.unsubscribe(record)) // the process goes on with the next file

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
  expectAllowed()
})

function expectAllowed(): void {
  const [faults, dependent] = [distributionFaults, collationFaults].map((rules) => [...sent].flatMap(rules))
  sent.clear()
  expect(faults, 'statements that a distributed database refuses (docs/scaling.md)').toEqual([])
  expect(dependent, 'statements in which the locale of the database decides (ADR 25)').toEqual([])
}

afterAll(closeTestDatabase)
afterAll(expectAllowed) // for statements that processes reported after the last test
afterAll(removePrepared)
