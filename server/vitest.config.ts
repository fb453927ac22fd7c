/** The server's tests: a process a file, one PostgreSQL a run, a database a worker (style.md, Tests). */
import { readFileSync } from 'node:fs'
import { configDefaults, defineConfig } from 'vitest/config'
import { rounds } from './test/size.ts'

export default defineConfig({
  test: {
    name: 'server',
    root: import.meta.dirname,
    include: ['{src,test}/**/*.test.ts'],
    exclude: [...configDefaults.exclude, ...beyondOurRights()],
    pool: 'forks',
    globalSetup: ['test/global-setup.ts'],
    setupFiles: ['test/setup.ts'],
    // Far beyond what a test needs, also on a busy machine: it tells what hangs from what is slow, and nothing about speed.
    testTimeout: rounds(120_000, 6 * 3_600_000),
    hookTimeout: 300_000,
    expect: { poll: { timeout: 60_000 } },
  },
})

/** What only root can be tested as; a container's root often lacks some of its capabilities (capabilities(7)). */
function beyondOurRights(): string[] {
  const CAP_DAC_READ_SEARCH = 2
  const CAP_SYS_ADMIN = 21
  const status = process.platform === 'linux' ? readFileSync('/proc/self/status', 'utf8') : ''
  const capabilities = BigInt(`0x${/^CapEff:\t(\w+)/m.exec(status)?.[1] ?? '0'}`)
  const has = (capability: number): boolean => ((capabilities >> BigInt(capability)) & 1n) === 1n
  return [
    ...(has(CAP_DAC_READ_SEARCH) ? [] : ['src/postgres/cluster-as-root.test.ts']),
    ...(has(CAP_SYS_ADMIN) ? [] : ['src/postgres/cluster-full-disk.test.ts', 'test/faults/full-disk.test.ts']), // mount a small disk
  ]
}
