/** Around every test: nothing may be printed, and no row outlives it. */
import { afterAll, afterEach, beforeEach, expect, vi } from 'vitest'
import { removePrepared } from './processes.ts'
import { closeTestDatabase, emptyTables } from './test-database.ts'

const METHODS = ['debug', 'log', 'info', 'warn', 'error'] as const
let noise: string[] = []

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
})

afterAll(closeTestDatabase)
afterAll(removePrepared)
