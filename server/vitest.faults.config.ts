/** The fault tests: `npm test -- faults`. */
import { readFileSync } from 'node:fs'
import { configDefaults, defineConfig } from 'vitest/config'
import server from './vitest.config.ts'

export default defineConfig({
  test: {
    ...server.test,
    name: 'faults',
    include: ['test/faults/**/*.test.ts'],
    exclude: [...configDefaults.exclude, ...testsNeedingMoreRights()],
  },
})

/** Returns the tests that this process may not run: they need root with capabilities that containers often drop (capabilities(7)). */
function testsNeedingMoreRights(): string[] {
  const CAP_DAC_READ_SEARCH = 2
  const CAP_SYS_ADMIN = 21
  const status = process.platform === 'linux' ? readFileSync('/proc/self/status', 'utf8') : ''
  const capabilities = BigInt(`0x${/^CapEff:\t(\w+)/m.exec(status)?.[1] ?? '0'}`)
  const has = (capability: number): boolean => ((capabilities >> BigInt(capability)) & 1n) === 1n
  return [
    ...(has(CAP_DAC_READ_SEARCH) ? [] : ['test/faults/cluster-as-root.test.ts']),
    ...(has(CAP_SYS_ADMIN) ? [] : ['test/faults/cluster-full-disk.test.ts', 'test/faults/full-disk.test.ts']), // mount a small disk
  ]
}
