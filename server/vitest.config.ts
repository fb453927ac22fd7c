/**
 * The server's tests: one PostgreSQL for the run, and a process and a database for each worker, which runs many files. The tests that take
 * long are projects of their own, with the same set-up: vitest.databases.config.ts and vitest.faults.config.ts.
 */
import { configDefaults, defineConfig } from 'vitest/config'
import { rounds } from '#test/size.ts'

export default defineConfig({
  test: {
    name: 'server',
    root: import.meta.dirname,
    include: ['{src,test}/**/*.test.ts'],
    exclude: [...configDefaults.exclude, 'test/databases/**', 'test/faults/**'],
    pool: 'forks',
    // Loading the server's modules anew for each file took a third of the time. A file therefore leaves nothing behind in its process.
    isolate: false,
    unstubEnvs: true,
    restoreMocks: true,
    globalSetup: ['test/global-setup.ts'],
    setupFiles: ['test/setup.ts'],
    // Far beyond what a test needs, also on a busy machine: it tells what hangs from what is slow, and nothing about speed.
    testTimeout: rounds(600_000, 6 * 3_600_000),
    hookTimeout: 300_000,
    expect: { poll: { timeout: 60_000 } },
  },
})
