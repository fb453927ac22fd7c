/** That every planted fault still fits the source, so that the proof of the harnesses is not found broken when somebody needs it. */
import { expect, test } from 'vitest'
import { faults } from './faults.ts'
import { planted } from './planted-faults.ts'

test.each(faults)('§security harnesses: what the planted fault $name changes is there once', async (fault) => {
  expect(await planted(fault)).toContain(fault.replace)
})

test('§security harnesses: more than twenty different faults are planted', () => {
  expect(new Set(faults.map(({ name }) => name)).size).toBe(23)
})
