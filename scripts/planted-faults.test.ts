/** Checks that every planted fault still fits the source, so that `npm run test:soak -- planted` works when it is needed. */
import { expect, test } from 'vitest'
import { faults } from './faults.ts'
import { sourceWithFault } from './planted-faults.ts'

test.each(faults)('security: fault tests: the text that the planted fault $name replaces occurs exactly once', async (fault) => {
  expect(await sourceWithFault(fault)).toContain(fault.replace)
})

test('security: fault tests: 25 different faults are planted', () => {
  expect(new Set(faults.map(({ name }) => name)).size).toBe(25)
})
